"""The search of a few tiles on a large board: a bitboard and its pockets, level by level, and the table they make.

When all states have been found, they are put into the order of the index. A block gets a column of the bitboard for
each of its tiles, from the line of the others: the states that have the last tile there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise, permutations
from math import comb, factorial

import numpy as np

from .base.jit import fetch, inlined, kernel, lowest, put
from .base.workers import Workers
from .bitboards import ASLEEP, AWAKE, Lines, board_of, list_columns, set_bytes, set_sources, shifts_of, sweep_kernel
from .encoding import block_bytes
from .index import LEADING, Index, arrangement_rank, footprint_at, footprint_rank, next_footprint
from .lanes import SPARE, column
from .pattern import Pattern
from .pockets import Pockets, list_pockets, mark_crossings, pocket_kernel
from .small_blocks import ROW_BYTES, SMALL, turned_rows

LEAST_STATES = 100_000
MOST_POCKETS = 1 / 6  # for each footprint: with more of them, blocks are faster
MASKS = 20  # of crossings for each pocket, at most: there are about ten
LINES, POCKETS, FOOTPRINTS = 4096, 2048, 65_536  # that a thread takes at a time


def is_sparse(index: Index) -> bool:
    """Whether ``bits`` tables of this index are built this way, because it is faster."""
    pockets = index.blocks - index.footprints
    return index.size <= SMALL and index.states >= LEAST_STATES and pockets <= MOST_POCKETS * index.footprints


def sparse_memory(index: Index) -> int:
    """The bytes that the search takes at its peak, but for what belongs to the index."""
    lines, pockets = comb(index.grid.cells, index.size - 1), index.blocks - index.footprints
    bitboard = lines * factorial(index.size - 1) * set_bytes(index.grid.cells)
    maps = bitboard + max(bitboard, index.blocks * block_bytes(index.size))
    return maps + 11 * lines + (18 + 12 * index.size + 8 * MASKS) * pockets + index.footprints // 8


def _at(maps: list[np.ndarray], level: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The map with the level before, the one that a level is added to, and the other one."""
    return maps[(level - 1) >> 1 & 1], maps[level >> 1 & 1], maps[~level >> 1 & 1]


class SparseSearch:
    """The search of all states of a pattern, by bit 1 of their distances."""

    def __init__(self, index: Index, tiles: Pattern, blank: int, workers: Workers) -> None:
        grid = index.grid
        self._index, self._workers = index, workers
        goal = sum(1 << grid.home(tile, blank) for tile in tiles)
        self._board = board_of(grid, goal)
        self._pockets = self._list_pockets()
        self._lines = self._list_lines()
        self._width = set_bytes(grid.cells)
        self._line_bytes = factorial(index.size - 1) * self._width
        self._maps = [np.zeros(len(self._lines.latest) * self._line_bytes + SPARE, dtype=np.uint8) for _ in range(2)]
        self._begin(goal, grid.home(tiles[-1], blank), blank)

    def _share(self, function: Callable, *args, total: int, part: int) -> list:
        """What a kernel returns for ``total`` lines, pockets or footprints, about ``part`` of them at a time."""
        parts = min(8 * self._workers.threads, 1 + total // part)
        cuts = [total * number // parts for number in range(parts + 1)]
        return self._workers.over(pairwise(cuts), function, *args)

    def _list_pockets(self) -> Pockets:
        index, board, first = self._index, self._board, self._index.first_block
        count = index.blocks - index.footprints
        owners, zones = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        how = (index.size, board.cells, board.everywhere, board.near, first)
        self._share(list_pockets, *how, owners, zones, total=index.footprints, part=FOOTPRINTS)
        several = np.packbits(first[1:] - first[:-1] > 1, bitorder="little")
        columns = (np.zeros(count * index.size, dtype=np.uint32) for _ in range(3))
        return Pockets(owners, zones, first, several, np.zeros(count, dtype=np.uint16), *columns)

    def _list_lines(self) -> Lines:
        index, board, pockets = self._index, self._board, self._pockets
        count = comb(board.cells, index.size - 1)
        crossing, first_mask = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.uint32)
        masks = np.zeros(1, dtype=np.int64)
        shifts = np.zeros(2 * board.cells, dtype=np.int64)
        for number, step in enumerate(shifts_of(index.grid)):
            shifts[board.cells + step] = number
        how = (index.size, board.cells, board.near, shifts, pockets.owners, pockets.zones, crossing, first_mask)
        self._share(mark_crossings, False, *how, masks, total=len(pockets.owners), part=POCKETS)
        ends = np.cumsum(np.bitwise_count(crossing), dtype=np.uint32)
        first_mask[1:] = ends[:-1]
        masks = np.zeros(int(ends[-1]) + 1, dtype=np.int64)  # and one to read where there is none
        self._share(mark_crossings, True, *how, masks, total=len(pockets.owners), part=POCKETS)
        turn = np.full(count + SPARE, ASLEEP, dtype=np.uint8)
        return Lines(turn, np.zeros(count, dtype=np.uint16), crossing, first_mask, masks)

    def _begin(self, goal: int, last: int, blank: int) -> None:
        """Put in the goal, which has the tiles on a set of cells, the last one of them on one of these."""
        index, pockets, rank = self._index, self._pockets, int(footprint_rank(goal))
        first = int(index.first_block[rank]) - rank
        for pocket in range(first, int(index.first_block[rank + 1]) - rank - 1):
            if int(pockets.zones[pocket]) >> blank & 1:
                column_of_goal = pocket * index.size + (goal & ((1 << last) - 1)).bit_count()
                pockets.gained[column_of_goal] = pockets.visited[column_of_goal] = 1
                return
        base = goal & ~(1 << last)
        line = int(footprint_rank(base))
        self._maps[0][line * self._line_bytes + last // 8] = 1 << last % 8
        self._lines.turn[line] = AWAKE
        for cell, around in enumerate(index.grid.neighbours):
            for target in around:
                if base >> cell & 1 > base >> target & 1:
                    self._lines.turn[footprint_rank(base ^ 1 << cell ^ 1 << target)] = AWAKE

    def find(self, level: int) -> int:
        """Find the states of a level, after the one before, and return their number."""
        size, board, lines, pockets = self._index.size, self._board, self._lines, self._pockets
        maps = _at(self._maps, level)
        how = (level, board, lines, set_sources(size - 1), *maps)
        found = self._share(sweep_kernel(size, self._width), *how, total=len(lines.latest), part=LINES)
        how = (level, board, lines, turned_rows(size - 1), pockets, *maps)
        found += self._share(pocket_kernel(size, self._width), *how, total=len(pockets.owners), part=POCKETS)
        return sum(found)

    def take_table(self) -> np.ndarray:
        """Bit 1 of all distances, a row for each block. That ends the search.

        If the other map has room for the table, it takes over its memory.
        """
        index = self._index
        bits, table = self._maps.pop(), self._maps.pop()
        needed = index.blocks * block_bytes(index.size)
        table = table[:needed] if len(table) >= needed else np.empty(needed, dtype=np.uint8)
        how = (self._board, self._pockets, spread_columns(index.size), bits, table)
        self._share(table_kernel(index.size, self._width), *how, total=index.footprints, part=FOOTPRINTS)
        return table.reshape(index.blocks, -1)


@cache
def spread_columns(size: int) -> np.ndarray:
    """[ordinal of the last tile, column] -> its states in a block of up to four tiles."""
    values = np.arange(1 << factorial(size - 1)) if size <= LEADING else np.zeros(1, dtype=np.int64)
    spread = np.zeros((size, len(values)), dtype=np.int64)
    for last in range(size if size <= LEADING else 0):
        rest = [ordinal for ordinal in range(size) if ordinal != last]
        for bit, order in enumerate(permutations(rest)):
            spread[last] |= (values >> bit & 1) << int(arrangement_rank([*order, last], size))
    return spread


@inlined
def _put_block(table, start, width, spread, columns, size):
    """Put columns into a block of ``width`` bytes: into a row each for five tiles, otherwise all into one."""
    if size > LEADING:
        for last in range(size):  # the merge of the other tiles: the higher the ordinal they leave out, the lower it is
            at, bits = start + ROW_BYTES * (size - 1 - last), fetch(columns, last)
            put(table, at, bits & 255)
            put(table, at + 1, bits >> 8 & 255)
            put(table, at + 2, bits >> 16 & 255)
    else:
        bits = 0
        for last in range(size):
            bits |= spread[last, columns[last]]
        for byte in range(width):
            put(table, start + byte, bits >> 8 * byte & 255)


@cache
def table_kernel(size: int, width: int):
    """The kernel that puts states into blocks, compiled for ``size`` tiles and sets of ``width`` bytes."""
    orders, block_width = factorial(size - 1), block_bytes(size)

    @kernel
    def fill_table(board, pockets, spread, bits, table, low, high):
        """Fill in the blocks of the footprints ``low`` ... ``high - 1``."""
        cells, everywhere = board[:2]
        _, zones, first_block, _, _, _, _, pocket_bits = pockets
        tile_cells = np.zeros(size, dtype=np.int64)
        columns = np.zeros(size, dtype=np.int64)
        footprint = footprint_at(low, size, cells)
        for rank in range(low, high):
            list_columns(footprint, size, tile_cells, columns)
            for last in range(size):
                columns[last] = column(bits, columns[last] * orders * width, tile_cells[last], width, orders)
            first, pocket, end = first_block[rank], first_block[rank] - rank, first_block[rank + 1] - rank - 1
            main = everywhere & ~footprint
            for other in range(pocket, end):
                main &= ~zones[other]
            block = first
            while pocket < end and lowest(zones[pocket]) < lowest(main):
                block, pocket = block + 1, pocket + 1
            _put_block(table, block * block_width, block_width, spread, columns, size)
            for other in range(first - rank, end):
                for last in range(size):
                    columns[last] = np.int64(pocket_bits[other * size + last])
                block = other + rank + (other >= pocket)
                _put_block(table, block * block_width, block_width, spread, columns, size)
            footprint = next_footprint(footprint)

    return fill_table
