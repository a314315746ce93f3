"""Hamming distance: how many tiles are not at home. The blank is not counted.

Each of them must move at least once, and a move moves one tile, so this is a lower bound, on wrapped boards, too; a
weak one, for comparison. Unlike Manhattan distance it does not tell whether the number of moves is even or odd: a move
from one wrong cell to another leaves it as it is.

It is a sum over tiles of a number that depends on the cell, as Manhattan distance is, and shares its code.
"""

from __future__ import annotations

import numpy as np

from pdb_builder.grid import Grid

from .contract import Board, Heuristic
from .manhattan import Manhattan, distances_home


def prepare(grid: Grid, blank: int) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell."""
    away = np.minimum(distances_home(grid, blank), 1)

    def fresh(slots: int) -> Manhattan:
        return Manhattan(away, np.zeros(1, dtype=np.int64))

    def measure(board: Board) -> list[int]:
        return [int(away[list(board), range(grid.cells)].sum())]

    return Heuristic("hamming", "manhattan", 1, fresh, measure, words=1)
