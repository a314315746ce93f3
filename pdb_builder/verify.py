"""The verifier: proves a database correct with code that shares nothing with the level loop.

It opens the file like any reader. Everything else is done again in a different way: the index and the
moves (``independent_index``), and the search, which follows the moves of every single state
(``independent_search``). The ``bits`` of a table are compared one by one.

The invariants, by number:

1. *whole*: the file's label, size and seal match, and its structure is complete. Proves that no byte
   outside the tables has changed since the file was written.
2. *checksums*: each table has its recorded SHA-256. Proves the same for the tables.
3. *partition*: in each partition every tile is in exactly one pattern, and every pattern has a table: its own, or that
   of an image of it under a symmetry of the board that keeps the blank's home. No table is left over. Proves that the
   values of a partition may be added up.
4. *index*: the tables have one entry for every state, and the block numbers are those of an
   independent count. Proves that every state has its place.
5. *goal*: the goal has distance 0. Proves that the tables are for this goal.
6. *entries*: every entry is the distance found by an independent breadth-first search, unused bits
   are 0, and look-ups of a sample of states give these distances. Proves the tables correct, whoever
   wrote them and whatever the checksums say.
7. *levels*: the recorded number of entries at each distance, and the maximum, are those of that
   search.

1 to 5 take about as long as reading the file. 6 and 7 need one byte of memory per state. Where that is more
than there is, a ``bits`` table is proven with one bit per state, and the table itself, in about twice
the time. Where that is too long, a sample of the entries can be compared, each with a search of its own
(``independent_sample``). It proves nothing about the others, but a fault that touches one entry in a hundred
escapes five hundred of them less than once in a hundred times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import factorial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .base.errors import DamagedDatabase, InputError
from .base.machine import readable_size
from .base.workers import Workers, check_threads
from .database import Database, Table
from .independent_index import Graph, first_blocks, graph_of, label_zones, list_footprints, neighbour_table, share
from .independent_sample import NEVER, ROOM, check_sample, distances_of_sample, draw_sample, splits_of
from .independent_search import FAR, compare_bits, compare_bytes, distances_of, first_wrong, refute_bits
from .memory import check_sample_memory, check_verify_memory, is_proven_by_bits, verify_memory
from .store import check_tables, open_database

INVARIANTS = {
    1: ("whole", "no byte outside the tables has changed since the file was written"),
    2: ("checksums", "no byte of the tables has changed since the file was written"),
    3: ("partition", "every tile is in one pattern of each partition, so the values may be added up"),
    4: ("index", "every state has its place, and only one"),
    5: ("goal", "the tables are for this goal: its distance is 0"),
    6: ("entries", "every entry is the distance found by an independent search"),
    7: ("levels", "the recorded numbers of entries per distance are true"),
}
SAMPLE = 200  # states of a table that are looked up
SECONDS = 5e-8  # of a thread per state, to prove a table with one bit for each


@dataclass(frozen=True)
class Check:
    """The outcome of checking one invariant; ``fault`` is empty if it holds.

    ``sample`` is not 0 if it was checked for so many entries of each table only.
    """

    number: int
    fault: str = ""
    sample: int = 0

    @property
    def name(self) -> str:
        return INVARIANTS[self.number][0]

    @property
    def proves(self) -> str:
        if self.sample:
            return f"{self.sample:,} entries of each table, drawn at random, agree with searches of their own"
        return INVARIANTS[self.number][1]


def verify_database(
    path: Path | str,
    *,
    quick: bool = False,
    sample: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    force: bool = False,
    progress: Callable[[str, int], object] = lambda stage, states: None,
    notify: Callable[[str], object] = lambda remark: None,
) -> Iterator[Check]:
    """Check the invariants in order and yield each outcome; stop at the first invariant that fails.

    ``quick`` leaves out the search (6 and 7). With ``sample`` so many entries of each table, drawn at random from
    ``seed``, are compared instead. ``force`` searches even if memory seems to be short. ``progress`` is called now and
    then with the stage and the number of states found since, ``notify`` with a remark on a table that takes long,
    because there is not enough memory for the quick way.
    """
    try:
        database = open_database(path)
    except DamagedDatabase as error:
        yield Check(1, str(error))
        return
    if sample is not None:
        if quick:
            raise InputError("`quick` compares no entries, so there can be no `sample`: leave out one of them")
        check_sample(sample, database.tables)
    by_bits = [is_proven_by_bits(table) for table in database.tables]
    if not quick and not force:
        if sample is None:
            check_verify_memory(database, by_bits)
        else:
            check_sample_memory(database, splits_of, check_threads(threads) * ROOM)
    yield Check(1)
    checks = [(2, _check_checksums), (3, _check_partition), (4, _check_index), (5, _check_goal)]
    for number, check in checks:
        fault = check(database)
        yield Check(number, fault)
        if fault:
            return
    if quick:
        return
    if sample is not None:
        with Workers(threads) as workers:
            for number, table in enumerate(database.tables, start=1):
                stage = f"pattern {number} of {len(database.tables)}"
                fault = _check_sampled_entries(table, sample, seed, workers, stage, progress)
                if fault:
                    yield Check(6, f"{stage}: {fault}", sample)
                    return
        yield Check(6, sample=sample)
        return
    wrong_levels = ""
    for number, (table, packed) in enumerate(zip(database.tables, by_bits, strict=True), start=1):
        stage = f"pattern {number} of {len(database.tables)}"
        if packed:
            needed = readable_size(verify_memory(table, packed))
            hours = table.entries * SECONDS / check_threads(threads) / 3600
            notify(
                f"{stage} has more states than bytes of memory: proving it takes {needed}, and about {hours:.1f} hours"
            )
        fault, levels = _check_entries(table, packed, threads, partial(progress, stage))
        if fault:
            yield Check(6, f"{stage}: {fault}")
            return
        wrong_levels = wrong_levels or (f"{stage}: {levels}" if levels else "")
    yield Check(6)
    yield Check(7, wrong_levels)


# ---- invariants 2 to 5 --------------------------------------------------------------------------


def _check_checksums(database: Database) -> str:
    try:
        check_tables(database)
    except DamagedDatabase as error:
        return str(error)
    return ""


def _check_partition(database: Database) -> str:
    used = set()
    for number, partition in enumerate(database.spec.partitions, start=1):
        tiles = sorted(tile for pattern in partition for tile in pattern)
        if tiles != list(range(1, database.grid.cells)):
            return f"partition {number}: the patterns contain the tiles {tiles}"
        for pattern in partition:
            table, cells = database.spec.source(pattern)
            if not _is_image(database, pattern, database.tables[table].tiles, cells):
                return f"partition {number}: pattern {table + 1} has no distances for the tiles {list(pattern)}"
            used.add(table)
    unused = sorted(set(range(len(database.tables))) - used)
    return f"no partition contains pattern {unused[0] + 1}" if unused else ""


def _is_image(database: Database, pattern: Sequence[int], tiles: Sequence[int], cells: Sequence[int]) -> bool:
    """Whether a map of cells is a symmetry that keeps the blank's home and takes the homes of a pattern to others'."""
    grid, blank, goal = database.grid, database.spec.blank, database.grid.goal(database.spec.blank)
    return (
        sorted(cells) == list(range(grid.cells))
        and cells[blank] == blank
        and all(
            {cells[near] for near in grid.neighbours[c]} == set(grid.neighbours[cells[c]]) for c in range(grid.cells)
        )
        and {cells[goal.index(tile)] for tile in pattern} == {goal.index(tile) for tile in tiles}
    )


def _check_index(database: Database) -> str:
    for number, table in enumerate(database.tables, start=1):
        footprints = list_footprints(table.grid.cells, len(table.tiles))
        blocks = first_blocks(table.grid, footprints)
        if table.encoding == "bytes":
            expected = (len(footprints), factorial(len(table.tiles)))
        else:
            expected = (int(blocks[-1]), max(1, factorial(len(table.tiles)) // 8))
            assert table.first_block is not None
            if not np.array_equal(blocks, table.first_block):
                wrong = int(np.flatnonzero(blocks != table.first_block)[0])
                return f"pattern {number}: first_block[{wrong}] is {table.first_block[wrong]}, expected {blocks[wrong]}"
        if table.values.shape != expected:
            return f"pattern {number}: the table has the shape {table.values.shape}, expected {expected}"
    return ""


def _check_goal(database: Database) -> str:
    goal = database.grid.goal(database.spec.blank)
    for number, table in enumerate(database.tables, start=1):
        try:
            distance = table.distance(goal)
        except InputError:
            distance = None
        if distance != 0:
            return f"pattern {number}: the goal has distance {distance}"
        if table.counts[0] != 1:
            return f"pattern {number}: {table.counts[0]} entries are recorded with distance 0, expected 1"
    return ""


# ---- invariants 6 and 7 -------------------------------------------------------------------------


def _check_entries(
    table: Table, packed: bool, threads: int | None, progress: Callable[[int], object]
) -> tuple[str, str]:
    """What is wrong with the entries of a table, and with its level counts; empty if nothing."""
    with Workers(threads) as workers:
        graph = graph_of(table.grid, table.tiles, table.blank, workers)
        sample = _drawn_states(table, graph)
        places = np.array([(state.block, state.arrangement) for state in sample])
        if packed:
            wrong, counts, expected = refute_bits(graph, table.values, places, workers, progress)
        else:
            distances, counts = distances_of(graph, workers, progress)
            if table.encoding == "bits":
                wrong = first_wrong(share(workers, graph.blocks, compare_bits, distances, table.values))
                expected = distances[*places.T]
            else:
                histogram = np.zeros(FAR + 1, dtype=np.int64)
                first_block, footprints = graph.first_block, len(graph.footprints)
                wrong = compare_bytes(distances, table.values, first_block, histogram, 0, footprints)
                counts = np.trim_zeros(histogram[:FAR], "b").tolist()
                zones = [slice(*first_block[state.footprint : state.footprint + 2]) for state in sample]
                expected = np.array(
                    [distances[z, state.arrangement].min() for z, state in zip(zones, sample, strict=True)]
                )
            expected = np.where(expected == FAR, -1, expected.astype(np.int64))
    if wrong >= 0:
        return f"{'block' if table.encoding == 'bits' else 'footprint'} {wrong} differs from an independent search", ""
    if counts != table.counts.tolist():
        return "", f"the recorded counts are {table.counts.tolist()}, expected {counts}"
    for state, distance in zip(sample, expected.tolist(), strict=True):
        if distance >= 0 and table.distance_of(state.cells, state.blank) != distance:
            return f"looking up the tiles on {state.cells} with the blank on {state.blank} does not give {distance}", ""
    return "", ""


class _State(NamedTuple):
    """A state of a pattern, in the words of the index and on the board."""

    footprint: int
    block: int
    arrangement: int
    cells: list[int]  # of the tiles
    blank: int


def _drawn_states(table: Table, graph: Graph) -> list[_State]:
    """A sample of states."""
    random = np.random.default_rng(0)
    neighbours, labels = neighbour_table(table.grid), np.empty(table.grid.cells, dtype=np.int64)
    states = []
    for _ in range(SAMPLE):
        footprint, arrangement = int(random.integers(len(graph.footprints))), int(random.integers(len(graph.ordinals)))
        label_zones(graph.footprints[footprint], neighbours, labels)
        blank = int(random.choice(np.flatnonzero(labels >= 0)))
        cells = np.flatnonzero(labels < 0)[graph.ordinals[arrangement]].tolist()
        block = int(graph.first_block[footprint] + labels[blank])
        states.append(_State(footprint, block, arrangement, cells, blank))
    return states


# ---- a sample of invariant 6 --------------------------------------------------------------------


def _check_sampled_entries(
    table: Table, count: int, seed: int, workers: Workers, stage: str, progress: Callable[[str, int], object]
) -> str:
    """What is wrong with one of the entries drawn; empty if nothing."""

    def note(what: str, states: int) -> None:
        progress(f"{stage}, {what}", states)

    sample = draw_sample(table.grid, len(table.tiles), count, seed)
    any_zone = table.encoding == "bytes"
    distances = distances_of_sample(table.grid, table.tiles, table.blank, sample, any_zone, workers, note)
    try:
        entries = table.distances_of(sample.cells.copy(), sample.blanks)
    except InputError:  # of some state there is no way home by the table, or only a longer one than any
        entries = np.array([_entry(table, *state) for state in zip(*sample, strict=True)])
    wrong = np.flatnonzero(entries != distances)
    if wrong.size == 0:
        return ""
    cells, blank = sample.cells[wrong[0]].tolist(), sample.blanks[wrong[0]]
    entry, distance = ("none" if number == NEVER else number for number in (entries[wrong[0]], distances[wrong[0]]))
    return f"the tiles on {cells} with the blank on {blank} have the distance {entry}, expected {distance}"


def _entry(table: Table, cells: np.ndarray, blank: int) -> int:
    """The distance of a state by the table, NEVER if it is none that a state can have."""
    try:
        return table.distance_of(cells.tolist(), int(blank))
    except InputError:
        return int(NEVER)
