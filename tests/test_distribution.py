"""The boards at each distance against a naive search and published figures, and ``pdb-solver distribution``."""

import json
from collections import Counter

import pytest

import solver
from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid
from solver.board import parse_board
from solver.distance_distribution import board_count, distribution
from solver.goals import goal_board
from solver.solvability import why_unsolvable

from .oracle import distances_to

# (shape, wrap, goal): blanks in corners, on edges and inside, tiles in any order.
CASES = [
    ("2x2", False, "last"),
    ("2x2", True, "first"),
    ("2x3", False, "last"),
    ("2x3", False, "3 0 1 / 5 2 4"),
    ("2x3", True, "last"),
    ("3x2", False, "spiral"),
    ("3x2", True, "1 2 / 0 3 / 5 4"),
    ("2x4", False, "first"),
    ("2x4", False, "7 0 5 4 / 1 2 3 6"),
    ("2x4", True, "spiral"),
    ("4x2", False, "last"),
    ("4x2", True, "1 2 / 3 4 / 0 5 / 7 6"),
    ("3x3", False, "last"),
    ("3x3", False, "8 0 6 / 5 4 7 / 2 3 1"),
    ("3x3", False, "spiral"),
    ("3x3", True, "2 1 3 / 4 0 5 / 6 7 8"),
]


@pytest.mark.exhaustive
@pytest.mark.jit
@pytest.mark.parametrize("shape, wrap, goal", CASES)
def test_it_equals_the_naive_search(shape, wrap, goal):
    grid = Grid.parse(shape, wrap)
    distances = distances_to(grid, goal_board(grid, goal))
    counts, most = Counter(distances.values()), max(distances.values())
    found = distribution(shape, goal, wrap, most=None)
    assert found.grid == grid and found.goal == goal_board(grid, goal)
    assert found.counts == tuple(counts[distance] for distance in range(most + 1))
    assert found.maximum == most
    assert found.boards == len(distances) == board_count(grid)
    assert found.mean == pytest.approx(sum(distances.values()) / len(distances))
    assert list(found.farthest) == sorted(board for board, distance in distances.items() if distance == most)


def test_it_equals_the_naive_search_as_plain_python():
    """Small enough to run without the compiler."""
    grid = Grid(2, 3)
    distances = distances_to(grid, grid.goal(5))
    found = distribution(grid)
    assert Counter(distances.values()) == Counter(dict(enumerate(found.counts)))
    assert [distances[board] for board in found.farthest] == [21]


PUBLISHED = {"2x2": 6, "2x3": 21, "2x4": 36, "2x5": 55, "3x3": 31, "2x6": 80, "3x4": 53}
LARGE = [pytest.param(shape, marks=pytest.mark.slow) for shape in ("2x6", "3x4")]


@pytest.mark.jit
@pytest.mark.parametrize("shape", ["2x2", "2x3", "2x4", "2x5", "3x3", *LARGE])
def test_published_distances_of_the_farthest_boards(shape):
    grid = Grid.parse(shape)
    found = distribution(shape)
    assert found.maximum == PUBLISHED[shape]
    assert found.boards == board_count(grid)
    assert len(found.farthest) == min(20, found.counts[-1])
    assert not any(why_unsolvable(grid, board, found.goal) for board in found.farthest)
    if shape == "3x3":
        assert (found.boards, found.counts[-1]) == (181440, 2)
    if shape == "3x4":
        assert (found.boards, found.counts[-1]) == (239500800, 18)


@pytest.mark.jit
@pytest.mark.slow
@pytest.mark.parametrize("shape, wrap", [("3x4", False), ("2x6", False), ("3x4", True), ("2x6", True)])
def test_a_transposed_board_has_the_same_distribution(shape, wrap):
    turned = "x".join(reversed(shape.split("x")))
    one, other = distribution(shape, wrap=wrap), distribution(turned, wrap=wrap, threads=3)
    assert one.counts == other.counts
    assert one.boards == board_count(one.grid)


@pytest.mark.jit
def test_the_farthest_boards_are_that_far():
    found = distribution("3x3", "first")
    assert found.farthest == ((8, 0, 6, 5, 4, 7, 2, 3, 1), (8, 7, 6, 0, 4, 1, 2, 5, 3))
    for board in found.farthest:
        assert solver.solve(board, "first", heuristic="manhattan").length == 31


@pytest.mark.jit
def test_some_of_the_farthest_boards():
    every = distribution("2x4", "first", True, most=None)
    assert len(every.farthest) == every.counts[-1] == 18
    some = distribution("2x4", "first", True, most=5)
    assert len(some.farthest) == 5 and set(some.farthest) < set(every.farthest)
    assert some.farthest == distribution("2x4", "first", True, most=5, threads=2).farthest
    assert distribution("2x4", most=0).farthest == ()


@pytest.mark.jit
def test_goals_and_shapes_come_in_many_forms():
    goal = [[1, 2, 3], [4, 0, 5]]
    found = distribution(Grid(2, 3), goal)
    assert found.goal == (1, 2, 3, 4, 0, 5)
    assert found[:4] == distribution("2x3", "1 2 3 / 4 0 5")[:4] == distribution((2, 3), (1, 2, 3, 4, 0, 5))[:4]
    assert distribution(Grid(2, 3, wrap=True))[:4] == distribution(Grid(2, 3), wrap=True)[:4]
    levels = []
    found = distribution("2x3", progress=levels.append)
    assert tuple(levels) == found.counts


def test_the_package_offers_it():
    assert solver.distribution is distribution and solver.distribution is distribution


# ---- too large -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, facts",
    [
        ("2x7", ("43,589,145,600 solvable boards", "21.8 GB")),
        ("4x4", ("10,461,394,944,000 solvable boards", "5,231 GB")),
        ("8x8", ("6.3e+88 solvable boards", "3.2e+79 GB")),
        ("10x10", ("4.7e+157 solvable boards", "GB")),
    ],
)
def test_too_many_boards(shape, facts, run):
    code, output, errors = run("distribution", shape)
    assert (code, output) == (2, "") and len(errors.splitlines()) == 1
    assert all(fact in errors for fact in facts) and "use at most 3x4 or 2x6" in errors
    assert len(errors) < 160


def test_too_little_memory(monkeypatch):
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: 300_000_000)
    needs = (
        r"the 239,500,800 solvable boards of 3x4 needs 3\d\d MB of memory, but only 300 MB can be used: use a smaller"
    )
    with pytest.raises(InputError, match=needs):
        distribution("3x4")
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: None)
    assert distribution("2x2").maximum == 6


# ---- the command ---------------------------------------------------------------------------------


@pytest.mark.jit
def test_the_table(run):
    code, output, errors = run("distribution", "3x3")
    assert (code, errors) == (0, "")
    lines = output.splitlines()
    assert lines[:6] == [
        "    1 2 3",
        "    4 5 6",
        "    7 8 .",
        "181,440 boards of 3x3 lead to this goal, half of all",
        "    distance     boards",
        "      0               1 ▏",
    ]
    assert lines[29] == "     24          24,047 " + 40 * "█"
    assert lines[-4:] == [
        "     31               2 ▏",
        "mean 21.9724, farthest 31: 2 boards",
        "    6 4 7 8 5 0 3 2 1",
        "    8 6 7 2 5 4 3 0 1",
    ]


@pytest.mark.jit
def test_the_farthest_boards_can_be_read_back(run):
    code, output, _ = run("distribution", "2x3", "--goal", "first", "--threads", "1")
    assert code == 0 and "mean" in output.splitlines()[-2] and output.splitlines()[-2].endswith("farthest 21: 1 board")
    grid, board = parse_board(output.splitlines()[-1])
    assert grid == Grid(2, 3) and distances_to(grid, grid.goal(0))[board] == 21


@pytest.mark.jit
def test_joined_edges(run):
    code, output, _ = run("distribution", "2x3", "--wrap")
    assert code == 0 and "720 boards of 2x3 wrapped lead to this goal, all there are\n" in output


@pytest.mark.jit
def test_no_more_than_20_boards_are_listed(run):
    """148 boards are 30 moves from the goal with the blank in the middle."""
    code, output, _ = run("distribution", "3x3", "--goal", "spiral")
    assert code == 0 and output.splitlines()[-21].endswith("farthest 30: 148 boards, 20 of them")
    _, output, _ = run("distribution", "3x3", "--goal", "spiral", "--json")
    record = json.loads(output)
    assert len(record["farthest"]) == 20 and record["counts"][-1] == 148
    every = distribution("3x3", "spiral", most=None).farthest
    assert len(every) == 148 and {tuple(board) for board in record["farthest"]} < set(every)


@pytest.mark.jit
def test_json(run):
    code, output, errors = run("distribution", "2x2", "--goal", "first", "--json")
    record = json.loads(output)
    assert (code, errors) == (0, "") and record.pop("seconds") > 0
    assert record == {
        "shape": "2x2",
        "wrap": False,
        "goal": [0, 1, 2, 3],
        "boards": 12,
        "mean": 3.0,
        "maximum": 6,
        "counts": [1, 2, 2, 2, 2, 2, 1],
        "farthest": [[3, 2, 1, 0]],
    }


@pytest.mark.parametrize(
    "words, fact",
    [
        (["nine"], "'nine' is not a board shape"),
        (["3x3", "--goal", "snail"], "the goal is neither"),
        ([], "the following arguments are required"),
        (["3x3", "--threads", "0"], "is not a number from 1"),
    ],
)
def test_bad_input_is_one_line(words, fact, run):
    code, output, errors = run("distribution", *words)
    assert (code, output) == (2, "") and len(errors.splitlines()) == 1 and fact in errors
