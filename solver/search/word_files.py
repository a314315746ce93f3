"""Automata made once: kept in memory, and their words in a file if finding these took long.

The file is a sealed one in the folder of databases (docs/format.md), replaced atomically: processes that write the same
one do not disturb each other. It holds the forbidden words, not the automaton, which is made from them in a moment; and
beside each word the earlier one that does the same. So a file proves itself: when it is opened, both words are played
and the boards compared, for all of them, and nothing but the seal has to be believed about the rest, which is that no
word is missing. What becomes of a file that cannot be used: ``pdb_builder.base.kept``.

What is known about the memory an automaton takes comes from its *walks*, the words that never undo a move: there are
more of them than of words to visit, by a factor of 2 or 3 at the lengths that matter, and they are counted in no time.
"""

from __future__ import annotations

import time
from pathlib import Path
from threading import Lock

import h5py
import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.files import replaced
from pdb_builder.base.folders import make_folder
from pdb_builder.base.kept import Notify, read_or_make
from pdb_builder.base.machine import readable_size
from pdb_builder.base.mapped_file import MappedFile
from pdb_builder.base.sealed import Kind, Region, attribute, mapped, open_sealed, require, write_sealed
from pdb_builder.base.workers import check_threads
from pdb_builder.grid import Grid
from pdb_builder.memory import PROCESS, require_memory

from . import NEVER_UNDO
from .automaton import STATE_BITS, Automaton, never_undo
from .forbidden_words import OnShare, Words, all_proven, count_walks, forbidden_words, table_size
from .outcome import Problem
from .pruning import automaton_of_words

AUTOMATON = "automaton of moves"  # what its progress is called
LONG = 1.0  # seconds: words that took longer to find are kept in a file
LARGE_FILE = 10_000_000  # bytes of a file whose making is mentioned
MOST_KEPT = 1_000_000_000  # bytes of automata in memory, unless a single one is larger
MOST_THREADS = 8  # each needs a table of its own
PATIENCE = 0.05  # seconds between looks at the clock while another thread makes an automaton
# Per walk of the longest words: the share that becomes states, the share that is forbidden, minimal or not.
STATES_PER_WALK, FORBIDDEN_PER_WALK = 0.04, 0.05
STATE_BYTES, WORD_BYTES = 64, 16  # while an automaton is made

FORMAT = "slidepdb forbidden words"
IN_THE_WAY = "it is left alone, and the words are found again in every run: move it away"
KIND = Kind(
    name="forbidden words",
    version=1,
    aligned=False,
    if_foreign=IN_THE_WAY,
    if_newer=IN_THE_WAY,
    if_damaged="the words are found again",
    if_unkept="the forbidden words are kept in memory for this run only",
)


# ---- the file -----------------------------------------------------------------------------------


def words_path(folder: Path, grid: Grid, longest: int, ties: bool) -> Path:
    """Where the forbidden words of a grid are kept."""
    return folder / f"pruning-{grid.shape}{'-wrap' * grid.wrap}-{longest}{'-all' * ties}.h5"


def write_words(path: Path, grid: Grid, longest: int, ties: bool, words: Words) -> None:
    """Write words to a file that appears under ``path`` complete or not at all."""

    def build(root: h5py.File) -> tuple[()]:
        root.attrs["format"] = FORMAT
        root.attrs["format_version"] = KIND.version
        root.attrs["rows"], root.attrs["cols"], root.attrs["wrap"] = grid.rows, grid.cols, grid.wrap
        root.attrs["longest"], root.attrs["ties"] = longest, ties
        for name, values in words._asdict().items():
            root.create_dataset(name, data=values)
        return ()  # no regions: the seal covers everything

    make_folder(path.parent)
    with replaced(path) as file:
        write_sealed(file, KIND, build)


def read_words(path: Path, grid: Grid, longest: int, ties: bool, progress: OnShare = lambda share: None) -> Words:
    """The words in a file, proven; raises a ``DatabaseError`` unless they are those of the grid, and ``OSError``."""

    def read(root: h5py.File, file: MappedFile, regions: list[Region], seal: str) -> Words:
        require(root.attrs["format"] == FORMAT and root.attrs["format_version"] == KIND.version, "format")
        numbers = {"rows": grid.rows, "cols": grid.cols, "longest": longest}
        for name, value in numbers.items():
            require(attribute(root, name, np.int64) == value, name)
        for name, flag in {"wrap": grid.wrap, "ties": ties}.items():
            require(attribute(root, name, np.bool_) == flag, name)
        # Copies: what happens to the file after the proof does not matter.
        words = Words(*(mapped(file.memory, root[name], np.int64)[1].copy() for name in Words._fields))
        require(all(array.ndim == 1 for array in words) and len(words.words) == len(words.earlier), "words")
        first = words.first
        require(len(first) == grid.cells + 1 and first[0] == 0 and first[-1] == len(words.words), "first")
        require(bool((np.diff(first) >= 0).all()) and not regions, "first")
        return words

    words = open_sealed(path, KIND, read)
    if not all_proven(grid, words, longest, ties, progress):
        raise KIND.damaged(path, "not all of its words are forbidden")
    return words


# ---- automata -----------------------------------------------------------------------------------

_made: dict[tuple[Grid, int, bool], Automaton] = {}  # those used last, the latest at the end
_making = Lock()  # threads that need the same automaton wait for the first of them


def automaton_for(
    grid: Grid,
    longest: int,
    ties: bool = False,
    folder: Path | None = None,
    *,
    threads: int | None = None,
    notify: Notify = lambda remark: None,
    progress: OnShare = lambda share: None,
) -> Automaton:
    """The automaton that forbids the words of at most ``longest`` moves, which is between 2 and ``MOST_PRUNING``.

    With 2 it never undoes a move, and no more.

    With ``ties`` it keeps equivalent words of equal length, so that no shortest solution is lost. Words that take long
    to find are kept in the folder. ``notify`` is told about files that cannot be used or written. ``progress`` is
    called, by any thread, with the share that is done, and may end the work by raising something.

    Raises ``InputError`` if the automaton would be too large.
    """
    if longest == NEVER_UNDO:
        return never_undo(grid)
    key = (grid, longest, ties)
    while not _making.acquire(timeout=PATIENCE):
        progress(0.0)
    try:
        automaton = _made.pop(key, None)
        if automaton is None:
            path = None if folder is None else words_path(folder, grid, longest, ties)
            words = _read_or_find(path, grid, longest, ties, threads, notify, progress)
            automaton = automaton_of_words(grid, words, progress)
        _made[key] = automaton
        while len(_made) > 1 and sum(array.nbytes for one in _made.values() for array in one) > MOST_KEPT:
            del _made[next(iter(_made))]
        return automaton
    finally:
        _making.release()


def made_automaton(problem: Problem, moves: int, ties: bool, threads: int, progress: OnShare) -> Automaton:
    """The automaton that looks back so many moves, for a problem."""
    _, _, folder, notify = problem.pruning
    return automaton_for(problem.grid, moves, ties, folder, threads=threads, notify=notify, progress=progress)


def _read_or_find(
    path: Path | None, grid: Grid, longest: int, ties: bool, threads: int | None, notify: Notify, progress: OnShare
) -> Words:
    """The words in a file; without a file, or if it cannot be used, found."""

    def find() -> tuple[Words, bool]:
        most = min(check_threads(threads), MOST_THREADS, grid.cells)
        _check_size(grid, longest, most)
        began = time.monotonic()
        words = forbidden_words(grid, longest, ties, most, progress)
        if not all_proven(grid, words, longest, ties, progress):
            raise AssertionError(f"a word of {grid} boards was forbidden that is not equivalent to an earlier one")
        return words, time.monotonic() - began > LONG

    if path is None:
        return find()[0]

    def write(words: Words) -> None:
        write_words(path, grid, longest, ties, words)
        if (size := path.stat().st_size) > LARGE_FILE:
            notify(f"kept for the next time: {path}, {readable_size(size)}, which can be deleted")

    return read_or_make(path, KIND, lambda: read_words(path, grid, longest, ties, progress), find, write, notify)


def _check_size(grid: Grid, longest: int, threads: int) -> None:
    """Raise ``InputError`` if an automaton would have too many states to number them, or to fit into memory."""
    walks = count_walks(grid, longest)
    states = STATES_PER_WALK * walks[-1].sum()
    task, remedy = f"an automaton of {longest} moves on {grid} boards", "use a smaller `pruning`"
    if states >= 1 << STATE_BITS:
        raise InputError(f"{task} would have about {states:,.0f} states, at most {1 << STATE_BITS:,} fit: {remedy}")
    widest = int(walks.sum(axis=0).argmax())
    searching = threads * (8 * table_size(grid, walks[:, widest]) + 12 * walks[-1, widest])
    needed = max(searching, STATE_BYTES * states) + WORD_BYTES * FORBIDDEN_PER_WALK * walks[-1].sum() + PROCESS
    require_memory(task, int(needed), remedy, accuracy="about")
