"""The catalogue: every candidate pattern, with its column: known if its table was built, else guessed.

*Which patterns.* Those whose homes are connected: tiles get in each other's way if their homes are neighbours, and
patterns in two pieces are hardly better than the sum of their pieces. A 5×5 board has some five thousand of up to
seven tiles.

*What a pattern adds.* The sum of a partition is the Manhattan distance plus what each pattern exceeds that of its
tiles by, its *excess*. A node is pruned if all excesses together are more than its *room*, the margin less the
Manhattan distance. So a column is the excess of a pattern on every sampled node, one byte each.

*Guesses.* A table of seven tiles takes seconds, so most of them are never built. But a column can be guessed from those
of smaller patterns. Conflicts are mostly between tiles close together, so what a and b add to the other tiles of a
pattern P, they add nearly independently:

    excess(P) ≈ excess(P - a) + excess(P - b) - excess(P - a - b)

The guess is the mean of this over all pairs that leave connected patterns, rounded to an even number, as all excesses
are, and no less than the excess of any P - a, which is a lower bound. Half a move above an even number is rounded up:
this makes guesses right on average. On 5×5, six tiles guessed from four and five have a mean excess of 0.944 where the
truth is 0.959, seven from five and six 1.712 where it is 1.711, with standard deviations between patterns of 0.05 and
0.03. Building a table puts its own column right, and the guesses that rest on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

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

BLOCK = 2048  # nodes that are judged together
MOST_ROOM = 200  # no excess of a partition comes near this, and a byte can hold it


def connected_patterns(goal: Goal, largest: int) -> list[list[Pattern]]:
    """The patterns of 1, 2, ... ``largest`` tiles whose homes are connected, each size in ascending order."""
    near = {tile: {goal.board[cell] for cell in goal.grid.neighbours[goal.homes[tile]]} - {0} for tile in goal.tiles}
    sizes = [{frozenset([tile]) for tile in goal.tiles}]
    while len(sizes) < largest:
        sizes.append({tiles | {new} for tiles in sizes[-1] for tile in tiles for new in near[tile] - tiles})
    return [sorted(tuple(sorted(tiles)) for tiles in size) for size in sizes]


@kernel
def _guess(excess, numbers, pairs):
    """Guess the columns of some patterns; ``pairs[i]`` are the numbers of P - a, P - b, P - a - b, ended by -1."""
    for at in range(numbers.size):
        row = numbers[at]
        for node in range(excess.shape[1]):
            total, count, least = 0, 0, 0
            for pair in range(pairs.shape[1]):
                if pairs[at, pair, 0] < 0:
                    break
                a, b = np.int64(excess[pairs[at, pair, 0], node]), np.int64(excess[pairs[at, pair, 1], node])
                total += a + b - excess[pairs[at, pair, 2], node]
                count += 1
                least = max(least, a, b)
            if count > 0:
                least = max(least, 2 * ((2 * total + 3 * count) // (4 * count)))  # half a move more is rounded up
            excess[row, node] = least


class Focus(NamedTuple):
    """Some of the nodes: the columns of all patterns on them, their room and their weights."""

    excess: np.ndarray
    room: np.ndarray
    weights: np.ndarray

    def gains(self) -> np.ndarray:
        """What each pattern contributes to pruning the nodes: its mean excess in units of their room."""
        worth = self.weights / (self.room + 1.0)
        gains = np.zeros(len(self.excess))
        _add_gains(self.excess, worth / worth.sum(), gains)
        return gains

    def left(self, sums: np.ndarray) -> np.ndarray:
        """For every list of sums, the weight of the nodes that none of them prunes.

        ``sums[i, s]`` are the patterns that sum s of list i adds up, ended by -1.
        """
        left = np.zeros(len(sums), dtype=np.int64)
        _add_left(self.excess, sums, self.room, self.weights, left)
        return left


@kernel
def _add_gains(excess, worth, gains):
    for number in range(gains.size):
        total = 0.0
        for node in range(worth.size):
            total += excess[number, node] * worth[node]
        gains[number] = total


@kernel
def _add_left(excess, sums, room, weights, left):
    """``Focus.left``, block by block: long loops over bytes, which the compiler turns into vector operations."""
    totals, alive = np.zeros(BLOCK, dtype=np.uint8), np.zeros(BLOCK, dtype=np.uint8)
    for number in range(left.size):
        weight = 0
        for low in range(0, room.size, BLOCK):
            count = min(BLOCK, room.size - low)
            for at in range(count):
                alive[at] = 1
            for one in range(sums.shape[1]):
                for at in range(count):
                    totals[at] = 0
                for part in range(sums.shape[2]):
                    pattern = sums[number, one, part]
                    if pattern < 0:
                        break
                    column = excess[pattern, low : low + count]  # known to begin at 0: no check for negative places
                    for at in range(count):
                        totals[at] += column[at]
                rooms = room[low : low + count]
                for at in range(count):
                    alive[at] &= totals[at] <= rooms[at]
            for at in range(count):
                weight += alive[at] * weights[low + at]
        left[number] = weight


class Catalogue:
    """All connected patterns up to a size, and some ``others``, numbered by size, with their columns.

    ``images[p, s]`` is the number of the image of pattern p under symmetry s, ``table[p]`` that of the first pattern
    of its orbit, which stands for its table, ``bytes[p]`` the size of that table, and ``known[p]`` whether it was
    built. ``excess[p]`` is the column.
    """

    def __init__(
        self,
        goal: Goal,
        sample: TreeSample,
        largest: int,
        threads: int | None = None,
        file: ColumnFile | None = None,
        others: Iterable[Pattern] = (),
    ) -> None:
        self.goal, self.threads, self.file = goal, threads, file
        found = {pattern for size in connected_patterns(goal, largest) for pattern in size}
        found |= {image for pattern in others for image in goal.orbit(pattern)}
        self.patterns = sorted(found, key=lambda pattern: (len(pattern), pattern))
        self.number = {pattern: number for number, pattern in enumerate(self.patterns)}
        self.sizes = np.array([len(pattern) for pattern in self.patterns])
        self.masks = np.array([sum(1 << tile for tile in pattern) for pattern in self.patterns], dtype=np.uint64)
        symmetries = range(len(goal.cell_images))
        self.images = np.array(
            [[self.number[goal.image(pattern, symmetry)] for symmetry in symmetries] for pattern in self.patterns]
        )
        self.table = self.images.min(axis=1)
        self.orbit = np.array([len(set(row)) for row in self.images.tolist()])
        by_size = {size: table_bytes(index_of(goal.grid, size), "bits") for size in np.unique(self.sizes).tolist()}
        self.bytes = np.array([by_size[size] for size in self.sizes.tolist()])
        self._pairs = [self._pairs_of(pattern) for pattern in self.patterns]

        self.places, self.weights = sample.places, sample.weights
        self.room = np.minimum(sample.margins - sum(self._manhattan(tile) for tile in goal.tiles), MOST_ROOM)
        self.known = np.zeros(len(self.patterns), dtype=bool)
        self.tried = 0  # tables
        self.excess = np.zeros((len(self.patterns), len(sample)), dtype=np.uint8)
        for pattern, columns in file.read() if file else ():
            if pattern in self.number:
                self._insert(pattern, columns)
        self._guess(np.flatnonzero(~self.known))

    def _manhattan(self, tile: int) -> np.ndarray:
        """The distance of a tile from its home on every node."""
        home, grid = self.goal.homes[tile], self.goal.grid
        return np.array([grid.distance(cell, home) for cell in range(grid.cells)])[self.places[:, tile]]

    def _pairs_of(self, pattern: Pattern) -> list[tuple[int, int, int]]:
        """The numbers of P - a, P - b and P - a - b, for all pairs that leave connected patterns."""
        less = {tile: tuple(other for other in pattern if other != tile) for tile in pattern}
        triples = []
        for a, b in combinations((tile for tile in pattern if less[tile] in self.number), 2):
            both = tuple(tile for tile in pattern if tile not in (a, b))
            if both in self.number:
                triples.append((self.number[less[a]], self.number[less[b]], self.number[both]))
        return triples

    def _guess(self, numbers: np.ndarray) -> None:
        """Guess the columns of some patterns, in ascending order: smaller ones first, on which the others rest."""
        for size in np.unique(self.sizes[numbers]).tolist():
            these = numbers[self.sizes[numbers] == size]
            lists = [self._pairs[number] for number in these.tolist()]
            pairs = np.full((len(these), max(1, *map(len, lists)), 3), -1)
            for row, triples in enumerate(lists):
                pairs[row, : len(triples)] = np.array(triples).reshape(-1, 3)
            _guess(self.excess, these, pairs)

    def add(self, number: int) -> None:
        """Build the table of a pattern. Its column becomes known, and those of all patterns that the table serves."""
        if not self.known[number]:
            pattern = self.patterns[self.table[number]]
            columns = self._columns(pattern)
            if self.file:
                self.file.append(pattern, columns)
            self._insert(pattern, columns)
            served = self.masks[np.unique(self.images[number])]
            larger = np.flatnonzero(~self.known & (self.sizes > self.sizes[number]))
            self._guess(larger[(self.masks[larger, None] & served == served).any(axis=1)])

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
            self.excess[self.number[tiles]] = distances - sum(map(self._manhattan, tiles))
            self.known[self.number[tiles]] = True

    def focus(self, alive: np.ndarray) -> Focus:
        """The catalogue on the nodes ``alive``, none of them without room."""
        return Focus(np.take(self.excess, alive, axis=1), self.room[alive].astype(np.uint8), self.weights[alive])

    def sums(self, covers: Sequence[tuple[int, ...]]) -> np.ndarray:
        """The sums of covers and all their images, for ``Focus.left``."""
        sums = np.full((len(covers), self.images.shape[1], max(map(len, covers))), -1)
        for row, cover in enumerate(covers):
            sums[row, :, : len(cover)] = self.images[list(cover)].T
        return sums
