"""Columns: the distances of all sampled boards in one table.

A table of ``bits`` gives distances modulo 4, and the way downhill gives the distance itself (``lookup``). For tens of
thousands of boards that is most of the work of judging a small pattern. But the boards come from a few search trees
and are alike, so their ways soon meet. Each way ends where an earlier one has been, and leaves its own distances
behind, in a hash table of states.
"""

from __future__ import annotations

import numpy as np

from ..base.jit import kernel, lowest, popcount, shared
from ..build import BuiltTable
from ..index import arrangement_rank, footprint_rank, signed_masks, zone_around, zone_number
from .symmetry import Goal

SLOTS = 1 << 20  # of the hash table, at least; a power of two
LONGEST = 250  # moves of a way


@shared
def _entry(cells, footprint, blank, everywhere, near, first_block, ordinals):
    """The block and the arrangement of tiles on ``cells``, which have this footprint."""
    rank = footprint_rank(footprint)
    block = first_block[rank]
    if first_block[rank + 1] > block + 1:
        block += zone_number(blank, everywhere & ~footprint, near)
    for tile in range(cells.size):
        ordinals[tile] = popcount(footprint & ((1 << cells[tile]) - 1))
    return block, arrangement_rank(ordinals, cells.size)


@shared
def _slot(keys, key):
    """Where a key is in the hash table, or belongs."""
    slot = ((key * -7046029254386353131) >> 20) & (keys.size - 1)
    while keys[slot] != key and keys[slot] != -1:
        slot = (slot + 1) & (keys.size - 1)
    return slot


@kernel
def _descend_all(states, homes, blank_home, everywhere, near, odd_cells, first_block, values, keys, known, results):
    """The distances of many states: rows of the cells of the tiles and the cell of the blank. Changes the rows.

    ``keys`` and ``known`` are the hash table: states and their distances. A state that leads nowhere gets -1.
    """
    size = homes.size
    ordinals = np.zeros(size, dtype=np.int64)
    way = np.zeros(LONGEST + 1, dtype=np.int64)
    arrangements, most, stored = np.int64(1), keys.size // 2, 0
    goal = 0
    for tile in range(size):
        arrangements *= tile + 1
        goal |= 1 << homes[tile]
    rank = footprint_rank(goal)
    home_key = (first_block[rank] + zone_number(blank_home, everywhere & ~goal, near)) * arrangements
    for number in range(results.size):
        cells, blank = states[number, :size], states[number, size]
        footprint = 0
        for tile in range(size):
            footprint |= 1 << cells[tile]
        block, arrangement = _entry(cells, footprint, blank, everywhere, near, first_block, ordinals)
        steps, distance = 0, -1
        while True:
            key = block * arrangements + arrangement
            way[steps] = key
            slot = _slot(keys, key)
            if keys[slot] == key:
                distance = known[slot]
                break
            if key == home_key:
                distance = 0
                break
            if steps == LONGEST:
                break
            bit = np.int64(values[block, arrangement >> 3] >> (arrangement & 7)) & 1
            wanted = (2 * bit + (popcount((footprint ^ goal) & odd_cells) & 1) + 3) & 3
            zone = zone_around(1 << blank, everywhere & ~footprint, near)
            found = False
            for tile in range(size):
                cell = cells[tile]
                targets = near[cell] & zone
                while targets != 0 and not found:
                    target = lowest(targets)
                    targets &= targets - 1
                    cells[tile] = target
                    other = (footprint ^ (1 << cell)) | (1 << target)
                    block, arrangement = _entry(cells, other, cell, everywhere, near, first_block, ordinals)
                    bit = np.int64(values[block, arrangement >> 3] >> (arrangement & 7)) & 1
                    if 2 * bit + (popcount((other ^ goal) & odd_cells) & 1) == wanted:
                        found = True
                        footprint, blank = other, cell
                if found:
                    break
                cells[tile] = cell
            if not found:
                break
            steps += 1
        results[number] = distance + steps if distance >= 0 else -1
        for back in range(steps - 1, -1, -1):
            distance += 1
            if stored < most and distance > 0:
                slot = _slot(keys, way[back])
                keys[slot], known[slot] = way[back], distance
                stored += 1


def distances_in(goal: Goal, table: BuiltTable, places: np.ndarray, symmetry: int = 0) -> np.ndarray:
    """The distances of many boards, tile -> cell, in the image of a table's pattern under a symmetry."""
    grid = goal.grid
    image = np.array(goal.cell_images[symmetry])
    original = {turned: tile for tile, turned in enumerate(goal.tile_images[symmetry])}
    states = np.ascontiguousarray(image[places[:, [*(original[tile] for tile in table.tiles), 0]]])
    results = np.empty(len(states), dtype=np.int64)
    everywhere, odd_cells = signed_masks([grid.all_cells, grid.odd_cells])
    homes = np.array([goal.homes[tile] for tile in table.tiles])
    slots = max(SLOTS, 1 << (16 * len(states)).bit_length())
    keys, known = np.full(slots, -1, dtype=np.int64), np.zeros(slots, dtype=np.uint8)
    view = (everywhere, signed_masks(grid.near), odd_cells, table.first_block, table.values)
    _descend_all(states, homes, goal.blank, *view, keys, known, results)
    assert results.min(initial=0) >= 0, "every board leads to the goal"
    return results
