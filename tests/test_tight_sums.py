"""Searches with many sums: they judge moves by tight sums alone, and must do exactly what all sums would."""

import mmap
import random

import numpy as np
import pytest

from pdb_builder import Grid, InputError, Spec, open_database
from pdb_builder.base import huge_pages
from pdb_builder.base.jit import kernel
from pdb_builder.pattern import parse_collection
from solver import solve
from solver.heuristics import databases, pattern_database, views
from solver.heuristics.contract import begin, load, slack_of
from solver.heuristics.databases import database_heuristic
from solver.heuristics.maximum import prepare as maximum
from solver.heuristics.preparing import prepare
from solver.heuristics.views import DIGITS, FEW_VIEWS, NO_VIEW, LargeManyBits, ManyBits
from solver.search.outcome import Pruning

from .helpers import check_along_a_walk, cut_small_trees, length, scrambled, searched
from .oracle import board_distances, solvable_boards
from .test_searches import counts, textbook_ida_star

# Of 3x3: partitions whose patterns overlap in many ways, so that every tile is in several views.
MANY = "1,2,3,4/5,6,7,8; 1,2,5,6/3,4,7,8; 1,4,7/2,5,8/3,6; 1,3,5,7/2,4,6,8; 1,2/3,4/5,6/7,8"
GRID = Grid(3, 3)


@pytest.fixture(params=[(0, False), (1, False), (4, False), (0, True)], ids=["corner", "edge", "middle", "unreflected"])
def many(request, database_of):
    """A heuristic of many sums, and the blank's home in its goal."""
    blank, unreflected = request.param
    database = open_database(database_of(Spec(GRID, parse_collection(MANY), blank)))
    return blank, pattern_database.prepare(GRID, blank, database, reflection=not unreflected)


def test_so_many_views_that_only_tight_sums_are_looked_at(many):
    _, heuristic = many
    working = heuristic.workspace(4)
    assert isinstance(working, ManyBits) and working.most > FEW_VIEWS and heuristic.parts >= 5


def test_values_along_a_walk(many):
    blank, heuristic = many
    check_along_a_walk(GRID, blank, heuristic, 300, seed=5)


@pytest.mark.parametrize("pruning", [2, 6])
def test_counts_are_those_of_all_sums(many, pruning, monkeypatch):
    blank, heuristic = many
    for board in random.Random(3).sample(solvable_boards(GRID, blank), 3):
        unpruned = textbook_ida_star(GRID, blank, board, heuristic)
        outcome = searched("ida-star", GRID, blank, board, heuristic, pruning=Pruning(pruning, pruning))
        assert length(outcome) == unpruned[-1][0]
        if pruning == 2:
            assert counts(outcome) == unpruned
        with monkeypatch.context() as patch:
            cut_small_trees(patch)
            for threads in (1, 3):
                options = {"threads": threads, "pruning": Pruning(pruning, pruning)}
                assert counts(searched("ida-star", GRID, blank, board, heuristic, **options)) == counts(outcome)


def test_the_order_of_values_changes_the_last_iteration_alone(many):
    blank, heuristic = many
    for board in random.Random(4).sample(solvable_boards(GRID, blank), 20):
        fixed, ordered = (searched("ida-star", GRID, blank, board, heuristic, by_value=one) for one in (False, True))
        assert length(fixed) == length(ordered) and counts(fixed)[:-1] == counts(ordered)[:-1]


@pytest.mark.parametrize("step", [907, pytest.param(7, marks=pytest.mark.slow)])
def test_lengths_on_3x3(many, step):
    blank, heuristic = many
    distances = board_distances(GRID, blank)
    for board in solvable_boards(GRID, blank)[::step]:
        assert length(searched("ida-star", GRID, blank, board, heuristic, by_value=True)) == distances[board]


@kernel
def begun(heuristic, board, parts, room):
    load(heuristic, board, parts, 0)
    begin(heuristic, 0, room)
    return slack_of(heuristic, 0, -1), heuristic.counted[0]


@pytest.mark.parametrize("room", [0, 2, 2 * (1 << DIGITS) - 2, 2 * (1 << DIGITS)])
def test_slack_is_how_far_the_largest_sum_stays_below_the_bound(many, room):
    blank, heuristic = many
    working = heuristic.workspace(16)
    for board in random.Random(6).sample(solvable_boards(GRID, blank), 50):
        parts = np.array(heuristic.measure(board))
        slack, counted = begun(working, np.array(board, dtype=np.uint8), parts, parts.max() + room)
        expected = {number for number, part in enumerate(parts) if parts.max() + room - part < 2 << DIGITS}
        assert {number for number in range(heuristic.parts) if counted >> number & 1} == expected
        assert slack == room or not expected


@pytest.mark.slow  # most of a minute of compiling
def test_boards_too_large_to_rank_footprints_by_tables(database_of):
    grid = Grid(3, 9)
    tiles = range(1, grid.cells)
    pairs = [tuple(tiles[at : at + 2]) for at in range(0, 26, 2)]
    shifted = [(1,), *(tuple(tiles[at : at + 2]) for at in range(1, 25, 2)), (26,)]
    halves = [(tiles[at], tiles[at + 13]) for at in range(13)]
    thirds = [(tiles[at], tiles[25 - at]) for at in range(13)]
    heuristic = pattern_database.prepare(
        grid, 0, open_database(database_of(Spec(grid, (tuple(pairs), tuple(shifted), tuple(halves), tuple(thirds)))))
    )
    assert isinstance(heuristic.workspace(4), LargeManyBits)
    check_along_a_walk(grid, 0, heuristic, 100, seed=5)
    for seed in range(4):
        board = scrambled(grid, grid.goal(0), 30, random.Random(seed))
        assert counts(searched("ida-star", grid, 0, board, heuristic)) == textbook_ida_star(grid, 0, board, heuristic)


# ---- several databases --------------------------------------------------------------------------


def test_databases_of_a_maximum_are_looked_up_together(shelf, database_of):
    specs = [Spec(GRID, (partition,)) for partition in parse_collection(MANY)]
    folder = shelf(*specs)
    apart = [prepare(f"pdb:{spec.name}", GRID, 0, folder) for spec in specs]
    together = prepare("max:" + "+".join(one.name for one in apart), GRID, 0, folder)
    assert together.name == "max:" + "+".join(one.name for one in apart)
    assert together.databases == tuple(database for one in apart for database in one.databases)
    collection = pattern_database.prepare(GRID, 0, open_database(database_of(Spec(GRID, parse_collection(MANY)))))
    naive = maximum(maximum(apart[0], apart[1]), apart[2])
    three = prepare("max:" + "+".join(one.name for one in apart[:3]), GRID, 0, folder)
    assert three.bounded and not naive.bounded
    for board in random.Random(7).sample(solvable_boards(GRID, 0), 8):
        assert max(together.measure(board)) == max(max(one.measure(board)) for one in apart)
        assert sorted(together.measure(board)) == sorted(collection.measure(board))
        found, expected = (searched("ida-star", GRID, 0, board, one) for one in (together, collection))
        assert counts(found) == counts(expected)
    assert counts(searched("ida-star", GRID, 0, board, three)) == textbook_ida_star(GRID, 0, board, naive)


def test_databases_for_a_board_and_for_the_board_on_its_side(shelf):
    lying, standing = Grid(2, 3), Grid(3, 2)
    specs = [Spec(lying, parse_collection("1,2,3/4,5")), Spec(standing, parse_collection("1,3,5/2,4"))]
    folder = shelf(*specs)
    apart = [prepare(f"pdb:{spec.name}", lying, 0, folder) for spec in specs]
    together = prepare("max:" + "+".join(one.name for one in apart), lying, 0, folder)
    distances = board_distances(lying, 0)
    for board in solvable_boards(lying, 0):
        assert max(together.measure(board)) == max(max(one.measure(board)) for one in apart)
        assert length(searched("ida-star", lying, 0, board, together)) == distances[board]


def test_a_database_that_is_named_twice_counts_once(shelf):
    spec = Spec(GRID, parse_collection(MANY)[:1])
    folder = shelf(spec)
    name = f"pdb:{spec.name}"
    assert prepare(f"max:{name}+pdb", GRID, 0, folder).name == name


def test_sums_that_are_left_out_are_mentioned(shelf, monkeypatch):
    folder = shelf(Spec(GRID, parse_collection(MANY)))
    whole, remarks = prepare("pdb", GRID, 0, folder, pytest.fail), []
    assert whole.parts >= 5 and whole.left_out == 0
    for name, most in (("MAX_SUMS", 3), ("MAX_VIEWS", 5)):
        databases._on_files.cache_clear()
        remarks.clear()
        with monkeypatch.context() as patch:
            patch.setattr(views, name, most)
            fewer = prepare("pdb", GRID, 0, folder, remarks.append)
        assert 0 < fewer.parts < whole.parts == fewer.parts + fewer.left_out
        kept = fewer.parts if name == "MAX_SUMS" else len(fewer.workspace.views)
        assert kept <= most < NO_VIEW
        (remark,) = remarks
        assert f"has {whole.parts} sums, of which only the first {fewer.parts} are used" in remark
        for board in random.Random(4).sample(solvable_boards(GRID, 0), 20):
            assert fewer.measure(board) == whole.measure(board)[: fewer.parts]
    databases._on_files.cache_clear()


# ---- huge pages ---------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="the system has no huge pages")
def test_copies_in_huge_pages_are_equal_and_side_by_side():
    arrays = [np.random.default_rng(size).integers(0, 255, (size, 3), dtype=np.uint8) for size in (1, 5000, 70_000)]
    copies = huge_pages.copied(arrays)
    assert all((copy == array).all() and copy.shape == array.shape for copy, array in zip(copies, arrays, strict=True))
    assert copies[0].ctypes.data % huge_pages.HUGE_PAGE == 0
    assert not any(np.shares_memory(copy, array) for copy, array in zip(copies, arrays, strict=True))


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="the system has no huge pages")
def test_searches_in_huge_pages_are_the_same(shelf, monkeypatch):
    monkeypatch.setattr("solver.heuristics.preparing.why_no_huge_pages", lambda: None)
    folder = shelf(Spec(GRID, parse_collection(MANY)))
    board = "8 6 7 2 5 4 3 0 1"
    mapped, copied = (solve(board, goal="first", folder=folder, huge_pages=given) for given in (False, True))
    assert mapped.length == copied.length and mapped.generated == copied.generated
    heuristics = [prepare("pdb", GRID, 0, folder, huge_pages=given) for given in (False, True)]
    for heuristic, is_copy in zip(heuristics, (False, True), strict=True):
        tables = heuristic.databases[0].tables
        for table, values in zip(tables, heuristic.workspace.values_of.values(), strict=True):
            assert np.shares_memory(table.values, values) is not is_copy and (table.values == values).all()


def test_a_system_without_huge_pages(shelf, monkeypatch, tmp_path):
    monkeypatch.setattr("solver.heuristics.preparing.why_no_huge_pages", lambda: huge_pages.why_no_huge_pages(tmp_path))
    remarks = []
    folder = shelf(Spec(GRID, parse_collection(MANY)))
    solution = solve("8 6 7 2 5 4 3 0 1", goal="first", folder=folder, huge_pages=True, notify=remarks.append)
    assert solution.optimal and "the tables stay in small pages: this system has none" in remarks


def test_huge_pages_that_are_switched_off(tmp_path):
    (tmp_path / "enabled").write_text("always madvise [never]\n")
    assert "switched them off" in huge_pages.why_no_huge_pages(tmp_path / "enabled")
    (tmp_path / "enabled").write_text("always [madvise] never\n")
    assert huge_pages.why_no_huge_pages(tmp_path / "enabled") is None


def test_too_little_memory_for_a_copy_is_refused(monkeypatch, database_of):
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: 1000)
    database = open_database(database_of(Spec(GRID, parse_collection(MANY))))
    with pytest.raises(InputError, match=r"huge pages needs .* leave out `huge_pages`"):
        database_heuristic(GRID, 0, (database,), huge_pages=True)


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="the system has no huge pages")
def test_copies_are_kept_as_long_as_there_is_memory_for_them(monkeypatch, database_of):
    monkeypatch.setattr(databases, "_copies", {})
    database = open_database(database_of(Spec(GRID, parse_collection(MANY))))
    size = database.file.status.st_size
    first, second = ((GRID, 0, (database,), reflection) for reflection in (True, False))
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: (3 - len(databases._copies)) * size)
    copies = [database_heuristic(*key, huge_pages=True) for key in (first, second, first)]
    assert copies[0] is copies[2] is not copies[1] and list(databases._copies) == [second, first]
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: (2 - len(databases._copies)) * size)
    with pytest.raises(InputError):
        database_heuristic(GRID, 4, (database,), huge_pages=True)  # which it is not for, but room was made
    assert list(databases._copies) == [first]
    assert database_heuristic(*first, huge_pages=True) is copies[0]
