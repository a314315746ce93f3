"""The index: a bijection between the states of a pattern and pairs (block, arrangement).

A state of a pattern of k tiles consists of the cells of its tiles and the free cells that the blank
can reach without moving them. It has three components:

*footprint*: the set of cells the tiles occupy, a bit mask. Footprints are ranked among all sets of k
cells in colexicographic order, which is the order of the masks as integers.

*zone*: the connected region of free cells that contains the blank. The zones depend only on the
footprint; they are numbered by their lowest cells. Every (footprint, zone) is a *block*, and blocks
are numbered footprint by footprint: ``first_block[rank] + zone``.

*arrangement*: which tile is on which cell of the footprint, a number in 0 ... k!-1. Number the
pattern's tiles 0 ... k-1 in ascending order and let ``ordinals[t]`` be the number of footprint cells
below the cell of tile t. The arrangement has three digits, from high to low:

    merge   the set of ordinals of the leading tiles (the first four, or all if there are fewer),
            ranked in colexicographic order: C(k, 4) values
    row     the order of the other tiles among themselves: (k-4)! values
    bit     the order of the leading tiles among themselves: 24 values

The order of a group of tiles is the lexicographic rank of the permutation that their ordinals form.

A move takes a tile from cell p to a free neighbour q in the blank's zone, and the blank ends on p.
The new block is that of (footprint - p + q, zone of p). The tile's ordinal changes, and the ordinals
between the old and the new one shift by one. This changes the merge and the order of the group the
tile belongs to, but not the order of the other group. So if a block is seen as a matrix of bits, with
a row of 24 bits for every (merge, row), a move copies rows, shuffles rows, or shuffles the bits within
rows, always in long runs: see ``recipes``. Moves can be undone, so the graph of states is undirected.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import comb, factorial

import numpy as np

from .base.errors import InputError
from .base.jit import kernel, lowest, popcount, shared
from .base.workers import Workers
from .grid import Grid
from .pattern import MAX_PATTERN_CELLS, MAX_TILES, check_pattern_board

LEADING = 4  # leading tiles of a pattern: their 4! = 24 orders are the bits of a row

BINOMIAL = np.array([[comb(n, k) for k in range(MAX_TILES + 1)] for n in range(MAX_PATTERN_CELLS + 1)], dtype=np.int64)


# ---- footprints ---------------------------------------------------------------------------------


@shared
def footprint_rank(footprint):
    """The rank of a set of cells among all sets of the same size."""
    rank = 0
    size = 0
    while footprint != 0:
        size += 1
        rank += BINOMIAL[lowest(footprint), size]
        footprint &= footprint - 1
    return rank


@shared
def footprint_at(rank, size, cells):
    """The set of ``size`` cells with this rank: the inverse of ``footprint_rank``."""
    footprint = 0
    cell = cells - 1
    for remaining in range(size, 0, -1):
        while BINOMIAL[cell, remaining] > rank:
            cell -= 1
        rank -= BINOMIAL[cell, remaining]
        footprint |= 1 << cell
    return footprint


@shared
def next_footprint(footprint):
    """The footprint of the next rank: in the lowest run of cells, the top one moves up, the others to the bottom."""
    risen = footprint + (footprint & -footprint)
    return risen | ((1 << (popcount(footprint & ~risen) - 1)) - 1)


# ---- zones --------------------------------------------------------------------------------------


@shared
def zone_around(seed, free, near):
    """The connected region of ``free`` cells around the set ``seed``."""
    zone = seed
    todo = seed
    while todo != 0:
        added = near[lowest(todo)] & free & ~zone
        todo = (todo & (todo - 1)) | added
        zone |= added
    return zone


@shared
def zone_number(cell, free, near):
    """The number of the zone that contains a free cell."""
    number = 0
    while True:
        zone = zone_around(free & -free, free, near)
        if (zone >> cell) & 1:
            return number
        free &= ~zone
        number += 1


@kernel
def _count_zones(size, cells, everywhere, near, counts, low, high):
    """Count the zones of the footprints ``low`` ... ``high - 1``."""
    footprint = footprint_at(low, size, cells)
    for rank in range(low, high):
        free = everywhere & ~footprint
        zones = 0
        while free != 0:
            free &= ~zone_around(free & -free, free, near)
            zones += 1
        counts[rank] = zones
        footprint = next_footprint(footprint)


# ---- arrangements -------------------------------------------------------------------------------


@shared
def order_rank(ordinals, first, last):
    """The rank of the order of the tiles ``first`` ... ``last - 1`` among themselves."""
    rank = 0
    for tile in range(first, last):
        before = 0
        for other in range(tile + 1, last):
            if ordinals[other] < ordinals[tile]:
                before += 1
        rank = rank * (last - tile) + before
    return rank


@shared
def arrangement_digits(ordinals, size):
    """The merge, the row and the bit of the arrangement that puts tile t of the pattern at ``ordinals[t]``."""
    leading = min(size, LEADING)
    merge = 0
    for tile in range(leading):
        merge |= 1 << ordinals[tile]
    return footprint_rank(merge), order_rank(ordinals, leading, size), order_rank(ordinals, 0, leading)


@shared
def arrangement_rank(ordinals, size):
    """The number of the arrangement that puts tile t of the pattern at ``ordinals[t]``: its digits combined."""
    merge, row, bit = arrangement_digits(ordinals, size)
    bits = 1
    rows = 1
    for tile in range(min(size, LEADING)):
        bits *= tile + 1
    for tile in range(LEADING, size):
        rows *= tile - LEADING + 1
    return (merge * rows + row) * bits + bit


def arrangement_at(number: int, size: int) -> list[int]:
    """The ordinals of the tiles in the arrangement with this number: the inverse of ``arrangement_rank``."""
    leading = min(size, LEADING)
    number, bit = divmod(number, factorial(leading))
    merge, row = divmod(number, factorial(size - leading))
    mask = int(footprint_at(merge, leading, size))
    groups = ([ordinal for ordinal in range(size) if (mask >> ordinal & 1) == member] for member in (1, 0))
    ordinals = []
    for available, order in zip(groups, (bit, row), strict=True):
        for remaining in range(len(available), 0, -1):
            chosen, order = divmod(order, factorial(remaining - 1))
            ordinals.append(available.pop(chosen))
    return ordinals


# ---- the index of one pattern size on one grid --------------------------------------------------


def signed_masks(masks) -> np.ndarray:
    """Sets of cells as the int64 words that kernels work on; cell 63 is the sign bit."""
    return np.array(masks, dtype=np.uint64).view(np.int64)


def neighbours_of(grid: Grid) -> np.ndarray:
    """[cell, move index] -> the cell that the move leads to, -1 if there is none."""
    neighbours = np.full((grid.cells, 4), -1, dtype=np.int64)
    for cell, around in enumerate(grid.neighbours):
        neighbours[cell, : len(around)] = around
    return neighbours


class Index:
    """The sizes and block numbers that all patterns of ``size`` tiles on a grid share."""

    def __init__(self, grid: Grid, size: int):
        check_pattern_board(grid)
        most = min(MAX_TILES, grid.cells - 1)
        if not 1 <= size <= most:
            raise InputError(f"a pattern on {grid.a_board} must have between 1 and {most} tiles, got {size}")
        self.grid = grid
        self.size = size
        self.footprints = comb(grid.cells, size)
        self.arrangements = factorial(size)

    @cached_property
    def first_block(self) -> np.ndarray:
        """The first block of each footprint, followed by the number of blocks."""
        zones = np.empty(self.footprints, dtype=np.uint8)
        everywhere = signed_masks([self.grid.all_cells])[0]
        with Workers() as workers:
            ranges = workers.split(self.footprints)
            workers.over(ranges, _count_zones, self.size, self.grid.cells, everywhere, self.near, zones)
        first = np.zeros(self.footprints + 1, dtype=np.int64)
        np.cumsum(zones, out=first[1:])
        if first[-1] >= 2**32:
            raise InputError(
                f"the index of {self.size} tiles on {self.grid.a_board} has {first[-1]:,} blocks and does not fit in "
                "32 bits: use fewer tiles"
            )
        return first

    @cached_property
    def near(self) -> np.ndarray:
        """``Grid.near`` for kernels."""
        return signed_masks(self.grid.near)

    @property
    def blocks(self) -> int:
        return int(self.first_block[-1])

    @property
    def states(self) -> int:
        return self.blocks * self.arrangements


@lru_cache(maxsize=8)
def index_of(grid: Grid, size: int) -> Index:
    """The index of a pattern size on a grid, computed once and kept."""
    return Index(grid, size)
