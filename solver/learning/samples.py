"""Samples of what a beam has to tell apart: a board that turned out well, and rivals of the same level.

A random board is solved by one pass of a beam. Every few levels some boards are drawn at random, the *rivals*, to go
with one that turned out well. All of them have made the same number of moves, so whatever ranks that one first would
have led a narrower beam as far.

How many moves are really left, nobody knows on a large board. And the moves that this solution has left would be the
wrong thing to learn: most of their differences are between boards of different levels, which a beam never compares. So
what turned out well is what the beam found out by itself:

- the board on the way to the *solution*;
- *survivors*, boards that still have descendants in the beam some levels later, for several such *lags*. Most boards
  have none. Which ones do, the beam knows when it has looked that many moves ahead, and a rank that knows it at once is
  as good as one that looks ahead.

A solution has one board in a level. Survivors are many, so the same beams yield several times as much to learn from.

A beam that got lost, or found nothing, teaches nothing.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid

from ..heuristics import linear_conflict
from ..instances import random_board
from ..search import beam
from ..search.automaton import MOVES
from ..search.beam_level import follow_rules, new_level, rules_of
from ..search.learned_rank import PARTNERS, STEPS, Weights, zero_weights
from ..search.outcome import Limits, Problem, Stopped

RIVALS = 15
LAGS = (5, 10, 20, 40, 80)  # levels
SOLUTION = 0  # in place of a lag
SURVIVORS = 2  # of each lag
PIECE = 4096  # groups that are ranked at a time


class Samples(NamedTuple):
    """Groups of boards, each of a level, and the lengths of the solutions that they are from."""

    groups: np.ndarray  # [group, number, cell] -> tile; the first of each group is the one that turned out well
    lags: np.ndarray  # [group] -> after how many levels it had descendants, or SOLUTION
    lengths: np.ndarray  # [board] -> moves, 0 if it taught nothing
    counts: np.ndarray  # [board] -> groups


def together(parts: list[Samples]) -> Samples:
    """Samples one after the other."""
    return Samples(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def sampled_board(grid: Grid, purpose: str, seed: int, number: int) -> tuple[int, ...]:
    """A random board, one of a sequence for each purpose and seed, which no other use of a seed repeats."""
    return random_board(grid, grid.goal(), random.Random(f"slidepdb learn {grid} {purpose} {seed} {number}"))


def levels_between(grid: Grid) -> int:
    """From one sampled level to the next: more of them on large boards, which have more levels.

    An odd number, so that the blank is on cells of either colour.
    """
    return grid.cells // 10 | 1


class _Drawing:
    """The samples of a beam, drawn while it searches."""

    def __init__(self, grid: Grid, rng: np.random.Generator) -> None:
        self.grid, self.rng, self.every = grid, rng, levels_between(grid)
        self.moves = 0  # made by now
        self.lost = False  # whether the beam has been at a level twice
        self.origins: dict[int, np.ndarray] = {}  # moves -> origins of the boards of a recent level
        self.boards: dict[int, np.ndarray] = {}  # moves -> the boards of a recent level that is sampled
        self.drawn: dict[int, np.ndarray] = {}  # moves -> boards to be the rivals of that of the solution
        self.groups: list[np.ndarray] = []
        self.lags: list[int] = []

    def observe(self, moves: int, level: beam.Level, origins: np.ndarray) -> None:
        """Draw from a level, and from earlier ones by what has become of them."""
        if moves <= self.moves:
            self.lost = True
            raise Stopped("lost")  # what it finds is not wanted
        self.moves, self.origins[moves] = moves, origins
        if moves % self.every == 0 and origins.size > RIVALS:  # with one to spare
            self.boards[moves] = level.boards[: origins.size * self.grid.cells].reshape(-1, self.grid.cells).copy()
            self.drawn[moves] = self._drawn(self.boards[moves])
        for lag in LAGS:
            if moves - lag in self.boards:
                for _ in range(SURVIVORS):
                    self._survivor(moves, lag)
        for of_level in (self.origins, self.boards):
            of_level.pop(moves - max(LAGS), None)

    def _drawn(self, boards: np.ndarray) -> np.ndarray:
        """Boards to be rivals, with one to spare in case that one is the board whose rivals they are to be."""
        return boards[self.rng.choice(len(boards), RIVALS + 1, replace=False)]

    def _survivor(self, moves: int, lag: int) -> None:
        """The ancestor of any board of a level, some levels before, and its rivals."""
        ancestor = int(self.rng.integers(self.origins[moves].size))
        for later in range(moves, moves - lag, -1):
            ancestor = int(self.origins[later][ancestor]) // MOVES
        boards = self.boards[moves - lag]
        self._add(boards[ancestor], self._drawn(boards), lag)

    def _add(self, board: np.ndarray, drawn: np.ndarray, lag: int) -> None:
        others = drawn[(drawn != board).any(axis=1)][:RIVALS]
        self.groups.append(np.concatenate([board[None], others]))
        self.lags.append(lag)

    def samples(self, board: tuple[int, ...], path: list[int] | None) -> Samples:
        """All there are, if the beam found this solution."""
        length = 0
        if self.lost or path is None:
            self.groups.clear()
            self.lags.clear()
        else:
            length, now = len(path) - 1, np.array(board, dtype=np.uint8)
            for moves, (blank, cell) in enumerate(pairwise(path), start=1):
                now[[blank, cell]] = now[[cell, blank]]
                if moves in self.drawn:
                    self._add(now, self.drawn[moves], SOLUTION)
        groups = np.array(self.groups, dtype=np.uint8).reshape(-1, 1 + RIVALS, self.grid.cells)
        return Samples(groups, *(np.array(of, dtype=np.int64) for of in (self.lags, [length], [len(groups)])))


def draw_samples(
    grid: Grid, board: tuple[int, ...], weights: Weights | None, width: int, limits: Limits, seed: tuple[int, ...]
) -> Samples:
    """The samples of one board, ranked by weights or, without any, as classically."""
    drawing = _Drawing(grid, np.random.default_rng(seed))
    problem = Problem(grid, 0, board, linear_conflict.prepare(grid, 0), weights=weights)
    outcome = beam.observed(problem, width, drawing.observe, limits=limits)
    return drawing.samples(board, outcome.paths[0] if outcome.paths else None)


def classic_ranks(grid: Grid, groups: np.ndarray) -> np.ndarray:
    """[group, number] -> the rank that a beam gives a board without a learned one, in moves.

    As finely as a learned rank needs it: what a beam with weights of 0 would sum up.
    """
    heuristic, nothing = linear_conflict.prepare(grid, 0), zero_weights(min(PARTNERS))
    weights = Weights(*(array.astype(np.int16) for array in nothing))
    (*_, rules) = rules_of(Problem(grid, 0, grid.goal(), heuristic, weights=weights), np.random.default_rng(0))
    ranks = np.zeros(groups.shape[:2], dtype=np.float32)
    for first in range(0, len(groups), PIECE):
        piece = groups[first : first + PIECE]
        boards = piece.reshape(-1, grid.cells)
        values = np.zeros(len(boards), dtype=np.int64)
        linear_conflict.values_of(heuristic.workspace(1), boards, values)
        level = new_level(len(boards), rules._replace(words=0))._replace(boards=boards.ravel())
        follow_rules(level, rules, len(boards))
        ranks[first : first + PIECE] = (values + level.stretches / STEPS).reshape(piece.shape[:2])
    return ranks


def samples_bytes(grid: Grid, boards: int) -> int:
    """About how much memory the samples of some boards take."""
    levels = grid.cells * (grid.rows + grid.cols) // 2 // levels_between(grid)  # of a solution of a usual length
    return boards * levels * (1 + SURVIVORS * len(LAGS)) * (1 + RIVALS) * grid.cells
