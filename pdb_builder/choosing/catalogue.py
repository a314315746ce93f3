"""The catalogue: every pattern that comes into question, what it is worth on the sample, and what it may be worth.

*Which patterns.* Those whose homes are connected: tiles get in each other's way if their homes are neighbours, and
patterns in two pieces are hardly better than the sum of their pieces. A 5×5 board has some five thousand of up to
seven tiles.

*What a pattern adds.* The sum of a partition is the Manhattan distance plus what each pattern exceeds that of its
tiles by, its *excess*. A node is pruned if all excesses together are more than its *room*, the margin less the
Manhattan distance. So a column of the catalogue is the excess of a pattern on every sampled node, one byte each, and
the *gain* of a pattern is its mean excess in units of the room, over the nodes that are to be pruned. Nodes without
room are in no tree of any database.

*What an unknown one may add.* A table of seven tiles takes seconds, so few of them can be tried. Conflicts are mostly
between tiles close together, so what a and b add to the other tiles of a pattern, they add nearly independently:

    gain(P) ≈ gain(P - a) + gain(P - b) - gain(P - a - b)

The best such estimate over all pairs, corrected by how far estimates of this size were off so far, says which patterns
are worth building.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from ..base.jit import kernel
from ..build import build_table
from ..index import index_of
from ..pattern import Pattern
from ..store import table_bytes
from .column_file import ColumnFile
from .columns import distances_in
from .symmetry import Goal
from .tree_sample import TreeSample


def connected_patterns(goal: Goal, largest: int) -> list[list[Pattern]]:
    """The patterns of 1, 2, ... ``largest`` tiles whose homes are connected, each size in ascending order."""
    near = {tile: {goal.board[cell] for cell in goal.grid.neighbours[goal.homes[tile]]} - {0} for tile in goal.tiles}
    sizes = [{frozenset([tile]) for tile in goal.tiles}]
    while len(sizes) < largest:
        sizes.append({tiles | {new} for tiles in sizes[-1] for tile in tiles for new in near[tile] - tiles})
    return [sorted(tuple(sorted(tiles)) for tiles in size) for size in sizes]


@kernel
def _add_gains(excess, nodes, worth, most, gains):
    """Add up, for every pattern, what it contributes on some nodes: excess, at most ``most``, times ``worth``."""
    for number in range(gains.size):
        total = 0.0
        for at in range(nodes.size):
            total += min(np.int64(excess[number, nodes[at]]), most[at]) * worth[at]
        gains[number] = total


@kernel
def weight_left(excess, sums, alive, room, weights, left):
    """For every list of sums, the weight of the nodes in ``alive`` that none of them prunes.

    ``sums[i, s]`` are the rows of ``excess`` that sum s of list i adds up, ended by -1.
    """
    for number in range(left.size):
        total = 0.0
        for node in alive:
            pruned = False
            for one in range(sums.shape[1]):
                value = 0
                for part in range(sums.shape[2]):
                    row = sums[number, one, part]
                    if row < 0:
                        break
                    value += excess[row, node]
                if value > room[node]:
                    pruned = True
                    break
            if not pruned:
                total += weights[node]
        left[number] = total


class Catalogue:
    """All connected patterns up to a size, numbered, with the columns of those that were built.

    ``images[p, s]`` is the number of the image of pattern p under symmetry s, ``table[p]`` that of the first pattern
    of its orbit, which stands for its table, and ``bytes[p]`` the size of that table.
    """

    def __init__(
        self,
        goal: Goal,
        sample: TreeSample,
        largest: int,
        threads: int | None = None,
        file: ColumnFile | None = None,
    ) -> None:
        self.goal, self.threads, self.file = goal, threads, file
        by_size = connected_patterns(goal, largest)
        self.patterns = [pattern for size in by_size for pattern in size]
        self.number = {pattern: number for number, pattern in enumerate(self.patterns)}
        self.sizes = np.array([len(pattern) for pattern in self.patterns])
        self.masks = np.array([sum(1 << tile for tile in pattern) for pattern in self.patterns], dtype=np.uint64)
        symmetries = range(len(goal.cell_images))
        self.images = np.array(
            [[self.number[goal.image(pattern, symmetry)] for symmetry in symmetries] for pattern in self.patterns]
        )
        self.table = self.images.min(axis=1)
        self.orbit = np.array([len(set(row)) for row in self.images.tolist()])
        by_bytes = [0] + [table_bytes(index_of(goal.grid, size), "bits") for size in range(1, len(by_size) + 1)]
        self.bytes = np.array(by_bytes)[self.sizes]
        self._pairs = [self._pairs_of(size) for size in by_size]

        cells = np.arange(goal.grid.cells)
        self.manhattan = np.array(
            [[goal.grid.distance(cell, goal.homes[tile]) for cell in cells] for tile in range(goal.grid.cells)],
            dtype=np.uint8,
        )
        self.manhattan[0] = 0
        self.places = sample.places
        self.room = sample.margins - sum(
            self.manhattan[tile][sample.places[:, tile]].astype(np.int64) for tile in goal.tiles
        )
        self.weights = sample.weights.astype(np.float64)
        self.rows = np.full(len(self.patterns), -1)  # pattern -> its column, if it was built
        self.excess = np.zeros((64, len(self.room)), dtype=np.uint8)
        self.built = self.tried = 0  # columns, tables
        for pattern, columns in file.read() if file else ():
            if pattern in self.number:
                self._insert(pattern, columns)

    def _pairs_of(self, patterns: list[Pattern]) -> np.ndarray:
        """For patterns of one size: [pattern, pair] -> the numbers of P - a, P - b and P - a - b; padded with -1."""
        lists = []
        for pattern in patterns:
            less = {}
            for tile in pattern:
                rest = tuple(other for other in pattern if other != tile)
                if rest in self.number:
                    less[tile] = self.number[rest]
            triples = []
            for a, b in combinations(less, 2):
                rest = tuple(other for other in pattern if other not in (a, b))
                if rest in self.number:
                    triples.append((less[a], less[b], self.number[rest]))
            lists.append(triples)
        most = max(map(len, lists), default=0)
        pairs = np.full((len(patterns), most, 3), -1)
        for row, triples in enumerate(lists):
            pairs[row, : len(triples)] = np.array(triples).reshape(-1, 3)
        return pairs

    def is_built(self, number: int) -> bool:
        return bool(self.rows[number] >= 0)

    def add(self, number: int) -> None:
        """Build the table of a pattern, and keep the columns of all patterns that it serves."""
        pattern = self.patterns[self.table[number]]
        if not self.is_built(number):
            columns = self._columns(pattern)
            if self.file:
                self.file.append(pattern, columns)
            self._insert(pattern, columns)

    def _columns(self, pattern: Pattern) -> np.ndarray:
        """The distances of all nodes in the patterns of an orbit, in ascending order."""
        goal = self.goal
        table = build_table(goal.grid, pattern, blank=goal.blank, encoding="bits", threads=self.threads)
        columns = {}
        for symmetry, images in enumerate(goal.tile_images):
            served = tuple(tile for tile in goal.tiles if images[tile] in pattern)
            if served not in columns:
                columns[served] = distances_in(goal, table, self.places, symmetry)
        return np.array([columns[served] for served in goal.orbit(pattern)])

    def _insert(self, pattern: Pattern, columns: np.ndarray) -> None:
        """Keep the columns of an orbit."""
        self.tried += 1
        for tiles, distances in zip(self.goal.orbit(pattern), columns, strict=True):
            if self.built == len(self.excess):
                self.excess = np.concatenate([self.excess, np.zeros_like(self.excess)])
            self.excess[self.built] = distances - sum(self.manhattan[tile][self.places[:, tile]] for tile in tiles)
            self.rows[self.number[tiles]] = self.built
            self.built += 1

    def gains(self, alive: np.ndarray) -> np.ndarray:
        """What each pattern that was built contributes to pruning the nodes ``alive``; 0 for the others."""
        room = self.room[alive]
        totals = np.zeros(self.built)
        _add_gains(self.excess, alive, self.weights[alive] / (room + 1), room + 1, totals)
        known = self.rows >= 0
        gains = np.zeros(len(self.patterns))
        gains[known] = totals[self.rows[known]] / self.weights[alive].sum()
        return gains

    def estimates(self, gains: np.ndarray) -> np.ndarray:
        """The gains, with estimates for the patterns that were not built."""
        values, known = gains.copy(), self.rows >= 0
        first = 0
        for pairs in self._pairs:
            these = slice(first, first + len(pairs))
            first += len(pairs)
            if not pairs.shape[1]:
                continue
            a, b, both = (values[pairs[:, :, which]] for which in range(3))
            guesses = np.where(pairs[:, :, 0] < 0, 0, a + b - both).max(axis=1)
            if known[these].any():
                guesses += (values[these] - guesses)[known[these]].mean()
            values[these] = np.where(known[these], values[these], guesses)
        return values


def sums_of(catalogue: Catalogue, covers: Iterable[tuple[int, ...]]) -> np.ndarray:
    """The sums of covers and all their images, as rows of columns for ``weight_left``."""
    covers = list(covers)
    most = max(map(len, covers))
    sums = np.full((len(covers), catalogue.images.shape[1], most), -1)
    for row, cover in enumerate(covers):
        sums[row, :, : len(cover)] = catalogue.rows[catalogue.images[list(cover)]].T
    return sums
