"""No heuristic: 0 for the goal and 1 for every other board, which is all that a search without one knows.

Breadth-first search, Dijkstra's and depth-first search are other searches with this. To tell the goal, it counts the
tiles that are not at home.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid

from .contract import Board, Heuristic, asks_nothing, body_of, keep, look, note, resume, settle, step


class Blind(NamedTuple):
    """What the kernels work on."""

    home: np.ndarray  # [tile] -> cell
    away: np.ndarray  # how many tiles of the current board are not at home


def prepare(grid: Grid, blank: int) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell."""
    goal = grid.goal(blank)
    home = np.argsort(np.array(goal))

    def fresh(slots: int) -> Blind:
        return Blind(home, np.zeros(1, dtype=np.int64))

    def measure(board: Board) -> list[int]:
        return [int(tuple(board) != goal)]

    return Heuristic("none", "none", 1, fresh, measure, words=1)


asks_nothing(Blind)


@body_of(look, Blind)
def _look(heuristic, slot, tile, source, target):
    home = heuristic.home[tile]
    return np.int64(heuristic.away[0] + np.int64(target != home) - np.int64(source != home) != 0)


@body_of(step, Blind)
def _step(heuristic, slot, tile, source, target):
    home = heuristic.home[tile]
    heuristic.away[0] += np.int64(target != home) - np.int64(source != home)


@body_of(settle, Blind)
def _settle(heuristic, board, parts, at):
    away = 0
    for cell in range(board.size):
        away += np.int64(board[cell] != 0 and heuristic.home[board[cell]] != cell)
    heuristic.away[0] = away


@body_of(note, Blind)
def _note(heuristic, slot, value, parts, at):
    parts[at] = value


@body_of(keep, Blind)
def _keep(heuristic, words, at):
    words[at] = heuristic.away[0]


@body_of(resume, Blind)
def _resume(heuristic, words, at):
    heuristic.away[0] = words[at]
