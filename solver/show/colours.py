"""The colours of the tiles."""

from __future__ import annotations

from typing import NamedTuple

from pdb_builder.grid import Grid

Colour = tuple[int, int, int]


# From the first corner of the goal to the last: about equally bright, so that one dark text is readable on all.
RAINBOW = (
    (94, 228, 208),
    (98, 190, 250),
    (152, 154, 255),
    (214, 144, 250),
    (255, 142, 180),
    (255, 170, 112),
    (250, 216, 96),
)


NIGHT: Colour = (30, 34, 46)  # what tiles lie on


DARK: Colour = (20, 23, 32)  # numbers on bright tiles


LIGHT: Colour = (238, 241, 248)  # numbers on dark tiles


def mixed(a: Colour, b: Colour, share: float) -> Colour:
    """A colour between two, with the given share of the second."""
    return tuple(round(x + (y - x) * share) for x, y in zip(a, b, strict=True))


def place(grid: Grid, cell: int) -> float:
    """How far a cell is from the first corner to the last, from 0 to 1."""
    row, col = divmod(cell, grid.cols)
    return (row + col) / (grid.rows + grid.cols - 2)


class Look(NamedTuple):
    """The colours of a tile."""

    fill: Colour
    number: Colour


def look(share: float, at_home: bool) -> Look:
    """The colours of a tile whose home is this far from the first corner to the last."""
    at = share * (len(RAINBOW) - 1)
    step = min(int(at), len(RAINBOW) - 2)
    bright = mixed(RAINBOW[step], RAINBOW[step + 1], at - step)
    return Look(bright, DARK) if at_home else Look(mixed(bright, NIGHT, 0.62), LIGHT)
