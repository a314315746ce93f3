"""Solving from Python: every answer is compared with an exhaustive search and replayed move by move."""

import doctest
import json
import random
import threading
from itertools import count

import numpy as np
import pytest

import solver
from pdb_builder import NAMED, Grid, InputError, Spec
from solver import (
    SEARCHES,
    Settings,
    Unsolvable,
    compare,
    distribution,
    goal_board,
    load_set,
    random_board,
    solve,
    solve_board,
)
from solver.search import search_named

from .helpers import HARD, check_solution, followed, random_goal
from .oracle import count_shortest_solutions, moves_between

pytestmark = [pytest.mark.jit, pytest.mark.usefixtures("databases")]

EASY = "1 2 3 4 5 6 0 7 8"
FARTHEST = "8 0 6 5 4 7 2 3 1"  # 31 moves from the goal with the blank first
HALVES = Spec(Grid(3, 3), NAMED["3x3-4-4"])
WHOLE = Spec(Grid(3, 3), NAMED["3x3-8"])
FLAT = Spec(Grid(2, 3), ((1, 2), (3, 4, 5)))
KEYS = {
    *("board", "goal", "solved", "optimal", "length", "moves", "algorithm", "heuristic", "h_start"),
    *("expanded", "generated", "seconds", "lower_bound"),
}
ENDLESS = [1, 2, 3]
ENDLESS.append(ENDLESS)
ALL = [pytest.param(name, marks=pytest.mark.beam if name == "beam" else ()) for name in SEARCHES]


def check(solution, grid, start, goal):
    """Everything that must hold of a shortest solution with a heuristic that has the parity of the distance."""
    check_solution(solution, grid, start, goal, moves_between(grid, start, goal))
    assert (solution.length - solution.h_start) % 2 == 0


def informed(algorithm):
    """The option that names a heuristic, unless the search is uninformed."""
    return {} if SEARCHES[algorithm].uninformed else {"heuristic": "manhattan"}


# ---- boards and goals ---------------------------------------------------------------------------


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
        [[1, 2, 3], [4, 5, 6], ["_", 7, 8]],
        [["1", "2", "3"], ["4", "5", "6"], [".", "7", "8"]],
        ["1 2 3", "4 5 6", "x 7 8"],
    ],
    ids=lambda board: type(board).__name__,
)
def test_boards_come_in_many_forms(board):
    solution = solve(board, heuristic="manhattan")
    assert (solution.moves, solution.length, solution.tiles) == ("LL", 2, (7, 8))
    assert solution.board == (1, 2, 3, 4, 5, 6, 0, 7, 8)


def test_rows_make_a_rectangle_and_a_flat_list_needs_its_shape():
    for board in ("1 2 3 / 4 0 5", [[1, 2, 3], [4, 0, 5]], np.array([[1, 2, 3], [4, 0, 5]])):
        assert solve(board, heuristic="manhattan").grid == Grid(2, 3)
    assert solve([1, 2, 3, 4, 0, 5], shape="2x3", heuristic="manhattan").moves == "L"
    assert solve([1, 2, 3, 4, 0, 5], shape="3x2", heuristic="manhattan").grid == Grid(3, 2)


@pytest.mark.parametrize(
    "goal, expected",
    [
        ("last", (1, 2, 3, 4, 5, 6, 7, 8, 0)),
        ("first", (0, 1, 2, 3, 4, 5, 6, 7, 8)),
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


@pytest.mark.parametrize("algorithm", ALL)
def test_the_goal_itself_needs_no_moves(algorithm):
    for goal in ("last", "first", "spiral", "2 1 3 / 4 5 6 / 0 8 7"):
        board = goal_board(Grid(3, 3), goal)
        solution = solve(board, goal, algorithm=algorithm, **informed(algorithm))
        assert (solution.solved, solution.length, solution.moves, solution.tiles) == (True, 0, "", ())
        assert solution.lower_bound == solution.h_start == 0
        assert list(solution.boards()) == [board]


def test_the_dictionary_is_complete_and_can_be_written_as_json():
    for options in ({}, {"algorithm": "a-star"}, {"every": True}, {"node_limit": 10}):
        record = solve(FARTHEST, "first", heuristic="manhattan", **options).as_dict()
        assert set(record) >= KEYS
        assert json.loads(json.dumps(record)) == record
    record = solve(EASY, heuristic="manhattan").as_dict("blank")
    assert (record["moves"], record["tiles"], record["shape"]) == ("RR", [7, 8], "3x3")
    record = solve(FARTHEST, "first", heuristic="manhattan", node_limit=10).as_dict()
    assert (record["solved"], record["optimal"], record["length"], record["moves"]) == (False, False, None, None)
    record = solve(EASY, every=True, heuristic="manhattan").as_dict()
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
        ({"board": []}, "the board is empty"),
        ({"board": [[1, 2, 3], [4, 5]]}, "row 2 has 2 numbers"),
        ({"board": [1.0, 2.0, 3.0, 0.0]}, "is not a number"),
        ({"board": ["a", None, 3, 0]}, "is not a number"),
        ({"board": [1, 2, 3, 4, 0, 5]}, "give `shape` 2x3"),
        ({"board": [True, 2, 3, 0]}, "is not a number"),
        ({"board": {1, 2, 3, 0}}, "a board cannot be given as a set"),
        ({"board": [{1, 2}, {3, 0}]}, "a board cannot be given as a set"),
        ({"board": {0: 1, 1: 2, 2: 3, 3: 0}}, "a board cannot be given as a dict"),
        ({"board": ENDLESS}, "lists in lists"),
        ({"board": count()}, "at most 100"),
        ({"goal": ENDLESS}, "lists in lists"),
        ({"goal": {1, 2, 3, 0}}, "a board cannot be given as a set"),
        ({"folder": 5}, "`folder` must be a path, got 5"),
        ({"board": [10**5000, 2, 3, 0]}, "too large"),
        ({"board": [-(10**5000), 2, 3, 0]}, "negative"),
        ({"board": b"1 2 3 0"}, "a board cannot be given as a bytes"),
        ({"board": np.array(3)}, "cannot be a board"),
        ({"board": list}, "is not a number"),
        ({"wrap": "no"}, "`wrap` must be True or False, got 'no'"),
        ({"wrap": np.array([1, 0])}, "`wrap` must be True or False"),
        ({"every": "x"}, "`every` must be True or False, got 'x'"),
        ({"shape": "3"}, "'3' is not a board shape"),
        ({"shape": "2x4"}, "2x4 board"),
        ({"goal": "middle"}, "the goal is neither last, first, spiral nor a board"),
        ({"goal": [1, 2, 3, 0]}, "the goal is neither"),
        ({"node_limit": 0}, "`node_limit` must be above 0"),
        ({"heuristic": "two\nlines"}, "unknown heuristic"),
        ({"heuristic": "pdb"}, "build one with 'pdb-builder build 3x3"),
        ({"heuristic": "inversions"}, "inversions is inadmissible, so ida-star cannot guarantee a shortest solution"),
    ],
)
def test_errors_of_every_part_are_input_errors_of_one_line(options, message):
    with pytest.raises(InputError) as error:
        solve(**{"board": EASY, "heuristic": "manhattan"} | options)
    assert message in str(error.value) and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("options", [{"goal": None}, {"board": None}, {"board": 5}], ids=str)
def test_what_is_not_a_board_at_all_is_refused(options):
    with pytest.raises(InputError) as error:
        solve(**{"board": EASY, "heuristic": "manhattan"} | options)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("number", range(3))
def test_what_cannot_be_a_file_name_is_not_a_database(number):
    name = ("\0", "\ud800.h5", "a\0.h5")[number]
    with pytest.raises(InputError, match="is not the name of a database: 'pdb-builder list' shows those there are"):
        solve(EASY, heuristic=f"pdb:{name}")


def test_numbers_of_numpy_are_numbers():
    one, two = np.int64(1), np.uint8(2)
    for options in (
        {"threads": two, "time_limit": np.float32(60), "node_limit": np.int64(10**9), "memory_limit": np.float64(1e9)},
        {"algorithm": "beam", "width": np.int32(1000), "time_limit": two},
        {"algorithm": "weighted-a-star", "weight": np.float32(1.5)},
        {"algorithm": "dfs", "depth": np.int16(8), "heuristic": None},
        {"shape": (np.int64(3), np.uint8(3)), "wrap": np.False_, "every": np.True_},
    ):
        solution = solve(**{"board": EASY, "heuristic": "manhattan"} | options)
        assert solution.length == 2
        json.dumps(solution.as_dict())
    assert Grid(two, np.int64(3)) == Grid(2, 3) and type(Grid(two, two).rows) is int
    spec = Spec(Grid(2, 2), [np.array([1, 2]), np.array([3])], blank=one)
    assert spec == Spec(Grid(2, 2), ((1, 2), (3,)), blank=1) and spec.name.isprintable()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: compare([EASY], ["manhattan"], threads=0), "threads must be between 1 and 256, got 0"),
        (lambda: compare([EASY], ["manhattan"], threads="2"), "threads must be between 1 and 256, got '2'"),
        (lambda: compare([EASY], ["manhattan"], threads=True), "threads must be between 1 and 256, got True"),
        (lambda: compare(5, ["manhattan"]), "5 is neither a set of boards nor boards"),
        (lambda: compare([EASY], ["manhattan"], folder=5), "`folder` must be a path, got 5"),
        (lambda: distribution("2x2", most=1.5), "most must be an integer from 0 on, got 1.5"),
        (lambda: distribution("2x2", most=-1), "most must be an integer from 0 on, got -1"),
        (lambda: distribution("2x2", threads=0), "threads must be between 1 and 256, got 0"),
        (lambda: Grid(True, 3), "rows and columns must be integers, got True and 3"),
        (lambda: Grid(3, 3).goal(1.5), "the blank cannot be on cell 1.5"),
        (lambda: Spec(Grid(2, 2), [[1, 2.0], [3]]), "tile 2.0 is not on a 2x2 board"),
    ],
    ids=range(11),
)
def test_other_functions_refuse_what_is_not_a_number(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value).startswith(message) and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("goal", ["last", "first", "spiral"])
def test_half_of_all_boards_cannot_be_solved(goal):
    board = list(goal_board(Grid(3, 3), goal))
    one, two = board.index(1), board.index(2)
    board[one], board[two] = 2, 1
    with pytest.raises(Unsolvable) as error:
        solve(board, goal)
    assert isinstance(error.value, InputError)
    assert "exchange any two tiles" in str(error.value) and len(str(error.value).splitlines()) == 1


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


@pytest.mark.exhaustive
@pytest.mark.parametrize("spec", [WHOLE, HALVES, Spec(Grid(3, 3), HALVES.partitions, 0, "bytes")], ids=lambda s: s.name)
def test_one_corner_database_serves_every_corner(spec, shelf):
    grid, chance, folder = spec.grid, random.Random(7), shelf(spec)
    for corner in (0, 2, 6, 8):
        goal = random_goal(grid, chance, corner)
        for name in ("pdb", "pdb-unreflected"):
            start = random_board(grid, goal, chance)
            solution = solve(start, goal, folder=folder, heuristic=name, threads=1)
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
def test_a_database_of_a_flat_board_serves_tall_ones(shape, algorithm, shelf):
    grid, chance, folder = Grid.parse(shape), random.Random(shape), shelf(FLAT)
    for corner in (0, grid.cols - 1, grid.cells - grid.cols, grid.cells - 1):
        for _ in range(3):
            goal = random_goal(grid, chance, corner)
            start = random_board(grid, goal, chance)
            solution = solve(start, goal, shape=shape, folder=folder, algorithm=algorithm, threads=1)
            check(solution, grid, start, goal)
            assert solution.heuristic == f"pdb:{FLAT.name}"


def test_options_change_the_effort_and_never_the_length(shelf):
    grid, chance, folder = Grid(3, 3), random.Random(3), shelf(HALVES)
    goal = goal_board(grid)
    for _ in range(4):
        start = random_board(grid, goal, chance)
        for heuristic in ("manhattan", "pdb", "pdb:3x3-4-4", f"pdb:{folder / '3x3-4-4.h5'}", "pdb-unreflected"):
            for options in ({}, {"order": "value"}, {"order": "fixed"}, {"threads": 2}):
                check(solve(start, heuristic=heuristic, folder=folder, **options), grid, start, goal)


def test_threads_change_nothing_but_the_time():
    _, goal, instances = load_set("korf100")
    one, two = (solve(instances[41].board, goal, heuristic="linear-conflict", threads=threads) for threads in (1, 2))
    assert one.length == two.length == instances[41].length
    assert (one.tiles, one.expanded, one.generated) == (two.tiles, two.expanded, two.generated)
    assert [iteration[:3] for iteration in one.iterations] == [iteration[:3] for iteration in two.iterations]


@pytest.mark.parametrize("heuristic", ["manhattan", "linear-conflict", "pdb"])
def test_all_shortest_solutions_are_found(heuristic, shelf):
    grid, chance, folder = Grid(3, 3), random.Random(8), shelf(HALVES)
    goals = [goal_board(grid), goal_board(grid, "first"), random_goal(grid, chance, 2)]
    boards = [(random_board(grid, goal, chance), goal) for goal in goals for _ in range(6)]
    boards += [((8, 0, 6, 5, 4, 7, 2, 3, 1), goals[1]), ((6, 4, 7, 8, 5, 0, 3, 2, 1), goals[0]), (goals[0], goals[0])]
    for start, goal in boards:
        solution = solve(start, goal, every=True, heuristic=heuristic, folder=folder)
        assert solution.length == moves_between(grid, start, goal)
        assert len(solution.solutions) == len(set(solution.solutions)) == count_shortest_solutions(grid, start, goal)
        assert solution.tiles == solution.solutions[0]
        for tiles in solution.solutions:
            assert len(tiles) == solution.length and followed(grid, start, solution.letters(tiles)) == goal


def test_solutions_are_listed_only_if_asked_for():
    assert solve(EASY, heuristic="manhattan").solutions is None
    assert "solutions" not in solve(EASY, heuristic="manhattan").as_dict()


# ---- limits, threads and the clock --------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
@pytest.mark.parametrize("limit", [{"node_limit": 1}, {"node_limit": 100_000}, {"time_limit": 0.1}], ids=str)
def test_a_search_that_is_stopped_leaves_a_lower_bound(limit, algorithm):
    limits = {"memory_limit": 2 * 10**9} | limit
    solution = solve(HARD, "first", heuristic="manhattan", algorithm=algorithm, **limits)
    assert (solution.solved, solution.optimal) == (False, False)
    assert solution.stopped == ("nodes" if "node_limit" in limit else "time")
    assert (solution.length, solution.tiles, solution.moves) == (None, (), "")
    assert solution.h_start <= solution.lower_bound <= 95
    assert limit.get("node_limit", 0) <= solution.generated


def test_a_memory_limit_stops_a_star():
    solution = solve(FARTHEST, "first", heuristic="manhattan", algorithm="a-star", memory_limit=20_000)
    assert (solution.solved, solution.stopped) == (False, "memory")
    assert solution.h_start <= solution.lower_bound <= 31
    assert 0 < solution.stored < 2000


@pytest.mark.parametrize("algorithm", ALL)
def test_a_node_limit_that_is_not_reached_changes_nothing(algorithm):
    options = informed(algorithm) | {"threads": 1} | ({"width": 1000} if algorithm == "beam" else {})
    free, bound = (
        solve(FARTHEST, "first", algorithm=algorithm, node_limit=limit, **options) for limit in (None, 10**30)
    )
    assert bound.solved and bound.stopped is None
    assert (free.tiles, free.expanded, free.generated) == (bound.tiles, bound.expanded, bound.generated)


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
def test_another_thread_can_interrupt(algorithm):
    settings = Settings(heuristic="manhattan", algorithm=algorithm, time_limit=60, memory_limit=2 * 10**9)
    grid, interrupt, reports = Grid(5, 5), threading.Event(), []

    def report(progress):
        reports.append(progress)
        interrupt.set()

    solution = solve_board(grid, HARD, grid.goal(), settings, progress=report, interrupt=interrupt)
    assert (solution.solved, solution.stopped) == (False, "interrupt")
    assert solution.lower_bound >= solution.h_start
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


@pytest.mark.parametrize("algorithm", ALL)
def test_all_code_is_compiled_before_the_clock_starts(algorithm, monkeypatch):
    """The rehearsal reaches the goal, whatever the options say."""
    outcomes = []

    def spied(name):
        def search(*arguments, **options):
            outcomes.append(search_named(name)(*arguments, **options))
            return outcomes[-1]

        return search

    monkeypatch.setattr(solver.solving, "search_named", spied)
    options = {"beam": {"width": 100_000}, "dfs": {"depth": 1}}.get(algorithm, {})
    solve("1 2 3 4 5 6 7 0 8", algorithm=algorithm, **informed(algorithm), **options)
    assert outcomes[0].paths and len(outcomes) == (3 if SEARCHES[algorithm].both_ends else 2)
