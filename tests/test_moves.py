"""The moves into a block, found from its footprint, compared with taking tiles one step away in sets of cells."""

import numpy as np
import pytest

from pdb_builder.grid import Grid
from pdb_builder.index import Index, signed_masks
from pdb_builder.moves import MAX_MOVES, find_moves, footprint_ahead, lay_out, list_parted

from .oracle import all_footprints, zones_of

GRIDS = [Grid(2, 2), Grid(2, 4), Grid(3, 3), Grid(3, 3, wrap=True), Grid(2, 5, wrap=True), Grid(3, 4)]


def moves_into(grid, footprints, cells, zone):
    """What leads to a block: (rank of the footprint, number of the zone, ordinal there, ordinal here), sorted."""
    found = []
    for here, cell in enumerate(cells):
        for target in set(grid.neighbours[cell]) & set(zone):
            other = tuple(sorted({*cells, target} - {cell}))
            zones = zones_of(grid, other)
            number = next(number for number, cells_of_zone in enumerate(zones) if cell in cells_of_zone)
            found.append((footprints[other], number, other.index(target), here))
    return sorted(found)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_all_moves_are_found(grid):
    everywhere = signed_masks([grid.all_cells])[0]
    for size in range(1, min(6, grid.cells)):
        index = Index(grid, size)
        first = index.first_block
        parted = np.zeros(index.blocks - index.footprints, dtype=np.int64)
        list_parted(size, grid.cells, everywhere, index.near, first, parted, 0, index.footprints)
        footprints = {cells: rank for rank, cells in enumerate(map(tuple, all_footprints(grid.cells, size)))}
        places, fall, rise = (np.zeros(size + 1, dtype=np.int64) for _ in range(3))
        for cells, rank in footprints.items():
            mask = sum(1 << cell for cell in cells)
            lay_out(mask, size, places, fall, rise)
            for zone in zones_of(grid, cells):
                ranks, sources, recipes = found = np.zeros((3, MAX_MOVES), dtype=np.int64)
                scratch = (parted, places, fall, rise, *found, np.zeros(1, dtype=np.uint8), 0)
                count = find_moves(mask, rank, sum(1 << cell for cell in zone), size, index.near, first, *scratch)
                moves = zip(ranks.tolist(), sources.tolist(), recipes.tolist(), strict=True)
                listed = [(other, source - first[other], *divmod(recipe, size)) for other, source, recipe in moves]
                assert sorted(listed[:count]) == moves_into(grid, footprints, cells, zone)


def test_footprints_ahead_are_found_step_by_step_and_from_scratch():
    footprints = [sum(1 << cell for cell in cells) for cells in all_footprints(10, 3)]
    for rank in (0, 1, 7, 50):
        for target in range(rank, len(footprints)):
            assert footprint_ahead(footprints[rank], rank, target, 3, 10) == footprints[target]
