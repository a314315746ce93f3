"""Patterns and partitions: named, written by the user, automatic, and those that are refused."""

import pytest

from pdb_builder.base.errors import InputError
from pdb_builder.build import build_table, count_levels
from pdb_builder.collections_5x5 import COLLECTIONS
from pdb_builder.grid import Grid
from pdb_builder.index import index_of
from pdb_builder.memory import check_build_memory, largest_pattern, partition_within
from pdb_builder.pattern import (
    NAMED,
    Spec,
    automatic_partition,
    blank_of,
    check_partition,
    check_pattern,
    parse_patterns,
    shape_of,
)


@pytest.mark.parametrize("name", NAMED)
def test_named_partitions_and_collections_are_what_their_names_say(name):
    collection = NAMED[name]
    grid = Grid.parse(shape_of(name))
    spec = Spec(grid, collection, blank_of(name))
    assert spec.partitions == collection  # checked, and no partition is an image of another
    assert spec.name == name
    if name not in COLLECTIONS:
        (partition,) = collection
        assert name == "-".join([grid.shape, *(str(len(tiles)) for tiles in partition)])
        assert spec.patterns == partition


def test_patterns_are_parsed_and_sorted():
    assert parse_patterns("2,1/ 3 ,4") == ((1, 2), (3, 4))
    assert parse_patterns("1 2/3") == ((1, 2), (3,))


@pytest.mark.parametrize(
    "text, message",
    [
        ("1,2//3", "empty pattern"),
        ("", "empty pattern"),
        ("1,two/3", "'two' .* not a tile number"),
        ("1,-2/3", "'-2' .* not a tile number"),
        ("1,²/3", "'²' .* not a tile number"),
    ],
)
def test_unreadable_pattern_lists(text, message):
    with pytest.raises(InputError, match=message):
        parse_patterns(text)


@pytest.mark.parametrize(
    "patterns, message",
    [
        ([(1, 2, 3), (3, 4, 5)], "tile 3 is in patterns 1 and 2"),
        ([(1, 2, 2), (3, 4, 5)], "tile 2 appears twice in pattern 1"),
        ([(1, 2), (4, 5)], r"1 tile is in no pattern \(3\)"),
        ([(1,)], r"4 tiles are in no pattern \(2, 3, 4, 5\)"),
        ([(1, 2, 3, 4, 5, 6)], "tile 6 is not on a 2x3 board: its tiles are 1 to 5"),
        ([(0, 1, 2, 3, 4, 5)], "tile 0 is not on"),
        ([(1, 2, 3, 4, 5), ()], "pattern 2 is empty"),
    ],
)
def test_bad_partitions_are_refused(patterns, message):
    with pytest.raises(InputError, match=message):
        check_partition(Grid(2, 3), patterns)


def test_a_pattern_whose_index_would_not_fit():
    with pytest.raises(InputError, match="13 tiles and its index would not fit"):
        check_partition(Grid(4, 4), [range(1, 14), (14, 15)])
    with pytest.raises(InputError, match=r"8 tiles and its index would not fit: .* at most 7 tiles"):
        check_partition(Grid(8, 8), [range(1, 9), range(9, 64)])


@pytest.mark.parametrize("grid", [Grid(5, 13), Grid(9, 9), Grid(10, 10, True), Grid(2, 50)], ids=str)
def test_boards_of_more_than_64_cells_have_no_patterns(grid):
    pairs = tuple(tuple(range(first, min(first + 2, grid.cells))) for first in range(1, grid.cells, 2))
    attempts = [
        lambda: check_pattern(grid, [1, 2]),
        lambda: check_partition(grid, pairs),
        lambda: Spec(grid, pairs),
        lambda: automatic_partition(grid, 0, 2),
        lambda: largest_pattern(grid, "bits", 10**12),
        lambda: partition_within(grid, 0, None, 10**12),
        lambda: check_build_memory(grid, [2], "bits"),
        lambda: index_of(grid, 2),
        lambda: build_table(grid, [1, 2]),
        lambda: count_levels(grid, [1, 2]),
    ]
    fact = f"^a board of {grid} has {grid.cells} cells, and pattern databases are for at most 64: use a smaller board"
    for attempt in attempts:
        with pytest.raises(InputError, match=fact):
            attempt()


def test_names_tell_databases_apart():
    grid, (named,) = Grid(4, 4), NAMED["4x4-7-8"]
    exchanged = ((*named[0][:-1], 8), (7, *named[1][1:]))
    specs = [
        Spec(grid, named),
        Spec(grid, named, 15),
        Spec(grid, named, 0, "bytes"),
        Spec(Grid(4, 4, wrap=True), named),
        Spec(grid, exchanged),
    ]
    assert len({spec.name for spec in specs}) == len(specs)
    assert Spec(Grid(4, 4, wrap=True), named, 5, "bytes").name == "4x4-7-8-wrap-blank5-bytes"


def test_a_spec_is_checked_and_completed():
    assert Spec(Grid(2, 3), [[2, 1], [5, 3, 4]]) == Spec(Grid(2, 3), ((1, 2), (3, 4, 5)), 0, "bits")
    assert Spec(Grid(3, 3, wrap=True), NAMED["3x3-8"]).encoding == "bytes"
    with pytest.raises(InputError, match="cell 6"):
        Spec(Grid(2, 3), [[1, 2, 3, 4, 5]], 6)


@pytest.mark.parametrize("shape", ["2x2", "2x7", "3x5", "4x4", "6x6", "5x7", "8x8"])
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("largest", [1, 3, 6])
def test_automatic_partitions_are_partitions(shape, wrap, largest):
    grid = Grid.parse(shape, wrap)
    for blank in (0, grid.cells // 2, grid.cells - 1):
        partition = automatic_partition(grid, blank, largest)
        assert check_partition(grid, partition) == partition
        sizes = [len(tiles) for tiles in partition]
        assert sizes == sorted(sizes, reverse=True)
        assert all(size == largest for size in sizes[:-1])


def test_automatic_patterns_are_compact():
    """On a board of 6x6 no two tiles of a six-tile pattern are farther apart than in a 2x5 block."""
    grid = Grid(6, 6)
    for tiles in automatic_partition(grid, 0, 6):
        assert max(grid.distance(a, b) for a in tiles for b in tiles) <= 5
