"""The build: breadth-first search from the goal, level by level, over whole blocks of bits.

The distance of a state is the smallest number of moves of pattern tiles that lead from it to the goal.
Moves of other tiles only carry the blank around within its zone and are free. The search keeps bit maps
over all states, which ``index`` numbers. One level does the following for every block:

1. For every move that enters the block from a block with states of the level before, carry these states
   over and collect what arrives.
2. What arrives and has not been visited is the block's part of the new level.

Each block is written by one thread only, so no locks are needed. A level looks only at blocks that may
gain something: the first states of a block wake up the footprints around it, and when all states of a
footprint have been visited, its turn is over. In between, the block gains states on nearly all levels of
its parity. The moves are found each time (``moves``).

*A move carries a whole block at once*, by a recipe of a few dozen vector operations (``recipes``). One
operation handles many states, so pulling entire blocks is faster than following single states unless
there are hardly any. The maps are packed, eight states to a byte. More than half of the moves change no
arrangement and work on them as they are; for the others the rows of a block are spread to words first (``lanes``).
Blocks of up to five tiles are so small that they are carried in registers (``small_blocks``). On large boards, ``bits``
tables of so few tiles are not built from blocks at all (``sparse``).

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
from .base.jit import kernel, lowest, shared
from .base.workers import Workers
from .encoding import UNREACHED, block_bytes, check_encoding
from .grid import Grid
from .index import LEADING, Index, footprint_at, footprint_rank, index_of, signed_masks, zone_number
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
from .moves import MAX_MOVES, find_moves, footprint_ahead, lay_out, list_parted, next_turn
from .pattern import MAX_TILES, Pattern, check_pattern
from .recipes import MAX_TERMS, recipes_of
from .small_blocks import SMALL, carry_small, small_recipes
from .sparse import SparseSearch, is_sparse

NO_DISTANCES = np.zeros(0, dtype=np.uint8)


# ---- the level loop -----------------------------------------------------------------------------


# On which levels it is a footprint's turn. None as long as no state next to it was found, nor when all of its own were.
ASLEEP, EVEN, ODD, DONE = 0, 1, 2, 4


class Board(NamedTuple):
    """What the search has to know to find moves."""

    cells: int
    everywhere: int  # the set of all cells
    near: np.ndarray
    first_block: np.ndarray
    parted: np.ndarray  # see ``moves``


class Search(NamedTuple):
    """How far the search is."""

    turn: np.ndarray  # footprint -> ASLEEP, EVEN, ODD, both, or DONE
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
    small = size <= SMALL
    at_once = width if small else 0  # small blocks are prefetched as soon as it is known where they are
    row_type = np.int64 if small else np.uint32

    @kernel
    def sweep(level, bipartite, accumulate, board, recipes, search, previous, new, visited, distances, low, high):
        """Find the states of ``level`` in the footprints ``low`` ... ``high - 1`` and return their number.

        They are put into the map of ``new``: to ``accumulate`` is to leave what is there, which together with the map
        ``visited`` is all that was visited. Otherwise they replace it, and are added to ``visited``.
        """
        # Unpacked only once: every access to an array in a tuple changes its reference count, which all
        # threads share.
        cells, everywhere, near, first_block, parted = board
        turn, remaining = search
        if small:
            targets, shuffles, turned = recipes
        else:
            groups, targets, origins, shuffles, row_source, terms, masks, rotations = recipes
        previous_bits, previous_active = previous
        new_bits, new_active = new
        arrived = np.zeros(width + SPARE, dtype=np.uint8)
        shuffled = np.zeros(width + SPARE, dtype=np.uint8)
        before = np.zeros(words + SPARE, dtype=np.uint32)
        after = np.zeros(words + SPARE, dtype=row_type)
        tile_cells = np.empty(MAX_TILES, dtype=np.int64)
        fall = np.empty(MAX_TILES + 1, dtype=np.int64)
        rise = np.empty(MAX_TILES + 1, dtype=np.int64)
        ranks = np.empty(MAX_MOVES, dtype=np.int64)
        sources = np.empty(MAX_MOVES, dtype=np.int64)
        numbers = np.empty(MAX_MOVES, dtype=np.int64)
        queue = np.empty(MAX_MOVES, dtype=np.int64)
        due = EVEN << (level & 1) if bipartite else EVEN | ODD
        due_next = EVEN << (~level & 1) if bipartite else EVEN | ODD
        total = 0
        rank_before = low
        footprint = footprint_at(low, size, cells)
        rank = next_turn(turn, low, high, due)
        while rank < high:
            footprint = footprint_ahead(footprint, rank_before, rank, size, cells)
            lay_out(footprint, size, tile_cells, fall, rise)
            free = everywhere & ~footprint
            first, last = first_block[rank], first_block[rank + 1]
            done = True
            for block in range(first, last):
                zone = free if block + 1 == last else parted[block - rank]
                free &= ~zone
                new_active[block] = 0
                if remaining[block] == 0:
                    continue
                done = False
                prefetch_rows(new_bits, block * width, ahead)
                prefetch_rows(visited, block * width, ahead)
                where = (near, first_block, parted, tile_cells, fall, rise)
                moves = find_moves(
                    *(footprint, rank, zone, size), *where, *(ranks, sources, numbers), *(previous_bits, at_once)
                )
                if small:
                    how = (width, targets, shuffles, turned, after)
                    count = carry_small(
                        *how, *(moves, sources, numbers), *(previous_bits, new_bits, visited), block, accumulate
                    )
                else:
                    active = 0
                    for move in range(moves):
                        if previous_active[sources[move]] != 0:
                            queue[active] = move
                            active += 1
                    if active == 0:
                        continue
                    prefetch_rows(previous_bits, sources[queue[0]] * width, ahead)
                    arrived[:] = 0
                    any_shuffled = False
                    for place in range(active):
                        start = sources[queue[place]] * width
                        recipe = numbers[queue[place]]
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
                    place = rank * arrangements
                    _record_level(level, distances, place, width, new_bits, visited, block, first, last)
                new_active[block] = 1
                # The first ones wake up their neighbours. Several threads may do so, but write the same: what could
                # end a turn comes on levels of the other parity, or, if the board is not bipartite, never. There a
                # footprint may be looked at on this level already: nothing arrives.
                if remaining[block] == arrangements:
                    for move in range(moves):
                        if turn[ranks[move]] == ASLEEP:
                            turn[ranks[move]] = due_next
                remaining[block] -= count
                total += count
            if done and bipartite:  # where there are two frontiers, it may still be active in the other one
                turn[rank] = DONE
            rank_before = rank
            rank = next_turn(turn, rank + 1, high, due)
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
        values, counts = _search_table(index, tiles, blank, encoding, workers, progress)
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
        maps = FrontierMaps(index)
        counts = _search_blocks(index, tiles, blank, maps, NO_DISTANCES, _sharing(index, workers), progress)
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


def _sharing(index: Index, workers: Workers) -> Callable:
    """Shares out a kernel in ranges of footprints with roughly the same number of blocks, several per thread."""
    parts = min(8 * workers.threads, 1 + index.states // 500_000)
    cuts = np.searchsorted(index.first_block, np.linspace(0, index.blocks, parts + 1)).tolist()
    cuts[0], cuts[-1] = 0, index.footprints
    return partial(workers.over, [(low, high) for low, high in pairwise(cuts) if low < high])


def _search_table(
    index: Index, tiles: Pattern, blank: int, encoding: str, workers: Workers, progress: Callable[[int], object]
) -> tuple[np.ndarray, np.ndarray]:
    """Search all levels; returns the values of the table and its number of entries at each distance."""
    if encoding == "bits":
        if is_sparse(index):
            search = SparseSearch(index, tiles, blank, workers)
            counts = _find_levels(search.find, progress)
            return search.take_table(), counts
        maps = TableMaps(index)
        counts = _search_blocks(index, tiles, blank, maps, NO_DISTANCES, _sharing(index, workers), progress)
        return maps.table, counts
    share = _sharing(index, workers)
    distances = np.full(index.footprints * index.arrangements, UNREACHED, dtype=np.uint8)
    _search_blocks(index, tiles, blank, FrontierMaps(index), distances, share, progress)
    values = distances.reshape(index.footprints, index.arrangements)
    return values, np.trim_zeros(sum(share(_histogram, values))[:UNREACHED], "b")


def _find_levels(find: Callable[[int], int], progress: Callable[[int], object]) -> np.ndarray:
    """Find level after level until one is empty; returns how many states each has."""
    counts = []
    found = 1
    while found:
        counts.append(found)
        progress(found)
        found = find(len(counts))
    return np.array(counts, dtype=np.int64)


def _search_blocks(
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
    everywhere = signed_masks([grid.all_cells])[0]
    parted = np.empty(index.blocks - index.footprints, dtype=np.int64)
    share(list_parted, size, grid.cells, everywhere, index.near, first_block, parted)
    board = Board(grid.cells, everywhere, index.near, first_block.astype(np.int32), parted)  # so most stay in the cache
    turn = np.full(index.footprints + SPARE, ASLEEP, dtype=np.uint8)
    remaining = np.full(index.blocks, index.arrangements, dtype=np.min_scalar_type(index.arrangements))

    # In a canonical goal the tiles are in the order of their cells, so the goal is arrangement 0.
    goal_rank = int(footprint_rank(goal))
    goal_block = int(first_block[goal_rank]) + zone_number(blank, grid.all_cells & ~goal, grid.near)
    for cell, around in enumerate(grid.neighbours):
        for target in around:
            if goal >> cell & 1 > goal >> target & 1:
                turn[footprint_rank(goal ^ 1 << cell ^ 1 << target)] = ODD if grid.bipartite else EVEN | ODD
    start, _, visited = maps.at(1)
    start.bits[goal_block * width] = 1
    start.active[goal_block] = 1
    if not maps.accumulate:
        visited[goal_block * width] = 1
    remaining[goal_block] -= 1
    distances[goal_rank * index.arrangements : goal_rank * index.arrangements + 1] = 0

    recipes = small_recipes(size) if size <= SMALL else recipes_of(size)
    how = (grid.bipartite, maps.accumulate, board, recipes, Search(turn, remaining))
    sweep = _sweep_kernel(size)

    def find(level: int) -> int:
        found = sum(share(sweep, level, *how, *maps.at(level), distances))
        if found and distances.size and level == UNREACHED:
            raise InputError(
                f"distances beyond {UNREACHED - 1} do not fit in a byte: use `encoding` bits, or smaller patterns"
            )
        return found

    return _find_levels(find, progress)
