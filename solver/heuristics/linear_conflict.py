"""Linear conflict: Manhattan distance, plus two moves for every tile that must leave its line.

Two tiles that are in the wrong order in the row both belong to cannot pass each other there: one must leave the row
and come back, which takes two moves that Manhattan distance does not count. In a row with several such pairs, the tiles
that stay must be in order, so the fewest that must leave are all but a longest increasing subsequence. Counting pairs
instead would overestimate: 3 1 2 needs one tile out, not two. The same holds for columns. (Hansson, Mayer & Yung 1992.)

Each line has a *code*: a digit per cell, which is the home position within the line, counted from 1, of a tile that
belongs there, and 0 for any other tile. A move changes the digit of one tile in its home row and in its home column, by
an exclusive or that undoes itself. For lines of up to seven cells a table holds the fewest removals of every code; for
longer ones they are counted when a tile enters its line or leaves it. Lines of more than fifteen cells do not fit a
code and add nothing.

On a wrapped board a tile can go round the other way, and the estimate would be inadmissible.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import fetch, kernel, popcount, put, shared
from pdb_builder.grid import Grid

from .contract import Board, Heuristic, apply, body_of, check_not_wrapped, evaluate, load
from .manhattan import distances_home

LONGEST_TABLED = 7  # cells of a line whose codes have a table
LONGEST = 15  # cells of a line whose code fits a word


class LinearConflict(NamedTuple):
    """What the kernels work on. All arrays are flat, whatever the brackets say."""

    cells: int
    distance: np.ndarray  # [tile, cell] as in Manhattan distance
    in_row: np.ndarray  # [tile, cell] -> the digit there in the code of the tile's home row, in its place, or 0
    in_col: np.ndarray  # the same for its home column
    row_of: np.ndarray  # tile -> which code is that of its home row
    col_of: np.ndarray
    removals: np.ndarray  # code -> fewest tiles that must leave; empty if there is no table
    width: int  # bits of a digit
    state: np.ndarray  # the value and the codes of the current board, which the next two are parts of
    value: np.ndarray
    codes: np.ndarray
    values: np.ndarray  # [slot]


@shared
def fewest_removals(code, width):
    """How many tiles must leave a line so that the others are in order."""
    # The smallest last tile of an increasing run of each length, as a set: a tile replaces the next
    # larger one, or makes a longer run (patience sorting).
    lasts = 0
    count = 0
    while code != 0:
        digit = code & ((1 << width) - 1)
        code >>= width
        if digit != 0:
            count += 1
            larger = lasts >> digit
            if larger != 0:
                lasts ^= (larger & -larger) << digit
            lasts |= 1 << digit
    return count - popcount(lasts)


@kernel
def _tabulate(removals, width):
    for code in range(removals.size):
        removals[code] = fewest_removals(code, width)


@cache
def _removals(length: int) -> np.ndarray:
    removals = np.zeros(1 << (3 * length), dtype=np.uint8)
    _tabulate(removals, 3)
    return removals


def prepare(grid: Grid, blank: int) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell."""
    check_not_wrapped(grid, "linear-conflict")
    rows, cols, cells = grid.rows, grid.cols, grid.cells
    longest = max((side for side in (rows, cols) if side <= LONGEST), default=0)
    width = 3 if longest <= LONGEST_TABLED else 4
    removals = _removals(longest) if longest <= LONGEST_TABLED else np.zeros(0, dtype=np.uint8)
    in_row, in_col = np.zeros((2, cells, cells), dtype=np.int64)
    row_of, col_of = np.zeros((2, cells), dtype=np.int64)
    for tile in range(1, cells):
        home_row, home_col = divmod(grid.home(tile, blank), cols)
        row_of[tile], col_of[tile] = home_row, rows + home_col
        if cols <= LONGEST:
            for col in range(cols):
                in_row[tile, home_row * cols + col] = (home_col + 1) << (width * col)
        if rows <= LONGEST:
            for row in range(rows):
                in_col[tile, row * cols + home_col] = (home_row + 1) << (width * row)
    distance = distances_home(grid, blank)

    def workspace(slots: int) -> LinearConflict:
        state = np.zeros(1 + rows + cols, dtype=np.int64)
        flat = (array.ravel() for array in (distance, in_row, in_col))
        working = (state, state[:1], state[1:], np.zeros(slots, dtype=np.int64))
        return LinearConflict(cells, *flat, row_of, col_of, removals, width, *working)

    def measure(board: Board) -> list[int]:
        codes = [0] * (rows + cols)
        for cell, tile in enumerate(board):
            codes[row_of[tile]] |= int(in_row[tile, cell])
            codes[col_of[tile]] |= int(in_col[tile, cell])
        distance_sum = int(distance[list(board), range(cells)].sum())
        return [distance_sum + 2 * sum(fewest_removals(code, width) for code in codes)]

    return Heuristic("linear-conflict", workspace, measure, consistent=True)


# The fields are used in place, not bound to local names: a name that lives across a branch costs an atomic reference
# count each time. The compiler optimises it away in a search with linear conflict alone, but not in one with a maximum.


@shared
def _removed(heuristic, code):
    if heuristic.removals.size != 0:
        return np.int64(fetch(heuristic.removals, code))
    return np.int64(fewest_removals(code, heuristic.width))


@shared
def _more_removed(heuristic, code, before, after):
    """By how much the removals of a line change with the digit of one tile in its code.

    A tile that moves along the line stays between the same others. Without a table it is worth looking.
    """
    if heuristic.removals.size == 0 and (before != 0) == (after != 0):
        return np.int64(0)
    return _removed(heuristic, code ^ before ^ after) - _removed(heuristic, code)


@body_of(load, LinearConflict)
def _load(heuristic, board, parts, at):
    codes = heuristic.codes
    for line in range(codes.size):
        codes[line] = 0
    for cell in range(board.size):
        tile = np.int64(board[cell])
        codes[heuristic.row_of[tile]] ^= heuristic.in_row[tile * heuristic.cells + cell]
        codes[heuristic.col_of[tile]] ^= heuristic.in_col[tile * heuristic.cells + cell]
    heuristic.value[0] = parts[at]


@body_of(evaluate, LinearConflict)
def _evaluate(heuristic, slot, tile, source, target):
    start = np.int64(tile) * heuristic.cells + np.int64(source)
    end = np.int64(tile) * heuristic.cells + np.int64(target)
    row = fetch(heuristic.codes, fetch(heuristic.row_of, np.int64(tile)))
    col = fetch(heuristic.codes, fetch(heuristic.col_of, np.int64(tile)))
    more = _more_removed(heuristic, row, fetch(heuristic.in_row, start), fetch(heuristic.in_row, end))
    more += _more_removed(heuristic, col, fetch(heuristic.in_col, start), fetch(heuristic.in_col, end))
    value = fetch(heuristic.value, 0) + fetch(heuristic.distance, end) - fetch(heuristic.distance, start) + 2 * more
    put(heuristic.values, slot, value)
    return value


@body_of(apply, LinearConflict)
def _apply(heuristic, slot, tile, source, target):
    start = np.int64(tile) * heuristic.cells + np.int64(source)
    end = np.int64(tile) * heuristic.cells + np.int64(target)
    row, col = fetch(heuristic.row_of, np.int64(tile)), fetch(heuristic.col_of, np.int64(tile))
    in_row = fetch(heuristic.in_row, start) ^ fetch(heuristic.in_row, end)
    in_col = fetch(heuristic.in_col, start) ^ fetch(heuristic.in_col, end)
    put(heuristic.codes, row, fetch(heuristic.codes, row) ^ in_row)
    put(heuristic.codes, col, fetch(heuristic.codes, col) ^ in_col)
    value = fetch(heuristic.value, 0)
    put(heuristic.value, 0, fetch(heuristic.values, slot))
    put(heuristic.values, slot, value)


@kernel
def values_of(heuristic, boards, values):
    """The values of many boards, each worked out afresh."""
    parts = np.zeros(1, dtype=np.int64)
    for number in range(boards.shape[0]):
        load(heuristic, boards[number], parts, 0)
        value = 0
        for cell in range(heuristic.cells):
            value += heuristic.distance[np.int64(boards[number, cell]) * heuristic.cells + cell]
        for line in range(heuristic.codes.size):
            value += 2 * _removed(heuristic, heuristic.codes[line])
        values[number] = value
