"""Pockets: the search of those states that have no place on a bitboard.

A footprint with several zones has a *main* one, the largest, whose states are on the bitboard. The others are pockets:
a corner behind two tiles, mostly. There are few, so they may take longer.

The states of a pocket are kept in *columns*, one for each ordinal of the last tile, with a bit for each order of the
other tiles: what one bit of all words of a line is on the bitboard. So a move carries column by column, between pocket
and bitboard or between two pockets. All moves of a pocket are crossings. When the bitboard has made its own moves, the
pockets follow, those of the parity of the level and those of the other one:

- States *enter* a pocket from the blocks around it, which are on the bitboard or pockets themselves.
- The states that a pocket gained on the level before *leave* it for the bitboard, where they count if moves of the
  bitboard have not found them. Threads may write to the same word, so they do so by an atomic instruction.
"""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np

from .base.jit import fetch, kernel, lowest, popcount, put, put_bits, shared
from .bitboards import SIDES, is_of_level, list_columns, wake_around
from .index import footprint_at, footprint_rank, next_footprint, zone_around
from .lanes import column, prefetch_rows
from .moves import lay_out
from .small_blocks import turn

NO_CELL = -1
UNCHANGED = -1


class Pockets(NamedTuple):
    """The pockets of all footprints, and how far the search of each is. The columns of a pocket stand in a row."""

    owners: np.ndarray  # pocket -> its footprint
    zones: np.ndarray  # pocket -> its cells
    first_block: np.ndarray  # the pockets of the footprint of rank r begin with number ``first_block[r] - r``
    several: np.ndarray  # footprint -> whether it has any, eight to a byte
    latest: np.ndarray  # pocket -> the last level on which it gained states
    gained: np.ndarray  # column -> the states that it gained then
    visited: np.ndarray  # column -> all states that have been visited
    table: np.ndarray  # column -> those of them with bit 1 of the distance set


@kernel
def list_pockets(size, cells, everywhere, near, first_block, owners, zones, low, high):
    """Fill in the pockets of the footprints ``low`` ... ``high - 1``, in the order of their zones."""
    footprint = footprint_at(low, size, cells)
    for rank in range(low, high):
        pocket, end = first_block[rank] - rank, first_block[rank + 1] - rank - 1
        if pocket != end:
            main = np.int64(0)
            free = everywhere & ~footprint
            while free != 0:
                zone = zone_around(free & -free, free, near)
                free &= ~zone
                if popcount(zone) > popcount(main):
                    main = zone
            free = everywhere & ~footprint & ~main
            while pocket != end:
                owners[pocket] = footprint
                zones[pocket] = zone_around(free & -free, free, near)
                free &= ~zones[pocket]
                pocket += 1
        footprint = next_footprint(footprint)


@kernel
def mark_crossings(fill, size, cells, near, shifts, owners, zones, crossing, first_mask, masks, low, high):
    """Mark the crossings of the pockets ``low`` ... ``high - 1``: which moves have masks, or in these to ``fill`` them.

    ``shifts[cells + d]`` is the number of the shift that changes the number of a cell by d.
    """
    for pocket in range(low, high):
        tiles = owners[pocket]
        while tiles != 0:
            cell = lowest(tiles)
            tiles &= tiles - 1
            targets = near[cell] & zones[pocket]
            while targets != 0:
                target = lowest(targets)
                targets &= targets - 1
                for back in range(2):
                    start, end = (target, cell) if back else (cell, target)
                    arrived = owners[pocket] & ~(1 << cell) & ~(1 << target) | 1 << end
                    rest = arrived
                    while rest != 0:
                        last = lowest(rest)
                        rest &= rest - 1
                        base = arrived & ~(1 << last)
                        if last == end:
                            slot = SIDES * (size - 1) + shifts[cells + end - start]
                        else:
                            side = popcount(near[end] & ((1 << start) - 1))
                            slot = SIDES * popcount(base & ((1 << end) - 1)) + side
                        line = footprint_rank(base)
                        if fill:
                            place = popcount(np.int64(crossing[line]) & ((1 << slot) - 1))
                            put_bits(masks, first_mask[line] + place, 1 << last)
                        else:
                            put_bits(crossing, line, 1 << slot)


@shared
def _shuffled(turned, shuffle, bits):
    """A column after a shuffle, if there is one."""
    return bits if shuffle == UNCHANGED else turn(turned, shuffle, bits)


@cache
def pocket_kernel(size: int, width: int):
    """The kernel that finds one level of the pockets, compiled for ``size`` tiles and sets of ``width`` bytes."""
    others, orders = size - 1, factorial(size - 1)
    line_bytes = orders * width
    full = (1 << orders) - 1
    most = SIDES * size * size  # moves of all columns of a pocket

    @kernel
    def sweep_pockets(level, board, lines, turned, pockets, previous, new, visited, low, high):
        """Find the states of ``level`` that enter or leave the pockets ``low`` ... ``high - 1``; return their number.

        The maps are those of ``bitboards``, after it has found its part of the level.
        """
        _, _, odd, odd_tiles, near, _, _, _ = board
        turn, line_latest, _, _, _ = lines
        owners, zones, first_block, several, latest, gained, columns_visited, table = pockets
        cells = np.zeros(size, dtype=np.int64)
        cell_lines = np.zeros(size, dtype=np.int64)
        fall = np.zeros(size + 1, dtype=np.int64)
        rise = np.zeros(size + 1, dtype=np.int64)
        arrived = np.zeros(size, dtype=np.int64)
        heres = np.zeros(most, dtype=np.int64)
        sources = np.zeros(most, dtype=np.int64)
        source_cells = np.zeros(most, dtype=np.int64)
        inward = np.zeros(most, dtype=np.int64)
        outward = np.zeros(most, dtype=np.int64)
        total = 0
        for pocket in range(low, high):
            footprint = owners[pocket]
            enters = is_of_level(level, footprint, odd, odd_tiles)
            start = pocket * size
            if enters:
                missing = 0
                for place in range(start, start + size):
                    missing |= full & ~np.int64(fetch(columns_visited, place))
                if missing == 0:
                    continue
            elif latest[pocket] != level - 1:
                continue

            # The moves of all columns: where a column comes from, or goes to, and how it is shuffled on the way.
            moves = 0
            tiles = footprint
            for here in range(size):
                cell = lowest(tiles)
                tiles &= tiles - 1
                targets = near[cell] & zones[pocket]
                while targets != 0:
                    target = lowest(targets)
                    targets &= targets - 1
                    other = footprint & ~(1 << cell) | 1 << target
                    there = popcount(other & ((1 << target) - 1))
                    rank = list_columns(other, size, cells, cell_lines)
                    source = -1
                    if (fetch(several, rank >> 3) >> (rank & 7)) & 1:
                        for place in range(first_block[rank] - rank, first_block[rank + 1] - rank - 1):
                            if (zones[place] >> cell) & 1:
                                source = place
                    for last_there in range(size):
                        last_here = here
                        shuffle = back = UNCHANGED
                        if last_there != there:
                            last_here = last_there - (last_there > there)
                            last_here += last_here >= here
                            before, after = there - (there > last_there), here - (here > last_here)
                            if before != after:
                                shuffle, back = before * others + after, after * others + before
                        if source >= 0:
                            put(sources, moves, source * size + last_there)
                            put(source_cells, moves, NO_CELL)
                            if not enters or latest[source] != level - 1:
                                continue
                        else:
                            line = fetch(cell_lines, last_there)
                            if enters and fetch(line_latest, line) < level - 1:
                                continue
                            put(sources, moves, line)
                            put(source_cells, moves, fetch(cells, last_there))
                            if enters:
                                prefetch_rows(previous, line * line_bytes, line_bytes)
                            else:
                                prefetch_rows(new, line * line_bytes, line_bytes)
                                prefetch_rows(visited, line * line_bytes, line_bytes)
                        put(heres, moves, last_here)
                        put(inward, moves, shuffle)
                        put(outward, moves, back)
                        moves += 1

            if enters:
                for ordinal in range(size):
                    put(arrived, ordinal, 0)
                for move in range(moves):
                    source, cell, here = fetch(sources, move), fetch(source_cells, move), fetch(heres, move)
                    if cell == NO_CELL:
                        bits = np.int64(fetch(gained, source))
                    else:
                        bits = column(previous, source * line_bytes, cell, width, orders)
                    put(arrived, here, fetch(arrived, here) | _shuffled(turned, fetch(inward, move), bits))
                count = 0
                for ordinal in range(size):
                    place = start + ordinal
                    bits = fetch(arrived, ordinal) & ~np.int64(columns_visited[place])
                    count += popcount(bits)
                    gained[place] = bits
                    columns_visited[place] |= bits
                    if level & 2:
                        table[place] |= bits
                if count != 0:
                    latest[pocket] = level
                    total += count
            else:
                for move in range(moves):
                    bits = np.int64(fetch(gained, start + fetch(heres, move)))
                    if bits == 0:
                        continue
                    line, cell = fetch(sources, move), fetch(source_cells, move)
                    at = line * line_bytes
                    known = column(new, at, cell, width, orders) | column(visited, at, cell, width, orders)
                    bits = _shuffled(turned, fetch(outward, move), bits) & ~known
                    count = 0
                    while bits != 0:
                        before = put_bits(new, at + lowest(bits) * width + (cell >> 3), 1 << (cell & 7))
                        bits &= bits - 1
                        count += (before >> (cell & 7)) & 1 == 0
                    if count != 0:
                        total += count
                        if line_latest[line] == 0:
                            base = footprint_at(line, others, near.size)
                            lay_out(base, others, cells, fall, rise)
                            wake_around(base, line, others, near, turn, cells, fall, rise)
                        line_latest[line] = level
        return total

    return sweep_pockets
