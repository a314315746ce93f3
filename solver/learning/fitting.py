"""Weights fitted to samples: the board that turned out well, the first of its group, is to be ranked before its rivals.

Let r be the rank of each board of a group, in moves. The chance that the first is the one to follow is modelled as
exp(-r / T), divided by the sum of that over the group, with a *temperature* T. The weights are changed so
as to make the samples likely (softmax cross-entropy, as in classification), step by step against the gradient. Each
weight has its own rate, which falls with the sum of its squared gradients (Adagrad, Duchi, Hazan & Singer 2011), since
displacements that are common have their gradients summed up thousands of times, and rare ones a few times.

The classic rank is part of r, and remains as it is. Weights begin at 0, so what was never seen adds nothing.

*Threads.* A batch of groups is judged first, with the weights as they are, by all threads. Then the weights are
changed, each class of offsets by one thread, group by group in their order. So the sums are added up in the same order
whatever the number of threads, and the result is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, log
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import inlined, kernel
from pdb_builder.base.workers import Workers
from pdb_builder.grid import Grid

from ..search.learned_rank import (
    AROUND,
    BEYOND,
    CLASSES,
    DISPLACEMENTS,
    EXCHANGED,
    REFLECTED,
    STEPS,
    Weights,
    displacements_of,
    reflect,
    reflected,
    reflected_around,
    reflection_of,
)

TEMPERATURE = 1.5  # moves
RATE = 0.03  # moves: what the first gradients change a weight by, if they are 1
BATCH = 64  # groups


class Pairs(NamedTuple):
    """All pairs of tiles of a grid, by class."""

    first: np.ndarray  # [class] -> where its pairs begin, and one more element
    tiles: np.ndarray  # [pair, number]: the two tiles
    turned: np.ndarray  # [pair] -> whether it is the reflection of the pair that has the offset of the class
    kinds: np.ndarray  # [class] -> what a reflection does to its pairs
    reflected: np.ndarray  # [displacement]
    around: np.ndarray  # [cell, place around it] -> the cell there, or -1
    mirror: np.ndarray  # [place and displacement] -> the number of its reflection


def pairs_of(grid: Grid, classes: int) -> Pairs:
    """The pairs of some classes."""
    first, tiles, turned = [0], [], []
    for down, across in CLASSES[:classes]:
        kind = reflection_of((down, across))
        for turn in range(1 if kind else 2):
            by = (across, down) if turn else (down, across)
            for one in range(1, grid.cells):
                row, col = one // grid.cols + by[0], one % grid.cols + by[1]
                if 0 <= row < grid.rows and 0 <= col < grid.cols and (other := grid.cols * row + col):
                    tiles.append((one, other))
                    turned.append(turn)
        first.append(len(tiles))
    kinds = [reflection_of(offset) for offset in CLASSES[:classes]]
    around = -np.ones((grid.cells, len(AROUND)), dtype=np.int64)
    for cell in range(grid.cells):
        for number, (down, across) in enumerate(AROUND):
            row, col = cell // grid.cols + down, cell % grid.cols + across
            if 0 <= row < grid.rows and 0 <= col < grid.cols:
                around[cell, number] = grid.cols * row + col
    return Pairs(*map(np.array, (first, tiles, turned, kinds)), reflected(), around, reflected_around().ravel())


@inlined
def _place(reflected, kind, turned, first, second):
    """Where the weight of a pair is in its class: of those that are equal by symmetry, one stands for all."""
    if turned:
        first, second = reflected[first], reflected[second]
    place = first * DISPLACEMENTS + second
    if kind == REFLECTED:
        place = min(place, reflected[first] * DISPLACEMENTS + reflected[second])
    elif kind == EXCHANGED:
        place = min(place, reflected[second] * DISPLACEMENTS + reflected[first])
    return place


@kernel
def judge(groups, classic, order, displacements, pairs, weights, away, around, pulls, marks, first, low, high):
    """For groups in their order: the gradient by each rank (``pulls``), the loss, and the rivals that are behind.

    ``away`` is filled in with the displacements of all tiles, ``around`` with the weights of what is around the blank.
    """
    size, cells = groups.shape[1], groups.shape[2]
    ranks = np.zeros(size)
    for at in range(low, high):
        group = order[first + at]
        for number in range(size):
            blank = 0
            for cell in range(cells):
                tile = np.int64(groups[group, number, cell])
                away[at, number, tile] = displacements[tile, cell]
                if tile == 0:
                    blank = cell
            ranks[number] = classic[group, number]
            for seen in range(around.shape[2]):
                cell = pairs.around[blank, seen]
                there = np.int64(away[at, number, groups[group, number, cell]]) if cell >= 0 else BEYOND
                place = seen * (DISPLACEMENTS + 1) + there
                around[at, number, seen] = min(place, pairs.mirror[place])
                ranks[number] += weights[-2, around[at, number, seen]]
        for tile in range(1, cells):
            for number in range(size):
                there = np.int64(away[at, number, tile])
                ranks[number] += weights[-1, min(there, pairs.reflected[there])]
        for kind in range(pairs.kinds.size):
            for pair in range(pairs.first[kind], pairs.first[kind + 1]):
                for number in range(size):
                    one = np.int64(away[at, number, pairs.tiles[pair, 0]])
                    other = np.int64(away[at, number, pairs.tiles[pair, 1]])
                    place = _place(pairs.reflected, pairs.kinds[kind], pairs.turned[pair], one, other)
                    ranks[number] += weights[kind, place]
        lowest = ranks.min()
        total = 0.0
        for number in range(size):
            pulls[at, number] = exp((lowest - ranks[number]) / TEMPERATURE)
            total += pulls[at, number]
        marks[at, 0] = (ranks[0] - lowest) / TEMPERATURE + log(total)
        marks[at, 1] = 0.0
        for number in range(1, size):
            marks[at, 1] += np.float64(ranks[0] < ranks[number]) + 0.5 * np.float64(ranks[0] == ranks[number])
        for number in range(size):
            pulls[at, number] = (np.float64(number == 0) - pulls[at, number] / total) / TEMPERATURE


@inlined
def _change(places, pulls, sums, at, weights, squares, row, rate):
    """Change the weights that the boards of a group have in one place of their ranks.

    ``sums`` has a sum for each weight of the row. They are 0 before and after.
    """
    size = places.size
    same = True
    for number in range(1, size):
        same &= places[number] == places[0]
    if same:
        return  # the pulls of a group add up to nothing
    for number in range(size):
        sums[places[number]] += pulls[at, number]
    for number in range(size):
        pull = sums[places[number]]
        if pull != 0.0:
            sums[places[number]] = 0.0
            square = squares[row, places[number]] + np.float32(pull * pull)
            squares[row, places[number]] = square
            weights[row, places[number]] -= np.float32(rate * pull) / np.sqrt(square)


@kernel
def adjust(away, around, pulls, pairs, weights, squares, count, rate, low, high):
    """Change the weights of some rows against the gradient of some groups.

    Behind the rows of the classes are one of what is around the blank, and one of single tiles.
    """
    size, cells = away.shape[1], away.shape[2]
    places, sums = np.zeros(size, dtype=np.int64), np.zeros(weights.shape[1])
    for kind in range(low, high):
        for at in range(count):
            if kind == pairs.kinds.size:
                for seen in range(around.shape[2]):
                    for number in range(size):
                        places[number] = around[at, number, seen]
                    _change(places, pulls, sums, at, weights, squares, kind, rate)
                continue
            if kind == pairs.kinds.size + 1:
                for tile in range(1, cells):
                    for number in range(size):
                        there = np.int64(away[at, number, tile])
                        places[number] = min(there, pairs.reflected[there])
                    _change(places, pulls, sums, at, weights, squares, kind, rate)
                continue
            for pair in range(pairs.first[kind], pairs.first[kind + 1]):
                for number in range(size):
                    one = np.int64(away[at, number, pairs.tiles[pair, 0]])
                    other = np.int64(away[at, number, pairs.tiles[pair, 1]])
                    places[number] = _place(pairs.reflected, pairs.kinds[kind], pairs.turned[pair], one, other)
                _change(places, pulls, sums, at, weights, squares, kind, rate)


class Marks(NamedTuple):
    """How well groups are ranked."""

    loss: float  # the mean of minus the logarithm of the chance of the first
    behind: float  # of its rivals, the share that is ranked behind it


class Fit:
    """Weights that are being fitted to the boards of a grid."""

    def __init__(self, grid: Grid, start: Weights, workers: Workers) -> None:
        self.workers, self.displacements = workers, displacements_of(grid, 0)
        self.pairs = pairs_of(grid, len(start.pairs))
        self.weights = np.zeros((len(start.pairs) + 2, DISPLACEMENTS**2), dtype=np.float32)
        self.weights[:-2] = start.pairs.reshape(len(start.pairs), -1)
        self.weights[-2, : start.around.size] = start.around.ravel()
        self.weights[-1, :DISPLACEMENTS] = start.single
        self.squares = np.ones_like(self.weights)

    def epochs(
        self,
        groups: np.ndarray,
        classic: np.ndarray,
        epochs: int,
        rng: np.random.Generator,
        progress: Callable[[float], object] = lambda share: None,
    ) -> None:
        """Go through all groups some times, each time in another order, with a rate that falls to 0."""
        done, steps = 0, epochs * len(groups)
        for _ in range(epochs):
            order = rng.permutation(len(groups))
            for first in range(0, len(order), BATCH):
                count = min(BATCH, len(order) - first)
                *batch, _ = self._judge(groups, classic, order, first, count)
                rate = RATE * (1 - done / steps)
                rows = pairwise(range(len(self.weights) + 1))
                self.workers.over(rows, adjust, *batch, self.pairs, self.weights, self.squares, count, rate)
                done += count
                progress(done / steps)

    def marks(self, groups: np.ndarray, classic: np.ndarray) -> Marks:
        """How well groups are ranked that the weights were not fitted to."""
        order, sums = np.arange(len(groups)), np.zeros(2)
        for first in range(0, len(order), BATCH):
            *_, marks = self._judge(groups, classic, order, first, min(BATCH, len(order) - first))
            sums += marks.sum(axis=0)
        loss, behind = sums / max(1, len(groups))
        return Marks(float(loss), float(behind) / (groups.shape[1] - 1))

    def _judge(self, groups: np.ndarray, classic: np.ndarray, order: np.ndarray, first: int, count: int) -> tuple:
        """The displacements, what is around the blank, the pulls and the marks of a batch."""
        away = np.zeros((count, *groups.shape[1:]), dtype=np.uint8)
        around = np.zeros((count, groups.shape[1], len(AROUND)), dtype=np.int16)
        pulls, marks = np.zeros((count, groups.shape[1])), np.zeros((count, 2))
        tables = (self.displacements, self.pairs, self.weights, away, around, pulls, marks, first)
        self.workers.over(self.workers.split(count), judge, groups, classic, order, *tables)
        return away, around, pulls, marks

    def result(self) -> Weights:
        """The weights as integers, in steps: the same for what is equal by symmetry."""
        most = np.iinfo(np.int16).max
        steps = np.clip(np.rint(STEPS * self.weights.astype(np.float64)), -most, most).astype(np.int16)
        single = steps[-1, :DISPLACEMENTS]
        pairs = steps[:-2].reshape(-1, DISPLACEMENTS, DISPLACEMENTS).copy()
        for offset, of_class in zip(CLASSES, pairs, strict=False):
            if kind := reflection_of(offset):
                places = np.arange(DISPLACEMENTS**2).reshape(DISPLACEMENTS, DISPLACEMENTS)
                of_class[:] = of_class.ravel()[np.minimum(places, reflect(places, kind))]
        around = reflected_around()
        around = steps[-2][np.minimum(np.arange(around.size).reshape(around.shape), around)]
        return Weights(single[np.minimum(np.arange(DISPLACEMENTS), reflected())], pairs, around)
