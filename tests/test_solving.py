"""Solving from Python: every answer is compared with an exhaustive search and replayed move by move."""

import doctest
import json
import random
import re
import shlex
import shutil
import threading
import time
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

import solver
from pdb_builder import NAMED, Grid, InputError, Spec
from pdb_builder.base.errors import DatabaseError
from pdb_builder.cli import main as builder
from solver import Settings, Unsolvable, goal_board, load_set, random_board, solve, solve_board
from solver.commands import bench
from solver.search import SEARCHES, search_named

from .oracle import board_distances

EASY = "1 2 3 4 5 6 0 7 8"
FARTHEST = "8 0 6 5 4 7 2 3 1"  # 31 moves from the goal with the blank first
HARD = "10 20 24 21 23 5 22 13 16 9 11 17 0 7 2 6 12 19 14 15 3 8 1 18 4"
HALVES = Spec(Grid(3, 3), NAMED["3x3-4-4"])
WHOLE = Spec(Grid(3, 3), NAMED["3x3-8"])
LYING = Spec(Grid(2, 3), ((1, 2), (3, 4, 5)))
KEYS = {"board", "goal", "solved", "optimal", "length", "moves", "algorithm", "heuristic", "h_start"} | {
    "expanded",
    "generated",
    "seconds",
    "lower_bound",
}

pytestmark = pytest.mark.jit


@pytest.fixture(autouse=True)
def empty_default(tmp_path_factory, monkeypatch):
    """No database is found unless a test puts it there."""
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path_factory.mktemp("default")))


@pytest.fixture
def shelf(tmp_path, database_of):
    """A folder with just these databases: ``shelf(Spec(...), ...)``."""

    def filled(*specs):
        for spec in specs:
            shutil.copy(database_of(spec), tmp_path / f"{spec.name}.h5")
        return tmp_path

    return filled


@lru_cache
def distances_of(grid, blank):
    return board_distances(grid, blank)


def moves_between(grid, start, goal):
    """The length of a shortest solution, by exhaustive search after renaming the tiles."""
    blank = goal.index(0)
    rename = dict(zip(goal, grid.goal(blank), strict=True))
    return distances_of(grid, blank)[tuple(rename[tile] for tile in start)]


def shortest_paths(grid, start, goal):
    """How many shortest solutions there are, by exhaustive search."""
    blank = goal.index(0)
    rename = dict(zip(goal, grid.goal(blank), strict=True))
    distances = distances_of(grid, blank)
    layer = {tuple(rename[tile] for tile in start): 1}
    for left in reversed(range(distances[next(iter(layer))])):
        below = {}
        for board, count in layer.items():
            for other in neighbours(grid, board):
                if distances[other] == left:
                    below[other] = below.get(other, 0) + count
        layer = below
    return sum(layer.values())


def neighbours(grid, board):
    hole = board.index(0)
    for cell in grid.neighbours[hole]:
        other = list(board)
        other[hole], other[cell] = other[cell], 0
        yield tuple(other)


def made(grid, board, letters, of="tile"):
    """The board after moves given as letters; each must be possible."""
    board = list(board)
    for letter in letters:
        row, col = divmod(board.index(0), grid.cols)
        down, right = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}[letter]
        sign = -1 if of == "tile" else 1  # a tile that moves up comes from below the blank
        new_row, new_col = row + sign * down, col + sign * right
        assert 0 <= new_row < grid.rows and 0 <= new_col < grid.cols, letters
        here, there = row * grid.cols + col, new_row * grid.cols + new_col
        board[here], board[there] = board[there], 0
    return tuple(board)


OPPOSITE = str.maketrans("UDLR", "DURL")


def check(solution, grid, start, goal):
    """Everything that must hold of a solution."""
    assert (solution.grid, solution.board, solution.goal) == (grid, start, goal)
    assert solution.solved and solution.optimal and solution.stopped is None
    assert solution.length == solution.lower_bound == moves_between(grid, start, goal)
    assert solution.h_start <= solution.length and (solution.length - solution.h_start) % 2 == 0
    boards = list(solution.boards())
    assert (boards[0], boards[-1], len(boards)) == (start, goal, solution.length + 1)
    for before, after in pairwise(boards):
        assert after in neighbours(grid, before)
    letters = solution.moves
    blank_letters = solution.letters(solution.tiles, "blank")
    assert len(letters) == len(solution.tiles) == solution.length
    assert letters.translate(OPPOSITE) == blank_letters
    assert made(grid, start, letters) == made(grid, start, blank_letters, "blank") == goal
    assert 0 <= solution.expanded <= solution.generated and solution.seconds >= 0
    assert solution.expanded == sum(iteration.expanded for iteration in solution.iterations)


def random_goal(grid, chance, blank=None):
    goal = list(range(grid.cells))
    chance.shuffle(goal)
    if blank is not None:
        at = goal.index(0)
        goal[at], goal[blank] = goal[blank], 0
    return tuple(goal)


# ---- what can be given --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "board",
    [
        EASY,
        "1 2 3 / 4 5 6 / _ 7 8",
        "[[1,2,3],[4,5,6],[0,7,8]]",
        "3\n1 2 3\n4 5 6\n0 7 8\n",
        [1, 2, 3, 4, 5, 6, 0, 7, 8],
        (1, 2, 3, 4, 5, 6, 0, 7, 8),
        [[1, 2, 3], [4, 5, 6], [0, 7, 8]],
        ((1, 2, 3), (4, 5, 6), (0, 7, 8)),
        np.array([1, 2, 3, 4, 5, 6, 0, 7, 8]),
        np.array([[1, 2, 3], [4, 5, 6], [0, 7, 8]], dtype=np.uint8),
        iter([1, 2, 3, 4, 5, 6, 0, 7, 8]),
        list(np.array([1, 2, 3, 4, 5, 6, 0, 7, 8])),
        [np.array([1, 2, 3]), np.array([4, 5, 6]), np.array([0, 7, 8])],
    ],
    ids=lambda board: type(board).__name__,
)
def test_boards_come_in_many_forms(board):
    solution = solve(board, heuristic="manhattan")
    assert (solution.moves, solution.length, solution.tiles) == ("LL", 2, (7, 8))
    assert solution.board == (1, 2, 3, 4, 5, 6, 0, 7, 8)


def test_rows_make_a_rectangle_and_a_flat_one_needs_its_shape():
    for board in ("1 2 3 / 4 0 5", [[1, 2, 3], [4, 0, 5]], np.array([[1, 2, 3], [4, 0, 5]])):
        assert solve(board, heuristic="manhattan").grid == Grid(2, 3)
    assert solve([1, 2, 3, 4, 0, 5], shape="2x3", heuristic="manhattan").moves == "L"
    assert solve([1, 2, 3, 4, 0, 5], shape="3x2", heuristic="manhattan").grid == Grid(3, 2)
    with pytest.raises(InputError, match="give `shape` 2x3"):
        solve([1, 2, 3, 4, 0, 5], heuristic="manhattan")


@pytest.mark.parametrize(
    "goal, expected",
    [
        ("last", (1, 2, 3, 4, 5, 6, 7, 8, 0)),
        ("first", (0, 1, 2, 3, 4, 5, 6, 7, 8)),
        ("spiral", (1, 2, 3, 8, 0, 4, 7, 6, 5)),
        (" Spiral ", (1, 2, 3, 8, 0, 4, 7, 6, 5)),
        ("1 2 3 / 4 . 5 / 6 7 8", (1, 2, 3, 4, 0, 5, 6, 7, 8)),
        ([8, 7, 6, 5, 4, 3, 2, 1, 0], (8, 7, 6, 5, 4, 3, 2, 1, 0)),
        (np.arange(9).reshape(3, 3), (0, 1, 2, 3, 4, 5, 6, 7, 8)),
    ],
)
def test_goals_are_names_or_boards(goal, expected):
    grid = Grid(3, 3)
    start = random_board(grid, expected, random.Random(str(expected)))
    check(solve(start, goal, heuristic="linear-conflict"), grid, start, expected)


def test_the_goal_itself_needs_no_moves():
    for algorithm in solver.SEARCHES:
        for heuristic in [None] if solver.SEARCHES[algorithm].uninformed else ["manhattan"]:
            for goal in ("last", "first", "spiral", "2 1 3 / 4 5 6 / 0 8 7"):
                board = goal_board(Grid(3, 3), goal)
                solution = solve(board, goal, heuristic=heuristic, algorithm=algorithm)
                assert (solution.solved, solution.length, solution.moves, solution.tiles) == (True, 0, "", ())
                assert solution.lower_bound == solution.h_start == 0
                assert list(solution.boards()) == [board]
    assert solve("1 2 3 4 5 6 7 8 0", every=True, heuristic="manhattan").solutions == ((),)


def test_the_dictionary_is_complete_and_can_be_written_as_json():
    for options in ({}, {"algorithm": "a-star"}, {"every": True}, {"node_limit": 10}):
        record = solve(FARTHEST, "first", heuristic="manhattan", **options).as_dict()
        assert set(record) >= KEYS
        assert json.loads(json.dumps(record)) == record
    record = solve(EASY, heuristic="manhattan").as_dict("blank")
    assert (record["moves"], record["tiles"], record["shape"]) == ("RR", [7, 8], "3x3")
    record = solve(FARTHEST, "first", heuristic="manhattan", node_limit=10).as_dict()
    assert (record["solved"], record["optimal"], record["length"], record["moves"]) == (False, False, None, None)
    record = solve("1 2 3 4 5 6 0 7 8", every=True, heuristic="manhattan").as_dict()
    assert (record["solution_count"], record["solutions"]) == (1, ["LL"])


def test_the_examples_of_the_package_are_true():
    assert doctest.testmod(solver).failed == 0 < doctest.testmod(solver).attempted


def test_the_package_offers_what_it_lists():
    for name in solver.__all__:
        assert getattr(solver, name) is not None
    assert set(solver.__all__) <= set(dir(solver))
    with pytest.raises(AttributeError):
        solver.frobnicate  # noqa: B018


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, message",
    [
        ({"threads": 0}, "threads must be between 1 and 256, got 0"),
        ({"threads": -1}, "between 1 and 256, got -1"),
        ({"threads": 10**6}, "between 1 and 256, got 1000000"),
        ({"time_limit": 0}, "`time_limit` must be above 0, got 0: give a positive number"),
        ({"time_limit": -1.5}, "`time_limit` must be above 0, got -1.5: give a positive number"),
        ({"time_limit": float("nan")}, "`time_limit` must be above 0, got nan: give a positive number"),
        ({"node_limit": 0}, "`node_limit` must be above 0, got 0: give a positive number"),
        ({"node_limit": -5}, "`node_limit` must be above 0, got -5: give a positive number"),
        ({"memory_limit": 0}, "`memory_limit` must be above 0, got 0: give a positive number"),
        ({"order": "best"}, "unknown `order` 'best'"),
        ({"order": ""}, "unknown `order` ''"),
        ({"every": True, "algorithm": "a-star"}, "a-star finds a single solution: use ida-star to find all"),
        ({"algorithm": "a*"}, "unknown algorithm 'a*'"),
        ({"algorithm": "a_star"}, "unknown algorithm 'a_star'"),
        ({"algorithm": "outcome"}, "unknown algorithm 'outcome'"),
        ({"heuristic": "none"}, "unknown heuristic 'none'"),
        ({"heuristic": ""}, "unknown heuristic ''"),
        ({"heuristic": "max"}, "unknown heuristic 'max'"),
        ({"heuristic": "max:"}, "unknown heuristic 'max:'"),
        ({"heuristic": "max:manhattan+zero"}, "unknown heuristic 'zero'"),
        ({"heuristic": "manhattan:3x3-8"}, "unknown heuristic 'manhattan:3x3-8'"),
        ({"heuristic": "two\nlines"}, "unknown heuristic"),
        ({"heuristic": "pdb"}, "build one with 'pdb-builder build 3x3"),
        ({"shape": "3"}, "'3' is not a board shape"),
        ({"shape": "2x4"}, "2x4 board"),
        ({"goal": "middle"}, "the goal is neither last, first, spiral nor a board"),
        ({"goal": [1, 2, 3, 0]}, "the goal is neither"),
        ({"board": []}, "the board is empty"),
        ({"board": ""}, "the board is empty"),
        ({"board": [1, 2, 3, 4, 5, 6, 7, 8, 9]}, "no blank"),
        ({"board": [[1, 2, 3], [4, 5]]}, "row 2 has 2 numbers"),
        ({"board": [1.0, 2.0, 3.0, 0.0]}, "is not a number"),
        ({"board": ["a", None, 3, 0]}, "is not a number"),
    ],
)
def test_what_makes_no_sense_is_an_input_error_of_one_line(options, message):
    with pytest.raises(InputError) as error:
        solve(**{"board": EASY, "heuristic": "manhattan"} | options)
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"threads": "two"},
        {"threads": 1.5},
        {"time_limit": "soon"},
        {"node_limit": "many"},
        {"goal": None},
        {"board": None},
        {"board": 5},
    ],
    ids=str,
)
def test_values_of_the_wrong_type_are_refused_before_the_search(options):
    with pytest.raises((InputError, TypeError)) as error:
        solve(**{"board": EASY, "heuristic": "manhattan"} | options)
    assert len(str(error.value).splitlines()) == 1


def test_half_of_all_boards_cannot_be_solved():
    for goal in ("last", "first", "spiral"):
        board = list(goal_board(Grid(3, 3), goal))
        one, two = board.index(1), board.index(2)
        board[one], board[two] = 2, 1
        with pytest.raises(Unsolvable) as error:
            solve(board, goal)
        assert isinstance(error.value, InputError)
        assert "exchange any two tiles" in str(error.value) and len(str(error.value).splitlines()) == 1


def test_a_database_that_is_not_there_is_an_input_error(tmp_path):
    for name in ("3x3-8", "3x3-8.h5", str(tmp_path / "3x3-8.h5")):
        with pytest.raises(InputError) as error:
            solve(EASY, heuristic=f"pdb:{name}", folder=tmp_path)
        assert "there is no database" in str(error.value) and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    "spec, board, goal",
    [
        (LYING, EASY, "last"),
        (HALVES, "1 2 3 / 4 0 5", "last"),
        (HALVES, EASY, "spiral"),
        (HALVES, EASY, "1 0 2 / 3 4 5 / 6 7 8"),
        (Spec(Grid(3, 3), NAMED["3x3-4-4"], 4), EASY, "last"),
    ],
)
def test_a_database_for_another_goal_or_shape_is_an_input_error(spec, board, goal, shelf, tmp_path):
    folder = shelf(spec)
    target = goal_board(Grid(2, 3) if "/" in board else Grid(3, 3), goal)
    start = random_board(Grid(2, 3) if "/" in board else Grid(3, 3), target, random.Random(1))
    shape = "2x3" if "/" in board else None
    with pytest.raises(InputError) as error:
        solve(start, goal, shape=shape, heuristic=f"pdb:{spec.name}", folder=folder)
    text = str(error.value)
    assert f"is for {spec.grid} boards" in text and len(text.splitlines()) == 1
    command = re.search(r"'pdb-builder (.*?)'", text)[1]
    assert builder([*shlex.split(command), "--folder", str(tmp_path / "new")]) == 0
    assert solve(start, goal, shape=shape, heuristic="pdb", folder=tmp_path / "new").solved


# ---- shortest, on any board and for any goal ----------------------------------------------------


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
@pytest.mark.parametrize("heuristic", ["manhattan", "linear-conflict"])
@pytest.mark.parametrize("shape", ["2x2", "2x3", "3x2", "3x3", "2x4", "4x2"])
def test_solutions_are_shortest_for_random_goals(shape, heuristic, algorithm):
    grid, chance = Grid.parse(shape), random.Random(shape)
    for _ in range(6):
        goal = random_goal(grid, chance)
        for _ in range(5):
            start = random_board(grid, goal, chance)
            solution = solve(start, goal, shape=shape, heuristic=heuristic, algorithm=algorithm, threads=1)
            check(solution, grid, start, goal)
            assert (solution.heuristic, solution.algorithm) == (heuristic, algorithm)


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
@pytest.mark.parametrize("spec", [WHOLE, HALVES, Spec(Grid(3, 3), HALVES.partition, 0, "bytes")], ids=lambda s: s.name)
def test_one_corner_database_serves_every_corner(spec, algorithm, shelf):
    grid, chance, folder = spec.grid, random.Random(7), shelf(spec)
    for corner in (0, 2, 6, 8):
        goal = random_goal(grid, chance, corner)
        for name in ("pdb", "pdb-unreflected"):
            start = random_board(grid, goal, chance)
            solution = solve(start, goal, folder=folder, algorithm=algorithm, heuristic=name, threads=1)
            check(solution, grid, start, goal)
            assert solution.heuristic == f"{name}:{spec.name}"
            if spec is WHOLE:
                assert solution.h_start == solution.length, "the database of all tiles is perfect"


@pytest.mark.parametrize("blank", [2, 6, 8])
def test_the_corner_of_the_database_does_not_matter(blank, shelf):
    grid, chance = Grid(3, 3), random.Random(blank)
    folder = shelf(Spec(grid, NAMED["3x3-8"], blank))
    for corner in (0, 2, 6, 8):
        goal = random_goal(grid, chance, corner)
        start = random_board(grid, goal, chance)
        solution = solve(start, goal, folder=folder, threads=1)
        check(solution, grid, start, goal)
        assert solution.h_start == solution.length


def test_the_spiral_is_served_by_a_database_with_the_blank_in_the_centre(shelf):
    grid, chance = Grid(3, 3), random.Random(4)
    folder = shelf(Spec(grid, NAMED["3x3-4-4"], 4))
    for goal in ("spiral", "8 7 6 5 0 4 3 2 1"):
        target = goal_board(grid, goal)
        for _ in range(5):
            start = random_board(grid, target, chance)
            solution = solve(start, goal, folder=folder, threads=1)
            check(solution, grid, start, target)
            assert solution.heuristic == "pdb:3x3-4-4-blank4"


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
@pytest.mark.parametrize("shape", ["2x3", "3x2"])
def test_a_lying_database_serves_standing_boards(shape, algorithm, shelf):
    grid, chance, folder = Grid.parse(shape), random.Random(shape), shelf(LYING)
    for corner in (0, grid.cols - 1, grid.cells - grid.cols, grid.cells - 1):
        for _ in range(3):
            goal = random_goal(grid, chance, corner)
            start = random_board(grid, goal, chance)
            solution = solve(start, goal, shape=shape, folder=folder, algorithm=algorithm, threads=1)
            check(solution, grid, start, goal)
            assert solution.heuristic == f"pdb:{LYING.name}"


def test_the_options_change_the_effort_and_never_the_length(shelf):
    grid, chance, folder = Grid(3, 3), random.Random(3), shelf(HALVES)
    goal = goal_board(grid)
    for _ in range(4):
        start = random_board(grid, goal, chance)
        for heuristic in ("manhattan", "pdb", "pdb:3x3-4-4", f"pdb:{folder / '3x3-4-4.h5'}", "pdb-unreflected"):
            for options in ({}, {"order": "value"}, {"order": "fixed"}, {"threads": 2}):
                check(solve(start, heuristic=heuristic, folder=folder, **options), grid, start, goal)


def test_threads_change_nothing_but_the_time():
    _, goal, instances = load_set("korf100")
    board = instances[41].board
    one, two = (solve(board, goal, heuristic="linear-conflict", threads=threads) for threads in (1, 2))
    assert one.length == two.length == instances[41].length
    assert (one.tiles, one.expanded, one.generated) == (two.tiles, two.expanded, two.generated)
    assert [iteration[:3] for iteration in one.iterations] == [iteration[:3] for iteration in two.iterations]


# ---- the heuristic that nobody named ------------------------------------------------------------


def test_the_largest_database_is_taken_if_none_is_named(shelf):
    notices = []
    folder = shelf(WHOLE, HALVES, LYING)
    assert solve(EASY, folder=folder, notify=notices.append).heuristic == "pdb:3x3-8"
    assert notices == []


@pytest.mark.parametrize(
    "shape, goal", [("3x3", "last"), ("3x3", "spiral"), ("3x3", "1 0 2 / 3 4 5 / 6 7 8"), ("2x3", "last")]
)
@pytest.mark.parametrize("turned", [False, True])
def test_without_a_database_one_notice_names_the_command_that_builds_it(shape, goal, turned, tmp_path):
    shape = shape[::-1] if turned else shape
    grid = Grid.parse(shape)
    target = goal_board(grid, goal)
    start = random_board(grid, target, random.Random(2))
    notices = []
    solution = solve(start, goal, shape=shape, folder=tmp_path, notify=notices.append)
    check(solution, grid, start, target)
    assert solution.heuristic == "linear-conflict"
    assert len(notices) == 1 and len(notices[0].splitlines()) == 1
    assert "linear-conflict" in notices[0] and str(tmp_path) in notices[0]
    command = re.search(r"'pdb-builder (build .*?)'", notices[-1])[1]
    assert builder([*shlex.split(command), "--folder", str(tmp_path)]) == 0
    solution = solve(start, goal, shape=shape, folder=tmp_path, notify=notices.append)
    check(solution, grid, start, target)
    assert solution.heuristic.startswith("pdb:")
    assert len(notices) == 1


def test_the_command_in_the_notice_builds_where_the_search_looks(tmp_path):
    """As written, whichever folder was asked for."""
    for folder in (None, tmp_path / "with space"):
        notices = []
        solve(EASY, folder=folder, notify=notices.append)
        command = re.search(r"'pdb-builder (build .*)'$", notices[0])[1]
        assert builder(shlex.split(command)) == 0
        assert solve(EASY, folder=folder, notify=notices.append).heuristic == "pdb:3x3-8"
        assert len(notices) == 1


def test_the_command_for_a_wrapped_board_builds_a_wrapped_database(tmp_path):
    grid = Grid(3, 3, wrap=True)
    notices = []
    start, goal = (1, 2, 3, 4, 5, 6, 0, 7, 8), grid.goal(8)
    solution = solve_board(grid, start, goal, Settings(folder=tmp_path), notify=notices.append)
    assert (solution.heuristic, solution.length) == ("manhattan", distances_of(grid, 8)[start])
    command = re.search(r"'pdb-builder (build .*?)'", notices[-1])[1]
    assert builder([*shlex.split(command), "--folder", str(tmp_path)]) == 0
    solution = solve_board(grid, start, goal, Settings(folder=tmp_path), notify=notices.append)
    assert solution.heuristic.startswith("pdb:") and solution.length == distances_of(grid, 8)[start]


def test_the_notice_needs_nobody_to_listen(tmp_path):
    assert solve(EASY, folder=tmp_path / "none").heuristic == "linear-conflict"


@pytest.mark.parametrize("damage", ["empty", "garbage", "cut", "folder"])
def test_a_damaged_database_is_not_taken_and_an_error_if_named(damage, shelf):
    folder = shelf(WHOLE)
    path = folder / "3x3-8.h5"
    sound = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    else:
        path.write_bytes({"empty": b"", "garbage": b"\x89HDF\r\n\x1a\n" * 99, "cut": sound[: len(sound) // 2]}[damage])
    notices = []
    assert solve(EASY, folder=folder, notify=notices.append).heuristic == "linear-conflict"
    assert len(notices) == 2 and notices[0].startswith("not used: ") and str(path) in notices[0]
    with pytest.raises((InputError, DatabaseError)) as error:
        solve(EASY, folder=folder, heuristic="pdb:3x3-8")
    assert len(str(error.value).splitlines()) == 1 and "3x3-8.h5" in str(error.value)
    with pytest.raises(InputError, match=r"^no database in .* is for 3x3 boards with this goal: .*3x3-8\.h5 is "):
        solve(EASY, folder=folder, heuristic="pdb")
    if damage != "folder":
        path.unlink()
        command = re.search(r"'pdb-builder (build .*?)'", notices[-1])[1]
        assert builder([*shlex.split(command), "--folder", str(folder)]) == 0
        assert solve(EASY, folder=folder).heuristic == "pdb:3x3-8"


def test_a_sound_database_is_taken_beside_a_damaged_one(shelf):
    folder = shelf(HALVES)
    (folder / "3x3-8.h5").write_bytes(b"")
    (folder / "3x3-notes.txt").write_text("not a database")
    assert solve(EASY, folder=folder).heuristic == "pdb:3x3-4-4"


def test_a_database_that_was_replaced_is_read_again(shelf, database_of):
    folder = shelf(HALVES)
    board = solve(FARTHEST, "first", folder=folder, heuristic="pdb:3x3-4-4")
    shutil.copy(database_of(WHOLE), folder / "new.h5")
    (folder / "new.h5").rename(folder / "3x3-4-4.h5")
    again = solve(FARTHEST, "first", folder=folder, heuristic="pdb:3x3-4-4")
    assert board.length == again.length == again.h_start == 31 > board.h_start


# ---- all shortest solutions ---------------------------------------------------------------------


@pytest.mark.parametrize("heuristic", ["manhattan", "linear-conflict", "pdb"])
def test_all_shortest_solutions_are_found(heuristic, shelf):
    grid, chance, folder = Grid(3, 3), random.Random(8), shelf(HALVES)
    goals = [goal_board(grid), goal_board(grid, "first"), random_goal(grid, chance, 2)]
    boards = [(random_board(grid, goal, chance), goal) for goal in goals for _ in range(6)]
    boards += [((8, 0, 6, 5, 4, 7, 2, 3, 1), goals[1]), ((6, 4, 7, 8, 5, 0, 3, 2, 1), goals[0])]
    for start, goal in boards:
        solution = solve(start, goal, every=True, heuristic=heuristic, folder=folder)
        assert solution.length == moves_between(grid, start, goal)
        assert len(solution.solutions) == len(set(solution.solutions)) == shortest_paths(grid, start, goal)
        assert solution.tiles == solution.solutions[0]
        for tiles in solution.solutions:
            assert len(tiles) == solution.length
            assert made(grid, start, solution.letters(tiles)) == goal


def test_solutions_are_listed_only_if_asked_for():
    assert solve(EASY, heuristic="manhattan").solutions is None
    assert "solutions" not in solve(EASY, heuristic="manhattan").as_dict()


# ---- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
@pytest.mark.parametrize("limit", [1, 10, 1000, 100_000])
def test_a_node_limit_leaves_a_lower_bound(limit, algorithm):
    _, goal, instances = load_set("korf100")
    for instance in instances[:3]:
        solution = solve(instance.board, goal, heuristic="manhattan", algorithm=algorithm, node_limit=limit)
        assert (solution.solved, solution.optimal, solution.stopped) == (False, False, "nodes")
        assert (solution.length, solution.tiles, solution.moves) == (None, (), "")
        assert solution.h_start <= solution.lower_bound <= instance.length
        assert limit <= solution.generated <= limit + 100


def test_a_node_limit_that_is_not_reached_changes_nothing():
    for algorithm, search in solver.SEARCHES.items():
        options = {"heuristic": None if search.uninformed else "manhattan", "threads": 1}
        options |= {"width": 1000} if "width" in search.options else {}
        free, bound = (
            solve(FARTHEST, "first", algorithm=algorithm, node_limit=limit, **options) for limit in (None, 10**30)
        )
        assert bound.solved and bound.stopped is None
        assert (free.tiles, free.expanded, free.generated) == (bound.tiles, bound.expanded, bound.generated)


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
def test_a_time_limit_is_kept(algorithm):
    began = time.monotonic()
    solution = solve(HARD, heuristic="manhattan", algorithm=algorithm, time_limit=0.4, memory_limit=2 * 10**9)
    assert (solution.solved, solution.stopped) == (False, "time")
    assert solution.lower_bound >= solution.h_start
    assert 0.4 <= solution.seconds < 1.5
    assert time.monotonic() - began < 20


def test_a_memory_limit_stops_a_star():
    solution = solve(FARTHEST, "first", heuristic="manhattan", algorithm="a-star", memory_limit=20_000)
    assert (solution.solved, solution.stopped) == (False, "memory")
    assert solution.h_start <= solution.lower_bound <= 31
    assert 0 < solution.stored < 2000


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
def test_another_thread_can_interrupt(algorithm):
    grid, settings = (
        Grid(5, 5),
        Settings(heuristic="manhattan", algorithm=algorithm, time_limit=20, memory_limit=2 * 10**9),
    )
    start, goal = tuple(map(int, HARD.split())), goal_board(grid)
    interrupt = threading.Event()
    reports = []

    def report(progress):
        reports.append(progress)
        interrupt.set()

    solution = solve_board(grid, start, goal, settings, progress=report, interrupt=interrupt)
    assert (solution.solved, solution.stopped) == (False, "interrupt")
    assert solution.lower_bound >= solution.h_start and solution.seconds < 5
    assert reports and reports[0].bound >= solution.h_start and reports[0].generated > 0


def test_several_threads_can_solve_at_once(shelf):
    """The package keeps nothing that two searches could disturb."""
    grid, folder, chance = Grid(3, 3), shelf(HALVES), random.Random(11)
    goal = goal_board(grid)
    boards = [random_board(grid, goal, chance) for _ in range(40)]
    lengths = [None] * len(boards)

    def work(first):
        for number in range(first, len(boards), 2):
            heuristic = ("pdb", "manhattan")[number % 4 // 2]
            lengths[number] = solve(boards[number], folder=folder, heuristic=heuristic, threads=2).length

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lengths == [moves_between(grid, board, goal) for board in boards]


@pytest.mark.jit
@pytest.mark.parametrize("name", SEARCHES)
def test_all_code_is_compiled_before_the_time_is_taken(name, monkeypatch):
    """The rehearsal reaches the goal, whatever the options say."""
    outcomes = []

    def spied(name):
        def search(*arguments, **options):
            outcomes.append(search_named(name)(*arguments, **options))
            return outcomes[-1]

        return search

    monkeypatch.setattr(solver.solving, "search_named", spied)
    options = {"beam": {"width": 100_000}, "dfs": {"depth": 1}}.get(name, {})
    heuristic = {} if SEARCHES[name].uninformed else {"heuristic": "manhattan"}
    solve("1 2 3 4 5 6 7 0 8", algorithm=name, **heuristic, **options)
    assert outcomes[0].paths and len(outcomes) == (3 if SEARCHES[name].both_ends else 2)


@pytest.mark.jit
def test_the_bench_tells_length_against_time(monkeypatch):
    monkeypatch.setattr(bench, "BEAM_SECONDS", 2)
    figures = bench._lengths("4x4", 3, None)
    assert figures["boards"] == 3 and figures["moves_after_1_s"] >= figures["moves_after_2_s"] >= figures["lower_bound"]
    assert figures["longest"] >= figures["moves_after_2_s"] and figures["ratio"] >= 1 and "optimal_moves" not in figures
