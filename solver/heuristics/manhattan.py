"""Manhattan distance: how many moves each tile would need if it were alone, added up.

A move changes the distance of one tile by one, so the value is kept by adding differences.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid

from .contract import Board, Heuristic, apply, body_of, evaluate, load


class Manhattan(NamedTuple):
    """What the kernels work on."""

    distance: np.ndarray  # [tile, cell] -> moves of a lone tile to its home, 0 for the blank
    state: np.ndarray  # the value of the current board


@lru_cache(maxsize=8)
def distances_home(grid: Grid, blank: int) -> np.ndarray:
    """[tile, cell] -> moves of a lone tile from the cell to its home, 0 for the blank. Not to be written to."""
    distance = np.zeros((grid.cells, grid.cells), dtype=np.int64)
    for tile in range(1, grid.cells):
        home = grid.home(tile, blank)
        distance[tile] = [grid.distance(cell, home) for cell in range(grid.cells)]
    return distance


def sum_over_tiles(name: str, cost: np.ndarray) -> Heuristic:
    """The heuristic that adds up ``cost[tile, cell]`` over the tiles of a board."""

    def workspace(slots: int) -> Manhattan:
        return Manhattan(cost, np.zeros(1, dtype=np.int64))

    def measure(board: Board) -> list[int]:
        return [int(cost[list(board), range(len(board))].sum())]

    return Heuristic(name, workspace, measure, consistent=True)


def prepare(grid: Grid, blank: int) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell."""
    return sum_over_tiles("manhattan", distances_home(grid, blank))


@body_of(load, Manhattan)
def _load(heuristic, board, parts, at):
    heuristic.state[0] = parts[at]


@body_of(evaluate, Manhattan)
def _evaluate(heuristic, slot, tile, source, target):
    distance = heuristic.distance
    return heuristic.state[0] + distance[tile, target] - distance[tile, source]


@body_of(apply, Manhattan)
def _apply(heuristic, slot, tile, source, target):
    distance = heuristic.distance
    heuristic.state[0] += distance[tile, target] - distance[tile, source]
