"""The builder compared with a naive search, entry by entry, and with published sizes."""

from math import factorial

import numpy as np
import pytest

from pdb_builder.base.errors import InputError
from pdb_builder.build import build_table, count_levels
from pdb_builder.encoding import UNREACHED, check_encoding
from pdb_builder.grid import Grid
from pdb_builder.index import Index

from .oracle import expected_tables

# (rows, cols, wrap, blank, tiles): plain and wrapped, even and odd sides, square and not, blanks
# in corners, on edges and inside, patterns from one tile to all of them.
CASES = [
    (2, 2, False, 0, (1, 2, 3)),
    (2, 2, False, 3, (1,)),
    (2, 2, True, 1, (2, 3)),
    (2, 3, False, 0, (1, 2, 3, 4, 5)),
    (2, 3, False, 4, (1, 3)),
    (2, 3, True, 2, (2, 3, 5)),
    (3, 2, True, 0, (1, 2, 3, 4, 5)),
    (2, 4, True, 5, (1, 2, 3, 6, 7)),
    (3, 3, False, 0, (1, 2, 3, 4)),
    (3, 3, False, 4, (2, 5, 6, 8)),
    (3, 3, False, 8, (4, 5, 6, 7, 8)),
    (3, 3, True, 0, (1, 4, 5, 8)),
    (2, 5, False, 9, (1, 2, 3, 4, 5)),
    (2, 4, False, 0, (1, 2, 3, 4, 5, 6)),
    (3, 4, False, 6, (1, 2, 7)),
    (3, 4, True, 3, (3, 4, 8)),
    (4, 4, False, 0, (5, 6, 10)),
    (4, 4, True, 5, (1, 2, 15)),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows, cols, wrap, blank, tiles", CASES)
def test_every_entry_equals_the_naive_search(rows, cols, wrap, blank, tiles):
    grid = Grid(rows, cols, wrap)
    blocks, by_block, by_footprint = expected_tables(grid, tiles, blank)
    assert Index(grid, len(tiles)).blocks == blocks

    table = build_table(grid, tiles, blank=blank, encoding="bytes", threads=1)
    expected = np.full(table.values.shape, UNREACHED, dtype=np.uint8)
    for place, distance in by_footprint.items():
        expected[place] = distance
    np.testing.assert_array_equal(table.values, expected)
    np.testing.assert_array_equal(table.counts, np.bincount(list(by_footprint.values())))

    if grid.bipartite:
        table = build_table(grid, tiles, blank=blank, encoding="bits", threads=1)
        expected = np.zeros((blocks, 8 * table.values.shape[1]), dtype=np.uint8)
        for place, distance in by_block.items():
            expected[place] = distance >> 1 & 1
        np.testing.assert_array_equal(np.unpackbits(table.values, axis=1, bitorder="little"), expected)
        np.testing.assert_array_equal(table.counts, np.bincount(list(by_block.values())))


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows, cols, wrap, blank, tiles", CASES)
def test_levels_and_the_farthest_states_equal_the_naive_search(rows, cols, wrap, blank, tiles):
    grid = Grid(rows, cols, wrap)
    _, by_block, _ = expected_tables(grid, tiles, blank)
    levels = count_levels(grid, tiles, blank=blank, threads=1)
    np.testing.assert_array_equal(levels.counts, np.bincount(list(by_block.values())))
    last = sorted(state for state, distance in by_block.items() if distance == len(levels.counts) - 1)
    assert list(zip(levels.blocks.tolist(), levels.arrangements.tolist(), strict=True)) == last
    some = count_levels(grid, tiles, blank=blank, threads=2, most=2)
    assert list(zip(some.blocks.tolist(), some.arrangements.tolist(), strict=True)) == last[:2]


@pytest.mark.jit
@pytest.mark.parametrize("encoding", ["bits", "bytes"])
@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(encoding, threads):
    grid, tiles = Grid(4, 4), (1, 2, 5, 6, 9)
    one = build_table(grid, tiles, encoding=encoding, threads=1)
    many = build_table(grid, tiles, encoding=encoding, threads=threads)
    np.testing.assert_array_equal(one.values, many.values)
    np.testing.assert_array_equal(one.counts, many.counts)


@pytest.mark.jit
@pytest.mark.parametrize(
    "shape, size, blocks, states",
    [("4x4", 7, 27_748, 139_849_920), ("4x4", 8, 35_347, 1_425_191_040), ("5x5", 6, 251_400, 181_008_000)],
)
def test_published_sizes(shape, size, blocks, states):
    index = Index(Grid.parse(shape), size)
    assert (index.blocks, index.states) == (blocks, states)


@pytest.mark.jit
def test_level_counts_sum_to_the_published_size():
    table = build_table(Grid(4, 4), range(1, 8))
    assert table.counts.sum() == 139_849_920
    table = build_table(Grid(4, 4), range(1, 8), encoding="bytes")
    assert table.counts.sum() == 57_657_600


def test_progress_counts_every_state():
    found = []
    table = build_table(Grid(3, 3), (1, 2, 3), progress=found.append)
    assert sum(found) == table.counts.sum() == Index(Grid(3, 3), 3).states


def test_a_pattern_of_all_tiles_reaches_half_of_its_states():
    table = build_table(Grid(3, 2), range(1, 6))
    assert table.counts.sum() == factorial(6) // 2
    assert len(table.counts) - 1 == 21


def test_bits_are_refused_if_a_move_may_leave_the_distance_unchanged():
    grid = Grid(3, 4, wrap=True)
    assert check_encoding(grid, None) == "bytes"
    with pytest.raises(InputError, match="use `encoding` bytes"):
        check_encoding(grid, "bits")
    with pytest.raises(InputError, match="unknown encoding 'nibbles': use bits or bytes"):
        check_encoding(grid, "nibbles")


@pytest.mark.jit
def test_patterns_of_more_than_eight_tiles():
    """From nine tiles on, a merge has more rows than one operation. All 1,814,400 boards of 2x5: the farthest at 55."""
    for encoding in ("bits", "bytes"):
        table = build_table(Grid(2, 5), range(1, 10), encoding=encoding)
        assert table.counts.sum() == factorial(10) // 2
        assert len(table.counts) - 1 == 55


@pytest.mark.slow
def test_all_boards_of_3x4():
    table = build_table(Grid(3, 4), range(1, 12))
    assert table.counts.sum() == 239_500_800
    assert len(table.counts) - 1 == 53


@pytest.mark.exhaustive
@pytest.mark.jit
@pytest.mark.parametrize("wrap", [False, True])
def test_a_board_of_64_cells(wrap):
    """Cell 63 is the sign bit of a mask: a tile and the blank at home in the last corner."""
    grid, tiles, blank = Grid(8, 8, wrap), (1, 63), 63
    blocks, by_block, by_footprint = expected_tables(grid, tiles, blank)
    table = build_table(grid, tiles, blank=blank, encoding="bytes")
    assert {place: int(table.values[place]) for place in by_footprint} == by_footprint
    table = build_table(grid, tiles, blank=blank)
    assert len(table.values) == blocks
    assert all(table.values[block, 0] >> a & 1 == d >> 1 & 1 for (block, a), d in by_block.items())


@pytest.mark.parametrize(
    "tiles, blank, message",
    [((1, 1), 0, "twice"), ((9,), 0, "tile 9 is not on"), ((), 0, "is empty"), ((1, 2), 40, "cell 40")],
)
def test_bad_patterns_are_refused(tiles, blank, message):
    with pytest.raises(InputError, match=message):
        build_table(Grid(3, 3), tiles, blank=blank)
