"""Look-ups: from the cells of the tiles to the distance in a table.

In a ``bytes`` table a look-up reads one entry.

A ``bits`` table gives the distance modulo 4 (``encoding`` explains how). Neighbouring states differ by
exactly 1, so a neighbour is nearer to the goal if its value is one less modulo 4. Walking downhill to
the goal and counting the steps gives the distance itself. A search walks like this once, from its
start; afterwards each move adds or subtracts 1.
"""

from __future__ import annotations

import numpy as np

from .base.jit import kernel, lowest, popcount, shared
from .index import arrangement_rank, footprint_rank, zone_around, zone_number


@shared
def footprint_of(cells):
    """The footprint of tiles on ``cells``."""
    footprint = 0
    for cell in cells:
        footprint |= 1 << cell
    return footprint


@shared
def arrangement_of(cells, footprint, ordinals):
    """The arrangement of tiles on ``cells``, which have this footprint; ``ordinals`` is scratch space, one per tile."""
    for tile in range(len(cells)):
        ordinals[tile] = popcount(footprint & ((1 << cells[tile]) - 1))
    return arrangement_rank(ordinals, len(cells))


@shared
def value_mod_4(cells, blank, goal, everywhere, near, odd_cells, first_block, values, ordinals):
    """The distance modulo 4 of tiles on ``cells`` with the blank on ``blank``; ``goal`` is the goal's footprint."""
    footprint = footprint_of(cells)
    block = first_block[footprint_rank(footprint)] + zone_number(blank, everywhere & ~footprint, near)
    arrangement = arrangement_of(cells, footprint, ordinals)
    bit = (values[block, arrangement >> 3] >> (arrangement & 7)) & 1
    return 2 * int(bit) + (popcount((footprint ^ goal) & odd_cells) & 1)


@shared
def descend(cells, blank, homes, blank_home, everywhere, near, odd_cells, first_block, values, limit, ordinals):
    """The number of steps downhill to the goal, or -1 if ``limit`` steps do not lead there.

    Overwrites ``cells`` with the cells where the walk ends.
    """
    goal = footprint_of(homes)
    arguments = (goal, everywhere, near, odd_cells, first_block, values, ordinals)
    for steps in range(limit + 1):
        zone = zone_around(1 << blank, everywhere & ~footprint_of(cells), near)
        arrived = (zone >> blank_home) & 1 == 1
        for tile in range(len(cells)):
            arrived = arrived and cells[tile] == homes[tile]
        value = value_mod_4(cells, blank, *arguments)
        if arrived:
            return steps if value == 0 else -1
        found = False
        for tile in range(len(cells)):
            cell = cells[tile]
            targets = near[cell] & zone
            while targets != 0 and not found:
                cells[tile] = lowest(targets)
                targets &= targets - 1
                if value_mod_4(cells, cell, *arguments) == (value + 3) % 4:
                    found = True
                    blank = cell
            if found:
                break
            cells[tile] = cell
        if not found:
            return -1
    return -1


@kernel
def descend_all(all_cells, blanks, homes, blank_home, everywhere, near, odd_cells, first_block, values, limit, results):
    """``descend`` for many states."""
    ordinals = np.zeros(homes.size, dtype=np.int64)
    arguments = (homes, blank_home, everywhere, near, odd_cells, first_block, values, limit, ordinals)
    for number in range(blanks.size):
        results[number] = descend(all_cells[number], blanks[number], *arguments)


@kernel
def read_all(all_cells, values, results):
    """The entries of a ``bytes`` table for many states."""
    ordinals = np.zeros(all_cells.shape[1], dtype=np.int64)
    for number in range(results.size):
        footprint = footprint_of(all_cells[number])
        results[number] = values[footprint_rank(footprint), arrangement_of(all_cells[number], footprint, ordinals)]
