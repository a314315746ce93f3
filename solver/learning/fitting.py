"""Weights fitted to samples: the board that turned out well, the first of its group, is to be ranked before its rivals.

Let r be the rank of each board of a group, in moves. The chance that the first is the one to follow is modelled as
exp(-r / T), divided by the sum of that over the group, with a *temperature* T. The weights are changed so
as to make the samples likely (softmax cross-entropy, as in classification), step by step against the gradient. Each
weight has its own rate, which falls with the sum of its squared gradients (Adagrad, Duchi, Hazan & Singer 2011), since
displacements that are common have their gradients summed up thousands of times, and rare ones a few times.

The classic rank is part of r, and remains as it is. Weights begin at 0, or where an earlier fit has left them, and what
was never seen stays as it is.

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
    ROW,
    STEPS,
    Weights,
    displacements_of,
    near,
    reflect,
    reflected,
    reflected_around,
    reflection_of,
)

TEMPERATURE = 1.0  # moves
RATE = 0.03  # moves: what gradients of 1 change a weight by at first, but for the root of 2
BATCH = 64  # groups


class Layout(NamedTuple):
    """The *terms* of a rank: one for each pair of tiles, by class, each place around the blank, and each tile."""

    first: (
        np.ndarray
    )  # [class] -> where its pairs begin; then where the terms around the blank and of tiles do; the end
    tiles: np.ndarray  # [pair, number]: the two tiles
    turned: np.ndarray  # [pair] -> whether it is the reflection of the pair that has the offset of the class
    kinds: np.ndarray  # [class] -> what a reflection does to its pairs
    reflected: np.ndarray  # [displacement]
    around: np.ndarray  # [cell, place around it] -> the cell there, or -1
    mirror: np.ndarray  # [place and displacement] -> the number of its reflection


def layout_of(grid: Grid, classes: int) -> Layout:
    """The terms of ranks with some classes of pairs."""
    first, tiles, turned = [0], [], []
    for down, across in CLASSES[:classes]:
        kind = reflection_of((down, across))
        for turn in range(1 if kind else 2):
            by = (across, down) if turn else (down, across)
            for one in range(1, grid.cells):
                for _, other in near(grid, one, [by]):
                    if other:
                        tiles.append((one, other))
                        turned.append(turn)
        first.append(len(tiles))
    first += [first[-1] + len(AROUND), first[-1] + len(AROUND) + grid.cells - 1]
    kinds = [reflection_of(offset) for offset in CLASSES[:classes]]
    around = -np.ones((grid.cells, len(AROUND)), dtype=np.int64)
    for cell in range(grid.cells):
        for number, there in near(grid, cell, AROUND):
            around[cell, number] = there
    return Layout(*map(np.array, (first, tiles, turned, kinds)), reflected(), around, reflected_around().ravel())


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
def judge(groups, classic, order, displacements, layout, weights, places, pulls, marks, first, low, high):
    """For groups in their order: the gradient by each rank (``pulls``), the loss, and the rivals that are behind.

    ``places`` is filled in with the places of all weights that count, in the order of the rows.
    """
    size, cells, classes = groups.shape[1], groups.shape[2], layout.kinds.size
    ranks, away = np.zeros(size), np.zeros((size, cells), dtype=np.int64)
    for at in range(low, high):
        group = order[first + at]
        for number in range(size):
            blank = 0
            for cell in range(cells):
                tile = np.int64(groups[group, number, cell])
                away[number, tile] = displacements[tile, cell]
                if tile == 0:
                    blank = cell
            ranks[number] = classic[group, number]
            for seen in range(len(AROUND)):
                cell = layout.around[blank, seen]
                there = away[number, groups[group, number, cell]] if cell >= 0 else BEYOND
                place = seen * ROW + there
                place = min(place, layout.mirror[place])
                places[at, layout.first[classes] + seen, number] = place
                ranks[number] += weights[classes, place]
        for tile in range(1, cells):
            for number in range(size):
                place = min(away[number, tile], layout.reflected[away[number, tile]])
                places[at, layout.first[classes + 1] + tile - 1, number] = place
                ranks[number] += weights[classes + 1, place]
        for row in range(classes):
            for pair in range(layout.first[row], layout.first[row + 1]):
                one, other = layout.tiles[pair, 0], layout.tiles[pair, 1]
                for number in range(size):
                    there = away[number, one], away[number, other]
                    place = _place(layout.reflected, layout.kinds[row], layout.turned[pair], *there)
                    places[at, pair, number] = place
                    ranks[number] += weights[row, place]
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


@kernel
def adjust(places, pulls, firsts, weights, squares, count, rate, low, high):
    """Change the weights of some rows against the gradient of some groups."""
    size, sums = places.shape[2], np.zeros(weights.shape[1])
    for row in range(low, high):
        for at in range(count):
            for term in range(firsts[row], firsts[row + 1]):
                same = True
                for number in range(1, size):
                    same &= places[at, term, number] == places[at, term, 0]
                if same:
                    continue  # the pulls of a group add up to nothing
                for number in range(size):
                    sums[places[at, term, number]] += pulls[at, number]
                for number in range(size):
                    place = places[at, term, number]
                    pull = sums[place]
                    if pull != 0.0:
                        sums[place] = 0.0
                        squares[row, place] += np.float32(pull * pull)
                        weights[row, place] -= np.float32(rate * pull) / np.sqrt(squares[row, place])


class Marks(NamedTuple):
    """How well groups are ranked."""

    loss: float  # the mean of minus the logarithm of the chance of the first
    behind: float  # of its rivals, the share that is ranked behind it


class Fit:
    """Weights that are being fitted to the boards of a grid."""

    def __init__(self, grid: Grid, start: Weights, workers: Workers) -> None:
        self.workers, self.displacements = workers, displacements_of(grid, 0)
        self.layout = layout_of(grid, len(start.pairs))
        self.weights = np.zeros((len(start.pairs) + 2, DISPLACEMENTS**2), dtype=np.float32)
        self.weights[:-2] = start.pairs.reshape(len(start.pairs), -1)
        self.weights[-2, : start.around.size] = start.around.ravel()
        self.weights[-1, :DISPLACEMENTS] = start.single
        self.squares = np.ones_like(self.weights)

    def epochs(
        self,
        groups: np.ndarray,
        classic: np.ndarray,
        chosen: np.ndarray,
        epochs: int,
        rng: np.random.Generator,
        progress: Callable[[float], object] = lambda share: None,
    ) -> None:
        """Go through the chosen groups some times, each time in another order, with a rate that falls to 0."""
        done, steps = 0, epochs * len(chosen)
        for _ in range(epochs):
            order = rng.permutation(chosen)
            for first in range(0, len(order), BATCH):
                count = min(BATCH, len(order) - first)
                places, pulls, _ = self._judge(groups, classic, order, first, count)
                rate = RATE * (1 - done / steps)
                rows = pairwise(range(len(self.weights) + 1))
                changed = (self.weights, self.squares)
                self.workers.over(rows, adjust, places, pulls, self.layout.first, *changed, count, rate)
                done += count
                progress(done / steps)

    def marks(self, groups: np.ndarray, classic: np.ndarray, chosen: np.ndarray) -> Marks:
        """How well the chosen groups are ranked, of which there is one at least."""
        sums = np.zeros(2)
        for first in range(0, len(chosen), BATCH):
            _, _, marks = self._judge(groups, classic, chosen, first, min(BATCH, len(chosen) - first))
            sums += marks.sum(axis=0)
        loss, behind = sums / len(chosen)
        return Marks(float(loss), float(behind) / (groups.shape[1] - 1))

    def _judge(
        self, groups: np.ndarray, classic: np.ndarray, order: np.ndarray, first: int, count: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the weights of a batch are, its pulls and its marks."""
        size = groups.shape[1]
        places = np.zeros((count, self.layout.first[-1], size), dtype=np.int32)
        pulls, marks = np.zeros((count, size)), np.zeros((count, 2))
        tables = (self.displacements, self.layout, self.weights, places, pulls, marks, first)
        self.workers.over(self.workers.split(count), judge, groups, classic, order, *tables)
        return places, pulls, marks

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
