"""The build: breadth-first search from the goal, level by level, over whole blocks of bits.

The distance of a state is the fewest moves of pattern tiles that lead from it to the goal; moves
of other tiles only carry the blank about inside its zone and are free. The search keeps three bit
maps over all states (``index`` numbers them): ``visited``, ``frontier`` (the states of the level
just found) and ``table`` (bit 1 of the distance, the result). One level is, for every block:

1. for every move that enters the block from a block with frontier states, carry the source's
   frontier over and collect what arrives;
2. ``fresh = arrived & ~visited``: these are the states of the new level.

Every block is written by one thread alone, so nothing needs a lock. Blocks that are complete and
sources that found nothing in the last level are skipped.

*A move carries a block as a whole*, by a recipe of a few dozen vector operations (``recipes``). A state
costs a fraction of one operation, so pulling everything into a block beats following its set bits
one by one unless there are hardly any.

*The two parities never share a level.* On a bipartite board every move changes the colour of one
tile's cell, so the parity of a distance is a property of the footprint alone. A level only reads
blocks of one parity and only writes those of the other: one ``frontier`` map serves as source and
target. On a wrapped board with an odd side there are two, exchanged after every level.

The table of a ``bits`` database is the map ``table`` without the unused bits; for ``bytes`` the level
is written into the entries that it reaches first (``encoding`` explains the two). ``count_levels`` makes
no table: it only counts, and knows the last level.
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
from .lanes import or_gathered, or_rows, or_turned, prefetch, settle
from .pattern import MAX_TILES, check_pattern
from .recipes import TURNS, recipes_of

MAX_MOVES = 4 * MAX_TILES  # into one block: a tile has at most four neighbours


# ---- moves between blocks -----------------------------------------------------------------------


class Moves(NamedTuple):
    """The moves that enter each block: of block b those from ``start[b]`` to ``start[b + 1]``."""

    start: np.ndarray
    source: np.ndarray  # the block a move comes from
    recipe: np.ndarray  # ordinal there * k + ordinal here


@kernel
def _count_moves(size, cells, everywhere, near, first_block, counts, parity, odd_cells, goal_parity, low, high):
    """Count the moves of each block of some footprints, and note its parity."""
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
    """Fill in the moves of each block of some footprints. A move and its reverse join the same blocks."""
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
    """What the search knows of the states."""

    parity: np.ndarray  # of each block's distances
    remaining: np.ndarray  # states of each block that are not visited
    visited: np.ndarray
    table: np.ndarray  # empty unless for ``bits``
    distances: np.ndarray  # empty unless for ``bytes``


class Frontier(NamedTuple):
    """The states of one level."""

    bits: np.ndarray  # stale where ``active`` is 0
    active: np.ndarray  # whether there are any in a block


@shared
def _record_level(level, distances, place, bits, words, fresh, visited, block, first, last):
    """Write the level into the entries that ``block`` is the first of its footprint to reach.

    The zones of the footprint are the blocks ``first`` ... ``last - 1``, its entries begin at ``place``.
    """
    for word in range(words):
        pending = fresh[block * words + word]
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
    """The kernel of one level, compiled for patterns of ``size`` tiles.

    The shape of a block must be known to the compiler: it decides the vectors.
    """
    bits = factorial(min(size, LEADING))
    rows = factorial(size - min(size, LEADING))
    words = block_words(size)
    run = min(rows, 24)  # rows done at once in a shuffle
    stretch = gcd(words, 120)  # words done at once where all are treated alike
    ahead = min(words, 256)  # words of the next source to fetch ahead; the machine foresees the rest itself

    @kernel
    def sweep(level, bipartite, first_block, moves, recipes, maps, last, fresh, low, high):
        """Find the states of ``level`` in the footprints ``low`` ... ``high - 1``; returns how many."""
        # Unpacked once: an array taken from a tuple is counted as a reference each time, by all
        # threads in the same place.
        parity, remaining, visited, table, distances = maps
        starts, sources, numbers = moves
        groups, targets, origins, shuffles, row_source, terms, masks, turns = recipes
        last_bits, last_active = last
        fresh_bits, fresh_active = fresh
        arrived = np.empty(words, dtype=np.uint32)
        queue = np.empty(MAX_MOVES, dtype=np.int64)
        total = 0
        for rank in range(low, high):
            for block in range(first_block[rank], first_block[rank + 1]):
                if bipartite and parity[block] != level & 1:
                    continue
                fresh_active[block] = 0
                if remaining[block] == 0:
                    continue
                active = 0
                for move in range(starts[block], starts[block + 1]):
                    if last_active[sources[move]] != 0:
                        queue[active] = move
                        active += 1
                if active == 0:
                    continue
                prefetch(last_bits, sources[queue[0]] * words, ahead)
                prefetch(visited, block * words, ahead)
                arrived[:] = 0
                for place in range(active):
                    start = sources[queue[place]] * words
                    number = numbers[queue[place]]
                    if place + 1 < active:
                        prefetch(last_bits, sources[queue[place + 1]] * words, ahead)
                    if number // size == number % size:
                        for word in range(0, words, stretch):
                            or_rows(arrived, word, last_bits, start + word, stretch)
                        continue
                    for entry in range(groups[number, 0], groups[number, 1]):
                        here, there = targets[entry], start + origins[entry]
                        for row in range(0, rows, run):
                            or_rows(arrived, here + row, last_bits, there + row, run)
                    for entry in range(groups[number, 1], groups[number, 2]):
                        here, there = targets[entry], start + origins[entry]
                        places = shuffles[entry] * rows
                        for row in range(0, rows, run):
                            or_gathered(arrived, here + row, last_bits, there, row_source, places + row, run)
                    for entry in range(groups[number, 2], groups[number, 3]):
                        here, there = targets[entry], start + origins[entry]
                        term = shuffles[entry] * TURNS
                        end = term + terms[shuffles[entry]]
                        for row in range(0, rows, run):
                            or_turned(arrived, here + row, last_bits, there + row, masks, turns, term, end, run)
                start = block * words
                count = 0
                for word in range(0, words, stretch):
                    count += settle(arrived, word, visited, fresh_bits, start + word, stretch)
                if count == 0:
                    continue
                if distances.size != 0:
                    entries, zones = rank * words * bits, (first_block[rank], first_block[rank + 1])
                    _record_level(level, distances, entries, bits, words, fresh_bits, visited, block, *zones)
                elif level & 2 and table.size != 0:
                    for word in range(0, words, stretch):
                        or_rows(table, start + word, fresh_bits, start + word, stretch)
                fresh_active[block] = 1
                remaining[block] -= count
                total += count
        return total

    return sweep


@kernel
def _pack_rows(first_block, words, per_block, packed, low, high):
    """Drop the unused byte of every row: 24 bits as three bytes; blocks of fewer bits are one byte."""
    width = packed.shape[1] // per_block
    for block in range(first_block[low], first_block[high]):
        for row in range(per_block):
            word = words[block * per_block + row]
            for byte in range(width):
                packed[block, row * width + byte] = (word >> np.uint32(8 * byte)) & np.uint32(255)


@kernel
def _histogram(distances, low, high):
    """How often each distance occurs in the entries of some footprints."""
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
    """The uint32 words of one block while it is built."""
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
    """Build the table of one pattern for the canonical goal with its blank on a given cell.

    ``progress`` is called after every level with the number of states it found.
    """
    started = time.perf_counter()
    encoding = check_encoding(grid, encoding)
    tiles = check_pattern(grid, tiles)
    grid.check_blank(blank)
    index = index_of(grid, len(tiles))
    goal = sum(1 << grid.home(tile, blank) for tile in tiles)
    with Workers(threads) as workers:
        share = partial(workers.over, _ranges(index, workers.threads))
        values, counts = _search(index, goal, blank, encoding, share, progress)
    seconds = time.perf_counter() - started
    return BuiltTable(tiles, encoding, values, index.first_block, counts, seconds, workers.threads)


class Levels(NamedTuple):
    """How many states of a pattern lie at each distance, and which of them at the largest.

    State number i of the last level is arrangement ``arrangements[i]`` of block ``blocks[i]``; they are in order.
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
    """Search as ``build_table`` does and keep no table; of the last level list at most ``most`` states.

    Without a table any board will do: on those that are not bipartite, too, states are counted, blank included.
    """
    tiles = check_pattern(grid, tiles)
    grid.check_blank(blank)
    index = index_of(grid, len(tiles))
    goal = sum(1 << grid.home(tile, blank) for tile in tiles)
    with Workers(threads) as workers:
        share = partial(workers.over, _ranges(index, workers.threads))
        _, (bits, active), counts = _levels(index, goal, blank, None, share, progress)
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
    """Ranges of footprints with about equally many blocks, several for each thread."""
    parts = min(8 * threads, 1 + index.states // 500_000)
    cuts = np.searchsorted(index.first_block, np.linspace(0, index.blocks, parts + 1)).tolist()
    cuts[0], cuts[-1] = 0, index.footprints
    return [(low, high) for low, high in pairwise(cuts) if low < high]


def _all_moves(index: Index, goal: int, share: Callable) -> tuple[Moves, np.ndarray]:
    """The moves that enter each block, and each block's parity."""
    grid = index.grid
    everywhere, odd_cells = signed_masks([grid.all_cells, grid.odd_cells])
    goal_parity = (goal & grid.odd_cells).bit_count() & 1
    start = np.zeros(index.blocks + 1, dtype=np.int64)
    parity = np.empty(index.blocks, dtype=np.uint8)
    board = (index.size, grid.cells, everywhere, index.near, index.first_block)
    share(_count_moves, *board, start[1:], parity, odd_cells, goal_parity)
    np.cumsum(start, out=start)
    moves = Moves(start, np.empty(start[-1], dtype=np.uint32), np.empty(start[-1], dtype=np.uint8))
    share(_list_moves, *board, *moves)
    return moves, parity


def _search(
    index: Index, goal: int, blank: int, encoding: str, share: Callable, progress: Callable[[int], object]
) -> tuple[np.ndarray, np.ndarray]:
    """Search level by level from the goal; the table's values and its entries per distance."""
    maps, frontier, counts = _levels(index, goal, blank, encoding, share, progress)
    if encoding == "bytes":
        values = maps.distances.reshape(index.footprints, index.arrangements)
        return values, np.trim_zeros(sum(share(_histogram, values))[:UNREACHED], "b")
    table = maps.table
    del maps, frontier  # the packed table takes their place
    values = np.empty((index.blocks, block_bytes(index.size)), dtype=np.uint8)
    share(_pack_rows, index.first_block, table, block_words(index.size), values)
    return values, counts


def _levels(
    index: Index, goal: int, blank: int, encoding: str | None, share: Callable, progress: Callable[[int], object]
) -> tuple[Maps, Frontier, np.ndarray]:
    """Search level by level from the goal: the maps, the states of the last level, the states of each level.

    Encoding None is for those who want to know no more than that: then there is neither table nor distances.
    """
    grid, size, first_block, words = index.grid, index.size, index.first_block, block_words(index.size)
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
    last = Frontier(bit_map(), np.zeros(index.blocks, dtype=np.uint8))
    fresh = last if grid.bipartite else Frontier(bit_map(), np.zeros(index.blocks, dtype=np.uint8))

    # At home the tiles ascend with their cells, so the goal is arrangement 0.
    goal_rank = int(footprint_rank(goal))
    goal_block = int(first_block[goal_rank]) + zone_number(blank, grid.all_cells & ~goal, grid.near)
    maps.visited[goal_block * words] = last.bits[goal_block * words] = 1
    maps.remaining[goal_block] -= 1
    last.active[goal_block] = 1
    maps.distances[goal_rank * index.arrangements : goal_rank * index.arrangements + 1] = 0

    sweep = _sweep_kernel(size)
    counts = []
    found = 1
    while found:
        counts.append(found)
        progress(found)
        level = len(counts)
        found = sum(share(sweep, level, grid.bipartite, first_block, moves, recipes_of(size), maps, last, fresh))
        if found and encoding == "bytes" and level == UNREACHED:
            raise InputError(
                f"distances beyond {UNREACHED - 1} do not fit a byte: use --encoding bits, or smaller patterns"
            )
        if found:
            last, fresh = fresh, last
    # The search that found nothing has left the last level as it was: it wrote to blocks of the other
    # parity, or to the other map.
    return maps, last, np.array(counts, dtype=np.int64)
