"""Is one's own heuristic what it is declared to be? Tried on every board of a small shape.

All boards that lead to the goal are listed by breadth-first search, so their distances are exact. Each has a number,
that of its permutation in lexicographic order, and two tables by that number hold the distances and the values. The
nearest boards come first, so the first counterexample is one that can be followed by hand. What is true of all boards
of 3×3 may still be wrong on 4×4: the check can refute a claim, and not prove it for larger boards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import factorial
from typing import NamedTuple

import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.interrupts import compiling
from pdb_builder.base.jit import kernel, shared
from pdb_builder.base.wording import counted
from pdb_builder.grid import Grid
from pdb_builder.index import neighbours_of

from .board import Board, board_text, format_board, grid_of
from .goals import goal_board
from .heuristics.own import FAILED, about_goal, claims_of, compiled, homes_in, value_at

MOST_CELLS = 10  # 3,628,800 boards at most
AT_ONCE = 20_000  # boards between two moments at which Ctrl-C is noticed


class TooHigh(NamedTuple):
    """A board whose value exceeds its distance from the goal."""

    board: Board
    value: int
    distance: int


class Jump(NamedTuple):
    """A move that changes the value by more than one."""

    board: Board
    value: int
    board_after: Board
    value_after: int


class HeuristicCheck(NamedTuple):
    """What is true of a heuristic on all boards that lead to a goal, with the counterexamples nearest to the goal."""

    name: str
    grid: Grid
    goal: Board
    boards: int
    declared_admissible: bool
    declared_consistent: bool
    too_high: TooHigh | None
    jump: Jump | None
    mean: float  # value
    mean_distance: float

    @property
    def admissible(self) -> bool:
        return self.too_high is None

    @property
    def consistent(self) -> bool:
        """Whether no move changes the value by more than one, and it is not above 0 for the goal."""
        return self.admissible and self.jump is None

    @property
    def holds(self) -> bool:
        """Whether all that was declared is true here."""
        return self.admissible >= self.declared_admissible and self.consistent >= self.declared_consistent

    def __str__(self) -> str:
        shown = lambda board: format_board(self.grid, board)  # noqa: E731
        lines = [
            f"{self.name} on {self.boards:,} boards of {self.grid}: {self.mean:.2f} on average, "
            f"where {self.mean_distance:.2f} moves are needed"
        ]
        for claim, declared, found in (
            ("admissible", self.declared_admissible, self.admissible),
            ("consistent", self.declared_consistent, self.consistent),
        ):
            said = ("as declared" if found else "though declared so") if declared else "not declared so"
            lines.append(f"{claim if found else f'not {claim}'}, {said}")
        if self.too_high:
            board, value, distance = self.too_high
            lines.append(f"too high: {value} for {shown(board)}, which is {counted(distance, 'move')} from the goal")
        if self.jump:
            board, value, after, value_after = self.jump
            lines.append(f"jump: {value} for {shown(board)}, and after one move {value_after} for {shown(after)}")
        return "\n".join(lines)


def check_heuristic(
    function: Callable, shape: str | tuple[int, int] | Grid = "3x3", goal: str | Sequence = "last", wrap: bool = False
) -> HeuristicCheck:
    """Compare a heuristic of one's own with the distances of all boards of a shape, of at most 10 cells.

    ``shape``, ``goal`` and ``wrap`` are given as for ``distribution``. Raises ``InputError`` for a larger shape, and
    for a function that cannot be compiled or that raises an error.
    """
    grid = grid_of(shape, wrap)
    if grid.cells > MOST_CELLS:
        raise InputError(
            f"{grid.a_board} has {grid.cells} cells, too many to try all boards: check the heuristic on at most "
            f"{MOST_CELLS}, as in 3x3 or 2x5"
        )
    target = goal_board(grid, board_text(goal))
    neighbours, numbers = neighbours_of(grid), factorial(grid.cells)
    distance, value = np.full(numbers, -1, dtype=np.int16), np.zeros(numbers, dtype=np.int64)
    found = np.zeros(numbers, dtype=np.int32)  # the numbers of boards, nearest first

    def board_at(number: int) -> Board:
        board = np.zeros(grid.cells, dtype=np.int64)
        _board_of(number, board)
        return tuple(board.tolist())

    def pieces() -> Iterator[np.ndarray]:
        return (found[at : at + AT_ONCE] for at in range(0, found.size, AT_ONCE))

    with compiling():
        code, home = compiled(function), homes_in(grid, target)
        about = about_goal(grid, home)
        board_at(0)
        _list_after(found[:0], neighbours, distance, found, 0)
        _evaluate(found[:0], code.code.address, about, grid.cells, value)
        _first_jump(found[:0], neighbours, value)

    found[0], at, count = _number_of(np.array(target)), 0, 1
    distance[found[0]] = 0
    while at < count:
        numbers = found[at : min(at + AT_ONCE, count)]
        at, count = at + numbers.size, _list_after(numbers, neighbours, distance, found, count)
    found = found[:count]
    for numbers in pieces():
        failed = _evaluate(numbers, code.code.address, about, grid.cells, value)
        if failed >= 0:
            code.raise_again(grid, board_at(failed), home)
    exceeding = np.flatnonzero(value[found] > distance[found])
    highest = int(found[exceeding[0]]) if exceeding.size else None
    jumps = (_first_jump(numbers, neighbours, value) for numbers in pieces())
    before, after = next((jump for jump in jumps if jump[0] >= 0), (-1, -1))
    return HeuristicCheck(
        code.name,
        grid,
        target,
        found.size,
        *claims_of(function),
        None if highest is None else TooHigh(board_at(highest), int(value[highest]), int(distance[highest])),
        None if before < 0 else Jump(board_at(before), int(value[before]), board_at(after), int(value[after])),
        float(value[found].mean()),
        float(distance[found].mean()),
    )


@shared
def _number_of(board):
    """The number of a board among all permutations."""
    number = 0
    seen = 0  # the set of tiles on the cells before, as a bit mask
    for cell in range(board.size):
        smaller = 0
        for tile in range(board[cell]):
            smaller += 1 - ((seen >> tile) & 1)
        number = number * (board.size - cell) + smaller
        seen |= 1 << board[cell]
    return number


@shared
def _number_after(board, blank, cell):
    """The number of the board after the move of the tile on a cell."""
    board[blank], board[cell] = board[cell], 0
    number = _number_of(board)
    board[blank], board[cell] = 0, board[blank]
    return number


@kernel
def _board_of(number, board):
    """Make ``board`` that of a number."""
    for cell in range(board.size - 1, -1, -1):
        left = board.size - cell
        board[cell] = number % left
        number //= left
        for later in range(cell + 1, board.size):  # ranks among fewer tiles become ranks among more
            if board[later] >= board[cell]:
                board[later] += 1


@kernel
def _list_after(numbers, neighbours, distance, found, count):
    """Breadth-first search: fill in the distances of boards a move away from some, and add those that are new to the
    list; returns how many there are.
    """
    board = np.zeros(neighbours.shape[0], dtype=np.int64)
    for here in numbers:
        _board_of(np.int64(here), board)
        blank = np.argmin(board)
        for cell in neighbours[blank]:
            if cell < 0:
                break
            there = _number_after(board, blank, cell)
            if distance[there] < 0:
                distance[there] = distance[here] + 1
                found[count] = there
                count += 1
    return count


@kernel
def _evaluate(numbers, address, about, cells, value):
    """The values of some boards; returns the number of one for which there is none, or -1."""
    board = np.zeros(cells, dtype=np.int64)
    shown = np.zeros_like(board), np.zeros_like(about)
    for number in numbers:
        _board_of(np.int64(number), board)
        value[number] = value_at(address, board, about, *shown)
        if value[number] == FAILED:
            return np.int64(number)
    return np.int64(-1)


@kernel
def _first_jump(numbers, neighbours, value):
    """The numbers of the first two boards, a move apart, whose values differ by more than one; or -1 twice."""
    board = np.zeros(neighbours.shape[0], dtype=np.int64)
    for number in numbers:
        _board_of(np.int64(number), board)
        blank = np.argmin(board)
        for cell in neighbours[blank]:
            if cell < 0:
                break
            there = _number_after(board, blank, cell)
            if abs(value[number] - value[there]) > 1:
                return np.int64(number), np.int64(there)
    return np.int64(-1), np.int64(-1)
