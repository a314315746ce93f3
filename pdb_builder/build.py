"""The build: breadth-first search from the goal, level by level, over whole blocks of bits.

The distance of a state is the smallest number of moves of pattern tiles that lead from it to the goal.
Moves of other tiles only carry the blank around within its zone and are free. The search keeps three
bit maps over all states (``index`` numbers them): ``visited``, the *frontier* (the states of the level
just found) and ``table`` (bit 1 of the distance, the result). One level does the following for every
block:

1. For every move that enters the block from a block with frontier states, carry the frontier of that
   block over and collect what arrives.
2. ``new = arrived & ~visited`` are the block's states in the new level.

Each block is written by one thread only, so no locks are needed. Blocks without unvisited states are
skipped, and so are moves from blocks without frontier states.

*A move carries a whole block at once*, by a recipe of a few dozen vector operations (``recipes``). One
operation handles many states, so pulling entire blocks is faster than following single states unless
there are hardly any.

*The two parities never share a level.* On a bipartite board every move changes the colour of one
tile's cell, so the parity of the distance depends only on the footprint. A level only reads blocks of
one parity and only writes blocks of the other, and a single frontier map serves as source and target.
Other boards need two frontier maps, which are exchanged after every level.

A ``bits`` database stores the map ``table`` without its unused bits. For ``bytes``, each level is written
into the entries that it is the first to reach (``encoding`` explains the two encodings).
``count_levels`` stores no table: it counts the states of every level and lists those of the last one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from math import factorial, gcd
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
from .lanes import mark_new, or_gathered, or_rotated, or_rows, prefetch_rows
from .pattern import MAX_TILES, Pattern, check_pattern
from .recipes import MAX_TERMS, recipes_of

MAX_MOVES = 4 * MAX_TILES  # into one block: a tile has at most four neighbours


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


class Maps(NamedTuple):
    """What the search knows about blocks and states."""

    parity: np.ndarray  # block -> the parity of its distances
    remaining: np.ndarray  # block -> how many of its states have not been visited
    visited: np.ndarray
    table: np.ndarray  # empty except for ``bits``
    distances: np.ndarray  # empty except for ``bytes``


class Frontier(NamedTuple):
    """The states of one level."""

    bits: np.ndarray  # out of date where ``active`` is 0
    active: np.ndarray  # block -> whether it has any


@shared
def _record_level(level, distances, place, bits, words, new_bits, visited, block, first, last):
    """Write the level into the entries of a footprint that ``block`` is the first of its blocks to reach.

    The blocks of the footprint are ``first`` ... ``last - 1``, and its entries begin at ``place``.
    """
    for word in range(words):
        pending = new_bits[block * words + word]
        if pending == 0:
            continue
        for other in range(first, last):
            if other != block:
                pending &= ~visited[other * words + word]
        while pending != 0:
            distances[place + word * bits + lowest(pending)] = level
            pending &= pending - np.uint32(1)


@cache
def _sweep_kernel(size: int):
    """The kernel that finds one level, compiled for patterns of ``size`` tiles.

    The compiler has to know the shape of a block, which determines the vectors.
    """
    bits = factorial(min(size, LEADING))
    rows = factorial(size - min(size, LEADING))
    words = block_words(size)
    run = min(rows, 24)  # rows per operation in a shuffle
    stretch = gcd(words, 120)  # words per operation where all are treated alike
    ahead = min(words, 256)  # words of the next source to prefetch; the hardware prefetcher follows from there

    @kernel
    def sweep(level, bipartite, first_block, moves, recipes, maps, previous, new, low, high):
        """Find the states of ``level`` in the footprints ``low`` ... ``high - 1`` and return their number."""
        # Unpacked only once: every access to an array in a tuple changes its reference count, which all
        # threads share.
        parity, remaining, visited, table, distances = maps
        starts, sources, recipe_numbers = moves
        groups, targets, origins, shuffles, row_source, terms, masks, rotations = recipes
        previous_bits, previous_active = previous
        new_bits, new_active = new
        arrived = np.empty(words, dtype=np.uint32)
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
                prefetch_rows(previous_bits, sources[queue[0]] * words, ahead)
                prefetch_rows(visited, block * words, ahead)
                arrived[:] = 0
                for place in range(active):
                    start = sources[queue[place]] * words
                    recipe = recipe_numbers[queue[place]]
                    if place + 1 < active:
                        prefetch_rows(previous_bits, sources[queue[place + 1]] * words, ahead)
                    if recipe // size == recipe % size:  # the tile keeps its ordinal: all arrangements stay
                        for word in range(0, words, stretch):
                            or_rows(arrived, word, previous_bits, start + word, stretch)
                        continue
                    for entry in range(groups[recipe, 0], groups[recipe, 1]):  # copy the rows
                        here, there = targets[entry], start + origins[entry]
                        for row in range(0, rows, run):
                            or_rows(arrived, here + row, previous_bits, there + row, run)
                    for entry in range(groups[recipe, 1], groups[recipe, 2]):  # shuffle the rows
                        here, there = targets[entry], start + origins[entry]
                        places = shuffles[entry] * rows
                        for row in range(0, rows, run):
                            or_gathered(arrived, here + row, previous_bits, there, row_source, places + row, run)
                    for entry in range(groups[recipe, 2], groups[recipe, 3]):  # shuffle the bits of each row
                        here, there = targets[entry], start + origins[entry]
                        term = shuffles[entry] * MAX_TERMS
                        end = term + terms[shuffles[entry]]
                        for row in range(0, rows, run):
                            or_rotated(
                                arrived, here + row, previous_bits, there + row, masks, rotations, term, end, run
                            )
                start = block * words
                count = 0
                for word in range(0, words, stretch):
                    count += mark_new(arrived, word, visited, new_bits, start + word, stretch)
                if count == 0:
                    continue
                if distances.size != 0:
                    entries, zones = rank * words * bits, (first_block[rank], first_block[rank + 1])
                    _record_level(level, distances, entries, bits, words, new_bits, visited, block, *zones)
                elif level & 2 and table.size != 0:
                    for word in range(0, words, stretch):
                        or_rows(table, start + word, new_bits, start + word, stretch)
                new_active[block] = 1
                remaining[block] -= count
                total += count
        return total

    return sweep


@kernel
def _pack_rows(first_block, words, per_block, packed, low, high):
    """Drop the unused byte of every row: 24 bits become three bytes, a block of fewer bits becomes one byte."""
    width = packed.shape[1] // per_block
    for block in range(first_block[low], first_block[high]):
        for row in range(per_block):
            word = words[block * per_block + row]
            for byte in range(width):
                packed[block, row * width + byte] = (word >> np.uint32(8 * byte)) & np.uint32(255)


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


def block_words(size: int) -> int:
    """The uint32 words per block during the build."""
    return max(1, factorial(size) // 24)


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
        _, (bits, active), counts = _search_levels(index, tiles, blank, None, share, progress)
    width, words = factorial(min(index.size, LEADING)), block_words(index.size)
    most = int(counts[-1]) if most is None else most
    blocks, arrangements = [], []
    for block in np.flatnonzero(active).tolist():
        rows = bits[block * words : (block + 1) * words]
        for row in np.flatnonzero(rows).tolist():
            if len(blocks) >= most:
                break
            set_bits = [bit for bit in range(width) if int(rows[row]) >> bit & 1][: most - len(blocks)]
            blocks += [block] * len(set_bits)
            arrangements += [row * width + bit for bit in set_bits]
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
    maps, frontier, counts = _search_levels(index, tiles, blank, encoding, share, progress)
    if encoding == "bytes":
        values = maps.distances.reshape(index.footprints, index.arrangements)
        return values, np.trim_zeros(sum(share(_histogram, values))[:UNREACHED], "b")
    table = maps.table
    del maps, frontier  # makes room for the packed table
    values = np.empty((index.blocks, block_bytes(index.size)), dtype=np.uint8)
    share(_pack_rows, index.first_block, table, block_words(index.size), values)
    return values, counts


def _search_levels(
    index: Index, tiles: Pattern, blank: int, encoding: str | None, share: Callable, progress: Callable[[int], object]
) -> tuple[Maps, Frontier, np.ndarray]:
    """Search all levels; returns the maps, the states of the last level, and the number of states at each level.

    With encoding None the maps have neither table nor distances.
    """
    grid, size, first_block, words = index.grid, index.size, index.first_block, block_words(index.size)
    goal = sum(1 << grid.home(tile, blank) for tile in tiles)
    moves, parity = _all_moves(index, goal, share)

    def bit_map() -> np.ndarray:
        return np.zeros(index.blocks * words, dtype=np.uint32)

    entries = index.footprints * index.arrangements if encoding == "bytes" else 0
    maps = Maps(
        parity,
        np.full(index.blocks, index.arrangements, dtype=np.int32),
        bit_map(),
        bit_map() if encoding == "bits" else np.zeros(0, dtype=np.uint32),
        np.full(entries, UNREACHED, dtype=np.uint8),
    )
    previous = Frontier(bit_map(), np.zeros(index.blocks, dtype=np.uint8))
    new = previous if grid.bipartite else Frontier(bit_map(), np.zeros(index.blocks, dtype=np.uint8))

    # In a canonical goal the tiles are in the order of their cells, so the goal is arrangement 0.
    goal_rank = int(footprint_rank(goal))
    goal_block = int(first_block[goal_rank]) + zone_number(blank, grid.all_cells & ~goal, grid.near)
    maps.visited[goal_block * words] = previous.bits[goal_block * words] = 1
    maps.remaining[goal_block] -= 1
    previous.active[goal_block] = 1
    maps.distances[goal_rank * index.arrangements : goal_rank * index.arrangements + 1] = 0

    sweep = _sweep_kernel(size)
    counts = []
    found = 1
    while found:
        counts.append(found)
        progress(found)
        level = len(counts)
        found = sum(share(sweep, level, grid.bipartite, first_block, moves, recipes_of(size), maps, previous, new))
        if found and encoding == "bytes" and level == UNREACHED:
            raise InputError(
                f"distances beyond {UNREACHED - 1} do not fit in a byte: use `encoding` bits, or smaller patterns"
            )
        if found:
            previous, new = new, previous
    # The last sweep, which found nothing, only wrote to blocks of the other parity or to the other map, so
    # ``previous`` still holds the last level.
    return maps, previous, np.array(counts, dtype=np.int64)
