"""The search for a collection: which partitions together leave the least time.

*What counts.* A collection of partitions, with all their images, leaves some share of the nodes, and takes some time
per node. Part of the time goes into looking up the views of the tile that moves, one view for each pattern that has it:

    nanoseconds per node = NODE + VIEW × views per tile

so tables cost time, and partitions over tables that are there already cost none. The search loop looks at one view of a
move, and at the others only if it survives; but each expanded node is a move that survived, so their number counts all
the same. The objective is the product of nodes and time per node.

*One step.* To a collection, the partition is added that lowers the objective most. Good covers (``covers``) by what
patterns gain on the nodes still left are where the search for it begins; from the best of them it climbs, exchanging
two patterns for two others with the same tiles, as long as the objective falls.

*A collection* is made of steps as long as one lowers the objective by ``LEAST_STEP`` and the tables stay within the
memory. Then it is changed at random, again and again: a part is taken out and the gap filled, or tables are replaced
by similar ones and partitions found that use them. What is better stays, and for a while also what is hardly worse.

*Two parts.* A search among thousands of collections finds one that suits its sample by chance as well as by merit. So
the last part of the nodes is kept back, and what a collection is worth is predicted on these. Nodes are in the order of
the boards whose trees they come from, so all trees but one are on one side or the other.

*Which tables.* The columns of all patterns are known or guessed (``catalogue``), and steps do not distinguish between
the two. Only if a collection promises to be better than the best are its unknown tables built, one after another, for
as long as it still promises that. So the best collection is always made of known ones, and tables are built where they
seem to matter. Guesses rest on the columns of small patterns. The smallest tables are therefore all built to begin
with. The next larger ones would make better guesses but take minutes, so they are built a few at a time, between
attempts: the first collection is there soon, and later ones are guessed better.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations, count

import numpy as np

from ..pattern import MAX_SUMS, MAX_TABLES, MAX_VIEWS, Collection, Partition, Pattern, Spec, collection_text
from .catalogue import Catalogue, Focus
from .covers import Cover, best_covers

# Nanoseconds per expanded node, measured on 5x5 (``docs/benchmarks.md``): a fixed part, one for each view of the tile
# that moves, and a larger one if its table is large, for memory answers later.
NODE, VIEW, LARGE_VIEW = 235.0, 50.0, 75.0
LARGE = 100_000_000  # bytes of a table

KEPT_BACK = 0.25  # part of the nodes that has no say in the choice, and judges it
BASIS = 300_000  # bytes: all smaller tables are built to begin with
WIDER_BASIS = 2_000_000  # bytes: all smaller tables are built as the search goes on,
GROWTH = 20  # so many between two attempts
WIDTH = 150  # partial covers that go on in the beam
CLIMBERS = 4  # covers of a step that are improved by exchanges
LEAST_STEP = 0.005  # a partition must lower the objective by this part of it
DISCOUNT = 0.15  # of the gain of a pattern whose table is new, where the present ones are preferred
NOISE = 0.1  # part of the gains that is random
TOLERANCE = 0.03  # how much worse than the best a collection may be that is changed further
AFRESH = 0.1  # how often a collection is begun from nothing
MUTATED = 0.6  # how often tables are replaced by similar ones
KEPT, BANNED = 0.6, 0.3  # the chances of a partition to stay, and of a table that was taken out not to come back


class Enough(Exception):
    """The budget is spent."""


@dataclass(frozen=True)
class Candidate:
    """A collection: its covers, all images of these, the tables they need, the nodes it leaves, its objective."""

    covers: tuple[Cover, ...]
    sums: frozenset[Cover]
    tables: frozenset[int]
    alive: np.ndarray
    left: float
    objective: float

    @property
    def empty(self) -> bool:
        return not self.covers


@dataclass(frozen=True)
class Choice:
    """What was found: the partitions, the patterns that get tables, and what is predicted, as shares of a reference's.

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
        return collection_text(self.partitions)


class CollectionSearch:
    """The search for the best collection over the tables of a catalogue, within ``max_memory`` bytes of tables."""

    def __init__(
        self,
        catalogue: Catalogue,
        max_memory: int,
        chance: random.Random,
    ) -> None:
        self.catalogue, self.max_memory, self.chance = catalogue, max_memory, chance
        self.pulse: Callable[[], object] = lambda: None  # called often, may raise ``Enough``
        self.tiles = catalogue.goal.grid.cells - 1
        nodes = np.arange(len(catalogue.room))
        self.kept_back = nodes >= len(nodes) - int(len(nodes) * KEPT_BACK)
        self.nothing = self._nothing(~self.kept_back)
        self.best = self.nothing  # so far
        self.banned: frozenset[int] = frozenset()  # tables that may not be added
        self.reserved: frozenset[int] = frozenset()  # tables that memory is kept for
        self._gains_of: tuple[int, np.ndarray] | None = None
        self.good_covers: list[Cover] = []  # covers that were the best of a step

    def _nothing(self, part: np.ndarray) -> Candidate:
        """The collection without partitions, judged on a part of the nodes: it prunes those without room."""
        nodes = np.flatnonzero(part & (self.catalogue.room >= 0))
        return Candidate((), frozenset(), frozenset(), nodes, float(self.catalogue.weights[nodes].sum()), np.inf)

    # ---- judging ----

    def nanoseconds(self, tables: frozenset[int]) -> float:
        """The time per node."""
        catalogue, numbers = self.catalogue, list(tables)
        views = np.where(catalogue.bytes[numbers] > LARGE, LARGE_VIEW, VIEW)
        return NODE + float((views * catalogue.sizes[numbers] * catalogue.orbit[numbers]).sum()) / self.tiles

    def memory(self, tables: frozenset[int]) -> int:
        """The bytes of some tables."""
        return int(self.catalogue.bytes[list(tables)].sum())

    def _fits(self, tables: frozenset[int]) -> bool:
        """Whether a collection may have these tables, and their views be looked at."""
        views = int(self.catalogue.orbit[list(tables)].sum())
        return len(tables) <= MAX_TABLES and views <= MAX_VIEWS and self.memory(tables) <= self.max_memory

    def _fits_alone(self, cover: Cover) -> bool:
        """Whether a single partition may be a collection: ``Spec`` gives each of its patterns a table, even images."""
        return int(self.catalogue.bytes[list(cover)].sum()) <= self.max_memory

    def acceptable(self, candidate: Candidate) -> bool:
        """Whether a collection may be the answer: its tables fit as they are stored, and all its sums are looked at."""
        if len(candidate.covers) == 1 and not self._fits_alone(candidate.covers[0]):
            return False
        return self._fits(candidate.tables) and len(candidate.sums) <= MAX_SUMS

    def with_cover(self, candidate: Candidate, cover: Cover) -> Candidate:
        """The collection with one more partition."""
        catalogue = self.catalogue
        alive = candidate.alive
        pruned = np.zeros(len(alive), dtype=bool)
        images = catalogue.images[list(cover)].T
        for patterns in images:
            value = sum(catalogue.excess[pattern][alive].astype(np.int64) for pattern in patterns)
            pruned |= value > catalogue.room[alive]
        alive = alive[~pruned]
        tables = candidate.tables | {int(catalogue.table[number]) for number in cover}
        sums = candidate.sums | {tuple(sorted(patterns)) for patterns in images.tolist()}
        left = float(catalogue.weights[alive].sum())
        return Candidate((*candidate.covers, cover), sums, tables, alive, left, left * self.nanoseconds(tables))

    def collection(self, covers: tuple[Cover, ...]) -> Candidate:
        """The collection of some covers."""
        candidate = self.nothing
        for cover in covers:
            candidate = self.with_cover(candidate, cover)
        return candidate

    # ---- one step ----

    def _usable(self, tables: frozenset[int]) -> np.ndarray:
        """The patterns whose tables are there or reserved, or fit into the rest of the memory and are not banned."""
        catalogue = self.catalogue
        taken = tables | self.reserved
        fits = catalogue.bytes <= self.max_memory - self.memory(taken)
        fits &= ~np.isin(catalogue.table, list(self.banned))
        return np.flatnonzero(fits | np.isin(catalogue.table, list(taken)))

    def judged(self, tables: frozenset[int], focus: Focus, covers: Iterable[Cover]) -> list[tuple[float, Cover]]:
        """Covers with the objective of the collection with each of them, the best first; those that fit.

        The collection has ``tables``, and the nodes that it leaves are in ``focus``.
        """
        catalogue = self.catalogue
        needed = {cover: tables | set(catalogue.table[list(cover)].tolist()) for cover in covers}
        fitting = [cover for cover, new in needed.items() if self._fits(new | self.reserved)]
        if not tables:
            fitting = [cover for cover in fitting if self._fits_alone(cover)]
        if not fitting:
            return []
        left = focus.left(catalogue.sums(fitting))
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

    def climbed(
        self, tables: frozenset[int], focus: Focus, start: tuple[float, Cover], usable: np.ndarray
    ) -> tuple[float, Cover]:
        """The cover that a walk from one to ever better neighbours ends at."""
        best, seen = start, {start[1]}
        while True:
            around = [cover for cover in dict.fromkeys(self.neighbours(best[1], usable)) if cover not in seen]
            seen.update(around)
            judged = self.judged(tables, focus, around)
            if not judged or judged[0][0] >= best[0]:
                return best
            best = judged[0]
            self.pulse()

    def steps(self, candidate: Candidate) -> list[tuple[float, Cover]]:
        """Partitions to add, the best first, each with the objective that it leads to."""
        catalogue, tables = self.catalogue, candidate.tables
        noise = np.random.default_rng(self.chance.randrange(2**32)).random(len(catalogue.patterns))
        focus = catalogue.focus(candidate.alive)
        gains = focus.gains() * (1 - NOISE * noise)
        usable = self._usable(tables)
        present = np.isin(catalogue.table, list(tables))
        seeds = self._covers(gains, usable) + self.good_covers
        if tables:
            seeds += self._covers(np.where(present, gains, gains * (1 - DISCOUNT)), usable)
            seeds += self._covers(gains, np.flatnonzero(present))
        allowed = set(usable.tolist())
        judged = self.judged(tables, focus, dict.fromkeys(seed for seed in seeds if allowed.issuperset(seed)))
        ends = [self.climbed(tables, focus, start, usable) for start in judged[:CLIMBERS]]
        self.good_covers += [cover for _, cover in sorted(ends)[:1] if cover not in self.good_covers]
        return sorted(dict.fromkeys(ends))

    def _covers(self, values: np.ndarray, usable: np.ndarray) -> list[Cover]:
        covers = best_covers(self.catalogue.masks, values, usable, self.tiles, WIDTH)
        return [tuple(sorted(cover)) for cover in covers]

    # ---- whole collections ----

    def greedy(self, candidate: Candidate) -> Candidate:
        """The collection with more partitions, for as long as that lowers the objective."""
        most = MAX_SUMS - self.catalogue.images.shape[1]  # room for one more partition with all its images
        while candidate.left and len(candidate.sums) <= most:
            self.pulse()
            steps = self.steps(candidate)
            if not steps or steps[0][0] > candidate.objective * (1 - LEAST_STEP):
                break
            candidate = self.with_cover(candidate, steps[0][1])
        return candidate

    def trimmed(self, candidate: Candidate) -> Candidate:
        """The collection without partitions that have become superfluous."""
        for cover in candidate.covers:
            other = self.collection(tuple(kept for kept in candidate.covers if kept != cover))
            if other.objective <= candidate.objective and self.acceptable(other):
                candidate = other
        return candidate

    def shaken(self, candidate: Candidate) -> Candidate:
        """A collection that random changes of another one lead to.

        Either some partitions are taken out, and some of the tables that are no longer needed may not come back. Or a
        few tables are replaced by similar ones, and memory is kept for them and the others while partitions are found
        anew: which tables of seven tiles share the memory is a matter of all partitions, not of one.
        """
        covers = [cover for cover in candidate.covers if self.chance.random() < KEPT]
        if self.chance.random() < AFRESH:
            covers = []
        self.banned = self.reserved = frozenset()
        if candidate.tables and self.chance.random() < MUTATED:
            tables = sorted(candidate.tables)
            count = min(self.chance.choice((1, 1, 1, 2)), len(tables))
            bytes_of = self.catalogue.bytes[tables].tolist()
            out = {self.chance.choices(tables, bytes_of)[0] for _ in range(count)}
            new = {self.similar(table) for table in sorted(out)}
            if self._fits(candidate.tables - out | new):
                self.banned, self.reserved = frozenset(out - new), candidate.tables - out | new
            covers = [cover for cover in covers if not out.intersection(self.catalogue.table[list(cover)].tolist())]
        kept = self.collection(tuple(covers))
        if not self.reserved:
            free = sorted(candidate.tables - kept.tables)
            self.banned = frozenset(table for table in free if self.chance.random() < BANNED)
        found = self.trimmed(self.greedy(kept))
        self.banned = self.reserved = frozenset()
        return found

    def similar(self, table: int) -> int:
        """A random table whose pattern differs in one tile, or has one more or less, sooner one of high gain."""
        catalogue = self.catalogue
        shared = np.bitwise_count(catalogue.masks & catalogue.masks[table])
        size = int(catalogue.sizes[table])
        near = (shared >= size - 1) & (abs(catalogue.sizes - size) <= 1) & (catalogue.sizes <= shared + 1)
        near &= catalogue.table != catalogue.table[table]
        numbers = np.flatnonzero(near)
        if not len(numbers):
            return table
        return int(catalogue.table[self.chance.choices(numbers.tolist(), (self._gains()[numbers] + 1e-9).tolist())[0]])

    def _gains(self) -> np.ndarray:
        """The gains of all patterns on all nodes, computed again when more tables are known."""
        if self._gains_of is None or self._gains_of[0] != self.catalogue.tried:
            self._gains_of = (self.catalogue.tried, self.catalogue.focus(self.nothing.alive).gains())
        return self._gains_of[1]

    def proven(self, candidate: Candidate) -> Candidate:
        """The collection after its unknown tables were built, as long as it promises to be better than the best."""
        catalogue = self.catalogue
        while candidate.objective < self.best.objective and self.acceptable(candidate):
            unknown = [table for table in sorted(candidate.tables) if not catalogue.known[table]]
            if not unknown:
                self.best = candidate
                break
            catalogue.add(unknown[0])
            self.pulse()
            candidate = self.collection(candidate.covers)
        return candidate

    # ---- the whole search ----

    def run(self, start: Collection, candidates: int | None = None) -> Candidate:
        """Improve a collection, by ``candidates`` attempts or until ``pulse`` raises ``Enough``.

        ``start`` is the collection to begin with, of patterns that are in the catalogue; if it does not fit into the
        memory, its partitions are merely candidates.
        """
        catalogue = self.catalogue
        with contextlib.suppress(Enough):
            self.good_covers += [tuple(sorted(catalogue.number[tiles] for tiles in partition)) for partition in start]
            basis = np.flatnonzero(catalogue.bytes <= min(BASIS, self.max_memory)).tolist()
            self._build((*(number for cover in self.good_covers for number in cover), *basis))
            begun = self.collection(tuple(self.good_covers))
            if self.acceptable(begun):
                self.best = self.trimmed(begun)
            current, tried = self.best, catalogue.tried
            for _ in count() if candidates is None else range(candidates):
                found = self.proven(self.shaken(current))
                if self.best.empty and found.empty:  # not even the smallest tables fit
                    break
                self._widen_basis()
                if tried != catalogue.tried:  # what was guessed may be known now
                    current, tried = self.collection(current.covers), catalogue.tried
                if found.objective <= self.best.objective * (1 + TOLERANCE):
                    current = found
                elif current.objective > self.best.objective * (1 + TOLERANCE):
                    current = self.best
        return self.best

    def _build(self, numbers: Iterable[int]) -> None:
        """Build the tables of some patterns."""
        for number in numbers:
            self.catalogue.add(number)
            self.pulse()

    def _widen_basis(self) -> None:
        """Build a few more small tables, those of high gain first."""
        catalogue = self.catalogue
        small = ~catalogue.known & (catalogue.bytes <= min(WIDER_BASIS, self.max_memory))
        tables = np.unique(catalogue.table[small])
        self._build(tables[np.argsort(-self._gains()[tables], kind="stable")][:GROWTH].tolist())

    def choice(self, reference: Partition, leaves: np.ndarray) -> Choice:
        """The best so far, judged on the nodes that were kept back; ``leaves`` are those that the reference leaves."""
        catalogue, goal = self.catalogue, self.catalogue.goal
        best = self._nothing(self.kept_back)
        for cover in self.trimmed(self.best).covers:
            best = self.with_cover(best, cover)
        partitions = tuple(tuple(sorted(catalogue.patterns[number] for number in cover)) for cover in best.covers)
        patterns = Spec(goal.grid, partitions, goal.blank, "bits").patterns
        left = float(catalogue.weights[self.kept_back & leaves].sum())
        tables = {int(catalogue.table[catalogue.number[tiles]]) for tiles in reference}
        time = left * self.nanoseconds(frozenset(tables))
        return Choice(
            partitions,
            patterns,
            int(catalogue.bytes[[catalogue.number[tiles] for tiles in patterns]].sum()),
            len(best.sums),
            goal.views_per_tile(patterns),
            best.left / left,
            best.objective / time,
        )
