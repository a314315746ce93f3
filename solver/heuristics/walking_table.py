"""The table of walking distances: for every way the goal rows of tiles can be spread over rows, the fewest moves.

Forget of each tile everything but the row it stands in and the row it belongs to. What is left of a board is a
*matrix*: how many tiles of each goal row stand in each row. The row with one tile less than there are columns has the
blank. A vertical move takes a tile of a neighbouring row into the blank's row, and the blank into that row; a
horizontal move changes nothing. So there are few matrices, 24,964 on 4×4, and a breadth-first search from the goal
finds for each the fewest vertical moves that can lead from it to the goal's. Columns are the same thing for the board
seen from the side. Here rows and columns are both *lines*: a table is for a number of lines, their length and the
blank's home line. Seen in a mirror the last line is the first, so the home is at most the middle line.

*The number of a matrix* is its place among all matrices, each read line by line, in lexicographic order. To count
those before it takes no more than a walk through its lines. What the lines so far have left for the others, so many
tiles of each goal line, is a *rest*; whether the blank has been seen follows from their total. For each rest and each
*filling* of the next line, ``before`` is the number of ways to go on with an earlier filling, and ``after`` the rest
that this filling leaves: a rank is a sum of ``before``. A move exchanges a tile and the blank between two lines next to
each other. Together these hold what they held, so no rest changes but the one between them: the new rank takes a
few look-ups, whatever the size of the board.

*The file.* A table is one byte a matrix, by rank, and depends on nothing else. It is built when it is first needed and
kept in the folder of databases (docs/format.md). A file is written under another name, flushed and renamed, so that
two processes that build the same table do not disturb each other: the later one replaces the file by its equal. Opening
one checks every byte against a seal, and then the distances themselves: the goal has 0, and every other matrix a
neighbour that is nearer by one and none that differs by more than one. Small tables are proved right that way, of
large ones a sample is looked at. What fails is built anew.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock

import h5py
import numpy as np
from tqdm import tqdm

from pdb_builder.base.jit import fetch, kernel, put, shared
from pdb_builder.base.machine import default_threads
from pdb_builder.base.workers import Workers
from pdb_builder.shell import notice

MOST_STATES = 300_000_000  # of a table, a byte each
WORTH_A_WORD = 2_000_000  # states of a table whose building is announced
SAMPLE = 200_000  # states looked at when a table is opened, all if there are no more
UNREACHED = 255

FORMAT = "slidepdb walking distance"
FORMAT_VERSION = 1
PAGE = 4096


# ---- numbering matrices -------------------------------------------------------------------------


def _fillings(lines: int, length: int) -> np.ndarray:
    """All ways to fill a line, with the blank and without, in lexicographic order: [filling, goal line] -> tiles."""

    def spread(tiles: int, over: int):
        if over == 1:
            yield (tiles,)
            return
        for first in range(tiles + 1):
            for others in spread(tiles - first, over - 1):
                yield first, *others

    return np.array(sorted([*spread(length, lines), *spread(length - 1, lines)]), dtype=np.int64)


def count_states(lines: int, length: int, most: int = MOST_STATES) -> int:
    """How many matrices there are, or, if these are more than ``most``, some number above it.

    Rests that differ in the order of the goal lines alone go on in equally many ways, so a few
    sorted ones stand for all. Every beginning can be completed: once there are too many of these, the rest
    need not be counted.

    Fewer lines, or shorter ones, have no more matrices: put a tile into each line it belongs to, or add lines
    that are as in the goal, and different matrices stay different. So smaller shapes are counted first, and if one
    of them has too many there is no need to list the ways to fill a long line, which can be millions.
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
        for (seen, rest), ways in beginnings.items():
            for blank_here in (False,) if seen else (False, True):
                left = np.array(rest) - (with_blank if blank_here else whole)
                left = np.sort(left[(left >= 0).all(axis=1)], axis=1)
                total += ways * len(left)
                if total > most:
                    return total
                kinds, counts = np.unique(left, axis=0, return_counts=True)
                for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
                    longer[seen or blank_here, tuple(kind)] += ways * count
        beginnings = longer
    return sum(beginnings.values())


@dataclass(frozen=True, eq=False)
class Index:
    """The numbers of all matrices for so many lines of a length, and the blank's home line.

    Arrays are flat, whatever the brackets say. A *code* of a line is the sum of its tiles' ``weight``, so that
    a board's lines are found by adding.
    """

    lines: int
    length: int
    home: int
    states: int
    fillings: np.ndarray  # [filling, goal line] -> tiles
    before: np.ndarray  # [rest, filling] -> the ways to go on with an earlier filling
    after: np.ndarray  # [rest, filling] -> the rest it leaves; 0, the rest at the beginning, if it cannot be
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
        """The number of a matrix, given as the fillings of its lines."""
        rank, rest, width = 0, 0, len(self.fillings)
        for filling in fillings:
            rank += int(self.before[rest * width + filling])
            rest = int(self.after[rest * width + filling])
        return rank


@lru_cache(maxsize=8)
def index_of(lines: int, length: int, home: int) -> Index:
    """The index for a shape whose table is not too large."""
    fillings = _fillings(lines, length)
    width = len(fillings)
    weight = (length + 1) ** np.arange(lines, dtype=np.int64)
    codes = fillings @ weight
    of_code = np.full(int(codes.max()) + 1, -1, dtype=np.int32)
    of_code[codes] = np.arange(width)

    # The rests before each line, as rows of numbers; then, from the last line back, the ways to complete them.
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
    ways = np.ones(1, dtype=np.int64)
    before, after = [], []
    first = 1 + sum(len(fits) for fits, _ in steps)  # the number of the first rest after a line
    for fits, number in reversed(steps):
        first -= 1 if not before else len(before[-1])
        onward = np.where(fits, ways[number], 0)
        until = np.cumsum(onward, axis=1)
        before.append(until - onward)
        after.append(np.where(fits, first + number, 0))
        ways = until[:, -1]
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
    return Index(lines, length, home, int(ways[0]), fillings, *flat, taken.ravel(), given.ravel(), weight, of_code)


def index_arrays(index: Index) -> tuple:
    """What ``list_moves`` takes of an index."""
    return index.before, index.after, index.taken, index.given, len(index.fillings), index.lines


# Where ``list_moves`` keeps what it knows of a matrix, a row of ``lines`` numbers each.
FILLING, REST, END, ROWS = range(4)


@shared
def list_moves(rank, before, after, taken, given, width, lines, known, moves):
    """Write the ranks that the moves of a matrix lead to, ``moves[2 * goal line + down]``, -1 where there is no move.

    ``down`` is 1 if the tile moves to a line of higher number. ``known`` holds for each line its filling, the rest
    before it, and an end: the first rank, of those to come, of a matrix that differs in this line or one before.
    Ranks asked for in ascending order share the work for lines that did not change; before the first, all is 0.
    """
    # All in one piece: every array handed to a function costs an atomic count.
    line = 0
    begin = 0
    while line < lines and rank < fetch(known, END * lines + line):
        rest, filling = fetch(known, REST * lines + line), fetch(known, FILLING * lines + line)
        begin += np.int64(fetch(before, rest * width + filling))
        line += 1
    rest = fetch(known, REST * lines + min(line, lines - 1))
    while line < lines:
        low, high = 0, width  # the last filling with no more before it than the rank leaves
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
    blank = 0  # the line that can be given a tile, of goal line 0 as of any other
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
def _widen(table, before, after, taken, given, width, lines, level, low, high):
    """Give the neighbours of every matrix at distance ``level`` in a range the next distance; returns how many."""
    known, moves = np.zeros(ROWS * lines, dtype=np.int64), np.zeros(2 * lines, dtype=np.int64)
    count = 0
    for rank in range(low, high):
        if table[rank] == level:
            count += 1
            list_moves(rank, before, after, taken, given, width, lines, known, moves)
            for move in range(2 * lines):
                new = moves[move]
                if new >= 0 and table[new] == UNREACHED:  # another thread may do the same: it writes the same
                    table[new] = level + 1
    return count


@kernel
def _sound(table, before, after, taken, given, width, lines, goal, apart):
    """Whether every ``apart``-th entry can be a distance, judged by its neighbours."""
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


def is_sound(index: Index, table: np.ndarray) -> bool:
    """Whether a table looks like that of its lines: a proof if there are no more entries than the sample."""
    apart = max(1, index.states // SAMPLE)
    return table[index.goal] == 0 and _sound(table, *index_arrays(index), index.goal, apart)


def build_table(index: Index) -> np.ndarray:
    """The distances of all matrices, by rank."""
    table = np.full(index.states, UNREACHED, dtype=np.uint8)
    table[index.goal] = 0
    large = index.states >= WORTH_A_WORD
    bar = tqdm(
        total=index.states,
        desc="walking distance",
        unit=" states",
        unit_scale=True,
        disable=None if large else True,
        leave=False,
    )
    with Workers(default_threads() if large else 1) as workers, bar:
        found, level = 1, 0
        while found:
            if level >= UNREACHED - 1:
                raise AssertionError(f"a distance of {level} does not fit a byte")
            found = sum(workers.over(workers.split(index.states), _widen, table, *index_arrays(index), level))
            bar.update(found)
            level += 1
    return table


# ---- the file -----------------------------------------------------------------------------------


class _Unusable(Exception):
    """Why a file cannot be used."""


def table_path(folder: Path, lines: int, length: int, home: int) -> Path:
    """Where the table for so many lines of a length, and the blank's home line, is kept."""
    return folder / f"walking-distance-{lines}x{length}-home-{home}.h5"


def _label(size: int, seal: str) -> bytes:
    """The first page of a file: readable with ``head``."""
    name = f"{FORMAT}, format {FORMAT_VERSION}. After this page: HDF5, for any HDF5 tool."
    return f"{name}\nsize {size}\nseal {seal}\n".encode().ljust(PAGE, b"\n")


def write_table(path: Path, index: Index, table: np.ndarray) -> None:
    """Write a file so that it appears under ``path`` whole or not at all."""
    content = io.BytesIO()  # HDF5 does not survive a full disk: it writes to memory, we to the disk
    with h5py.File(content, "w", libver=("v110", "v110"), userblock_size=PAGE) as root:
        root.attrs["format"] = FORMAT
        root.attrs["format_version"] = FORMAT_VERSION
        root.attrs["lines"], root.attrs["length"], root.attrs["home"] = index.lines, index.length, index.home
        root.attrs["maximum"] = int(table.max())
        root.create_dataset("table", data=table)
    data = content.getbuffer()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(_label(len(data), hashlib.sha256(data[PAGE:]).hexdigest()))
            file.write(data[PAGE:])
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_table(path: Path, index: Index) -> np.ndarray:
    """The table in a file, mapped; raises ``_Unusable`` unless it is the one that ``index`` needs."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        page = file.read(PAGE)
        if not page.startswith(f"{FORMAT}, format ".encode()):
            raise _Unusable("it is something else")
        # HDF5 sees a file only once it is known to be what was written: it may crash on others.
        seal = hashlib.file_digest(file, "sha256").hexdigest()
        if page != _label(size, seal):
            raise _Unusable("its contents do not match its label, or it has another format")
        try:
            with h5py.File(file, "r") as root:
                found = [root.attrs[name] for name in ("format", "format_version", "lines", "length", "home")]
                dataset = root["table"]
                offset = dataset.id.get_offset()
                fits = (dataset.shape, dataset.dtype, dataset.id.get_storage_size()) == (
                    (index.states,),
                    np.dtype(np.uint8),
                    index.states,
                )
        except Exception as error:  # whatever HDF5 makes of a forgery
            raise _Unusable("its parts do not fit together") from error
        if found != [FORMAT, FORMAT_VERSION, index.lines, index.length, index.home] or not fits or offset is None:
            raise _Unusable("it is a table of something else")
        table = np.asarray(np.memmap(file, np.uint8, "r")[offset : offset + index.states])
    if not is_sound(index, table):
        raise _Unusable("its distances contradict each other")
    return table


_one_at_a_time = Lock()  # threads that need the same table wait for the first of them


def table_for(lines: int, length: int, home: int, folder: Path) -> tuple[Index, np.ndarray]:
    """The index and the table for so many lines of a length, and the blank's home line: read, or built and kept."""
    with _one_at_a_time:
        return _table_for(lines, length, home, folder)


@lru_cache(maxsize=8)
def _table_for(lines: int, length: int, home: int, folder: Path) -> tuple[Index, np.ndarray]:
    index = index_of(lines, length, home)
    path = table_path(folder, lines, length, home)
    try:
        return index, read_table(path, index)
    except FileNotFoundError:
        pass
    except OSError as error:
        notice(f"cannot read {path}: {error.strerror or error}: the table is built anew")
    except _Unusable as error:
        notice(f"{path} is not used: {error}: it is built anew")
    if index.states >= WORTH_A_WORD:
        notice(f"building {path}, once: {index.states:,} states")
    table = build_table(index)
    table.flags.writeable = False
    try:
        write_table(path, index, table)
    except OSError as error:
        notice(f"cannot write {path}: {error.strerror or error}: the table is kept in memory, for this time alone")
    return index, table
