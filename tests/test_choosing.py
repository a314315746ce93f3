"""Which heuristic a search uses: one that was named, the best database there is, or a remark on how to build one."""

import random
import re
import shlex
import shutil

import pytest

from pdb_builder import NAMED, DatabaseError, Grid, InputError, Spec, open_database
from pdb_builder.cli import main as builder
from pdb_builder.pattern import parse_collection
from solver import Settings, goal_board, random_board, solve, solve_board
from solver.choosing import backward_heuristics
from solver.frame import frame_of
from solver.heuristics import databases as choice
from solver.heuristics.databases import best_database, how_to_build
from solver.heuristics.preparing import prepare
from solver.search.outcome import Missing

from .helpers import check_solution
from .oracle import moves_between

pytestmark = [pytest.mark.jit, pytest.mark.usefixtures("databases")]

EASY = "1 2 3 4 5 6 0 7 8"
FARTHEST = "8 0 6 5 4 7 2 3 1"  # 31 moves from the goal with the blank first
ROUND = "3 1 2 4 5 6 7 8 0"  # its first row is turned by one, as wrapped boards allow
HALVES = Spec(Grid(3, 3), NAMED["3x3-4-4"])
WHOLE = Spec(Grid(3, 3), NAMED["3x3-8"])
FLAT = Spec(Grid(2, 3), ((1, 2), (3, 4, 5)))


def build_as_told(remark, *more):
    """Run the command that a remark or an error names."""
    command = re.search(r"'pdb-builder (build .*?)'(?:$|;)", remark)[1]
    assert builder([*shlex.split(command), *more]) == 0


# ---- databases that were named ------------------------------------------------------------------


def test_a_database_that_is_not_there_is_an_input_error(tmp_path):
    for name in ("3x3-8", "3x3-8.h5", str(tmp_path / "3x3-8.h5")):
        with pytest.raises(InputError) as error:
            solve(EASY, heuristic=f"pdb:{name}", folder=tmp_path)
        assert "there is no database" in str(error.value) and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    "spec, shape, goal",
    [
        (FLAT, "3x3", "last"),
        (HALVES, "2x3", "last"),
        (HALVES, "3x3", "spiral"),
        (HALVES, "3x3", "1 0 2 / 3 4 5 / 6 7 8"),
        (Spec(Grid(3, 3), NAMED["3x3-4-4"], 4), "3x3", "last"),
    ],
    ids=str,
)
def test_a_database_for_another_goal_or_shape_is_an_input_error(spec, shape, goal, shelf, tmp_path):
    folder, grid = shelf(spec), Grid.parse(shape)
    start = random_board(grid, goal_board(grid, goal), random.Random(1))
    with pytest.raises(InputError) as error:
        solve(start, goal, shape=shape, heuristic=f"pdb:{spec.name}", folder=folder)
    assert f"is for {spec.grid} boards" in str(error.value) and len(str(error.value).splitlines()) == 1
    build_as_told(str(error.value), "--folder", str(tmp_path / "new"))
    assert solve(start, goal, shape=shape, heuristic="pdb", folder=tmp_path / "new").solved


@pytest.mark.parametrize("damage", ["empty", "garbage", "cut", "folder"])
def test_a_damaged_database_is_not_used_and_is_an_error_if_named(damage, shelf):
    folder = shelf(WHOLE)
    path = folder / "3x3-8.h5"
    sound = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    else:
        path.write_bytes({"empty": b"", "garbage": b"\x89HDF\r\n\x1a\n" * 99, "cut": sound[: len(sound) // 2]}[damage])
    remarks = []
    assert solve(EASY, folder=folder, notify=remarks.append).heuristic == "linear-conflict"
    assert len(remarks) == 2 and remarks[0].startswith("not used: ") and str(path) in remarks[0]
    with pytest.raises((InputError, DatabaseError)) as error:
        solve(EASY, folder=folder, heuristic="pdb:3x3-8")
    assert len(str(error.value).splitlines()) == 1 and "3x3-8.h5" in str(error.value)
    with pytest.raises(InputError, match=r"^no database in .* is for 3x3 boards with this goal: .*3x3-8\.h5 is "):
        solve(EASY, folder=folder, heuristic="pdb")
    if damage != "folder":
        path.unlink()
        build_as_told(remarks[-1])
        assert solve(EASY, folder=folder).heuristic == "pdb:3x3-8"


def test_a_database_that_was_replaced_is_read_again(shelf, database_of):
    folder = shelf(HALVES)
    before = solve(FARTHEST, "first", folder=folder, heuristic="pdb:3x3-4-4")
    shutil.copy(database_of(WHOLE), folder / "new.h5")
    (folder / "new.h5").rename(folder / "3x3-4-4.h5")
    after = solve(FARTHEST, "first", folder=folder, heuristic="pdb:3x3-4-4")
    assert before.length == after.length == after.h_start == 31 > before.h_start


# ---- no heuristic was named ---------------------------------------------------------------------


def test_the_largest_database_is_used(shelf):
    folder = shelf(WHOLE, HALVES, FLAT)
    assert solve(EASY, folder=folder, notify=pytest.fail).heuristic == "pdb:3x3-8"


def test_several_partitions_outweigh_a_slightly_better_one(shelf):
    one = Spec(Grid(3, 3), parse_collection("1,2,3,4,5/6,7,8"))
    several = Spec(Grid(3, 3), parse_collection("1,2,3,4/5,6,7,8;1,2,4,5/3,6,7,8;1,3,4,6/2,5,7,8;1,2,5,8/3,4,6,7"))
    folder = shelf(one, several)

    def best_mean(spec):
        tables = open_database(folder / f"{spec.name}.h5").tables
        return max(sum(tables[spec.source(tiles)[0]].mean for tiles in partition) for partition in spec.partitions)

    assert best_mean(several) < best_mean(one) < best_mean(several) + 2
    assert best_database(Grid(3, 3), 0, folder)[0].spec == several


def test_the_largest_database_that_fits_into_memory_is_used(shelf, monkeypatch):
    """A collection counts with all its tables. If nothing fits, the smallest database is used."""
    collection = Spec(Grid(3, 3), parse_collection("1,2,3,4/5,6,7,8; 1,2,5/3,4,6,7,8"))
    folder = shelf(WHOLE, HALVES, collection, Spec(Grid(3, 3), NAMED["3x3-8"], 0, "bytes"))
    size = {spec: (folder / f"{spec.name}.h5").stat().st_size for spec in (WHOLE, HALVES, collection)}
    assert size[HALVES] < size[WHOLE] < size[collection]
    best = {None: WHOLE, 10**9: WHOLE, size[WHOLE]: WHOLE, size[WHOLE] - 1: HALVES, 0: HALVES}
    for free, spec in best.items():
        monkeypatch.setattr("solver.heuristics.databases.available_memory", lambda free=free: free)
        choice._best.cache_clear()  # as in a new process
        database, unusable = best_database(Grid(3, 3), 0, folder)
        assert (database.spec, unusable) == (spec, ())
    (folder / "3x3-8.h5").unlink()
    for free, spec in {size[collection]: collection, size[collection] - 1: HALVES}.items():
        monkeypatch.setattr("solver.heuristics.databases.available_memory", lambda free=free: free)
        choice._best.cache_clear()
        assert best_database(Grid(3, 3), 0, folder)[0].spec == spec


def test_a_batch_keeps_its_database_when_memory_becomes_short(shelf, monkeypatch):
    folder = shelf(WHOLE, HALVES)
    monkeypatch.setattr("solver.heuristics.databases.available_memory", lambda: 10**9)
    assert solve(EASY, folder=folder).heuristic == "pdb:3x3-8"
    monkeypatch.setattr("solver.heuristics.databases.available_memory", lambda: 0)
    assert solve(EASY, folder=folder).heuristic == "pdb:3x3-8"
    (folder / "3x3-4-4.h5").touch()
    assert solve(EASY, folder=folder).heuristic == "pdb:3x3-4-4", "the folder has changed"


def test_a_sound_database_is_used_beside_a_damaged_one(shelf):
    folder = shelf(HALVES)
    (folder / "3x3-8.h5").write_bytes(b"")
    (folder / "3x3-notes.txt").write_text("not a database")
    assert solve(EASY, folder=folder).heuristic == "pdb:3x3-4-4"


def test_only_wrapped_databases_are_for_wrapped_boards(databases, database_of):
    plain, wrapped = Grid(3, 3), Grid(3, 3, wrap=True)
    shutil.copy(database_of(WHOLE), databases / "3x3-8.h5")
    assert best_database(wrapped, 0, databases) == (None, ())
    assert solve(ROUND, wrap=True).heuristic == "manhattan"
    fact = r"for 3x3 wrapped boards with this goal: build one with 'pdb-builder .* --wrap'"
    with pytest.raises(InputError, match=fact):
        solve(ROUND, wrap=True, heuristic="pdb")
    with pytest.raises(InputError, match=r"is for 3x3 boards .* not for 3x3 wrapped boards .* --wrap'"):
        solve(ROUND, wrap=True, heuristic="pdb:3x3-8")
    path = databases / "3x3-4-4-wrap-bytes.h5"
    shutil.copy(database_of(Spec(wrapped, NAMED["3x3-4-4"])), path)
    assert best_database(wrapped, 0, databases)[0].path == path
    assert best_database(plain, 0, databases)[0].path.name == "3x3-8.h5"
    assert solve(ROUND, wrap=True).heuristic == "pdb:3x3-4-4-wrap-bytes"
    assert solve(EASY).heuristic == "pdb:3x3-8"
    assert how_to_build(wrapped, 1, databases) == "build one with 'pdb-builder build 3x3 --wrap --blank 1'"


@pytest.mark.parametrize(
    "shape, goal",
    [("3x3", "last"), ("3x3", "spiral"), ("3x3", "1 0 2 / 3 4 5 / 6 7 8"), ("2x3", "last"), ("3x2", "last")],
)
def test_without_a_database_one_remark_names_the_command_that_builds_it(shape, goal, tmp_path):
    grid = Grid.parse(shape)
    target = goal_board(grid, goal)
    start = random_board(grid, target, random.Random(2))
    remarks = []
    solution = solve(start, goal, shape=shape, folder=tmp_path, notify=remarks.append)
    check_solution(solution, grid, start, target, moves_between(grid, start, target))
    assert solution.heuristic == "linear-conflict"
    (remark,) = remarks
    assert len(remark.splitlines()) == 1 and "linear-conflict" in remark and str(tmp_path) in remark
    build_as_told(remark)
    solution = solve(start, goal, shape=shape, folder=tmp_path, notify=pytest.fail)
    check_solution(solution, grid, start, target, moves_between(grid, start, target))
    assert solution.heuristic.startswith("pdb:")


def test_the_command_in_the_remark_builds_where_the_search_looks(tmp_path):
    """As written, whichever folder was asked for."""
    for folder in (None, tmp_path / "with space"):
        remarks = []
        solve(EASY, folder=folder, notify=remarks.append)
        build_as_told(remarks[0])
        assert solve(EASY, folder=folder, notify=pytest.fail).heuristic == "pdb:3x3-8"


def test_the_command_for_a_wrapped_board_builds_a_wrapped_database(tmp_path):
    grid = Grid(3, 3, wrap=True)
    remarks = []
    start, goal = (1, 2, 3, 4, 5, 6, 0, 7, 8), grid.goal(8)
    solution = solve_board(grid, start, goal, Settings(folder=tmp_path), notify=remarks.append)
    assert (solution.heuristic, solution.length) == ("manhattan", moves_between(grid, start, goal))
    build_as_told(remarks[-1])
    solution = solve_board(grid, start, goal, Settings(folder=tmp_path), notify=pytest.fail)
    assert solution.heuristic.startswith("pdb:") and solution.length == moves_between(grid, start, goal)


def test_nobody_has_to_listen_to_remarks(tmp_path):
    assert solve(EASY, folder=tmp_path / "none").heuristic == "linear-conflict"


# ---- boards too large for databases -------------------------------------------------------------


@pytest.mark.parametrize("shape", ["10x10", "7x12", "2x50", "50x2"])
def test_for_large_boards_the_remark_names_no_command(shape, tmp_path):
    (tmp_path / f"{shape}-pairs.h5").write_text("what a database is called")
    for wrap, used in ((False, "linear-conflict"), (True, "manhattan")):
        grid, remarks = Grid.parse(shape, wrap), []
        options = {"algorithm": "ida-star", "folder": tmp_path, "notify": remarks.append}
        found = solve(goal_board(grid), shape=shape, wrap=wrap, **options)
        assert (found.length, found.heuristic) == (0, used)
        (remark,) = remarks
        assert "boards of more than 64 cells have no databases" in remark and "build" not in remark
        assert f"so {used} is used" in remark and len(remark.splitlines()) == 1


def test_a_folder_that_cannot_be_read_is_not_called_empty(tmp_path):
    grid = Grid(3, 3)
    assert best_database(grid, 0, tmp_path / "nowhere") == (None, ())
    (tmp_path / "file").write_text("")
    fact = f"{tmp_path / 'file'} cannot be read: Not a directory: choose another folder"
    assert best_database(grid, 0, tmp_path / "file") == (None, (fact,))


def test_databases_for_large_boards_are_refused_with_the_alternatives(tmp_path, database_of):
    grid = Grid(10, 10)
    assert best_database(grid, 0, tmp_path) == (None, ())
    assert how_to_build(grid, 0, tmp_path) == (
        "boards of more than 64 cells have no databases, use manhattan or linear-conflict"
    )
    wrapped = Grid(9, 9, wrap=True)
    assert how_to_build(wrapped, 0, tmp_path) == "boards of more than 64 cells have no databases, use manhattan"
    shutil.copy(database_of(HALVES), tmp_path / "10x10-small.h5")
    for spec in ("pdb", "pdb-unreflected", "max:manhattan+pdb", "pdb:10x10-small"):
        with pytest.raises(InputError, match=r"64 cells have no databases, use manhattan or linear-conflict$") as error:
            prepare(spec, grid, 0, tmp_path)
        assert "pdb-builder build" not in str(error.value)


def test_where_no_database_can_be_built_for_the_way_back_another_heuristic_serves(tmp_path):
    remarks = []
    grid = Grid(5, 5, wrap=True)  # an odd side is joined
    made = backward_heuristics(frame_of(grid, grid.goal(0)), Settings(folder=tmp_path), remarks.append)
    heuristic = made(grid, 0, Missing.BUILD, lambda: None)
    assert heuristic.name == "manhattan" and not list(tmp_path.iterdir())
    assert remarks[0].startswith("no database for the search from the goal to the start: encoding bits needs")
