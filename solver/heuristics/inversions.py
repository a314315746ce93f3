"""Inversions: how many pairs of tiles are in the wrong order, read row by row, plus the blank's distance to its home.

The canonical goal has its tiles in ascending order, wherever the blank is. A pair of tiles of which the larger comes
first is an *inversion*. Without inversions the tiles are in order, but the blank may still be anywhere, and searches
treat a board of value 0 as the goal. So the blank's distance to its home is added, and only the goal has the value 0.

This estimate is *inadmissible*. A tile that moves up or down passes one tile fewer than a row has cells and may put all
those pairs in order at once; on a wrapped board even more. Searches that guarantee a shortest solution refuse it; for
the others it is a cheap guide.

A move within a row passes no tile. Other moves pass the tiles on the cells between, in reading order, and each of
these pairs is reversed: one inversion more or one fewer. So the heuristic keeps the board.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import fetch, put
from pdb_builder.grid import Grid

from .contract import Board, Heuristic, apply, body_of, evaluate, load


class Inversions(NamedTuple):
    """What the kernels work on."""

    blank_distance: np.ndarray  # [cell] -> the blank's distance to its home
    state: np.ndarray  # the value and the board, which the next two are parts of
    value: np.ndarray
    board: np.ndarray
    values: np.ndarray  # [slot]


def prepare(grid: Grid, blank: int) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell."""
    blank_distance = np.array([grid.distance(cell, blank) for cell in range(grid.cells)], dtype=np.int64)

    def workspace(slots: int) -> Inversions:
        state = np.zeros(1 + grid.cells, dtype=np.int64)
        return Inversions(blank_distance, state, state[:1], state[1:], np.zeros(slots, dtype=np.int64))

    def measure(board: Board) -> list[int]:
        tiles = np.array([tile for tile in board if tile], dtype=np.int64)
        inversions = np.triu(tiles[:, None] > tiles[None, :]).sum()
        return [int(inversions + blank_distance[list(board).index(0)])]

    return Heuristic("inversions", workspace, measure, admissible=False)


@body_of(load, Inversions)
def _load(heuristic, board, parts, at):
    for cell in range(board.size):
        heuristic.board[cell] = board[cell]
    heuristic.value[0] = parts[at]


@body_of(evaluate, Inversions)
def _evaluate(heuristic, slot, tile, source, target):
    start, end = np.int64(source), np.int64(target)
    gained = 0  # pairs that are inversions after a move to a higher cell, less those that were before
    for cell in range(min(start, end) + 1, max(start, end)):
        gained += 1 if fetch(heuristic.board, cell) > tile else -1
    value = heuristic.value[0] + (gained if start < end else -gained)
    value += heuristic.blank_distance[start] - heuristic.blank_distance[end]
    heuristic.values[slot] = value
    return value


@body_of(apply, Inversions)
def _apply(heuristic, slot, tile, source, target):
    put(heuristic.board, np.int64(target), np.int64(tile))
    put(heuristic.board, np.int64(source), np.int64(0))
    value = heuristic.value[0]
    heuristic.value[0] = heuristic.values[slot]
    heuristic.values[slot] = value
