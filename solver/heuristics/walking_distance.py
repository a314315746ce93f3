"""Walking distance: the moves it would take if a tile knew only which row, or which column, it belongs to.

If only the goal row of each tile mattered, a certain number of vertical moves would still be needed, and if only the
goal column, a certain number of horizontal ones. No move is both, so the sum of the two is admissible. (Takahashi.) It
sees what Manhattan distance does not: that a tile can only move into the blank's row, and that others must make room
for it. Both numbers come from tables (``walking_table``), exact to the move. A move changes one of them, by exactly
one, and with it the sum, which therefore has the parity of the distance.

Rows and columns are the two *axes*. A move along an axis takes a tile from one line of it to the next and leaves the
matrix of the other axis unchanged. The new matrix depends on the tile's goal line and on the direction.

*Linked*: if the tables are small, all these moves are worked out beforehand. A link, by matrix, goal line and
direction, is the number of the next matrix and whether it is nearer to the goal. To evaluate a move is one access to
memory, and on 4×4 the links of a table take 400 kB, which a core's cache holds.

*Ranked*: otherwise the new rank is computed from the fillings of two lines and the rest between (see
``walking_table``), and the distance is looked up.

On a wrapped board a tile goes from the first line to the last, and the estimate would be inadmissible.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.jit import fetch, kernel, put, shared
from pdb_builder.grid import Grid
from pdb_builder.pattern import has_patterns

from .contract import Board, Heuristic, apply, body_of, check_not_wrapped, evaluate, load
from .walking_table import MOST_STATES, ROWS, count_states, index_arrays, list_moves, table_for

TABLE = "walking-distance table"  # what its progress is called
MOST_LINKED = 1 << 24  # bytes of links, of both axes, so that the number of one takes 24 bits

# The columns of ``facts``, what is known of an axis: how many lines it has, how many fillings a line can have, and
# where its part of each array begins.
LINES, WIDTH, OF_LINES, OF_CODES, OF_RESTS, OF_FILLINGS, OF_LINKS = range(7)
FACTS = 8  # a power of two, so that finding a row is a shift
# The word that is the state of the linked kind: the first links of both axes, and the value above them. A turn has
# where the links of a move are, and below that, eight bits each, the links per matrix and the place of its axis in the
# word.
FIRST_BITS, TURN_BITS = 24, 8
VALUE = 2 * FIRST_BITS
# What a slot of the ranked kind holds: what a move exchanges.
RANK, BETWEEN, DISTANCE = range(3)
SLOT = 4


class Axes(NamedTuple):
    """How the matrices of a board are found. Arrays are flat, and hold what belongs to rows before that of columns."""

    cells: int
    facts: np.ndarray  # [axis, fact]
    line_of: np.ndarray  # [axis, cell] -> line
    goal_line: np.ndarray  # [axis, tile] -> line
    weight: np.ndarray  # [axis, tile] -> its share in the code of a line, 0 for the blank
    of_code: np.ndarray  # [code of a line] -> its filling
    before: np.ndarray  # [rest, filling]: see ``walking_table``
    after: np.ndarray
    taken: np.ndarray  # [filling, goal line]
    given: np.ndarray
    fillings: np.ndarray  # of the lines of the current board
    rests: np.ndarray  # before the lines of the current board
    ranks: np.ndarray  # [axis], of the current board


class Linked(NamedTuple):
    """What the kernels work on if the moves are worked out beforehand.

    The state is one word: for each axis where the links of its matrix begin, and above both the value. A move changes
    one of the two and the value, so the word after it is all that a slot has to hold.
    """

    axes: Axes
    cols: int
    turns: np.ndarray  # [tile, cols + target - source] -> where its links are in those of a matrix, the links per
    # matrix, and where the state has the axis, packed
    links: np.ndarray  # [matrix, goal line, direction] -> the next matrix, and in the lowest bit whether it is nearer
    state: np.ndarray
    slots: np.ndarray


class Ranked(NamedTuple):
    """What the kernels work on if the tables are large."""

    axes: Axes
    of_rows: np.ndarray  # the table of the rows
    of_cols: np.ndarray
    state: np.ndarray  # of the current board: the distances, and the fillings, rests and ranks of ``axes``
    distances: np.ndarray  # [axis]
    slots: np.ndarray  # [slot, what]


@kernel
def _link(table, before, after, taken, given, width, lines, links):
    """Work out all moves."""
    known, moves = np.zeros(ROWS * lines, dtype=np.int64), np.zeros(2 * lines, dtype=np.int64)
    for rank in range(table.size):
        list_moves(rank, before, after, taken, given, width, lines, known, moves)
        for move in range(2 * lines):
            if moves[move] >= 0:
                nearer = np.int64(table[moves[move]] < table[rank])
                links[rank * 2 * lines + move] = (moves[move] << 1) | nearer


def prepare(
    grid: Grid,
    blank: int,
    folder: Path,
    notify: Callable[[str], object] = lambda text: None,
    progress: Callable[[str, float], object] = lambda what, share: None,
) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell; its tables are kept in a folder.

    If a table has to be built, ``notify`` is told so, and ``progress`` which share of it is done.
    """
    check_not_wrapped(grid, "walking-distance")
    for lines in (max(grid.rows, grid.cols), min(grid.rows, grid.cols)):  # many lines soon show too many states
        states = count_states(lines, grid.cells // lines)
        if states > MOST_STATES:
            raise InputError(
                f"walking-distance on {grid} boards needs a table of {states:,} states or more, and the limit is "
                f"{MOST_STATES:,}: use linear-conflict{' or pdb' * has_patterns(grid)}"
            )
    for table in _tables(grid, blank):
        table_for(*table, folder, notify=notify, progress=lambda done, total: progress(TABLE, done / total))
    return _prepared(grid, blank, folder)


def _tables(grid: Grid, blank: int) -> list[tuple[int, int, int]]:
    """The tables of the two axes, each by the number of lines, their length and the blank's home line.

    Mirrored, a board with its home in the other half is one with its home in this half.
    """
    row, col = divmod(blank, grid.cols)
    rows, cols = grid.rows, grid.cols
    return [(rows, cols, min(row, rows - 1 - row)), (cols, rows, min(col, cols - 1 - col))]


@lru_cache(maxsize=4)
def _prepared(grid: Grid, blank: int, folder: Path) -> Heuristic:
    rows, cols, cells = grid.rows, grid.cols, grid.cells
    (of_rows, row_table), (of_cols, col_table) = (table_for(*table, folder) for table in _tables(grid, blank))
    homes = divmod(blank, cols)
    mirrored = [home > lines - 1 - home for home, lines in zip(homes, (rows, cols), strict=True)]

    def line(axis: int, cell: int) -> int:
        place, lines = divmod(cell, cols)[axis], (rows, cols)[axis]
        return lines - 1 - place if mirrored[axis] else place

    indexes = (of_rows, of_cols)
    line_of = np.array([[line(axis, cell) for cell in range(cells)] for axis in (0, 1)])
    tile_homes = [grid.home(tile, blank) for tile in range(1, cells)]
    goal_line, weight = np.zeros((2, 2, cells), dtype=np.int64)
    goal_line[:, 1:] = line_of[:, tile_homes]
    for axis, index in enumerate(indexes):
        weight[axis, 1:] = index.weight[goal_line[axis, 1:]]

    facts = np.zeros((2, FACTS), dtype=np.int64)
    facts[:, LINES], facts[:, WIDTH] = (rows, cols), [len(index.fillings) for index in indexes]
    facts[1, OF_LINES], facts[1, OF_CODES] = rows, of_rows.of_code.size
    facts[1, OF_RESTS], facts[1, OF_FILLINGS] = of_rows.before.size, of_rows.taken.size

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(index, name) for index in indexes])

    known = [line_of.ravel(), goal_line.ravel(), weight.ravel()]
    known += [joined(name) for name in ("of_code", "before", "after", "taken", "given")]

    def axes(state: np.ndarray) -> Axes:
        lines = rows + cols
        return Axes(cells, facts.ravel(), *known, state[:lines], state[lines : 2 * lines], state[2 * lines :])

    def measure(board: Board) -> list[int]:
        value = 0
        for axis, (index, table) in enumerate([(of_rows, row_table), (of_cols, col_table)]):
            codes = np.bincount(line_of[axis], weight[axis, list(board)], index.lines).astype(np.int64)
            value += int(table[index.rank(index.of_code[codes].tolist())])
        return [value]

    links = 2 * of_rows.lines * of_rows.states + 2 * of_cols.lines * of_cols.states
    link_type = np.dtype(np.uint16 if max(of_rows.states, of_cols.states) <= 1 << 15 else np.uint32)
    if links * link_type.itemsize > MOST_LINKED:

        def ranked(slots: int) -> Ranked:
            state = np.zeros(2 + 2 * (rows + cols) + 2, dtype=np.int64)
            noted = np.zeros(SLOT * slots, dtype=np.int64)
            return Ranked(axes(state[2:]), row_table, col_table, state, state[:2], noted)

        return Heuristic("walking-distance", ranked, measure, consistent=True)

    if of_cols is of_rows:  # the same table serves both axes
        links //= 2
    else:
        facts[1, OF_LINKS] = 2 * of_rows.lines * of_rows.states
    all_links = np.zeros(links, dtype=link_type)
    for axis, (index, table) in enumerate([(of_rows, row_table), (of_cols, col_table)]):
        first = facts[axis, OF_LINKS]
        _link(table, *index_arrays(index), all_links[first : first + 2 * index.lines * index.states])
    turns = np.zeros((cells, 2 * cols + 1), dtype=np.int64)
    for axis, step_of in enumerate((cols, 1)):
        for sign in (1, -1):
            down = (sign > 0) != mirrored[axis]
            turn = (facts[axis, OF_LINKS] + 2 * goal_line[axis] + down) << TURN_BITS | 2 * facts[axis, LINES]
            turns[:, cols + sign * step_of] = turn << TURN_BITS | axis * FIRST_BITS

    def linked(slots: int) -> Linked:
        scratch = np.zeros(2 * (rows + cols) + 2, dtype=np.int64)
        working = (np.zeros(1, dtype=np.int64), np.zeros(slots, dtype=np.int64))
        return Linked(axes(scratch), cols, turns.ravel(), all_links, *working)

    return Heuristic("walking-distance", linked, measure, consistent=True)


# ---- kernels ------------------------------------------------------------------------------------
#
# As in ``pattern_database`` the fields are used in place: a local name would cost an atomic reference count.


@shared
def _locate(axes, board):
    """Find the matrices of a board: fillings, rests and ranks."""
    for axis in range(2):
        fact = axis * FACTS
        first, lines = axes.facts[fact + OF_LINES], axes.facts[fact + LINES]
        for line in range(first, first + lines):
            axes.fillings[line] = 0  # codes, to begin with
        for cell in range(axes.cells):
            line = first + axes.line_of[axis * axes.cells + cell]
            axes.fillings[line] += axes.weight[axis * axes.cells + board[cell]]
        rank = 0
        rest = 0
        for line in range(first, first + lines):
            filling = np.int64(axes.of_code[axes.facts[fact + OF_CODES] + axes.fillings[line]])
            at = axes.facts[fact + OF_RESTS] + rest * axes.facts[fact + WIDTH] + filling
            axes.fillings[line] = filling
            axes.rests[line] = rest
            rank += np.int64(axes.before[at])
            rest = np.int64(axes.after[at])
        axes.ranks[axis] = rank


@body_of(load, Linked)
def _load_linked(heuristic, board, parts, at):
    _locate(heuristic.axes, board)
    state = parts[at] << VALUE
    for axis in range(2):
        links = 2 * heuristic.axes.facts[axis * FACTS + LINES]
        state |= heuristic.axes.ranks[axis] * links << (axis * FIRST_BITS)
    heuristic.state[0] = state


@body_of(evaluate, Linked)
def _evaluate_linked(heuristic, slot, tile, source, target):
    at = np.int64(tile) * (2 * heuristic.cols + 1) + heuristic.cols + np.int64(target) - np.int64(source)
    turn = fetch(heuristic.turns, at)
    place = turn & ((1 << TURN_BITS) - 1)
    state = fetch(heuristic.state, 0)
    first = (state >> place) & ((1 << FIRST_BITS) - 1)
    link = np.int64(fetch(heuristic.links, first + (turn >> (2 * TURN_BITS))))
    new_first = (link >> 1) * ((turn >> TURN_BITS) & ((1 << TURN_BITS) - 1))
    state += ((new_first - first) << place) + ((1 - ((link & 1) << 1)) << VALUE)
    put(heuristic.slots, slot, state)
    return state >> VALUE


@body_of(apply, Linked)
def _apply_linked(heuristic, slot, tile, source, target):
    state = fetch(heuristic.state, 0)
    put(heuristic.state, 0, fetch(heuristic.slots, slot))
    put(heuristic.slots, slot, state)


@body_of(load, Ranked)
def _load_ranked(heuristic, board, parts, at):
    _locate(heuristic.axes, board)
    heuristic.distances[0] = heuristic.of_rows[heuristic.axes.ranks[0]]
    heuristic.distances[1] = heuristic.of_cols[heuristic.axes.ranks[1]]


@shared
def _fillings_after(heuristic, axis, tile, source, target):
    """The upper of the two lines that a move changes, and the fillings of both after it."""
    fact, first = axis * FACTS, axis * heuristic.axes.cells
    of_lines, lines = fetch(heuristic.axes.facts, fact + OF_LINES), fetch(heuristic.axes.facts, fact + LINES)
    goal_line = fetch(heuristic.axes.goal_line, first + np.int64(tile))
    start = of_lines + fetch(heuristic.axes.line_of, first + np.int64(source))
    end = of_lines + fetch(heuristic.axes.line_of, first + np.int64(target))
    at = fetch(heuristic.axes.facts, fact + OF_FILLINGS) + goal_line
    leaving = np.int64(fetch(heuristic.axes.taken, at + fetch(heuristic.axes.fillings, start) * lines))
    filled = np.int64(fetch(heuristic.axes.given, at + fetch(heuristic.axes.fillings, end) * lines))
    if start < end:
        return start, leaving, filled
    return end, filled, leaving


@body_of(evaluate, Ranked)
def _evaluate_ranked(heuristic, slot, tile, source, target):
    change = np.int64(target) - np.int64(source)
    axis = np.int64(change * change == 1)
    line, upper, lower = _fillings_after(heuristic, axis, tile, source, target)
    width = fetch(heuristic.axes.facts, axis * FACTS + WIDTH)
    of_rests = fetch(heuristic.axes.facts, axis * FACTS + OF_RESTS)
    above = of_rests + fetch(heuristic.axes.rests, line) * width
    below = of_rests + fetch(heuristic.axes.rests, line + 1) * width
    between = np.int64(fetch(heuristic.axes.after, above + upper))
    rank = fetch(heuristic.axes.ranks, axis)
    rank -= np.int64(fetch(heuristic.axes.before, above + fetch(heuristic.axes.fillings, line)))
    rank -= np.int64(fetch(heuristic.axes.before, below + fetch(heuristic.axes.fillings, line + 1)))
    rank += np.int64(fetch(heuristic.axes.before, above + upper))
    rank += np.int64(fetch(heuristic.axes.before, of_rests + between * width + lower))
    distance = np.int64(fetch(heuristic.of_rows, rank) if axis == 0 else fetch(heuristic.of_cols, rank))
    put(heuristic.slots, slot * SLOT + RANK, rank)
    put(heuristic.slots, slot * SLOT + BETWEEN, between)
    put(heuristic.slots, slot * SLOT + DISTANCE, distance)
    return distance + fetch(heuristic.distances, 1 - axis)


@body_of(apply, Ranked)
def _apply_ranked(heuristic, slot, tile, source, target):
    change = np.int64(target) - np.int64(source)
    axis = np.int64(change * change == 1)
    line, upper, lower = _fillings_after(heuristic, axis, tile, source, target)
    at = slot * SLOT
    rank, between = fetch(heuristic.slots, at + RANK), fetch(heuristic.slots, at + BETWEEN)
    distance = fetch(heuristic.slots, at + DISTANCE)
    put(heuristic.slots, at + RANK, fetch(heuristic.axes.ranks, axis))
    put(heuristic.slots, at + BETWEEN, fetch(heuristic.axes.rests, line + 1))
    put(heuristic.slots, at + DISTANCE, fetch(heuristic.distances, axis))
    put(heuristic.axes.fillings, line, upper)
    put(heuristic.axes.fillings, line + 1, lower)
    put(heuristic.axes.ranks, axis, rank)
    put(heuristic.axes.rests, line + 1, between)
    put(heuristic.distances, axis, distance)
