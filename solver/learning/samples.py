"""Samples of what a beam has to tell apart: a board that led to a solution, and rivals of the same level.

A random board is solved by one pass of a beam. Every few levels some of the level's boards are drawn at random, the
*rivals*. When a solution is found, the board on its way at that level joins them. All of them have made the same number
of moves, so whatever ranks the board of the solution first would have led a narrower beam to the same solution.

That is all the truth there is to learn from: how many moves are really left, nobody knows on a large board. And the
moves that this solution has left would be the wrong thing to learn. Most of their differences are between boards of
different levels, which a beam never compares.

A beam that got lost, or found nothing, teaches nothing.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid

from ..heuristics import linear_conflict
from ..instances import random_board
from ..search import beam
from ..search.beam_level import SCALE, follow_rules, new_level, rules_of
from ..search.learned_rank import Weights
from ..search.outcome import Limits, Problem

RIVALS = 15
EVERY = 5  # levels; odd, so that the blank is on cells of either colour


class Samples(NamedTuple):
    """Groups of boards, each of a level, and the lengths of the solutions that they are from."""

    groups: np.ndarray  # [group, number, cell] -> tile; the first of each group is that of the solution
    lengths: np.ndarray  # [board] -> moves, 0 if it taught nothing
    counts: np.ndarray  # [board] -> groups


def together(parts: list[Samples]) -> Samples:
    """Samples one after the other."""
    return Samples(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def sampled_board(grid: Grid, purpose: str, seed: int, number: int) -> tuple[int, ...]:
    """A random board, one of a sequence for each purpose and seed, which no other use of a seed repeats."""
    return random_board(grid, grid.goal(), random.Random(f"slidepdb learn {grid} {purpose} {seed} {number}"))


def draw_samples(
    grid: Grid, board: tuple[int, ...], weights: Weights | None, width: int, limits: Limits, seed: tuple[int, ...]
) -> Samples:
    """The samples of one board, ranked by weights or, without any, as classically."""
    rng, kept = np.random.default_rng(seed), dict[int, np.ndarray]()
    lost = False

    def observe(moves: int, level: beam.Level, count: int) -> None:
        nonlocal lost
        lost |= moves in kept
        if moves % EVERY == 0 and count > RIVALS:
            boards = level.boards[: count * grid.cells].reshape(count, grid.cells)
            kept[moves] = boards[rng.choice(count, RIVALS, replace=False)]

    problem = Problem(grid, 0, board, linear_conflict.prepare(grid, 0), weights=weights)
    outcome = beam.observed(problem, width, observe, limits=limits)
    if lost or not outcome.paths:
        return Samples(np.zeros((0, 1 + RIVALS, grid.cells), dtype=np.uint8), *np.zeros((2, 1), dtype=np.int64))
    groups, now = [], list(board)
    for moves, (blank, cell) in enumerate(zip(outcome.paths[0], outcome.paths[0][1:], strict=False), start=1):
        now[blank], now[cell] = now[cell], 0
        if moves in kept:
            groups.append(np.concatenate([np.array([now], dtype=np.uint8), kept[moves]]))
    lengths, counts = np.array([[len(outcome.paths[0]) - 1], [len(groups)]])
    return Samples(np.array(groups, dtype=np.uint8).reshape(-1, 1 + RIVALS, grid.cells), lengths, counts)


def classic_ranks(grid: Grid, groups: np.ndarray) -> np.ndarray:
    """[group, number] -> the rank that a beam gives a board without a learned one, in moves."""
    heuristic = linear_conflict.prepare(grid, 0)
    boards = groups.reshape(-1, grid.cells)
    values = np.zeros(len(boards), dtype=np.int64)
    linear_conflict.values_of(heuristic.workspace(1), boards, values)
    (*_, rules) = rules_of(Problem(grid, 0, grid.goal(), heuristic), np.random.default_rng(0))
    level = new_level(len(boards), rules._replace(words=0))._replace(boards=boards.ravel())
    follow_rules(level, rules, len(boards))
    return (values + level.stretches / SCALE).astype(np.float32).reshape(groups.shape[:2])
