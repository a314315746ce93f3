"""Boards of more than 64 cells: drawn, solved, checked and compared like any other, but never with a database."""

import json
import random

import pytest

from pdb_builder import Grid
from solver import goal_board, parse_board, random_board, solve, why_unsolvable

from .helpers import check_solution, scrambled
from .oracle import distances_to

SHAPES = ["10x10", "9x9", "7x12", "2x50", "50x2"]

pytestmark = [pytest.mark.jit, pytest.mark.usefixtures("databases")]


def distance(grid, board, goal):
    """The moves from a board to a goal at most 14 away: breadth-first from both ends."""
    near, far = distances_to(grid, goal, 7), distances_to(grid, board, 7)
    return min(near[one] + far[one] for one in near.keys() & far.keys())


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_solutions_of_easy_boards_are_shortest(shape, wrap):
    grid, chance = Grid.parse(shape, wrap), random.Random(shape)
    any_goal = random_board(grid, grid.goal(), chance)
    for goal in ("last", "first", "spiral", " ".join(map(str, any_goal))):
        target = goal_board(grid, goal)
        board = scrambled(grid, target, chance.randrange(10, 15), chance)
        length = distance(grid, board, target)
        for heuristic in ("manhattan", "hamming", *["linear-conflict"] * (not wrap)):
            found = solve(board, goal, shape=shape, wrap=wrap, heuristic=heuristic, algorithm="ida-star")
            check_solution(found, grid, board, target, length)


def test_all_solutions_of_a_large_board():
    grid = Grid(10, 10)
    board = scrambled(grid, goal_board(grid), 12, random.Random(3))
    found = solve(board, heuristic="manhattan", every=True)
    assert all(len(tiles) == found.length for tiles in found.solutions)


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


@pytest.mark.parametrize(
    "words, said",
    [
        (["--heuristic", "pdb"], "boards of more than 64 cells have no databases, use manhattan or linear-conflict"),
        (["--shape", "10x11"], "a board of 10x11 has 110 cells: at most 100 are possible"),
    ],
)
def test_what_large_boards_do_not_allow_is_refused_in_one_line(words, said, run):
    code, output, errors = run("solve", " ".join(map(str, range(100))), "--goal", "first", *words)
    assert (code, output) == (2, "") and said in errors and len(errors.splitlines()) == 1
