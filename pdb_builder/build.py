"""The build: breadth-first search from the goal, level by level, over whole blocks of bits.

The distance of a state is the smallest number of moves of pattern tiles that lead from it to the goal.
Moves of other tiles only carry the blank around within its zone and are free. The search keeps bit maps
over all states, which ``index`` numbers. One level does the following for every block:

1. For every move that enters the block from a block with states of the level before, carry these states
   over and collect what arrives.
2. What arrives and has not been visited is the block's part of the new level.

Each block is written by one thread only, so no locks are needed. Blocks without unvisited states are
skipped, and so are moves from blocks that had nothing on the level before.

*A move carries a whole block at once*, by a recipe of a few dozen vector operations (``recipes``). One
operation handles many states, so pulling entire blocks is faster than following single states unless
there are hardly any. The maps are packed, eight states to a byte. More than half of the moves change no
arrangement and work on them as they are; for the others the rows of a block are spread to words first (``lanes``).

*The two parities never share a level.* On a bipartite board every move changes the colour of one
tile's cell, so the parity of the distance depends only on the footprint. A level only reads blocks of
one parity and only writes blocks of the other, and may do so in the same map.

*Two maps are enough* for a ``bits`` database, the visited states whose distance has bit 1 clear and those
where it is set: the second one is the table. A level is not kept by itself. In a block that had states on
level L, the map of bit 1 of L also has those of levels L - 4, L - 8, ..., but these do no harm: all their
neighbours have been visited. So a state takes two bits, whatever the board and the pattern.

For ``bytes``, each level is written into the entries that it is the first to reach (``encoding`` explains
the two encodings), and ``count_levels`` stores no table, but lists the states of the last level. Both keep
a map of what was visited, and the *frontier*, the states of the level just found. Where the board is not
bipartite, there are two frontiers, which are exchanged after every level.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from math import factorial
from typing import NamedTuple

import numpy as np

from .base.errors import InputError
from .base.jit import kernel, lowest, popcount, shared
from .base.workers import Workers
from .encoding import UNREACHED, block_bytes, check_encoding
from .grid import Grid
from .index import (
    LEADING,
    Index,
    footprint_at,
    footprint_rank,
    index_of,
    next_footprint,
    signed_masks,
    zone_around,
    zone_number,
)
from .lanes import (
    SPARE,
    add_new,
    mark_new,
    or_gathered,
    or_rotated,
    or_rows,
    pack_rows,
    prefetch_rows,
    spread_rows,
)
from .pattern import MAX_TILES, Pattern, check_pattern
from .recipes import MAX_TERMS, recipes_of

MAX_MOVES = 4 * MAX_TILES  # into one block: a tile has at most four neighbours
NO_DISTANCES = np.zeros(0, dtype=np.uint8)


# ---- moves between blocks -----------------------------------------------------------------------


class BlockMoves(NamedTuple):
    """The moves between blocks. Those that enter block b have the numbers ``start[b]`` ... ``start[b + 1] - 1``."""

    start: np.ndarray
    source: np.ndarray  # the block a move comes from
    recipe: np.ndarray  # the number of its recipe: ordinal there * k + ordinal here


@kernel
def _count_moves(size, cells, everywhere, near, first_block, counts, parity, odd_cells, goal_parity, low, high):
    """Count the moves into each block of the footprints ``low`` ... ``high - 1``, and record the block's parity."""
    footprint = footprint_at(low, size, cells)
    for rank in range(low, high):
        free = everywhere & ~footprint
        lone = first_block[rank] + 1 == first_block[rank + 1]  # no need to look for its only zone
        for block in range(first_block[rank], first_block[rank + 1]):
            zone = free if lone else zone_around(free & -free, free, near)
            free &= ~zone
            tiles = footprint
            moves = 0
            while tiles != 0:
                moves += popcount(near[lowest(tiles)] & zone)
                tiles &= tiles - 1
            counts[block] = moves
            parity[block] = (popcount(footprint & odd_cells) + goal_parity) & 1
        footprint = next_footprint(footprint)


@kernel
def _list_moves(size, cells, everywhere, near, first_block, start, source, recipe, low, high):
    """Fill in the moves into each block of the footprints ``low`` ... ``high - 1``.

    They are found as the reverses of the moves that leave the block.
    """
    footprint = footprint_at(low, size, cells)
    for rank in range(low, high):
        free = everywhere & ~footprint
        lone = first_block[rank] + 1 == first_block[rank + 1]  # no need to look for its only zone
        for block in range(first_block[rank], first_block[rank + 1]):
            zone = free if lone else zone_around(free & -free, free, near)
            free &= ~zone
            at = start[block]
            tiles = footprint
            here = 0
            while tiles != 0:
                cell = lowest(tiles)
                tiles &= tiles - 1
                targets = near[cell] & zone
                while targets != 0:
                    target = lowest(targets)
                    targets &= targets - 1
                    other = (footprint & ~(1 << cell)) | (1 << target)
                    there = popcount(other & ((1 << target) - 1))
                    other_rank = footprint_rank(other)
                    source[at] = first_block[other_rank]
                    if first_block[other_rank] + 1 < first_block[other_rank + 1]:
                        source[at] += zone_number(cell, everywhere & ~other, near)
                    recipe[at] = there * size + here
                    at += 1
                here += 1
        footprint = next_footprint(footprint)


# ---- the level loop -----------------------------------------------------------------------------


class Blocks(NamedTuple):
    """What the search knows about blocks."""

    parity: np.ndarray  # block -> the parity of its distances
    remaining: np.ndarray  # block -> how many of its states have not been visited


class Level(NamedTuple):
    """The states of one level: in blocks that are not active there are none, whatever the bits say."""

    bits: np.ndarray
    active: np.ndarray  # block -> whether it has any


def _bit_map(index: Index) -> np.ndarray:
    return np.zeros(index.blocks * block_bytes(index.size) + SPARE, dtype=np.uint8)


class TableMaps:
    """The maps of a ``bits`` build: the visited states with bit 1 of the distance clear, and with bit 1 set."""

    accumulate = True

    def __init__(self, index: Index) -> None:
        self._shape = index.blocks, block_bytes(index.size)
        self._maps = _bit_map(index), _bit_map(index)
        self._active = np.zeros(index.blocks, dtype=np.uint8)  # one for both parities, which never share a level

    def at(self, level: int) -> tuple[Level, Level, np.ndarray]:
        """What ``sweep`` needs to find a level: the level before, where the new one goes, and what else was visited."""
        before, bit = (level - 1) >> 1 & 1, level >> 1 & 1
        return Level(self._maps[before], self._active), Level(self._maps[bit], self._active), self._maps[1 - bit]

    @property
    def table(self) -> np.ndarray:
        """Bit 1 of all distances, a row for each block."""
        return self._maps[1][:-SPARE].reshape(self._shape)


class FrontierMaps:
    """The maps of the other builds: all visited states, and the last level by itself."""

    accumulate = False

    def __init__(self, index: Index) -> None:
        self._visited = _bit_map(index)
        levels = [Level(_bit_map(index), np.zeros(index.blocks, dtype=np.uint8))]
        if not index.grid.bipartite:
            levels.append(Level(_bit_map(index), np.zeros(index.blocks, dtype=np.uint8)))
        self._levels = levels

    def at(self, level: int) -> tuple[Level, Level, np.ndarray]:
        """What ``sweep`` needs to find a level: the level before, where the new one goes, and what was visited.

        A level that turns out to be empty leaves the one before as it is.
        """
        return self._levels[(level - 1) % len(self._levels)], self._levels[level % len(self._levels)], self._visited


@shared
def _record_level(level, distances, place, width, new_bits, visited, block, first, last):
    """Write the level into the entries of a footprint that ``block`` is the first of its blocks to reach.

    The blocks of the footprint are ``first`` ... ``last - 1``, and its entries begin at ``place``.
    """
    for byte in range(width):
        pending = np.int64(new_bits[block * width + byte])
        if pending == 0:
            continue
        for other in range(first, last):
            if other != block:
                pending &= ~np.int64(visited[other * width + byte])
        while pending != 0:
            distances[place + 8 * byte + lowest(pending)] = level
            pending &= pending - 1


def _longest_run(total: int, most: int, step: int = 1) -> int:
    """The largest divisor of ``total`` up to ``most``, if possible a multiple of ``step``: elements per operation."""
    divisors = [run for run in range(1, min(total, most) + 1) if total % run == 0]
    return max(divisors, key=lambda run: (run % step == 0, run))


@cache
def _sweep_kernel(size: int):
    """The kernel that finds one level, compiled for patterns of ``size`` tiles.

    The compiler has to know the shape of a block, which determines the vectors.
    """
    arrangements, width = factorial(size), block_bytes(size)
    rows = factorial(size - min(size, LEADING))
    words = max(1, factorial(size) // 24)  # rows of a block, all merges together
    row_width = width // words
    run = min(rows, 24)  # rows per operation in a shuffle
    stretch = _longest_run(width, 1024, 16)  # bytes per operation where all are treated alike
    ahead = min(width, 1024)  # bytes of the next source to prefetch; the hardware prefetcher follows from there

    @kernel
    def sweep(
        level, bipartite, accumulate, first_block, moves, recipes, blocks, previous, new, visited, distances, low, high
    ):
        """Find the states of ``level`` in the footprints ``low`` ... ``high - 1`` and return their number.

        They are put into the map of ``new``: to ``accumulate`` is to leave what is there, which together with the map
        ``visited`` is all that was visited. Otherwise they replace it, and are added to ``visited``.
        """
        # Unpacked only once: every access to an array in a tuple changes its reference count, which all
        # threads share.
        parity, remaining = blocks
        starts, sources, recipe_numbers = moves
        groups, targets, origins, shuffles, row_source, terms, masks, rotations = recipes
        previous_bits, previous_active = previous
        new_bits, new_active = new
        arrived = np.zeros(width + SPARE, dtype=np.uint8)
        shuffled = np.zeros(width + SPARE, dtype=np.uint8)
        before = np.zeros(words + SPARE, dtype=np.uint32)
        after = np.zeros(words + SPARE, dtype=np.uint32)
        queue = np.empty(MAX_MOVES, dtype=np.int64)
        total = 0
        for rank in range(low, high):
            for block in range(first_block[rank], first_block[rank + 1]):
                if bipartite and parity[block] != level & 1:
                    continue
                new_active[block] = 0
                if remaining[block] == 0:
                    continue
                active = 0
                for move in range(starts[block], starts[block + 1]):
                    if previous_active[sources[move]] != 0:
                        queue[active] = move
                        active += 1
                if active == 0:
                    continue
                prefetch_rows(previous_bits, sources[queue[0]] * width, ahead)
                prefetch_rows(new_bits, block * width, ahead)
                prefetch_rows(visited, block * width, ahead)
                arrived[:] = 0
                any_shuffled = False
                for place in range(active):
                    start = sources[queue[place]] * width
                    recipe = recipe_numbers[queue[place]]
                    if place + 1 < active:
                        prefetch_rows(previous_bits, sources[queue[place + 1]] * width, ahead)
                    if recipe // size == recipe % size:  # the tile keeps its ordinal: all arrangements stay
                        for byte in range(0, width, stretch):
                            or_rows(arrived, byte, previous_bits, start + byte, stretch)
                        continue
                    if not any_shuffled:
                        any_shuffled = True
                        after[:] = 0
                    spread_rows(before, previous_bits, start, row_width, words)
                    for entry in range(groups[recipe, 0], groups[recipe, 1]):  # copy the rows
                        here, there = targets[entry], origins[entry]
                        for row in range(0, rows, run):
                            or_rows(after, here + row, before, there + row, run)
                    for entry in range(groups[recipe, 1], groups[recipe, 2]):  # shuffle the rows
                        here, there = targets[entry], origins[entry]
                        places = shuffles[entry] * rows
                        for row in range(0, rows, run):
                            or_gathered(after, here + row, before, there, row_source, places + row, run)
                    for entry in range(groups[recipe, 2], groups[recipe, 3]):  # shuffle the bits of each row
                        here, there = targets[entry], origins[entry]
                        term = shuffles[entry] * MAX_TERMS
                        end = term + terms[shuffles[entry]]
                        for row in range(0, rows, run):
                            or_rotated(after, here + row, before, there + row, masks, rotations, term, end, run)
                if any_shuffled:
                    pack_rows(shuffled, after, row_width, words)
                    for byte in range(0, width, stretch):
                        or_rows(arrived, byte, shuffled, byte, stretch)
                start = block * width
                count = 0
                for byte in range(0, width, stretch):
                    if accumulate:
                        count += add_new(arrived, byte, new_bits, visited, start + byte, stretch)
                    else:
                        count += mark_new(arrived, byte, visited, new_bits, start + byte, stretch)
                if count == 0:
                    continue
                if distances.size != 0:
                    zones = (first_block[rank], first_block[rank + 1])
                    _record_level(level, distances, rank * arrangements, width, new_bits, visited, block, *zones)
                new_active[block] = 1
                remaining[block] -= count
                total += count
        return total

    return sweep


@kernel
def _histogram(distances, low, high):
    """How often each distance occurs in the entries of the footprints ``low`` ... ``high - 1``."""
    counts = np.zeros(UNREACHED + 1, dtype=np.int64)
    for rank in range(low, high):
        for distance in distances[rank]:
            counts[distance] += 1
    return counts


# ---- one pattern --------------------------------------------------------------------------------


@dataclass(frozen=True)
class BuiltTable:
    """The finished table of one pattern, still in memory.

    ``counts[d]`` is the number of entries at distance d; an entry is a (block, arrangement) in
    ``bits`` and a (footprint, arrangement) in ``bytes``.
    """

    tiles: tuple[int, ...]
    encoding: str
    values: np.ndarray
    first_block: np.ndarray
    counts: np.ndarray
    seconds: float
    threads: int


def build_table(
    grid: Grid,
    tiles: Sequence[int],
    *,
    blank: int = 0,
    encoding: str | None = None,
    threads: int | None = None,
    progress: Callable[[int], object] = lambda states: None,
) -> BuiltTable:
    """Build the table of one pattern for the canonical goal with its blank on the given cell.

    ``progress`` is called after every level with the number of states found.
    """
    started = time.perf_counter()
    encoding = check_encoding(grid, encoding)
    tiles = check_pattern(grid, tiles)
    grid.check_blank(blank)
    index = index_of(grid, len(tiles))
    with Workers(threads) as workers:
        share = partial(workers.over, _ranges(index, workers.threads))
        values, counts = _search_table(index, tiles, blank, encoding, share, progress)
    seconds = time.perf_counter() - started
    return BuiltTable(tiles, encoding, values, index.first_block, counts, seconds, workers.threads)


class Levels(NamedTuple):
    """How many states of a pattern are at each distance, and the states at the largest distance.

    State i of the last level is arrangement ``arrangements[i]`` of block ``blocks[i]``, in ascending order.
    """

    counts: np.ndarray
    blocks: np.ndarray
    arrangements: np.ndarray


def count_levels(
    grid: Grid,
    tiles: Sequence[int],
    *,
    blank: int = 0,
    threads: int | None = None,
    most: int | None = None,
    progress: Callable[[int], object] = lambda states: None,
) -> Levels:
    """Count the states of every level without storing a table, and list up to ``most`` states of the last level.

    It counts states, zones included, on every board, whether ``bits`` is valid there or not.
    """
    tiles = check_pattern(grid, tiles)
    grid.check_blank(blank)
    index = index_of(grid, len(tiles))
    with Workers(threads) as workers:
        share = partial(workers.over, _ranges(index, workers.threads))
        maps = FrontierMaps(index)
        counts = _search_levels(index, tiles, blank, maps, NO_DISTANCES, share, progress)
    bits, active = maps.at(len(counts))[0]
    width = block_bytes(index.size)
    most = int(counts[-1]) if most is None else most
    blocks, arrangements = [], []
    for block in np.flatnonzero(active).tolist():
        states = np.unpackbits(bits[block * width : (block + 1) * width], bitorder="little")
        found = np.flatnonzero(states)[: most - len(blocks)].tolist()
        blocks += [block] * len(found)
        arrangements += found
        if len(blocks) == most:
            break
    return Levels(counts, np.array(blocks, dtype=np.int64), np.array(arrangements, dtype=np.int64))


def _ranges(index: Index, threads: int) -> list[tuple[int, int]]:
    """Ranges of footprints with roughly the same number of blocks, several per thread."""
    parts = min(8 * threads, 1 + index.states // 500_000)
    cuts = np.searchsorted(index.first_block, np.linspace(0, index.blocks, parts + 1)).tolist()
    cuts[0], cuts[-1] = 0, index.footprints
    return [(low, high) for low, high in pairwise(cuts) if low < high]


def _all_moves(index: Index, goal: int, share: Callable) -> tuple[BlockMoves, np.ndarray]:
    """The moves between all blocks, and the parity of each block; ``goal`` is the goal's footprint."""
    grid = index.grid
    everywhere, odd_cells = signed_masks([grid.all_cells, grid.odd_cells])
    goal_parity = (goal & grid.odd_cells).bit_count() & 1
    start = np.zeros(index.blocks + 1, dtype=np.int64)
    parity = np.empty(index.blocks, dtype=np.uint8)
    board = (index.size, grid.cells, everywhere, index.near, index.first_block)
    share(_count_moves, *board, start[1:], parity, odd_cells, goal_parity)
    np.cumsum(start, out=start)
    moves = BlockMoves(start, np.empty(start[-1], dtype=np.uint32), np.empty(start[-1], dtype=np.uint8))
    share(_list_moves, *board, *moves)
    return moves, parity


def _search_table(
    index: Index, tiles: Pattern, blank: int, encoding: str, share: Callable, progress: Callable[[int], object]
) -> tuple[np.ndarray, np.ndarray]:
    """Search all levels; returns the values of the table and its number of entries at each distance."""
    if encoding == "bits":
        maps = TableMaps(index)
        counts = _search_levels(index, tiles, blank, maps, NO_DISTANCES, share, progress)
        return maps.table, counts
    distances = np.full(index.footprints * index.arrangements, UNREACHED, dtype=np.uint8)
    _search_levels(index, tiles, blank, FrontierMaps(index), distances, share, progress)
    values = distances.reshape(index.footprints, index.arrangements)
    return values, np.trim_zeros(sum(share(_histogram, values))[:UNREACHED], "b")


def _search_levels(
    index: Index,
    tiles: Pattern,
    blank: int,
    maps: TableMaps | FrontierMaps,
    distances: np.ndarray,
    share: Callable,
    progress: Callable[[int], object],
) -> np.ndarray:
    """Search all levels, filling the maps, and the distances if there are any; returns how many states each has."""
    grid, size, first_block, width = index.grid, index.size, index.first_block, block_bytes(index.size)
    goal = sum(1 << grid.home(tile, blank) for tile in tiles)
    moves, parity = _all_moves(index, goal, share)
    blocks = Blocks(parity, np.full(index.blocks, index.arrangements, dtype=np.int32))

    # In a canonical goal the tiles are in the order of their cells, so the goal is arrangement 0.
    goal_rank = int(footprint_rank(goal))
    goal_block = int(first_block[goal_rank]) + zone_number(blank, grid.all_cells & ~goal, grid.near)
    start, _, visited = maps.at(1)
    start.bits[goal_block * width] = 1
    start.active[goal_block] = 1
    if not maps.accumulate:
        visited[goal_block * width] = 1
    blocks.remaining[goal_block] -= 1
    distances[goal_rank * index.arrangements : goal_rank * index.arrangements + 1] = 0

    how = (grid.bipartite, maps.accumulate, first_block, moves, recipes_of(size), blocks)
    sweep = _sweep_kernel(size)
    counts = []
    found = 1
    while found:
        counts.append(found)
        progress(found)
        level = len(counts)
        found = sum(share(sweep, level, *how, *maps.at(level), distances))
        if found and distances.size and level == UNREACHED:
            raise InputError(
                f"distances beyond {UNREACHED - 1} do not fit in a byte: use `encoding` bits, or smaller patterns"
            )
    return np.array(counts, dtype=np.int64)
