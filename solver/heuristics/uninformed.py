"""No heuristic: 0 for the goal and 1 for every other board, which is all that an uninformed search knows.

Breadth-first search, Dijkstra's and depth-first search are other searches with this estimate. To recognise the goal, it
counts the tiles that are not at home.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid

from .contract import Board, Heuristic, apply, body_of, evaluate, load


class Uninformed(NamedTuple):
    """What the kernels work on."""

    home: np.ndarray  # [tile] -> cell
    state: np.ndarray  # how many tiles of the current board are not at home


def prepare(grid: Grid, blank: int) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell."""
    goal = grid.goal(blank)
    home = np.argsort(np.array(goal))

    def workspace(slots: int) -> Uninformed:
        return Uninformed(home, np.zeros(1, dtype=np.int64))

    def measure(board: Board) -> list[int]:
        return [int(tuple(board) != goal)]

    return Heuristic("none", workspace, measure, consistent=True)


@body_of(load, Uninformed)
def _load(heuristic, board, parts, at):
    away = 0
    for cell in range(board.size):
        away += np.int64(board[cell] != 0 and heuristic.home[board[cell]] != cell)
    heuristic.state[0] = away


@body_of(evaluate, Uninformed)
def _evaluate(heuristic, slot, tile, source, target):
    home = heuristic.home[tile]
    return np.int64(heuristic.state[0] + np.int64(target != home) - np.int64(source != home) != 0)


@body_of(apply, Uninformed)
def _apply(heuristic, slot, tile, source, target):
    home = heuristic.home[tile]
    heuristic.state[0] += np.int64(target != home) - np.int64(source != home)
