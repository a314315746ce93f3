"""The colours of the tiles.

A tile has the colour of its home. Over the goal the colours run from the first corner to the last, so a scrambled board
is a patchwork, and order can be seen to emerge. Tiles away from home are dark with light numbers, tiles at home bright
with dark numbers: the difference remains visible in grey.
"""

from __future__ import annotations

from typing import NamedTuple

from pdb_builder.drawing import DARK, LIGHT, NIGHT, RAINBOW, Colour
from pdb_builder.grid import Grid


class TileColours(NamedTuple):
    """The colours of a tile and of its number."""

    fill: Colour
    number: Colour


def tile_colours(share: float, at_home: bool) -> TileColours:
    """The colours of a tile whose home is at this ``corner_share``."""
    at = share * (len(RAINBOW) - 1)
    step = min(int(at), len(RAINBOW) - 2)
    bright = mix(RAINBOW[step], RAINBOW[step + 1], at - step)
    return TileColours(bright, DARK) if at_home else TileColours(mix(bright, NIGHT, 0.62), LIGHT)


def corner_share(grid: Grid, cell: int) -> float:
    """How far along a cell is from the first corner to the last, from 0 to 1."""
    row, col = divmod(cell, grid.cols)
    return (row + col) / (grid.rows + grid.cols - 2)


def mix(a: Colour, b: Colour, share: float) -> Colour:
    """A colour between two, with the given share of the second."""
    red, green, blue = (round(x + (y - x) * share) for x, y in zip(a, b, strict=True))
    return red, green, blue
