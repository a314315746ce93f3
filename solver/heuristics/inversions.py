"""Inversions: how many pairs of tiles are in the wrong order, read row by row, and the blank's way home.

The canonical goal has its tiles in ascending order, wherever the blank is. A pair of tiles of which the larger comes
first is an *inversion*. No inversions at all means that the tiles are in order, but the blank may still be anywhere;
searches take a board of value 0 for the goal. So the blank's distance to its home is added, and only the goal has the
value 0.

This is *not* a lower bound. A tile that moves up or down passes one other less than a row has cells, and may mend
all those pairs at once; on a wrapped board even more. Searches that promise a shortest solution cannot keep the promise
with it; those that promise none find it a cheap guide.

A move within a row passes nobody. Other moves pass the tiles on the cells between, in reading order, and each of
these pairs is turned round: one inversion more or one less. So the heuristic keeps the board.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import fetch, put
from pdb_builder.grid import Grid

from .contract import Board, Heuristic, asks_nothing, body_of, keep, look, note, resume, settle, step


class Inversions(NamedTuple):
    """What the kernels work on."""

    blank_home: np.ndarray  # [cell] -> the blank's distance to its home
    board: np.ndarray  # the current one
    value: np.ndarray  # of the current board
    values: np.ndarray  # [slot]


def prepare(grid: Grid, blank: int) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell."""
    blank_home = np.array([grid.distance(cell, blank) for cell in range(grid.cells)], dtype=np.int64)

    def fresh(slots: int) -> Inversions:
        return Inversions(blank_home, *(np.zeros(size, dtype=np.int64) for size in (grid.cells, 1, slots)))

    def measure(board: Board) -> list[int]:
        tiles = np.array([tile for tile in board if tile], dtype=np.int64)
        inversions = np.triu(tiles[:, None] > tiles[None, :]).sum()
        return [int(inversions + blank_home[list(board).index(0)])]

    return Heuristic("inversions", "inversions", 1, fresh, measure, words=grid.cells + 1, admissible=False)


asks_nothing(Inversions)


@body_of(look, Inversions)
def _look(heuristic, slot, tile, source, target):
    start, end = np.int64(source), np.int64(target)
    turned = 0  # pairs that are inversions after a move to a higher cell, less those that were before
    for cell in range(min(start, end) + 1, max(start, end)):
        turned += 1 if fetch(heuristic.board, cell) > tile else -1
    value = heuristic.value[0] + (turned if start < end else -turned)
    value += heuristic.blank_home[start] - heuristic.blank_home[end]
    heuristic.values[slot] = value
    return value


@body_of(step, Inversions)
def _step(heuristic, slot, tile, source, target):
    put(heuristic.board, np.int64(target), np.int64(tile))
    put(heuristic.board, np.int64(source), np.int64(0))
    value = heuristic.value[0]
    heuristic.value[0] = heuristic.values[slot]
    heuristic.values[slot] = value


@body_of(settle, Inversions)
def _settle(heuristic, board, parts, at):
    for cell in range(board.size):
        heuristic.board[cell] = board[cell]
    heuristic.value[0] = parts[at]


@body_of(note, Inversions)
def _note(heuristic, slot, value, parts, at):
    parts[at] = value


@body_of(keep, Inversions)
def _keep(heuristic, words, at):
    for cell in range(heuristic.board.size):
        words[at + cell] = heuristic.board[cell]
    words[at + heuristic.board.size] = heuristic.value[0]


@body_of(resume, Inversions)
def _resume(heuristic, words, at):
    for cell in range(heuristic.board.size):
        heuristic.board[cell] = words[at + cell]
    heuristic.value[0] = words[at + heuristic.board.size]
