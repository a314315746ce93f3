"""The index and the moves of a pattern, derived a second time for the verifier, in a different way.

Footprints are listed and found by bisection, not ranked by binomial coefficients. Zones are flooded cell by cell.
Arrangements are listed as docs/format.md defines them, and what a move makes of each is found by bisection too. Only
the neighbours of cells are taken from ``grid``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np

from .base.jit import kernel
from .base.workers import Workers
from .grid import Grid


def list_footprints(cells: int, size: int) -> np.ndarray:
    """All sets of ``size`` cells as int64 masks, ascending as unsigned numbers."""
    rows = [np.zeros(1, dtype=np.uint64)] + [np.zeros(0, dtype=np.uint64)] * size
    for cell in range(cells):  # rows[s]: the sets of s cells below ``cell``, in ascending order
        for chosen in range(size, 0, -1):
            rows[chosen] = np.concatenate([rows[chosen], rows[chosen - 1] | np.uint64(1 << cell)])
    assert len(rows[size]) == comb(cells, size)
    return rows[size].view(np.int64)


@kernel
def label_zones(footprint, neighbours, labels):
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
        counts[number] = label_zones(footprints[number], neighbours, labels)


def neighbour_table(grid: Grid) -> np.ndarray:
    table = np.full((grid.cells, 4), -1, dtype=np.int64)
    for cell, around in enumerate(grid.neighbours):
        table[cell, : len(around)] = around
    return table


def first_blocks(grid: Grid, footprints: np.ndarray) -> np.ndarray:
    counts = np.zeros(len(footprints) + 1, dtype=np.int64)
    _count_all_zones(footprints, neighbour_table(grid), counts[1:])
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


def arrangement_keys(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What ``arrangement_number`` finds the arrangements of ``size`` tiles by."""
    leading = min(size, 4)
    return _merge_places(size), _order_keys(leading), _order_keys(size - leading)


@kernel
def arrangement_number(ordinals, merge_places, lead_keys, rest_keys):
    """The number of the arrangement in which the tiles have these ordinals."""
    size = ordinals.size
    leading = min(size, 4)
    mask = 0
    for tile in range(leading):
        mask |= 1 << ordinals[tile]
    lead_key = 0
    rest_key = 0
    for tile in range(size):
        first, last = (0, leading) if tile < leading else (leading, size)
        below = 0
        for other in range(first, last):
            below += ordinals[other] < ordinals[tile]
        if tile < leading:
            lead_key = 16 * lead_key + below
        else:
            rest_key = 16 * rest_key + below
    row = merge_places[mask] * rest_keys.size + np.searchsorted(rest_keys, rest_key)
    return row * lead_keys.size + np.searchsorted(lead_keys, lead_key)


@kernel
def _map_arrangements(ordinals, start, end, keys, result, low, high):
    """What becomes of the arrangements ``low`` ... ``high - 1`` when a tile moves from ordinal ``start`` to ``end``."""
    moved = np.empty(ordinals.shape[1], dtype=np.int64)
    for arrangement in range(low, high):
        for tile in range(moved.size):
            place = np.int64(ordinals[arrangement, tile])
            if place == start:
                place = end
            elif start < place <= end:
                place -= 1
            elif end <= place < start:
                place += 1
            moved[tile] = place
        result[arrangement] = arrangement_number(moved, *keys)


@kernel
def _find_moves(footprints, first_block, size, neighbours, unsigned, starts, targets, shifts):
    """List the moves that leave each block; if ``targets`` is empty, only count them."""
    cells = neighbours.shape[0]
    labels = np.empty(cells, dtype=np.int64)
    other_labels = np.empty(cells, dtype=np.int64)
    found = 0
    for number in range(footprints.size):
        footprint = footprints[number]
        zones = label_zones(footprint, neighbours, labels)
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
                        label_zones(moved, neighbours, other_labels)
                        there = 0
                        for below in range(target):
                            if other_labels[below] < 0:
                                there += 1
                        targets[found] = first_block[place] + other_labels[cell]
                        shifts[found] = here * size + there
                    found += 1
    starts[starts.size - 1] = found
    return found


@dataclass(frozen=True)
class Graph:
    """The states of a pattern, as (block, arrangement), and the moves between them.

    The moves that leave block b have the numbers ``starts[b]`` ... ``starts[b + 1] - 1``. Move m leads to block
    ``targets[m]``, and takes arrangement a to ``maps[shifts[m], a]``.
    """

    footprints: np.ndarray
    first_block: np.ndarray
    ordinals: np.ndarray  # of every arrangement
    starts: np.ndarray
    targets: np.ndarray
    shifts: np.ndarray
    maps: np.ndarray
    goal: tuple[int, int]

    @property
    def blocks(self) -> int:
        return int(self.first_block[-1])


def graph_of(grid: Grid, tiles: Sequence[int], blank: int, workers: Workers) -> Graph:
    """The states and moves of a pattern, for the canonical goal with its blank on the given cell."""
    size = len(tiles)
    footprints = list_footprints(grid.cells, size)
    unsigned = footprints.view(np.uint64)
    first_block = first_blocks(grid, footprints)
    neighbours = neighbour_table(grid)

    starts = np.zeros(int(first_block[-1]) + 1, dtype=np.int64)
    targets, shifts = np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.uint8)
    count = _find_moves(footprints, first_block, size, neighbours, unsigned, starts, targets, shifts)
    targets, shifts = np.empty(count, dtype=np.uint32), np.empty(count, dtype=np.uint8)
    _find_moves(footprints, first_block, size, neighbours, unsigned, starts, targets, shifts)
    ordinals = list_arrangements(size)
    used = np.flatnonzero(np.bincount(shifts))
    shifts = np.searchsorted(used, np.arange(256)).astype(np.uint8)[shifts]
    maps = np.empty((len(used), len(ordinals)), dtype=np.uint32)
    keys = arrangement_keys(size)
    for shift, row in zip(used.tolist(), maps, strict=True):
        share(workers, len(ordinals), _map_arrangements, ordinals, *divmod(shift, size), keys, row)

    goal = grid.goal(blank)
    homes = [goal.index(tile) for tile in tiles]
    place = int(np.searchsorted(unsigned, np.uint64(sum(1 << home for home in homes))))
    labels = np.empty(grid.cells, dtype=np.int64)
    label_zones(footprints[place], neighbours, labels)
    at_home = ordinals == [sum(other < home for other in homes) for home in homes]
    at_goal = int(first_block[place] + labels[blank]), int(np.flatnonzero(at_home.all(axis=1))[0])
    return Graph(footprints, first_block, ordinals, starts, targets, shifts, maps, at_goal)


def share(workers: Workers, total: int, function: Callable, *args) -> list:
    """Share the numbers below ``total`` out among the workers."""
    return workers.over(workers.split(total), function, *args)
