"""Hamming distance: how many tiles are not at home. The blank does not count.

Each of them must move at least once, and a move moves one tile, so the estimate is admissible, also on wrapped boards;
it is weak, and meant for comparison. Unlike Manhattan distance it does not tell whether the number of moves is even or
odd: a move from one wrong cell to another leaves it unchanged.

Like Manhattan distance it adds up a number per tile that depends on the tile's cell, and shares its code.
"""

from __future__ import annotations

import numpy as np

from pdb_builder.grid import Grid

from .contract import Heuristic
from .manhattan import distances_home, sum_over_tiles


def prepare(grid: Grid, blank: int) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell."""
    return sum_over_tiles("hamming", np.minimum(distances_home(grid, blank), 1))
