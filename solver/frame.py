"""Frames: any goal seen as a canonical one.

Searches know one kind of goal, the canonical one: tiles in order around the blank. A *frame* turns any goal into such
a goal: its tiles are renamed after the cells they belong on, and the board is turned so that the blank's home has the
lowest number it can have. So the goals 1 2 ... 15 0 and 0 1 ... 15, and any labels with the blank in any corner, are
the same puzzle, and the same database serves them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pdb_builder.grid import Grid

from .board import Board


class Frame(NamedTuple):
    """How boards on the way to a goal look when the goal is canonical, and back."""

    grid: Grid
    blank: int  # the cell of the blank's home
    cells: tuple[int, ...]  # cell -> cell in the frame
    tiles: tuple[int, ...]  # tile -> tile in the frame

    def enter(self, board: Board) -> Board:
        """A board as it looks in the frame."""
        inside = [0] * len(board)
        for cell, tile in enumerate(board):
            inside[self.cells[cell]] = self.tiles[tile]
        return tuple(inside)

    def then(self, inner: Frame) -> Frame:
        """The frame of a goal that was seen in this frame."""
        cells, tiles = ([second[one] for one in first] for first, second in zip(self[2:], inner[2:], strict=True))
        return Frame(self.grid, inner.blank, tuple(cells), tuple(tiles))

    def leave(self, cells: Sequence[int]) -> list[int]:
        """Cells of the frame as cells of the board."""
        return [self.cells.index(cell) for cell in cells]


def frame_of(grid: Grid, goal: Board) -> Frame:
    """The frame of a goal, turned so that the blank's home has the lowest number."""
    home = goal.index(0)
    turns = [cells for target, cells in grid.symmetries() if target == grid]
    cells = min(turns, key=lambda turn: turn[home])  # of several, the first: the board as it is, or half a turn
    blank = cells[home]
    canonical = grid.goal(blank)
    tiles = [0] * grid.cells
    for cell, tile in enumerate(goal):
        tiles[tile] = canonical[cells[cell]]
    return Frame(grid, blank, cells, tuple(tiles))
