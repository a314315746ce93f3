"""The symmetries that a goal leaves: which patterns one table serves.

A rotation or reflection of the board that keeps the blank's home turns a pattern into another one, its *image*, and
the distances of the image are those of the pattern on the board turned back. So one table serves a whole *orbit* of
patterns, and every partition comes with its images at no cost in memory. A corner of a square leaves two symmetries,
the centre of an odd square eight, most cells of an oblong one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ..grid import Grid
from ..pattern import Pattern, symmetries


class Goal:
    """The canonical goal of a grid with its blank on a given cell, and the symmetries that keep this cell.

    Symmetry 0 is the identity. ``cell_images[s][cell]`` is where symmetry s takes a cell, and ``tile_images[s][tile]``
    the tile whose home is where s takes the home of a tile.
    """

    def __init__(self, grid: Grid, blank: int = 0) -> None:
        self.grid, self.blank = grid, grid.check_blank(blank)
        self.board = grid.goal(blank)
        self.cell_images = list(dict.fromkeys(symmetries(grid, blank, blank)))
        self.tile_images = [
            tuple(self.board[image[self.homes[tile]]] for tile in range(grid.cells)) for image in self.cell_images
        ]

    @property
    def tiles(self) -> range:
        return range(1, self.grid.cells)

    @cached_property
    def homes(self) -> tuple[int, ...]:
        """Tile -> its cell in the goal; the blank is tile 0."""
        return tuple(self.board.index(tile) for tile in range(self.grid.cells))

    def image(self, pattern: Iterable[int], symmetry: int) -> Pattern:
        """The pattern that a symmetry turns a pattern into."""
        return tuple(sorted(self.tile_images[symmetry][tile] for tile in pattern))

    def orbit(self, pattern: Pattern) -> tuple[Pattern, ...]:
        """The distinct patterns that the table of a pattern serves, in ascending order."""
        return tuple(sorted({self.image(pattern, symmetry) for symmetry in range(len(self.tile_images))}))

    def views_per_tile(self, patterns: Iterable[Pattern]) -> float:
        """How many of the patterns that the tables of some patterns serve have a tile, on average."""
        served = {image for pattern in patterns for image in self.orbit(pattern)}
        return sum(map(len, served)) / len(self.tiles)
