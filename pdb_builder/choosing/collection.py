"""The search for a collection: which partitions together leave the least time.

*What counts.* A collection of partitions, with all their images, leaves some share of the nodes, and takes some time
per node. The time is that of looking up the views of the tile that moves, one view for each pattern that has it:

    nanoseconds per node = NODE + VIEW × views per tile

so tables cost time, and partitions over tables that are there already cost none. The objective is their product.

*How.* Greedily: the partition that lowers the objective most is added, as long as one lowers it by ``LEAST_STEP`` and
the tables stay within the memory. The candidates of a step are good covers (``covers``) by the gains on those nodes
that are still left: with all tables that fit, with new tables at a discount of their gains, and with the present ones
only. Then each partition is taken out again, and the gap filled greedily, for as long as that leads to something
better.

*Which tables.* All of this needs columns. The basis is all patterns of few tiles. From then on the estimates of the
catalogue decide: for the nodes that the present collection leaves, or a part of it does, find the cover that may be
the best, and build those of its patterns that are unknown. So tables are built where they may matter, and an estimate
that was too high is put right by being tried.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..pattern import Collection, Partition, Pattern
from .catalogue import Catalogue, sums_of, weight_left
from .covers import Cover, best_covers

# Measured with the search loop for collections, several sums per word: nanoseconds per expanded node.
NODE, VIEW = 15.0, 56.0

BASIS = 4  # all patterns of so many tiles are built before any larger one
WIDTH = 150  # partial covers that go on in the beam
CLIMBERS = 4  # covers of a step that are improved by exchanges
LEAST_STEP = 0.002  # a partition must lower the objective by this part of it
REVIEW = 1.05  # by what factor the columns grow from one review of the collection to the next
SHAKES = 2  # in a review
DISCOUNT = 0.15  # of the gain of a pattern whose table is new, where the present ones are preferred


class Enough(Exception):
    """The budget is spent."""


@dataclass(frozen=True)
class Candidate:
    """A collection: its covers, the tables they need, the nodes it leaves, its objective."""

    covers: tuple[Cover, ...]
    tables: frozenset[int]
    alive: np.ndarray
    left: float
    objective: float

    @property
    def empty(self) -> bool:
        return not self.covers


@dataclass(frozen=True)
class Choice:
    """What was found: the partitions, the patterns that need tables, and what is predicted, as shares of a reference's.

    ``sums`` counts the distinct images of all partitions.
    """

    partitions: Collection
    patterns: tuple[Pattern, ...]
    bytes: int
    sums: int
    views_per_tile: float
    nodes: float
    time: float

    @property
    def text(self) -> str:
        """The collection as ``parse_collection`` reads it."""
        return ";".join("/".join(",".join(map(str, tiles)) for tiles in partition) for partition in self.partitions)


class CollectionSearch:
    """The search for the best collection over the tables of a catalogue, within ``max_memory`` bytes of tables."""

    def __init__(
        self,
        catalogue: Catalogue,
        max_memory: int,
        chance: random.Random,
        pulse: Callable[[], object] = lambda: None,
    ) -> None:
        self.catalogue, self.max_memory, self.chance, self.pulse = catalogue, max_memory, chance, pulse
        self.tiles = catalogue.goal.grid.cells - 1
        nodes = np.flatnonzero(catalogue.room >= 0)
        self.nothing = Candidate((), frozenset(), nodes, float(catalogue.weights[nodes].sum()), np.inf)
        self.best = self.nothing  # so far
        self.hall: list[Cover] = []  # covers that were the best of a step

    # ---- judging ----

    def nanoseconds(self, tables: frozenset[int]) -> float:
        """The time per node."""
        numbers = list(tables)
        views = float((self.catalogue.sizes[numbers] * self.catalogue.orbit[numbers]).sum())
        return NODE + VIEW * views / self.tiles

    def memory(self, tables: frozenset[int]) -> int:
        """The bytes of some tables."""
        return int(self.catalogue.bytes[list(tables)].sum())

    def with_cover(self, candidate: Candidate, cover: Cover) -> Candidate:
        """The collection with one more partition."""
        catalogue = self.catalogue
        alive = candidate.alive
        pruned = np.zeros(len(alive), dtype=bool)
        for rows in catalogue.rows[catalogue.images[list(cover)]].T:
            value = np.zeros(len(alive), dtype=np.int64)
            for row in rows:
                value += catalogue.excess[row, alive]
            pruned |= value > catalogue.room[alive]
        alive = alive[~pruned]
        tables = candidate.tables | {int(catalogue.table[number]) for number in cover}
        left = float(catalogue.weights[alive].sum())
        return Candidate((*candidate.covers, cover), tables, alive, left, left * self.nanoseconds(tables))

    def collection(self, covers: tuple[Cover, ...]) -> Candidate:
        """The collection of some covers."""
        candidate = self.nothing
        for cover in covers:
            candidate = self.with_cover(candidate, cover)
        return candidate

    # ---- one step ----

    def _usable(self, tables: frozenset[int], built: bool) -> np.ndarray:
        """The patterns whose tables are there or fit into the rest of the memory; of the new ones, those built."""
        catalogue = self.catalogue
        present = np.isin(catalogue.table, list(tables))
        fits = catalogue.bytes <= self.max_memory - self.memory(tables)
        if built:
            fits &= catalogue.rows >= 0
        return np.flatnonzero(present | fits)

    def judged(self, candidate: Candidate, covers: Iterable[Cover]) -> list[tuple[float, Cover]]:
        """Covers with the objective that the collection has with each of them, the best first; those that fit."""
        catalogue, tables = self.catalogue, candidate.tables
        needed = {cover: tables | {int(catalogue.table[number]) for number in cover} for cover in covers}
        fitting = [cover for cover, new in needed.items() if self.memory(new) <= self.max_memory]
        if not fitting:
            return []
        left = np.zeros(len(fitting))
        sums = sums_of(catalogue, fitting)
        weight_left(catalogue.excess, sums, candidate.alive, catalogue.room, catalogue.weights, left)
        nanoseconds = [self.nanoseconds(needed[cover]) for cover in fitting]
        return sorted(zip((left * nanoseconds).tolist(), fitting, strict=True))

    def neighbours(self, cover: Cover, usable: np.ndarray) -> list[Cover]:
        """The covers that differ from one in two patterns: others with the same tiles, or one that has all of them."""
        masks, found = self.catalogue.masks, []
        for one, other in combinations(cover, 2):
            rest = tuple(number for number in cover if number not in (one, other))
            union = masks[one] | masks[other]
            within = usable[masks[usable] & ~union == 0]
            numbers = {int(masks[number]): int(number) for number in within}
            whole = int(union)
            if whole in numbers:
                found.append((*rest, numbers[whole]))
            for mask, number in numbers.items():
                if mask & whole & -whole and whole ^ mask in numbers:
                    found.append((*rest, number, numbers[whole ^ mask]))
        return [tuple(sorted(cover)) for cover in found]

    def climbed(self, candidate: Candidate, start: tuple[float, Cover], usable: np.ndarray) -> tuple[float, Cover]:
        """The cover that a walk from one to ever better neighbours ends at."""
        best, seen = start, {start[1]}
        while True:
            around = [cover for cover in dict.fromkeys(self.neighbours(best[1], usable)) if cover not in seen]
            seen.update(around)
            judged = self.judged(candidate, around)
            if not judged or judged[0][0] >= best[0]:
                return best
            best = judged[0]
            self.pulse()

    def steps(self, candidate: Candidate) -> list[tuple[float, Cover]]:
        """Partitions to add, the best first, each with the objective that it leads to."""
        catalogue, tables = self.catalogue, candidate.tables
        gains = catalogue.gains(candidate.alive)
        usable = self._usable(tables, built=True)
        present = np.isin(catalogue.table, list(tables))
        seeds = self._covers(gains, usable) + self.hall
        if tables:
            seeds += self._covers(np.where(present, gains, gains * (1 - DISCOUNT)), usable)
            seeds += self._covers(gains, np.flatnonzero(present))
        allowed = set(usable.tolist())
        judged = self.judged(candidate, dict.fromkeys(seed for seed in seeds if allowed.issuperset(seed)))
        ends = [self.climbed(candidate, start, usable) for start in judged[:CLIMBERS]]
        self.hall += [cover for _, cover in sorted(ends)[:1] if cover not in self.hall]
        return sorted(dict.fromkeys(ends))

    def _covers(self, values: np.ndarray, usable: np.ndarray) -> list[Cover]:
        covers = best_covers(self.catalogue.masks, values, usable, self.tiles, WIDTH)
        return [tuple(sorted(cover)) for cover in covers]

    # ---- whole collections ----

    def greedy(self, candidate: Candidate, skip: int = 0) -> Candidate:
        """Add partitions for as long as that lowers the objective; the first one is the best but ``skip``."""
        while True:
            self.pulse()
            steps = self.steps(candidate)[skip:]
            if not steps or steps[0][0] > candidate.objective * (1 - LEAST_STEP):
                return candidate
            candidate, skip = self.with_cover(candidate, steps[0][1]), 0
            if candidate.objective < self.best.objective:
                self.best = candidate

    def without(self, candidate: Candidate, places: set[int]) -> Candidate:
        """The collection without the covers at some places."""
        return self.collection(tuple(cover for at, cover in enumerate(candidate.covers) if at not in places))

    def improved(self, candidate: Candidate) -> Candidate:
        """The collection after every partition was taken out in turn and the gap filled, while that helps."""
        better = True
        while better:
            better = False
            for place in range(len(candidate.covers)):
                other = self.greedy(self.without(candidate, {place}))
                if other.objective < candidate.objective * (1 - 1e-9):
                    candidate, better = other, True
                    break
        return candidate

    def trimmed(self, candidate: Candidate) -> Candidate:
        """The collection without partitions that have become superfluous."""
        for cover in candidate.covers:
            other = self.collection(tuple(kept for kept in candidate.covers if kept != cover))
            if other.objective <= candidate.objective:
                candidate = other
        return candidate

    def shaken(self, candidate: Candidate) -> Candidate:
        """What comes of a collection if a random part of it is taken out and the gap filled, or all of it anew."""
        count = len(candidate.covers)
        if not count or self.chance.random() < 0.2:
            return self.greedy(self.nothing, self.chance.randrange(CLIMBERS))
        return self.greedy(self.without(candidate, set(self.chance.sample(range(count), self.chance.randint(1, count)))))

    # ---- which tables to build ----

    def promising(self, candidate: Candidate) -> list[int]:
        """Patterns to build next: the unknown ones of the cover that may be the best, given a part of a collection."""
        catalogue = self.catalogue
        kept = self.chance.randint(0, len(candidate.covers))
        part = self.collection(tuple(self.chance.sample(candidate.covers, kept)))
        values = catalogue.estimates(catalogue.gains(part.alive))
        usable = self._usable(part.tables, built=False)
        for cover in self._covers(values, usable):
            tables = part.tables | {int(catalogue.table[number]) for number in cover}
            unknown = sorted({int(catalogue.table[number]) for number in cover if not catalogue.is_built(number)})
            if unknown and self.memory(tables) <= self.max_memory:
                return unknown
        unbuilt = usable[catalogue.rows[usable] < 0]
        if not len(unbuilt):
            return []
        return [int(catalogue.table[unbuilt[np.argmax(values[unbuilt])]])]


    # ---- the whole search ----

    def run(self, reference: Partition, most: int | None = None) -> Candidate:
        """Build up to ``most`` tables, or all that promise something, and improve the collection.

        It ends before that if ``pulse`` raises ``Enough``.
        """
        catalogue = self.catalogue
        with contextlib.suppress(Enough):
            self._add([catalogue.number[pattern] for pattern in reference if pattern in catalogue.number], most)
            self._add(np.flatnonzero(catalogue.sizes <= BASIS).tolist(), most)
            self.greedy(self.nothing)
            reviewed = catalogue.tried
            while (most is None or catalogue.tried < most) and (numbers := self.promising(self.best)):
                self._add(numbers, most)
                if catalogue.tried > reviewed * REVIEW:
                    reviewed = catalogue.tried
                    self.greedy(self.best)
                    for _ in range(SHAKES):
                        self.shaken(self.best)
            self.improved(self.greedy(self.best))
        return self.best

    def _add(self, numbers: Iterable[int], most: int | None) -> None:
        for number in numbers:
            if not self.catalogue.is_built(number) and (most is None or self.catalogue.tried < most):
                self.catalogue.add(number)
                self.pulse()

    def choice(self, reference: Partition, reference_left: float) -> Choice:
        """The best so far, in words that mean something elsewhere; ``reference_left`` is what the reference leaves."""
        best, goal = self.trimmed(self.best), self.catalogue.goal
        named = self.catalogue.patterns
        partitions = tuple(tuple(named[number] for number in cover) for cover in best.covers)
        patterns = tuple(named[number] for number in sorted(best.tables))
        reference_time = reference_left * (NODE + VIEW * goal.views_per_tile(reference))
        return Choice(
            partitions,
            patterns,
            self.memory(best.tables),
            len({image for partition in partitions for image in goal.images(partition)}),
            goal.views_per_tile(patterns),
            best.left / reference_left,
            best.objective / reference_time,
        )
