"""Bitboards and pockets compared with a naive search, entry by entry, and with the search of blocks, table by table."""

import numpy as np
import pytest

from pdb_builder import build
from pdb_builder.base.workers import Workers
from pdb_builder.build import build_table
from pdb_builder.grid import Grid
from pdb_builder.index import Index
from pdb_builder.sparse import MASKS, SparseSearch, is_sparse

from .oracle import expected_tables
from .test_build import CASES

# Small boards, where most footprints have pockets: those of the builder as far as they have so many tiles, wrapped ones
# with short sides, and goals whose blank is in a pocket.
SMALL = [case for case in CASES if Grid(*case[:3]).bipartite and 2 <= len(case[4]) <= 5] + [
    (2, 2, True, 0, (1, 2)),
    (2, 6, True, 3, (1, 2, 8, 9)),
    (2, 6, False, 11, (4, 6, 11)),
    (6, 2, True, 0, (1, 2, 3)),
    (3, 3, False, 0, (1, 3, 5, 7)),
    (3, 3, False, 4, (2, 4, 5, 7)),
    (3, 4, False, 11, (3, 8, 11)),
    (4, 4, True, 0, (1, 4, 12)),
]


def table_of(grid, tiles, blank, threads):
    """The table and the number of states on each level."""
    with Workers(threads) as workers:
        search = SparseSearch(Index(grid, len(tiles)), tiles, blank, workers)
        counts = build._find_levels(search.find, lambda states: None)
        return search.take_table(), counts


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows, cols, wrap, blank, tiles", SMALL)
def test_every_entry_equals_the_naive_search(rows, cols, wrap, blank, tiles):
    grid = Grid(rows, cols, wrap)
    blocks, by_block, _ = expected_tables(grid, tiles, blank)
    for threads in (1, 2):
        table, counts = table_of(grid, tiles, blank, threads)
        expected = np.zeros((blocks, 8 * table.shape[1]), dtype=np.uint8)
        for place, distance in by_block.items():
            expected[place] = distance >> 1 & 1
        np.testing.assert_array_equal(np.unpackbits(table, axis=1, bitorder="little"), expected)
        np.testing.assert_array_equal(counts, np.bincount(list(by_block.values())))


@pytest.mark.jit
@pytest.mark.parametrize(
    "shape, wrap, blank, tiles",
    [
        ("6x6", False, 0, (1, 2, 6, 7, 8)),
        ("6x6", True, 14, (3, 20, 21, 30, 35)),
        ("2x16", True, 5, (1, 9, 17, 30, 31)),
        ("18x2", False, 35, (3, 32, 33, 34, 35)),
        ("7x8", False, 30, (22, 23, 30, 55)),
        ("8x8", False, 63, (1, 55, 56, 63)),
        ("8x8", True, 63, (1, 8, 56, 63)),
        ("2x32", False, 0, (1, 32, 33, 63)),
    ],
)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_give_the_same_table(shape, wrap, blank, tiles, threads, monkeypatch):
    """On 64 cells, cell 63 is the sign bit of a word."""
    grid = Grid.parse(shape, wrap)
    table, counts = table_of(grid, tiles, blank, threads)
    monkeypatch.setattr(build, "is_sparse", lambda index: False)
    expected = build_table(grid, tiles, blank=blank)
    np.testing.assert_array_equal(table, expected.values)
    np.testing.assert_array_equal(counts, expected.counts)


@pytest.mark.jit
@pytest.mark.parametrize("shape, size", [("6x6", 5), ("2x18", 5), ("3x12", 5), ("8x8", 4), ("2x32", 4)])
def test_crossings_take_no_more_memory_than_is_estimated(shape, size):
    index = Index(Grid.parse(shape), size)
    with Workers() as workers:
        search = SparseSearch(index, tuple(range(1, size + 1)), 0, workers)
    assert len(search._lines.masks) <= MASKS * (index.blocks - index.footprints)


@pytest.mark.jit
@pytest.mark.parametrize("shape, size", [("8x8", 3), ("8x8", 4), ("6x6", 5)])
def test_few_tiles_on_large_boards_are_sparse(shape, size):
    assert is_sparse(Index(Grid.parse(shape), size))


@pytest.mark.jit
@pytest.mark.parametrize("shape, size", [("8x8", 2), ("4x4", 5), ("5x5", 5), ("2x18", 4), ("5x5", 6)])
def test_others_are_not(shape, size):
    assert not is_sparse(Index(Grid.parse(shape), size))


@pytest.mark.jit
def test_a_sparse_table_is_built_on_a_bitboard(monkeypatch):
    used = []
    find = SparseSearch.find
    monkeypatch.setattr(SparseSearch, "find", lambda search, level: used.append(level) or find(search, level))
    table = build_table(Grid(6, 6), (1, 2, 7, 8))
    assert used == list(range(1, len(table.counts) + 1))
