"""Goals: by name, or written out as a board.

The named goals are those that puzzles come with and papers measure: the tiles in order with the blank in the last or
in the first cell, and the spiral of the eight-puzzle in textbooks. Any other arrangement is written like a board.
"""

from __future__ import annotations

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid

from .board import Board, check_words, format_board, parse_board

GOALS = ("last", "first", "spiral")


def goal_board(grid: Grid, text: str = "last") -> Board:
    """A goal by name, or written out as a board of the grid.

    ``last`` is 1 2 ... n-1 with the blank last, ``first`` the same with the blank first. ``spiral`` winds clockwise
    inwards from the top left corner and ends with the blank.
    """
    name = text.strip().lower()
    if name == "last":
        return grid.goal(grid.cells - 1)
    if name == "first":
        return grid.goal(0)
    if name == "spiral":
        return _spiral(grid)
    try:
        return parse_board(text, grid)[1]
    except InputError as error:
        raise _not_a_goal(error) from None


def goal_text(grid: Grid, goal: Board) -> str:
    """The name of a goal, or the goal written out if it has none. ``goal_board`` reads it back."""
    return next((name for name in GOALS if goal_board(grid, name) == goal), format_board(grid, goal))


def check_goal(text: str) -> None:
    """Raise ``InputError`` for text that is not a goal of any board, whatever its shape."""
    if text.strip().lower() not in GOALS:
        try:
            check_words(text)
        except InputError as error:
            raise _not_a_goal(error) from None


def _not_a_goal(error: InputError) -> InputError:
    return InputError(f"the goal is neither {', '.join(GOALS)} nor a board: {error}")


def _spiral(grid: Grid) -> Board:
    board = [0] * grid.cells
    rows = [list(range(row * grid.cols, (row + 1) * grid.cols)) for row in range(grid.rows)]
    tile = 1
    while rows:
        for cell in rows.pop(0):
            board[cell] = tile % grid.cells  # the last cell is left to the blank
            tile += 1
        rows = [list(column) for column in zip(*rows, strict=True)][::-1]  # a quarter turn
    return tuple(board)
