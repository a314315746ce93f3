"""Collections: partitions that share tables, and values that are the largest of their sums."""

import random
import re

import numpy as np
import pytest

from pdb_builder import NAMED, Grid, InputError, Spec, open_database, verify_database
from pdb_builder.base.sealed import PAGE, label
from pdb_builder.collections_5x5 import COLLECTIONS
from pdb_builder.pattern import (
    MAX_PARTITIONS,
    MAX_TABLES,
    automatic_partition,
    blank_of,
    collections_for,
    default_collection,
    parse_collection,
    parse_patterns,
    shape_of,
)
from pdb_builder.store import KIND, tables_bytes

from .oracle import board_distances, pattern_distances, solvable_boards

# Of 3x3. In the first, the last partition reads one table twice: as it is, and through the mirror. In the second, whose
# blank is at home in the middle, one table serves four patterns of a partition.
SHARED = parse_collection("1,2,5/3,4,6,7,8; 3,6,7/1,2/4,5,8; 1,2,5/3,6,7/4,8")
TURNED = parse_collection("1,2/3,5/7,8/4,6; 1,2,3/4,5/6,7,8")
SPECS = [
    Spec(Grid(3, 3), SHARED),
    Spec(Grid(3, 3), SHARED, 8, "bytes"),
    Spec(Grid(3, 3), TURNED, 4),
    Spec(Grid(3, 3), TURNED, 4, "bytes"),
    Spec(Grid(3, 3, wrap=True), TURNED, 4),
    Spec(Grid(3, 3), parse_collection("1,2,3,4/5,6,7,8; 3,5,7/1,2,4,6,8; 1,2,5,8/3,4,6,7"), 1),
]


@pytest.fixture(params=SPECS, ids=lambda spec: spec.name)
def spec(request):
    return request.param


# ---- which tables there are ---------------------------------------------------------------------


def images(grid, tiles, blank):
    """The patterns with the same distances by a rotation or reflection of the board, found by trying coordinates."""
    goal, found = grid.goal(blank), set()
    for transposed in (False, True):
        for down in (False, True):
            for across in (False, True):
                place = {}
                for cell in range(grid.cells):
                    row, col = divmod(cell, grid.cols)
                    row, col = grid.rows - 1 - row if down else row, grid.cols - 1 - col if across else col
                    row, col = (col, row) if transposed else (row, col)
                    place[cell] = row * grid.cols + col if row < grid.rows and col < grid.cols else None
                if place[blank] == blank and None not in place.values():
                    found.add(tuple(sorted(goal[place[goal.index(tile)]] for tile in tiles)))
    return found


def test_a_table_serves_a_pattern_and_its_images():
    assert Spec(Grid(3, 3), SHARED).patterns == ((1, 2, 5), (3, 4, 6, 7, 8), (1, 2), (4, 5, 8), (4, 8))
    assert Spec(Grid(3, 3), TURNED, 4).patterns == ((1, 2), (1, 2, 3), (4, 5))
    identity, mirror = tuple(range(9)), (0, 3, 6, 1, 4, 7, 2, 5, 8)
    assert Spec(Grid(3, 3), SHARED).source((1, 2, 5)) == (0, identity)
    assert Spec(Grid(3, 3), SHARED).source((3, 6, 7)) == (0, mirror)


def test_sources_of_all_patterns():
    """Of all named collections, and of random ones on boards with few symmetries and with many."""
    specs = [Spec(Grid.parse(shape_of(name)), NAMED[name], blank_of(name)) for name in NAMED]
    chance = random.Random(5)
    for grid in (Grid(3, 3), Grid(2, 4), Grid(4, 2, wrap=True), Grid(3, 3, wrap=True), Grid(5, 5)):
        for blank in range(0, grid.cells, 2):
            partitions = []
            for _ in range(6):
                tiles = chance.sample(range(1, grid.cells), grid.cells - 1)
                partitions.append([tiles[at : at + 2] for at in range(0, len(tiles), 2)])
            specs.append(Spec(grid, partitions, blank))
    for spec in specs:
        goal = spec.grid.goal(spec.blank)
        several = len(spec.partitions) > 1
        for tiles in (tiles for partition in spec.partitions for tiles in partition):
            number, cells = spec.source(tiles)
            table = spec.patterns[number]
            assert table in images(spec.grid, tiles, spec.blank) and (several or table == tiles)
            assert sorted(goal[cells[goal.index(tile)]] for tile in tiles) == list(table)
            assert cells == tuple(range(spec.grid.cells)) or tiles not in spec.patterns
            assert all(cells[a] in spec.grid.neighbours[cells[b]] for b in cells for a in spec.grid.neighbours[b])
        used = {spec.source(tiles)[0] for partition in spec.partitions for tiles in partition}
        assert used == set(range(len(spec.patterns)))
        if several:  # no pattern has two tables
            classes = [images(spec.grid, tiles, spec.blank) for tiles in spec.patterns]
            assert sum(map(len, classes)) == len(set().union(*classes))


def test_partitions_that_say_the_same_are_one():
    one, mirrored = parse_patterns("1,2,3,4/5,6,7,8"), parse_patterns("2,5,7,8/1,3,4,6")
    grid = Grid(3, 3)
    assert Spec(grid, (one, mirrored)) == Spec(grid, (one, one)) == Spec(grid, one) == Spec(grid, (one,))
    assert Spec(grid, (one, mirrored), 8).partitions == (one, tuple(map(tuple, map(sorted, mirrored))))
    assert Spec(grid, (mirrored, one)).patterns == mirrored
    assert Spec(grid, [[[2, 1, 5], [3, 4, 8, 7, 6]], *SHARED[1:]]) == Spec(grid, SHARED)


def test_a_single_partition_has_all_its_tables():
    """As its files always had, even if one pattern is an image of another."""
    grid, both = Grid(3, 3), parse_patterns("1,2,5/3,6,7/4,8")
    assert Spec(grid, both).patterns == both
    assert len(Spec(grid, (both, *SHARED[:1])).patterns) == 3


@pytest.mark.parametrize(
    "text, message",
    [
        ("1,2/3;", "has an empty partition: separate partitions by one ';'"),
        (";", "has an empty partition"),
        ("", "has an empty partition"),
        ("1,2/3;1,,2/x", "'x' in the pattern list is not a tile number"),
        ("1,2/3;1//2", "has an empty pattern"),
    ],
)
def test_unreadable_collections(text, message):
    with pytest.raises(InputError, match=message):
        parse_collection(text)


def test_collections_that_are_refused():
    grid = Grid(3, 3)
    with pytest.raises(InputError, match=r"^partition 2: 1 tile is in no pattern \(8\)"):
        Spec(grid, parse_collection("1,2,3,4/5,6,7,8;1,2,3/4,5,6,7"))
    with pytest.raises(InputError, match="partition 2: tile 4 is in patterns 1 and 2"):
        Spec(grid, parse_collection("1,2,3,4/5,6,7,8;1,2,3,4/4,5,6,7,8"))
    with pytest.raises(InputError, match=f"partitions are too many: a collection has at most {MAX_PARTITIONS}"):
        Spec(grid, [SHARED[0]] * (MAX_PARTITIONS + 1))
    chance, grid = random.Random(1), Grid(5, 5)
    rows = [chance.sample(range(1, 25), 24) for _ in range(40)]
    with pytest.raises(InputError, match=f"tables: a file holds at most {MAX_TABLES}"):
        Spec(grid, [[row[at : at + 6] for at in range(0, 24, 6)] for row in rows])


def test_a_label_has_room_for_as_many_tables_as_there_may_be():
    """On one page, even in a file of ten terabytes."""
    tables = [(10**13 - 1, 10**12 - 1)] * MAX_TABLES
    assert len(label(KIND, KIND.version, 10**13 - 1, tables, "f" * 64)) == PAGE


# ---- values -------------------------------------------------------------------------------------


def naive_values(spec, boards):
    """The largest sum of each board, every pattern searched by itself: no table is shared, nothing is turned."""
    place = np.argsort(np.array(boards), axis=1)
    sums = []
    for partition in spec.partitions:
        total = np.zeros(len(boards), dtype=np.int64)
        for tiles in partition:
            table = np.full((spec.grid.cells,) * (len(tiles) + 1), 99)
            for (cells, hole), distance in pattern_distances(spec.grid, tiles, spec.blank).items():
                table[(*cells, hole)] = distance
            if spec.encoding == "bytes":
                table[...] = table.min(axis=-1, keepdims=True)
            total += table[tuple(place[:, [*tiles, 0]].T)]
        sums.append(total)
    return np.max(sums, axis=0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("spec, step", [(spec, 1 if spec in (SPECS[0], SPECS[2]) else 9) for spec in SPECS])
def test_every_board_has_the_largest_sum(spec, step, database_of):
    """All boards of 3x3, or some of them: equal to naive sums, and never more than the moves to the goal."""
    boards = solvable_boards(spec.grid, spec.blank)[::step]
    values = open_database(database_of(spec)).distances(boards)
    np.testing.assert_array_equal(values, naive_values(spec, boards))
    exact = board_distances(spec.grid, spec.blank)
    assert (values <= [exact[board] for board in boards]).all()


def test_a_collection_is_the_maximum_of_its_partitions(spec, database_of):
    boards = solvable_boards(spec.grid, spec.blank)[::97]
    database = open_database(database_of(spec))
    values = database.distances(boards)
    singles = [Spec(spec.grid, partition, spec.blank, spec.encoding) for partition in spec.partitions]
    alone = [open_database(database_of(single)).distances(boards) for single in singles]
    np.testing.assert_array_equal(values, np.max(alone, axis=0))
    assert all((values > one).any() for one in alone)  # it is worth having all of them
    assert [database.distance(board) for board in boards[:50]] == values[:50].tolist()


def test_verify_proves_a_collection(spec, database_of):
    checks = list(verify_database(database_of(spec)))
    assert [check.fault for check in checks] == [""] * 7


@pytest.mark.parametrize("fault", ["overlap", "other table", "no symmetry", "other home", "left over"])
def test_verify_notices_partitions_that_must_not_be_added_up(fault, database_of, monkeypatch):
    """Whatever the reader believes: here it believes in a wrong specification."""
    database = open_database(database_of(SPECS[0]))
    spec = database.spec
    mirror, other_mirror = (0, 3, 6, 1, 4, 7, 2, 5, 8), (8, 5, 2, 7, 4, 1, 6, 3, 0)
    if fault == "overlap":
        object.__setattr__(spec, "partitions", (*spec.partitions, ((1, 2, 5), (3, 6, 7), (4, 5, 8))))
    if fault == "left over":
        object.__setattr__(spec, "partitions", spec.partitions[:2])
    lie = {
        "other table": {(3, 6, 7): (3, mirror)},
        "no symmetry": {(3, 6, 7): (0, (0, 3, 6, 1, 8, 7, 2, 5, 4))},
        "other home": {(1, 2, 5): (0, other_mirror)},  # which maps these cells to themselves, but not the blank's home
    }
    spec._sources.update(lie.get(fault, {}))
    monkeypatch.setattr("pdb_builder.verify.open_database", lambda path: database)
    faults = {check.number: check.fault for check in verify_database(database.path, quick=True)}
    assert faults[3] and 4 not in faults


# ---- names --------------------------------------------------------------------------------------


def test_every_home_of_5x5_has_a_default():
    grid = Grid(5, 5)
    for blank in range(25):
        collection = default_collection(grid, blank, "bits")
        assert collection == collections_for(grid, blank, "bits")[0]
        spec = Spec(grid, collection, blank)
        assert re.fullmatch(rf"5x5-\d+M{f'-blank{blank}' if blank else ''}", spec.name)
        assert spec.partitions == collection
        assert default_collection(grid, blank, "bytes") == NAMED["5x5-6-6-6-6"]
    assert default_collection(Grid(5, 5, wrap=True), 0, "bytes") == NAMED["5x5-6-6-6-6"]
    assert default_collection(Grid(4, 4), 5, "bits") == NAMED["4x4-7-8"]
    assert default_collection(Grid(6, 6), 0, "bits") is None


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_name_of_a_collection_says_about_what_it_takes(name):
    spec = Spec(Grid.parse(shape_of(name)), NAMED[name], blank_of(name))
    megabytes = int(re.match(r"\dx\d-(\d+)M", name)[1])
    assert 0.7 < tables_bytes(spec) / 10**6 / megabytes < 1.1


def test_a_turned_collection_has_as_many_tables():
    """And on the same cells: for the goal with its blank last, those of the goal with its blank first, half turned."""
    grid, first = Grid(5, 5), NAMED["5x5-250M"]
    last = default_collection(grid, 24, "bits")
    for one, other in zip(first, last, strict=True):
        homes = [{24 - grid.home(tile, 0) for tile in tiles} for tiles in one]
        assert homes == [{grid.home(tile, 24) for tile in tiles} for tiles in other]
    assert len(Spec(grid, first).patterns) == len(Spec(grid, last, 24).patterns)


def test_names_tell_collections_apart():
    grid = Grid(5, 5)
    automatic = automatic_partition(grid, 0, 6)
    specs = [Spec(grid, (*NAMED[name][:2], automatic)) for name in ("5x5-250M", "5x5-1200M", "5x5-2600M")]
    specs += [Spec(grid, NAMED["5x5-250M"], 3), Spec(grid, NAMED["5x5-250M"], 0, "bytes")]
    assert len({spec.name for spec in specs}) == len(specs)
    assert specs[0].name.startswith("5x5-collection-") and specs[-1].name == "5x5-250M-bytes"
    assert specs[-2].name.startswith("5x5-collection-") and specs[-2].name.endswith("-blank3")
