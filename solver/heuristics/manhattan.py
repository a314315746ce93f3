"""Manhattan distance: how many moves each tile would need if it were alone, added up.

A move changes the distance of one tile by one, so the value is kept by adding differences.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid

from .contract import Board, Heuristic, asks_nothing, body_of, keep, look, note, resume, settle, step


class Manhattan(NamedTuple):
    """What the kernels work on."""

    distance: np.ndarray  # [tile, cell] -> moves of a lone tile to its home, 0 for the blank
    value: np.ndarray  # of the current board


@lru_cache(maxsize=8)
def distances_home(grid: Grid, blank: int) -> np.ndarray:
    """[tile, cell] -> moves of a lone tile from the cell to its home, 0 for the blank. Not to be written to."""
    distance = np.zeros((grid.cells, grid.cells), dtype=np.int64)
    for tile in range(1, grid.cells):
        home = grid.home(tile, blank)
        distance[tile] = [grid.distance(cell, home) for cell in range(grid.cells)]
    return distance


def prepare(grid: Grid, blank: int) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell."""
    distance = distances_home(grid, blank)

    def fresh(slots: int) -> Manhattan:
        return Manhattan(distance, np.zeros(1, dtype=np.int64))

    def measure(board: Board) -> list[int]:
        return [int(distance[list(board), range(grid.cells)].sum())]

    return Heuristic("manhattan", "manhattan", 1, fresh, measure, words=1)


asks_nothing(Manhattan)


@body_of(look, Manhattan)
def _look(heuristic, slot, tile, source, target):
    distance = heuristic.distance
    return heuristic.value[0] + distance[tile, target] - distance[tile, source]


@body_of(step, Manhattan)
def _step(heuristic, slot, tile, source, target):
    distance = heuristic.distance
    heuristic.value[0] += distance[tile, target] - distance[tile, source]


@body_of(settle, Manhattan)
def _settle(heuristic, board, parts, at):
    heuristic.value[0] = parts[at]


@body_of(note, Manhattan)
def _note(heuristic, slot, value, parts, at):
    parts[at] = value


@body_of(keep, Manhattan)
def _keep(heuristic, words, at):
    words[at] = heuristic.value[0]


@body_of(resume, Manhattan)
def _resume(heuristic, words, at):
    heuristic.value[0] = words[at]
