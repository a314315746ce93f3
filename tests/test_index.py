"""Ranks and zones compared with complete listings."""

from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid
from pdb_builder.independent_index import list_arrangements, list_footprints
from pdb_builder.index import (
    Index,
    arrangement_at,
    arrangement_rank,
    footprint_at,
    footprint_rank,
    next_footprint,
    zone_number,
)

from .oracle import all_footprints, arrangement_number, zones_of


@pytest.mark.parametrize("cells, size", [(4, 1), (4, 3), (6, 2), (9, 4), (10, 5), (16, 3)])
def test_footprints_round_trip(cells, size):
    masks = [sum(1 << cell for cell in chosen) for chosen in all_footprints(cells, size)]
    assert len(masks) == comb(cells, size)
    for rank, mask in enumerate(masks):
        assert footprint_rank(mask) == rank
        assert footprint_at(rank, size, cells) == mask
        if rank + 1 < len(masks):
            assert next_footprint(mask) == masks[rank + 1]
    np.testing.assert_array_equal(list_footprints(cells, size), masks)


def test_footprints_of_the_largest_board():
    top = (1 << 63) | (1 << 62) | 1
    rank = footprint_rank(top)
    assert rank == comb(63, 3) + comb(62, 2)
    assert footprint_at(rank, 3, 64) == top
    assert footprint_rank(0b111 << 61) == comb(64, 3) - 1


@pytest.mark.parametrize("size", range(1, 8))
def test_arrangements_are_numbered_as_documented(size):
    numbers = [arrangement_rank(ordinals, size) for ordinals in permutations(range(size))]
    assert sorted(numbers) == list(range(factorial(size)))
    for number, ordinals in enumerate(list_arrangements(size).tolist()):
        assert arrangement_rank(ordinals, size) == number
        assert arrangement_at(number, size) == ordinals
    for ordinals in list(permutations(range(size)))[:: max(1, factorial(size) // 50)]:
        assert arrangement_number(ordinals) == arrangement_rank(ordinals, size)


@pytest.mark.parametrize(
    "grid", [Grid(2, 2), Grid(2, 4), Grid(3, 3), Grid(3, 3, wrap=True), Grid(2, 5, wrap=True)], ids=str
)
def test_zones_and_blocks(grid):
    for size in range(1, min(6, grid.cells)):
        index = Index(grid, size)
        blocks = 0
        for rank, footprint in enumerate(all_footprints(grid.cells, size)):
            zones = zones_of(grid, footprint)
            free = grid.all_cells & ~sum(1 << cell for cell in footprint)
            for number, zone in enumerate(zones):
                assert all(zone_number(cell, free, grid.near) == number for cell in zone)
            assert index.first_block[rank] == blocks
            blocks += len(zones)
        assert index.blocks == blocks
        assert index.states == blocks * factorial(size)


@pytest.mark.jit
def test_zones_of_a_board_of_64_cells():
    """The kernels work with cell 63 as the sign bit."""
    grid = Grid(8, 8)
    first = Index(grid, 2).first_block
    for cells in ((62, 55), (0, 63), (1, 8), (62, 63), (54, 55)):
        mask = sum(1 << cell for cell in cells)
        rank = footprint_rank(mask)
        assert first[rank + 1] - first[rank] == len(zones_of(grid, cells))


@pytest.mark.parametrize("size", [0, 9, 13])
def test_sizes_that_have_no_index_are_refused(size):
    with pytest.raises(InputError, match=f"a pattern on a 3x3 board must have between 1 and 8 tiles, got {size}"):
        Index(Grid(3, 3), size)
