"""Moves as people write them: a letter each, up, down, left or right, and runs of the same as in ``R2 D L``.

A letter says where a tile goes or, in the other convention, where the blank goes; the two are opposites. Which one is
meant cannot be seen, so it has to be said. A *scramble* is a sequence of moves from the goal, and the board it leads
to. Reading is lenient about case and spaces, and strict about everything else: a move off the board is an error that
names its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid

from .board import Board, board_text, grid_of
from .goals import goal_board

WHOSE = ("tile", "blank")  # moves the letters name
DIRECTIONS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}  # rows and columns
OPPOSITES = dict(zip("UDLR", "DURL", strict=True))
MOST_MOVES = 10_000  # of a scramble
_WORDS = {"U": "up", "D": "down", "L": "left", "R": "right"}
_EDGES = {"U": "first row", "D": "last row", "L": "first column", "R": "last column"}
_MOVE = re.compile(r"([UDLR])([0-9]*)(['\u2019\u2032`]?)", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;]*")


def letter_of(grid: Grid, source: int, target: int) -> str:
    """The letter of a move from a cell to a neighbour."""
    (row, col), (new_row, new_col) = divmod(source, grid.cols), divmod(target, grid.cols)
    # A step of more than one crosses a wrapped edge, to the other side.
    step = (new_row - row) or (new_col - col)
    return ("UD" if row != new_row else "LR")[(step > 0) == (abs(step) == 1)]


def compact(letters: str) -> str:
    """Letters with run lengths, as in ``R2 D L``."""
    runs = ((letter, sum(1 for _ in run)) for letter, run in groupby(letters))
    return " ".join(letter if count == 1 else f"{letter}{count}" for letter, count in runs)


def scramble(
    moves: str, shape: str | tuple[int, int] | Grid, goal: str | Sequence = "last", wrap: bool = False, of: str = "tile"
) -> Board:
    """The board that moves lead to from the goal: letters, with run lengths if wanted, as in ``R2 D L``.

    They are moves ``of`` the tile, or of the blank. ``shape`` and ``goal`` are given as for ``solve``, and ``wrap``
    joins the edges. Raises ``InputError`` for what is not a move, and for a move off the board.
    """
    if not isinstance(moves, str):
        raise InputError(f"a scramble must be text, got {moves!r}: write it as 'R2 D L'")
    if of not in WHOSE:
        raise InputError(f"moves are those of the {' or the '.join(WHOSE)}, got {of!r}: give one of these words")
    grid = grid_of(shape, wrap)
    board = list(goal_board(grid, board_text(goal)))
    blank = board.index(0)
    for number, letter in enumerate(_letters_in(moves), 1):
        way = letter if of == "blank" else OPPOSITES[letter]  # of the blank
        cell = _beside(grid, blank, way)
        if cell is None:
            who = "the blank" if of == "blank" else "a tile"
            raise InputError(
                f"move {number} of the scramble, {letter}, is off the board: {who} cannot go {_WORDS[letter]} while "
                f"the blank is in the {_EDGES[way]}; the moves begin at the goal, and are those of the {of}"
            )
        board[blank], board[cell], blank = board[cell], 0, cell
    return tuple(board)


def _beside(grid: Grid, cell: int, letter: str) -> int | None:
    """The neighbour of a cell in a direction, if there is one."""
    row, col = (place + step for place, step in zip(divmod(cell, grid.cols), DIRECTIONS[letter], strict=True))
    if grid.wrap:
        row, col = row % grid.rows, col % grid.cols
    return row * grid.cols + col if 0 <= row < grid.rows and 0 <= col < grid.cols else None


def _letters_in(text: str) -> Iterator[str]:
    """The moves of a scramble, one by one. Raises ``InputError`` where there is something else."""
    at, count = _BETWEEN.match(text).end(), 0  # type: ignore[union-attr]  # it matches nothing, too
    while at < len(text):
        move = _MOVE.match(text, at)
        place = f"at character {at + 1} of the scramble"
        if move is None:
            raise InputError(f"{text[at : at + 12]!r} {place} is not a move: write U, D, L or R, as in 'R2 D L'")
        letter, digits, prime = move[1].upper(), move[2], move[3]
        times = int(digits.lstrip("0")[:6] or 0) if digits else 1
        if prime:
            raise InputError(f"{move[0]!r} {place}: sliding tiles have no primes: write {OPPOSITES[letter]} instead")
        if times == 0:
            raise InputError(f"{move[0]!r} {place} is no move at all: leave it out, or write a number from 1 on")
        count += times
        if count > MOST_MOVES:
            raise InputError(f"the scramble has more than {MOST_MOVES:,} moves: write fewer, or give the board")
        yield from letter * times
        at = _BETWEEN.match(text, move.end()).end()  # type: ignore[union-attr]
