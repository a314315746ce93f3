"""Puzzles as the browser sees them: a board, its goal, whether it can be solved, and the colours of its tiles.

The browser moves tiles by itself. It is told everything else, so that nothing about puzzles is defined twice.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from pdb_builder.grid import Grid

from ..board import Board, format_board, parse_board
from ..goals import goal_board, goal_text
from ..instances import random_board
from ..show.colours import Colour, corner_share, tile_colours
from ..solvability import explanation, facts_of, verdict
from .fields import Fields

MOST_SEED = 2**53 - 1  # a number that a browser can hold


class Puzzle(NamedTuple):
    """A board and its goal."""

    grid: Grid
    board: Board
    goal: Board


def puzzle_of(fields: Fields) -> Puzzle:
    """The puzzle that a request names by ``board``, and perhaps ``shape``, ``wrap`` and ``goal``."""
    wrap = fields.flag("wrap")
    shape = Grid.parse(fields.text("shape"), wrap) if fields.raw("shape") is not None else None
    grid, board = parse_board(fields.text("board"), shape, wrap)
    return Puzzle(grid, board, goal_board(grid, fields.text("goal", "last")))


def shuffled(fields: Fields) -> Puzzle:
    """A random puzzle of a ``shape``: that of ``pdb-solver random`` with the same ``seed``."""
    grid = Grid.parse(fields.text("shape"), fields.flag("wrap"))
    goal = goal_board(grid, fields.text("goal", "last"))
    return Puzzle(grid, random_board(grid, goal, random.Random(seed_of(fields))), goal)


def seed_of(fields: Fields) -> int:
    return fields.whole("seed", 1, 0, MOST_SEED)


def described(puzzle: Puzzle) -> dict[str, Any]:
    """All that the browser needs to know of a puzzle."""
    grid, board, goal = puzzle
    facts = facts_of(*puzzle)
    return {
        "rows": grid.rows,
        "cols": grid.cols,
        "wrap": grid.wrap,
        "board": board,
        "text": format_board(grid, board),
        "goal": goal,
        "goal_text": goal_text(grid, goal),
        "colours": [_colours(corner_share(grid, goal.index(tile))) for tile in range(grid.cells)],
        "solvable": facts.solvable,
        "verdict": verdict(facts),
        "why": list(explanation(facts)),
    }


def _colours(share: float) -> dict[str, tuple[str, str]]:
    """Fill and number of a tile at home and away."""
    return {
        place: (css(colours.fill), css(colours.number))
        for place, colours in (("home", tile_colours(share, True)), ("away", tile_colours(share, False)))
    }


def css(colour: Colour) -> str:
    """A colour as style sheets write it."""
    return "#" + "".join(f"{part:02x}" for part in colour)
