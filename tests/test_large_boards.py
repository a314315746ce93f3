"""Boards of more than 64 cells: solved, shown and compared like any other, but never with a database."""

import json
import random
import shutil

import pytest

from pdb_builder import NAMED, Grid, InputError, Spec
from solver import goal_board, parse_board, random_board, solve, why_unsolvable
from solver.heuristics.databases import best_database, how_to_build
from solver.heuristics.preparing import prepare

from .oracle import distances_to

SHAPES = ["10x10", "9x9", "7x12", "2x50", "50x2"]

pytestmark = pytest.mark.jit


@pytest.fixture(autouse=True)
def databases(tmp_path_factory, monkeypatch):
    """An empty default folder."""
    folder = tmp_path_factory.mktemp("default")
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(folder))
    return folder


def distance(grid, board, goal):
    """The moves from a board to a goal at most 14 away: breadth-first from both ends."""
    near, far = distances_to(grid, goal, 7), distances_to(grid, board, 7)
    return min(near[one] + far[one] for one in near.keys() & far.keys())


def scrambled(grid, goal, moves, chance):
    """A board some moves from the goal, none of which takes back the one before."""
    board, hole, before = list(goal), goal.index(0), None
    for _ in range(moves):
        cell = chance.choice([cell for cell in grid.neighbours[hole] if cell != before])
        board[hole], board[cell] = board[cell], 0
        hole, before = cell, hole
    return tuple(board)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_easy_boards_are_solved_shortest(shape, wrap):
    grid, chance = Grid.parse(shape, wrap), random.Random(shape)
    any_goal = random_board(grid, grid.goal(), chance)
    for goal in ("last", "first", "spiral", " ".join(map(str, any_goal))):
        target = goal_board(grid, goal)
        board = scrambled(grid, target, chance.randrange(10, 15), chance)
        length = distance(grid, board, target)
        for heuristic in ("manhattan", "hamming", *["linear-conflict"] * (not wrap)):
            found = solve(board, goal, shape=shape, wrap=wrap, heuristic=heuristic, algorithm="ida-star")
            assert (found.solved, found.length, found.grid) == (True, length, grid)
            boards = list(found.boards())
            assert (boards[0], boards[-1]) == (board, target)


def test_all_solutions_of_a_large_board():
    grid = Grid(10, 10)
    board = scrambled(grid, goal_board(grid), 12, random.Random(3))
    found = solve(board, heuristic="manhattan", every=True)
    assert all(len(tiles) == found.length for tiles in found.solutions)


@pytest.mark.parametrize("shape", SHAPES)
def test_without_a_heuristic_the_notice_names_no_command_that_would_fail(shape, tmp_path):
    (tmp_path / f"{shape}-pairs.h5").write_text("what a database is called")
    for wrap, used in ((False, "linear-conflict"), (True, "manhattan")):
        grid, notices = Grid.parse(shape, wrap), []
        options = {"algorithm": "ida-star", "folder": tmp_path, "notify": notices.append}
        found = solve(goal_board(grid), shape=shape, wrap=wrap, **options)
        assert (found.length, found.heuristic) == (0, used)
        (notice,) = notices
        assert "boards of more than 64 cells have no databases" in notice and "build" not in notice
        assert f"so {used} is used" in notice and len(notice.splitlines()) == 1


def test_databases_are_refused_with_what_there_is_instead(tmp_path, database_of):
    grid = Grid(10, 10)
    assert best_database(grid, 0, tmp_path) == (None, ())
    assert how_to_build(grid, 0, tmp_path) == (
        "boards of more than 64 cells have no databases, use manhattan or linear-conflict"
    )
    wrapped = Grid(9, 9, wrap=True)
    assert how_to_build(wrapped, 0, tmp_path) == "boards of more than 64 cells have no databases, use manhattan"
    shutil.copy(database_of(Spec(Grid(3, 3), NAMED["3x3-4-4"])), tmp_path / "10x10-small.h5")
    for spec in ("pdb", "pdb-unreflected", "max:manhattan+pdb", "pdb:10x10-small"):
        with pytest.raises(InputError, match=r"64 cells have no databases, use manhattan or linear-conflict$") as error:
            prepare(spec, grid, 0, tmp_path)
        assert "pdb-builder build" not in str(error.value)


@pytest.mark.parametrize("shape", SHAPES)
def test_from_random_to_solve_check_and_compare(shape, run):
    code, output, _ = run("random", shape, "-n", "3", "--seed", "3", "--goal", "spiral")
    assert code == 0
    grid = Grid.parse(shape)
    boards = [parse_board(line, grid)[1] for line in output.splitlines()]
    assert len(set(boards)) == 3
    assert all(why_unsolvable(grid, board, goal_board(grid, "spiral")) is None for board in boards)
    limited = ("--goal", "spiral", "--node-limit", "500")
    code, records, _ = run("solve", "--heuristic", "manhattan", "--json", *limited, stdin=output)
    assert code == 3
    for line, board in zip(records.splitlines(), boards, strict=True):
        record = json.loads(line)
        assert (record["shape"], record["board"], record["stopped"]) == (shape, list(board), "nodes")
        assert record["lower_bound"] >= record["h_start"] > 0
    assert run("check", "--goal", "spiral", stdin=output)[0] == 0
    code, table, errors = run("compare", "--heuristics", "manhattan,hamming", *limited, stdin=output)
    assert (code, errors) == (3, "") and table.startswith(f"3 boards of {shape} (boards given), means per board\n")


def test_refusals_of_the_command_line_are_one_line(run):
    for words, said in [
        (["--heuristic", "pdb"], "boards of more than 64 cells have no databases, use manhattan or linear-conflict"),
        (["--heuristic", "walking-distance"], "states or more, and the limit is 300,000,000: use linear-conflict"),
        (["--heuristic", "linear-conflict", "--wrap"], "where tiles slide across the edges: use manhattan"),
        (["--shape", "10x11"], "a board of 10x11 has 110 cells: at most 100 are possible"),
    ]:
        code, output, errors = run("solve", " ".join(map(str, range(100))), "--goal", "first", *words)
        assert (code, output) == (2, "") and said in errors and len(errors.splitlines()) == 1
