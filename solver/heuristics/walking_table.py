"""The table of walking distances: the fewest moves between lines for every spread of the tiles over the lines.

Of each tile, keep only the row it is in and the row it belongs to. What remains of a board is a *matrix*: the number of
tiles of each goal row in each row. The row with one tile fewer than there are columns has the blank. A vertical move
takes a tile from a neighbouring row into the blank's row, and the blank into that row; a horizontal move changes
nothing. So there are few matrices, 24,964 on 4×4, and a breadth-first search from the goal finds for each of them the
fewest vertical moves that can lead to the goal's. Columns are the same thing for the transposed board. Here rows and
columns are both *lines*: a table is for a number of lines, their length and the blank's home line. Mirrored, the last
line is the first, so the home is at most the middle line.

*The rank of a matrix* is its place among all matrices in lexicographic order, read line by line. Ranking is a walk
through the lines. What the lines so far leave for the others, a number of tiles per goal line, is a *rest*; its total
tells whether the blank has been seen. For each rest and each *filling* of the next line, ``before`` is the number of
matrices that go on with an earlier filling, and ``after`` the rest that this filling leaves: a rank is a sum of
``before``. A move exchanges a tile and the blank between two adjacent lines. The two together keep what they had, so
the only rest that changes is the one between them: the new rank takes a few look-ups, whatever the size of the board.

*The file.* A table has one byte per matrix, by rank, and depends on nothing else. It is built when first needed and
kept as a sealed file in the folder of databases (docs/format.md). Files are replaced atomically, so processes that
build the same table at the same time do not disturb each other: the later one replaces the file by an equal one.
Opening a file checks every byte against the seal, and then the distances themselves: the goal has 0, and every other
matrix has a neighbour that is nearer by one and none that differs by more than one. That proves a small table right; of
a large one, a sample is checked. A file that fails is rebuilt; one that is not ours is left alone
(``pdb_builder.base.kept``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock

import h5py
import numpy as np

from pdb_builder.base.files import replaced
from pdb_builder.base.folders import make_folder
from pdb_builder.base.jit import fetch, kernel, put, shared
from pdb_builder.base.kept import Notify, read_or_make
from pdb_builder.base.mapped_file import MappedFile
from pdb_builder.base.sealed import Kind, Region, attribute, mapped, open_sealed, require, write_sealed
from pdb_builder.base.workers import Workers

MOST_STATES = 300_000_000  # of a table, one byte each
LARGE = 2_000_000  # states of a table whose building is announced and uses all cores
SAMPLE = 200_000  # states checked when a table is opened
MOST_OPEN = 8  # tables
UNREACHED = 255

FORMAT = "slidepdb walking distance"
IN_THE_WAY = "it is left alone, and the table is built again in every run: move it away"
KIND = Kind(
    name="walking distance",
    version=1,
    aligned=False,
    if_foreign=IN_THE_WAY,
    if_newer=IN_THE_WAY,
    if_damaged="rebuilding it",
    if_unkept="the table is kept in memory for this run only",
)

OnStates = Callable[[int, int], object]  # is told how many states are done, and of how many


# ---- ranking matrices ---------------------------------------------------------------------------


def _fillings(lines: int, length: int) -> np.ndarray:
    """All fillings of a line, with and without the blank, in lexicographic order: [filling, goal line] -> tiles."""

    def spread(tiles: int, over: int):
        if over == 1:
            yield (tiles,)
            return
        for first in range(tiles + 1):
            for others in spread(tiles - first, over - 1):
                yield first, *others

    return np.array(sorted([*spread(length, lines), *spread(length - 1, lines)]), dtype=np.int64)


@lru_cache(maxsize=64)
def count_states(lines: int, length: int, most: int = MOST_STATES) -> int:
    """The number of matrices, or some number above ``most`` if there are more than that.

    Rests that differ only in the order of the goal lines have equally many completions, so sorted ones represent all.
    Every beginning can be completed, so counting can stop as soon as there are too many beginnings.

    Fewer or shorter lines have no more matrices: put a tile into each line it belongs to, or add lines that are as in
    the goal, and different matrices stay different. So smaller shapes are counted first. If one of them has too many,
    there is no need to list the fillings of a long line, which can be millions.
    """
    for side in range(2, max(lines, length)):
        states = _count_states(min(side, lines), min(side, length), most)
        if states > most:
            return states
    return _count_states(lines, length, most)


def _count_states(lines: int, length: int, most: int) -> int:
    """``count_states`` of one shape."""
    fillings = _fillings(lines, length)
    whole, with_blank = (fillings[fillings.sum(axis=1) == tiles] for tiles in (length, length - 1))
    beginnings = {(False, (length - 1,) + (length,) * (lines - 1)): 1}
    for _ in range(lines):
        longer: Counter = Counter()
        total = 0
        for (seen, rest), beginning_count in beginnings.items():
            for blank_here in (False,) if seen else (False, True):
                left = np.array(rest) - (with_blank if blank_here else whole)
                left = np.sort(left[(left >= 0).all(axis=1)], axis=1)
                total += beginning_count * len(left)
                if total > most:
                    return total
                kinds, counts = np.unique(left, axis=0, return_counts=True)
                for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
                    longer[seen or blank_here, tuple(kind)] += beginning_count * count
        beginnings = longer
    return sum(beginnings.values())


@dataclass(frozen=True, eq=False)
class MatrixIndex:
    """The ranks of all matrices for a number of lines, their length, and the blank's home line.

    Arrays are flat, although the comments below show them by several indices. The *code* of a line is the sum of the
    ``weight`` of its tiles, so that the fillings of a board are found by adding.
    """

    lines: int
    length: int
    home: int
    states: int
    fillings: np.ndarray  # [filling, goal line] -> tiles
    before: np.ndarray  # [rest, filling] -> the number of completions with an earlier filling
    after: np.ndarray  # [rest, filling] -> the rest it leaves; 0, the initial rest, if it is impossible
    taken: np.ndarray  # [filling, goal line] -> the filling with such a tile exchanged for the blank, or -1
    given: np.ndarray  # [filling, goal line] -> the filling with the blank exchanged for such a tile, or -1
    weight: np.ndarray  # [goal line]
    of_code: np.ndarray  # [code] -> filling

    @cached_property
    def goal(self) -> int:
        """The rank of the goal: every tile in its line."""
        counts = np.eye(self.lines, dtype=np.int64) * self.length
        counts[self.home, self.home] -= 1
        return self.rank(self.of_code[counts @ self.weight].tolist())

    def rank(self, fillings) -> int:
        """The rank of a matrix, given as the fillings of its lines."""
        rank, rest, width = 0, 0, len(self.fillings)
        for filling in fillings:
            rank += int(self.before[rest * width + filling])
            rest = int(self.after[rest * width + filling])
        return rank


@lru_cache(maxsize=8)
def matrix_index_of(lines: int, length: int, home: int) -> MatrixIndex:
    """The index for a shape whose table is not too large."""
    fillings = _fillings(lines, length)
    width = len(fillings)
    weight = (length + 1) ** np.arange(lines, dtype=np.int64)
    codes = fillings @ weight
    of_code = np.full(int(codes.max()) + 1, -1, dtype=np.int32)
    of_code[codes] = np.arange(width)

    # The rests before each line, as rows of numbers; then, from the last line back, the number of their completions.
    sums = np.full((1, lines), length, dtype=np.int64)
    sums[0, home] -= 1
    steps = []
    for to_come in range(lines - 1, -1, -1):
        left = sums[:, None, :] - fillings[None, :, :]
        totals = left.sum(axis=2)
        fits = (left >= 0).all(axis=2) & ((totals == length * to_come) | (totals == length * to_come - 1))
        found, place = np.unique(left[fits] @ weight, return_inverse=True)
        number = np.zeros(fits.shape, dtype=np.int64)
        number[fits] = place
        steps.append((fits, number))
        sums = found[:, None] // weight % (length + 1)
    completions = np.ones(1, dtype=np.int64)
    before, after = [], []
    first = 1 + sum(len(fits) for fits, _ in steps)  # the index of the first rest after a line
    for fits, number in reversed(steps):
        first -= 1 if not before else len(before[-1])
        onward = np.where(fits, completions[number], 0)
        until = np.cumsum(onward, axis=1)
        before.append(until - onward)
        after.append(np.where(fits, first + number, 0))
        completions = until[:, -1]
    before.reverse()
    after.reverse()

    exchange = fillings[:, None, :] - np.eye(lines, dtype=np.int64)[None]
    takes = (fillings.sum(axis=1) == length)[:, None] & (exchange >= 0).all(axis=2)
    taken = np.full((width, lines), -1, dtype=np.int32)
    taken[takes] = of_code[(exchange @ weight)[takes]]
    given = np.full((width, lines), -1, dtype=np.int32)
    filling, goal_line = np.nonzero(takes)
    given[taken[takes], goal_line] = filling
    flat = [np.concatenate(arrays).astype(np.int32).ravel() for arrays in (before, after)]
    arrays = (*flat, taken.ravel(), given.ravel(), weight, of_code)
    return MatrixIndex(lines, length, home, int(completions[0]), fillings, *arrays)


def index_arrays(index: MatrixIndex) -> tuple:
    """The arguments of ``list_moves`` that come from an index."""
    return index.before, index.after, index.taken, index.given, len(index.fillings), index.lines


# Where ``list_moves`` keeps what it knows about a matrix, one row of ``lines`` numbers each.
FILLING, REST, END, ROWS = range(4)


@shared
def list_moves(rank, before, after, taken, given, width, lines, known, moves):
    """Write the ranks that the moves of a matrix lead to: ``moves[2 * goal line + down]``, -1 where there is no move.

    ``down`` is 1 if the tile moves to a line of higher number. ``known`` holds for each line its filling, the rest
    before it, and an end: the next rank whose matrix differs in this line or an earlier one. For ranks in ascending
    order, the work for lines that did not change is shared; before the first rank, ``known`` must be 0.
    """
    # One long function: every array that is passed on costs an atomic reference count.
    line = 0
    begin = 0
    while line < lines and rank < fetch(known, END * lines + line):
        rest, filling = fetch(known, REST * lines + line), fetch(known, FILLING * lines + line)
        begin += np.int64(fetch(before, rest * width + filling))
        line += 1
    rest = fetch(known, REST * lines + min(line, lines - 1))
    while line < lines:
        low, high = 0, width  # bisection: the last filling with no more matrices before it than the rank leaves
        while high - low > 1:
            middle = (low + high) >> 1
            if begin + np.int64(fetch(before, rest * width + middle)) <= rank:
                low = middle
            else:
                high = middle
        end = fetch(known, END * lines + line - 1) if line != 0 else 1 << 62
        if high < width:
            end = begin + np.int64(fetch(before, rest * width + high))
        begin += np.int64(fetch(before, rest * width + low))
        put(known, FILLING * lines + line, low)
        put(known, REST * lines + line, rest)
        put(known, END * lines + line, end)
        rest = np.int64(fetch(after, rest * width + low))
        line += 1
    blank = 0  # the line that can be given a tile, of goal line 0 or any other
    while fetch(given, fetch(known, FILLING * lines + blank) * lines) < 0:
        blank += 1
    for down in range(2):
        source = blank + 1 - 2 * down
        for goal_line in range(lines):
            new = np.int64(-1)
            if 0 <= source < lines:
                leaving = np.int64(fetch(taken, fetch(known, FILLING * lines + source) * lines + goal_line))
                if leaving >= 0:
                    filled = np.int64(fetch(given, fetch(known, FILLING * lines + blank) * lines + goal_line))
                    upper, lower = (leaving, filled) if down else (filled, leaving)
                    line = min(source, blank)
                    rest, between = fetch(known, REST * lines + line), fetch(known, REST * lines + line + 1)
                    new = rank - np.int64(fetch(before, rest * width + fetch(known, FILLING * lines + line)))
                    new -= np.int64(fetch(before, between * width + fetch(known, FILLING * lines + line + 1)))
                    new += np.int64(fetch(before, rest * width + upper))
                    between = np.int64(fetch(after, rest * width + upper))
                    new += np.int64(fetch(before, between * width + lower))
            put(moves, 2 * goal_line + down, new)


# ---- building -----------------------------------------------------------------------------------


@kernel
def _expand_level(table, before, after, taken, given, width, lines, level, low, high):
    """Give the neighbours of the matrices at distance ``level`` in a range the next distance; returns the matrices."""
    known, moves = np.zeros(ROWS * lines, dtype=np.int64), np.zeros(2 * lines, dtype=np.int64)
    count = 0
    for rank in range(low, high):
        if table[rank] == level:
            count += 1
            list_moves(rank, before, after, taken, given, width, lines, known, moves)
            for move in range(2 * lines):
                new = moves[move]
                if new >= 0 and table[new] == UNREACHED:  # a thread that does the same writes the same
                    table[new] = level + 1
    return count


@kernel
def _sound(table, before, after, taken, given, width, lines, goal, apart):
    """Whether every ``apart``-th entry can be a distance, given its neighbours."""
    known, moves = np.zeros(ROWS * lines, dtype=np.int64), np.zeros(2 * lines, dtype=np.int64)
    for rank in range(0, table.size, apart):
        value = np.int64(table[rank])
        list_moves(rank, before, after, taken, given, width, lines, known, moves)
        nearer = rank == goal
        for move in range(2 * lines):
            if moves[move] >= 0:
                change = np.int64(table[moves[move]]) - value
                if change != 1 and change != -1:
                    return False
                nearer = nearer or change == -1
        if not nearer or (value == 0) != (rank == goal):
            return False
    return True


def is_sound(index: MatrixIndex, table: np.ndarray) -> bool:
    """Whether a table looks like the one of its lines: a proof if it has no more entries than the sample."""
    apart = max(1, index.states // SAMPLE)
    return table[index.goal] == 0 and _sound(table, *index_arrays(index), index.goal, apart)


def build_walking_table(index: MatrixIndex, progress: OnStates = lambda done, total: None) -> np.ndarray:
    """The distances of all matrices, by rank. ``progress`` is called after every level."""
    table = np.full(index.states, UNREACHED, dtype=np.uint8)
    table[index.goal] = 0
    with Workers(None if index.states >= LARGE else 1) as workers:
        found, level, done = 1, 0, 0
        while found:
            if level >= UNREACHED - 1:
                raise AssertionError(f"a distance of {level} does not fit a byte")
            found = sum(workers.over(workers.split(index.states), _expand_level, table, *index_arrays(index), level))
            level += 1
            done += found
            progress(done, index.states)
    return table


# ---- the file -----------------------------------------------------------------------------------


def walking_table_path(folder: Path, lines: int, length: int, home: int) -> Path:
    """Where the table for a number of lines, their length and the blank's home line is kept."""
    return folder / f"walking-distance-{lines}x{length}-home-{home}.h5"


def write_walking_table(path: Path, index: MatrixIndex, table: np.ndarray) -> None:
    """Write a table to a file that appears under ``path`` complete or not at all."""

    def build(root: h5py.File) -> tuple[()]:
        root.attrs["format"] = FORMAT
        root.attrs["format_version"] = KIND.version
        root.attrs["lines"], root.attrs["length"], root.attrs["home"] = index.lines, index.length, index.home
        root.attrs["maximum"] = int(table.max())
        root.create_dataset("table", data=table)
        return ()  # no regions: the seal covers the table

    make_folder(path.parent)
    with replaced(path) as file:
        write_sealed(file, KIND, build)


def read_walking_table(path: Path, index: MatrixIndex) -> np.ndarray:
    """The table in a file; raises a ``DatabaseError`` unless it is the one for ``index``.

    It is a copy: opening the file has read all of it anyway, and what happens to the file later does not matter.
    """

    def read(root: h5py.File, file: MappedFile, regions: list[Region], seal: str) -> np.ndarray:
        require(root.attrs["format"] == FORMAT, "format")
        for name in ("lines", "length", "home"):
            require(attribute(root, name, np.int64) == getattr(index, name), name)
        _, table = mapped(file.memory, root["table"], np.uint8)
        require(table.shape == (index.states,) and not regions, "table")
        table = table.copy()
        table.flags.writeable = False
        return table

    table = open_sealed(path, KIND, read)
    if not is_sound(index, table):
        raise KIND.damaged(path, "its distances contradict each other")
    return table


_open: dict[tuple, tuple[MatrixIndex, np.ndarray]] = {}  # the latest tables, by the arguments of ``table_for``
_opening = Lock()  # threads that need the same table wait for the first of them


def table_for(
    lines: int,
    length: int,
    home: int,
    folder: Path,
    *,
    notify: Notify = lambda remark: None,
    progress: OnStates = lambda done, total: None,
) -> tuple[MatrixIndex, np.ndarray]:
    """The index and the table for a number of lines, their length and the blank's home line: read, or built and kept.

    ``notify`` is told about files that cannot be used and about large tables that are built, in which case ``progress``
    is called with the states done so far and their total.
    """
    with _opening:
        key = (lines, length, home, folder)
        if key not in _open:
            index = matrix_index_of(lines, length, home)
            path = walking_table_path(folder, lines, length, home)
            _open[key] = index, _read_or_build(path, index, notify, progress)
            if len(_open) > MOST_OPEN:
                del _open[next(iter(_open))]
        return _open[key]


def _read_or_build(path: Path, index: MatrixIndex, notify: Notify, progress: OnStates) -> np.ndarray:
    def build() -> tuple[np.ndarray, bool]:
        large = index.states >= LARGE
        if large:
            notify(f"building {path}, once: {index.states:,} states")
        table = build_walking_table(index, progress if large else lambda done, total: None)
        table.flags.writeable = False
        return table, True

    def write(table: np.ndarray) -> None:
        write_walking_table(path, index, table)

    return read_or_make(path, KIND, lambda: read_walking_table(path, index), build, write, notify)
