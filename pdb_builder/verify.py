"""The verifier: proves a database correct with code that shares nothing with the level loop.

It opens the file like any reader and takes the neighbours of cells from ``grid``. Everything else is
done again in a different way. Footprints are listed and found by bisection, not ranked by binomial
coefficients. Zones are flooded cell by cell. Arrangements are listed as docs/format.md defines them and
found by bisection. The search keeps one byte per state and follows the moves of every single state.
The ``bits`` of a table are compared one by one.

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

1 to 5 take about as long as reading the file; 6 and 7 need one byte of memory per state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb, factorial
from pathlib import Path

import numpy as np

from .base.errors import DamagedDatabase, InputError
from .base.jit import kernel
from .base.workers import Workers
from .database import Database, Table
from .grid import Grid
from .memory import check_verify_memory
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
FAR = 255  # not reached, or not yet


@dataclass(frozen=True)
class Check:
    """The outcome of checking one invariant; ``fault`` is empty if it holds."""

    number: int
    fault: str = ""

    @property
    def name(self) -> str:
        return INVARIANTS[self.number][0]

    @property
    def proves(self) -> str:
        return INVARIANTS[self.number][1]


def verify_database(
    path: Path | str,
    *,
    quick: bool = False,
    threads: int | None = None,
    force: bool = False,
    progress: Callable[[str, int], object] = lambda stage, states: None,
) -> Iterator[Check]:
    """Check the invariants in order and yield each outcome; stop at the first invariant that fails.

    ``quick`` leaves out the search (6 and 7); ``force`` searches even if memory seems to be short.
    ``progress`` is called after every level of the search with the stage and the number of states found.
    """
    try:
        database = open_database(path)
    except DamagedDatabase as error:
        yield Check(1, str(error))
        return
    if not quick and not force:
        check_verify_memory(database)
    yield Check(1)
    checks = [(2, _check_checksums), (3, _check_partition), (4, _check_index), (5, _check_goal)]
    for number, check in checks:
        fault = check(database)
        yield Check(number, fault)
        if fault:
            return
    if quick:
        return
    wrong_levels = ""
    for number, table in enumerate(database.tables, start=1):
        stage = f"pattern {number} of {len(database.tables)}"
        fault, levels = _check_entries(table, threads, lambda n, stage=stage: progress(stage, n))
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
        blocks = _first_blocks(table.grid, footprints)
        if table.encoding == "bytes":
            expected = (len(footprints), factorial(len(table.tiles)))
        else:
            expected = (int(blocks[-1]), max(1, factorial(len(table.tiles)) // 8))
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


# ---- the index, independently -------------------------------------------------------------------


def list_footprints(cells: int, size: int) -> np.ndarray:
    """All sets of ``size`` cells as int64 masks, ascending as unsigned numbers."""
    rows = [np.zeros(1, dtype=np.uint64)] + [np.zeros(0, dtype=np.uint64)] * size
    for cell in range(cells):  # rows[s]: the sets of s cells below ``cell``, in ascending order
        for chosen in range(size, 0, -1):
            rows[chosen] = np.concatenate([rows[chosen], rows[chosen - 1] | np.uint64(1 << cell)])
    assert len(rows[size]) == comb(cells, size)
    return rows[size].view(np.int64)


@kernel
def _label_zones(footprint, neighbours, labels):
    """Label every free cell with the number of its zone and occupied cells with -1; returns the number of zones."""
    cells = labels.size
    stack = np.empty(cells, dtype=np.int64)
    for cell in range(cells):
        labels[cell] = -1
    zones = 0
    for seed in range(cells):
        if labels[seed] >= 0 or (footprint >> seed) & 1:
            continue
        labels[seed] = zones
        stack[0] = seed
        height = 1
        while height:
            height -= 1
            here = stack[height]
            for other in neighbours[here]:
                if other >= 0 and labels[other] < 0 and not (footprint >> other) & 1:
                    labels[other] = zones
                    stack[height] = other
                    height += 1
        zones += 1
    return zones


@kernel
def _count_all_zones(footprints, neighbours, counts):
    labels = np.empty(neighbours.shape[0], dtype=np.int64)
    for number in range(footprints.size):
        counts[number] = _label_zones(footprints[number], neighbours, labels)


def _neighbour_table(grid: Grid) -> np.ndarray:
    table = np.full((grid.cells, 4), -1, dtype=np.int64)
    for cell, around in enumerate(grid.neighbours):
        table[cell, : len(around)] = around
    return table


def _first_blocks(grid: Grid, footprints: np.ndarray) -> np.ndarray:
    counts = np.zeros(len(footprints) + 1, dtype=np.int64)
    _count_all_zones(footprints, _neighbour_table(grid), counts[1:])
    return counts.cumsum()


def list_arrangements(size: int) -> np.ndarray:
    """The ordinals of the tiles in every arrangement, in order: one row of ``size`` numbers per arrangement."""
    leading = min(size, 4)
    merges = sorted(combinations(range(size), leading), key=lambda chosen: sum(1 << o for o in chosen))
    lead_orders = np.array(list(permutations(range(leading))), dtype=np.int8)
    rest_orders = np.array(list(permutations(range(size - leading))), dtype=np.intp).reshape(
        factorial(size - leading), -1
    )
    parts = []
    for merge in merges:
        rest = np.array([o for o in range(size) if o not in merge], dtype=np.int8)
        lead_places = np.array(merge, dtype=np.int8)[lead_orders]
        rest_places = rest[rest_orders]
        part = np.empty((len(rest_places), len(lead_places), size), dtype=np.int8)
        part[:, :, :leading] = lead_places
        part[:, :, leading:] = rest_places[:, None, :]
        parts.append(part.reshape(-1, size))
    return np.concatenate(parts)


def _order_keys(count: int) -> np.ndarray:
    """All orders of ``count`` tiles as hexadecimal numbers; they ascend, so an order can be found by bisection."""
    orders = np.array(list(permutations(range(count))), dtype=np.int64).reshape(factorial(count), count)
    return orders @ (np.int64(16) ** np.arange(count - 1, -1, -1))


def _merge_places(size: int) -> np.ndarray:
    """For the mask of the leading tiles' ordinals, its rank among all such masks."""
    places = np.zeros(1 << size, dtype=np.int64)
    masks = [mask for mask in range(1 << size) if mask.bit_count() == min(size, 4)]
    places[masks] = np.arange(len(masks))
    return places


@kernel
def _map_arrangements(ordinals, start, end, merge_places, lead_keys, rest_keys, result, low, high):
    """What becomes of the arrangements ``low`` ... ``high - 1`` when a tile moves from ordinal ``start`` to ``end``."""
    size = ordinals.shape[1]
    leading = min(size, 4)
    moved = np.empty(size, dtype=np.int64)
    for arrangement in range(low, high):
        mask = 0
        for tile in range(size):
            place = np.int64(ordinals[arrangement, tile])
            if place == start:
                place = end
            elif start < place <= end:
                place -= 1
            elif end <= place < start:
                place += 1
            moved[tile] = place
            if tile < leading:
                mask |= 1 << place
        lead_key = 0
        rest_key = 0
        for tile in range(size):
            first, last = (0, leading) if tile < leading else (leading, size)
            below = 0
            for other in range(first, last):
                below += moved[other] < moved[tile]
            if tile < leading:
                lead_key = 16 * lead_key + below
            else:
                rest_key = 16 * rest_key + below
        row = merge_places[mask] * rest_keys.size + np.searchsorted(rest_keys, rest_key)
        result[arrangement] = row * lead_keys.size + np.searchsorted(lead_keys, lead_key)


# ---- the search, independently ------------------------------------------------------------------


@kernel
def _find_moves(footprints, first_block, size, neighbours, unsigned, starts, targets, shifts):
    """List the moves that leave each block; if ``targets`` is empty, only count them."""
    cells = neighbours.shape[0]
    labels = np.empty(cells, dtype=np.int64)
    other_labels = np.empty(cells, dtype=np.int64)
    found = 0
    for number in range(footprints.size):
        footprint = footprints[number]
        zones = _label_zones(footprint, neighbours, labels)
        for zone in range(zones):
            starts[first_block[number] + zone] = found
            here = -1
            for cell in range(cells):
                if labels[cell] >= 0:
                    continue
                here += 1
                for target in neighbours[cell]:
                    if target < 0 or labels[target] != zone:
                        continue
                    if targets.size:
                        moved = footprint ^ (1 << cell) ^ (1 << target)
                        place = np.searchsorted(unsigned, np.uint64(moved))
                        _label_zones(moved, neighbours, other_labels)
                        there = 0
                        for below in range(target):
                            if other_labels[below] < 0:
                                there += 1
                        targets[found] = first_block[place] + other_labels[cell]
                        shifts[found] = here * size + there
                    found += 1
    starts[starts.size - 1] = found
    return found


@kernel
def _push_level(level, starts, targets, shifts, maps, distances, active, next_active, low, high):
    """Follow all moves of the states at ``level`` in the blocks ``low`` ... ``high - 1``; returns their number.

    Threads may write to the same byte, but only the same value.
    """
    arrangements = maps.shape[1]
    here = np.empty(arrangements, dtype=np.uint32)
    total = 0
    for block in range(low, high):
        if not active[block]:
            continue
        count = 0
        for arrangement in range(arrangements):
            if distances[block, arrangement] == level:
                here[count] = arrangement
                count += 1
        total += count
        for move in range(starts[block], starts[block + 1]):
            target = targets[move]
            shift = shifts[move]
            pushed = False
            for number in range(count):
                arrangement = maps[shift, here[number]]
                if distances[target, arrangement] == FAR:
                    distances[target, arrangement] = level + 1
                    pushed = True
            if pushed:
                next_active[target] = 1
    return total


@kernel
def _compare_bits(distances, values, low, high):
    """The first block whose bytes differ from those that the distances give, or -1."""
    arrangements = distances.shape[1]
    for block in range(low, high):
        for byte in range(values.shape[1]):
            expected = 0
            for bit in range(8):
                arrangement = 8 * byte + bit
                if arrangement < arrangements and distances[block, arrangement] != FAR:
                    expected |= ((distances[block, arrangement] >> 1) & 1) << bit
            if values[block, byte] != expected:
                return block
    return -1


@kernel
def _compare_bytes(distances, values, first_block, counts, low, high):
    """The first footprint whose bytes are not the least distances over its zones, or -1. Counts the distances."""
    for footprint in range(low, high):
        for arrangement in range(distances.shape[1]):
            least = FAR
            for block in range(first_block[footprint], first_block[footprint + 1]):
                least = min(least, distances[block, arrangement])
            counts[least] += 1
            if values[footprint, arrangement] != least:
                return footprint
    return -1


@dataclass(frozen=True)
class Search:
    """What the independent search of a pattern found."""

    footprints: np.ndarray
    first_block: np.ndarray
    ordinals: np.ndarray  # of every arrangement
    distances: np.ndarray  # block, arrangement -> distance
    counts: list[int]  # distance -> how many states are at it


def _search(table: Table, workers: Workers, progress: Callable[[int], object]) -> Search:
    """Find the distance of every state of a pattern."""
    grid, size = table.grid, len(table.tiles)
    footprints = list_footprints(grid.cells, size)
    unsigned = footprints.view(np.uint64)
    first_block = _first_blocks(grid, footprints)
    blocks = int(first_block[-1])
    neighbours = _neighbour_table(grid)

    starts = np.zeros(blocks + 1, dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    count = _find_moves(footprints, first_block, size, neighbours, unsigned, starts, nothing, nothing)
    targets, shifts = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    _find_moves(footprints, first_block, size, neighbours, unsigned, starts, targets, shifts)
    ordinals = list_arrangements(size)
    used, shifts = np.unique(shifts, return_inverse=True)
    maps = np.empty((len(used), len(ordinals)), dtype=np.uint32)
    keys = (_merge_places(size), _order_keys(min(size, 4)), _order_keys(size - min(size, 4)))
    for shift, row in zip(used.tolist(), maps, strict=True):
        _share(workers, len(ordinals), _map_arrangements, ordinals, *divmod(shift, size), *keys, row)

    goal = grid.goal(table.blank)
    homes = [goal.index(tile) for tile in table.tiles]
    place = int(np.searchsorted(unsigned, np.uint64(sum(1 << home for home in homes))))
    labels = np.empty(grid.cells, dtype=np.int64)
    _label_zones(footprints[place], neighbours, labels)
    goal_block = first_block[place] + labels[table.blank]
    at_home = ordinals == [sum(other < home for other in homes) for home in homes]
    goal_arrangement = int(np.flatnonzero(at_home.all(axis=1))[0])

    distances = np.full((blocks, factorial(size)), FAR, dtype=np.uint8)
    distances[goal_block, goal_arrangement] = 0
    active = np.zeros(blocks, dtype=np.uint8)
    active[goal_block] = 1
    counts: list[int] = []
    moves = (starts, targets, shifts, maps)
    while active.any():
        if len(counts) == FAR:
            raise InputError(f"distances beyond {FAR - 1} cannot be verified by a search: use `quick`")
        next_active = np.zeros(blocks, dtype=np.uint8)
        found = sum(_share(workers, blocks, _push_level, len(counts), *moves, distances, active, next_active))
        progress(found)
        counts.append(found)
        active = next_active
    return Search(footprints, first_block, ordinals, distances, counts)


def _share(workers: Workers, total: int, function: Callable, *args) -> list:
    """Share the numbers below ``total`` out among the workers."""
    return workers.over(workers.split(total), function, *args)


# ---- invariants 6 and 7 -------------------------------------------------------------------------


def _check_entries(table: Table, threads: int | None, progress: Callable[[int], object]) -> tuple[str, str]:
    """What is wrong with the entries of a table, and with its level counts; empty if nothing."""
    with Workers(threads) as workers:
        search = _search(table, workers, progress)
        counts = search.counts
        if table.encoding == "bits":
            wrong = max(_share(workers, len(search.distances), _compare_bits, search.distances, table.values))
            if wrong >= 0:
                return f"block {wrong} differs from an independent search", ""
        else:
            histogram = np.zeros(FAR + 1, dtype=np.int64)
            footprints = len(search.footprints)
            wrong = _compare_bytes(search.distances, table.values, search.first_block, histogram, 0, footprints)
            if wrong >= 0:
                return f"footprint {wrong} differs from an independent search", ""
            counts = np.trim_zeros(histogram[:FAR], "b").tolist()
    if counts != table.counts.tolist():
        return "", f"the recorded counts are {table.counts.tolist()}, expected {counts}"
    return _check_lookups(table, search), ""


def _check_lookups(table: Table, search: Search) -> str:
    """Look up a sample of states and compare the distances."""
    random = np.random.default_rng(0)
    neighbours, labels = _neighbour_table(table.grid), np.empty(table.grid.cells, dtype=np.int64)
    for _ in range(200):
        footprint = int(random.integers(len(search.footprints)))
        arrangement = int(random.integers(len(search.ordinals)))
        _label_zones(search.footprints[footprint], neighbours, labels)
        blank = int(random.choice(np.flatnonzero(labels >= 0)))
        first, last = search.first_block[footprint], search.first_block[footprint + 1]
        by_zone = search.distances[first:last, arrangement]
        expected = int(by_zone[labels[blank]] if table.encoding == "bits" else by_zone.min())
        if expected != FAR:
            cells = np.flatnonzero(labels < 0)[search.ordinals[arrangement]].tolist()
            if table.distance_of(cells, blank) != expected:
                return f"looking up the tiles on {cells} with the blank on {blank} does not give {expected}"
    return ""
