"""A board as SVG: its tiles in the colours of their homes.

This is the one drawing of a board, in files, pages and notebooks. It needs no library, and takes about 100 bytes per
tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pdb_builder.base.markup import Markup
from pdb_builder.drawing import SIDE, Picture, Place, board_picture, corner, square
from pdb_builder.grid import Grid

from ..board import Board, board_text, format_board, grid_of, parse_board
from ..goals import goal_board
from .colours import TileColours, corner_share, tile_colours


def svg(
    board: str | Sequence,
    goal: str | Sequence = "last",
    *,
    shape: str | tuple[int, int] | None = None,
    wrap: bool = False,
) -> Picture:
    """A board as SVG. It is text, which a notebook shows as the picture.

    Board, goal, shape and wrap are those of ``solve``; whether the board can be solved does not matter. Tiles at home
    are bright, the others dark. Raises ``InputError`` for what is not a board.
    """
    grid, tiles = parse_board(board_text(board), None if shape is None else grid_of(shape, wrap), wrap)
    return draw(grid, tiles, goal_board(grid, board_text(goal)))


def draw(grid: Grid, board: Board, goal: Board, side: int = SIDE) -> Picture:
    """``svg`` for boards that are parsed; its longer side has about ``side`` pixels."""
    tiles = [draw_tile(grid, goal, tile, cell) for cell, tile in enumerate(board) if tile]
    return board_picture(grid, tiles, f"{grid} board: {format_board(grid, board)}", side=side)


def draw_tile(
    grid: Grid, goal: Board, tile: int, cell: int, copies: Iterable[Place] = (), style: str | None = None
) -> Markup:
    """A tile on a cell."""
    return square(corner(grid, cell), str(tile), *colours_of(grid, goal, tile, cell), copies, style)


def colours_of(grid: Grid, goal: Board, tile: int, cell: int) -> TileColours:
    """The colours of a tile on a cell, and of its number."""
    home = goal.index(tile)
    return tile_colours(corner_share(grid, home), at_home=home == cell)
