"""Functions of one's own as heuristics: what they see, what searches make of them, and what becomes of wrong ones.

Manhattan distance written as in the guide is the yardstick. The built-in one shares no code with it, and every search
must come to the same counts with both, on any board, goal and edges.
"""

import contextlib
import enum
import os
import random
import signal
import types

import numba
import numpy as np
import pytest

from pdb_builder import Grid, InputError
from pdb_builder.base import jit
from solver import check_heuristic, compare, heuristic, heuristic_check, solve
from solver.board import format_board
from solver.cluster.fitness import wanted_for
from solver.frame import frame_of
from solver.goals import goal_board
from solver.heuristics import own
from solver.instances import random_board
from solver.search import SEARCHES

from .helpers import check_along_a_walk, random_goal, scrambled
from .oracle import boards_after, distances_to
from .test_documentation import GUIDE, example

pytestmark = pytest.mark.jit

BOARD = "8 6 7 / 2 5 4 / 3 0 1"
OPTIONS = {"beam": {"width": 300}}
by_hand = example("def by_hand", GUIDE)["by_hand"]


@heuristic(consistent=True)
def around(board, home):
    """Manhattan distance where the edges are joined."""
    rows, cols = board.shape
    moves = 0
    for (row, col), tile in np.ndenumerate(board):
        if tile:
            down, across = abs(row - home[tile, 0]), abs(col - home[tile, 1])
            moves += min(down, rows - down) + min(across, cols - across)
    return moves


def value(function, board, goal, **options):
    """The value of a board, by a search that uses anything."""
    return solve(board, goal, heuristic=function, algorithm="greedy", node_limit=1, **options).h_start


# ---- what searches make of them -----------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.beam if name == "beam" else ())
        for name, search in SEARCHES.items()
        if not search.uninformed
    ],
)
def test_manhattan_by_hand_has_the_counts_of_manhattan(name):
    chance = random.Random(name)
    for grid in (Grid(3, 3), Grid(2, 4), Grid(3, 4), Grid(3, 3, True), Grid(2, 4, True)):
        for goal in (goal_board(grid), goal_board(grid, "spiral"), random_goal(grid, chance)):
            board = scrambled(grid, goal, 40, chance)
            function = around if grid.wrap else by_hand
            found = [
                solve(
                    format_board(grid, board),
                    format_board(grid, goal),
                    shape=grid.shape,
                    wrap=grid.wrap,
                    heuristic=one,
                    algorithm=name,
                    **OPTIONS.get(name, {}),
                )
                for one in ("manhattan", function)
            ]
            facts = [
                (one.moves, one.h_start, one.lower_bound, one.expanded, one.generated, one.stored, one.direction)
                for one in found
            ]
            assert facts[0] == facts[1], (grid, board, goal)
            bounds = [[iteration._replace(seconds=0) for iteration in one.iterations] for one in found]
            assert bounds[0] == bounds[1]


@pytest.mark.parametrize(
    "options",
    [{"direction": "backward"}, {"both_ends": "on"}, {"order": "value"}, {"every": True}, {"threads": 2}],
    ids=str,
)
def test_so_it_has_with_other_options(options):
    board = "6 2 4 9 / 12 5 14 3 / 10 1 8 15 / 13 11 7 0"
    theirs, ours = (solve(board, heuristic=one, **options) for one in ("manhattan", by_hand))
    assert (ours.tiles, ours.solutions, ours.direction) == (theirs.tiles, theirs.solutions, theirs.direction)
    assert (ours.expanded, ours.generated) == (theirs.expanded, theirs.generated)


def test_comparisons():
    boards = [BOARD, "6 4 7 / 8 5 0 / 3 2 1"]
    rows = compare(boards, ["manhattan", by_hand], ["ida-star", "a-star"]).summaries()
    assert [row.heuristic for row in rows] == ["manhattan", "own:by_hand"] * 2
    for theirs, ours in (rows[:2], rows[2:]):
        assert (theirs.h_mean, theirs.expanded, theirs.generated) == (ours.h_mean, ours.expanded, ours.generated)

    def manhattan(board, home):
        return by_hand(board, home)

    names = [row.heuristic for row in compare(boards, ["manhattan", manhattan], ["greedy"]).summaries()]
    assert names == ["manhattan", "own:manhattan"], "a name of ours is not taken for another"
    for heuristics, message in (([by_hand, by_hand], "named twice"), (by_hand, "`heuristics` must be a list")):
        with pytest.raises(InputError, match=message):
            compare(boards, heuristics)


# ---- what they see ------------------------------------------------------------------------------


def test_they_see_the_board_and_the_homes_as_given():
    """Whatever the goal, and however the search turns the board."""

    def tile_at(board, home):
        return 100 * board[0, 1] + board[1, 2]

    def place_of(board, home):
        return 1 + 100 * home[5, 0] + 10 * home[5, 1] + home[0, 0]

    chance = random.Random(1)
    for grid in (Grid(2, 3), Grid(3, 4), Grid(3, 3), Grid(3, 4, True)):
        for _ in range(5):
            goal = random_goal(grid, chance)
            board = random_board(grid, goal, chance)
            given = (list(board), list(goal))
            options = {"shape": grid.shape, "wrap": grid.wrap}
            assert value(tile_at, *given, **options) == max(1, 100 * board[1] + board[grid.cols + 2])
            (row, col), (of_blank, _) = (divmod(goal.index(tile), grid.cols) for tile in (5, 0))
            assert value(place_of, *given, **options) == 1 + 100 * row + 10 * col + of_blank


def test_they_see_every_board_along_the_way():
    def mixed(board, home):
        total = 0
        for (row, col), tile in np.ndenumerate(board):
            total += (3 * row + 5 * col + 1) * (tile + 2) * (home[tile, 0] + 2 * home[tile, 1] + 1) % 97
        return total

    chance = random.Random(2)
    for grid in (Grid(3, 4), Grid(3, 3), Grid(2, 4, True)):
        frame = frame_of(grid, random_goal(grid, chance))
        check_along_a_walk(grid, frame.blank, own.prepare(mixed, frame), 100, seed=3)


def test_parameters_beside_the_board_and_the_homes_keep_their_defaults():
    def with_a_default(board, home, weight=3):
        return weight

    def with_the_rest(board, *rest):
        return len(rest) + rest[0].shape[1]

    assert value(with_a_default, BOARD, "last") == value(with_the_rest, BOARD, "last") == 3


def test_unsigned_values_are_the_same_for_python_and_for_kernels():
    def one_below(board, home):
        return np.uint64(board[0, 0]) - np.uint64(1) - np.uint64(board[0, 0])

    grid, goal = Grid(2, 3), goal_board(Grid(2, 3))
    assert own.compiled(one_below).value(grid, np.array(goal), own.homes_in(grid, goal)) == -1
    assert check_heuristic(one_below, grid).mean == -1


def test_the_goal_alone_has_the_value_0():
    """Whatever the function says: searches would take any other board of this value for the goal."""

    @heuristic(consistent=True)
    def nothing(board, home):
        return 0

    def negative(board, home):
        return -7

    def huge(board, home):
        return 1 << 40

    chance = random.Random(4)
    grid, goal = Grid(2, 3), goal_board(Grid(2, 3))
    for board, distance in chance.sample(list(distances_to(grid, goal).items()), 20):
        for name in ("ida-star", "a-star", "bidirectional"):
            assert solve(list(board), shape="2x3", heuristic=nothing, algorithm=name).length == distance
        for function, shown in ((negative, 1), (huge, own.MOST_VALUE)):
            found = solve(list(board), shape="2x3", heuristic=function, algorithm="greedy")
            assert found.solved and found.h_start == (shown if distance else 0)


# ---- declarations -------------------------------------------------------------------------------


def undeclared(board, home):
    return by_hand(board, home)


@heuristic(admissible=True)
def not_consistent(board, home):
    return by_hand(board, home) if board[0, 0] % 2 else 0


@heuristic(admissible=True)
def for_one_goal(board, home):
    """Made for the goal 1 2 ... 8 0, whatever the homes."""
    return 1 if board[0, 0] != 1 else 0


def test_what_is_not_declared_is_refused_where_it_is_needed():
    for name, search in SEARCHES.items():
        if search.uninformed:
            continue
        if search.optimal:
            with pytest.raises(InputError, match=f"own:undeclared is not declared admissible, so {name} cannot"):
                solve(BOARD, heuristic=undeclared, algorithm=name)
        elif name != "beam":
            assert solve(BOARD, heuristic=undeclared, algorithm=name).suboptimality_bound is None
    for options in ({"algorithm": "bidirectional"}, {"both_ends": "on"}):
        with pytest.raises(InputError, match=r"own:not_consistent is not known to be"):
            solve(BOARD, heuristic=not_consistent, **options)
    for name in ("ida-star", "a-star"):
        assert solve(BOARD, heuristic=not_consistent, algorithm=name).length == 31


def test_the_way_back_needs_a_function_for_every_goal():
    found = solve(BOARD, heuristic=for_one_goal)
    assert (found.length, found.direction) == (31, "forward")
    assert found.generated > 1_000_000, "so long that the other end would be tried"
    with pytest.raises(InputError, match=r"it is 1 for the goal 8 6 7 2 5 4 3 0 1: let it be 0"):
        solve(BOARD, heuristic=for_one_goal, direction="backward")


def test_a_claim_that_turns_out_to_be_wrong_is_an_error():
    @heuristic(admissible=True)
    def one_more(board, home):
        return by_hand(board, home) + 1

    @heuristic(consistent=True)
    def twice(board, home):
        return 2 * by_hand(board, home)

    @heuristic(admissible=True)
    def thrice(board, home):
        return 3 * by_hand(board, home)

    for name in ("ida-star", "a-star"):
        for function, message in (
            (one_more, r"declared admissible, but it is 1 for the goal 1 2 3 4 5 6 7 8 0"),
            (twice, r"declared consistent, but a move to .* changes it from \d+ to \d+: correct it"),
            (
                thrice,
                r"declared admissible, but it is 63 for 8 6 7 2 5 .*, from where the goal is reached in \d+ moves",
            ),
        ):
            with pytest.raises(InputError, match=message) as error:
                solve(BOARD, heuristic=function, algorithm=name)
            assert len(str(error.value).splitlines()) == 1
    with pytest.raises(InputError, match="declared consistent"):
        solve(BOARD, heuristic=twice, algorithm="bidirectional", threads=2)


# ---- functions that cannot be used --------------------------------------------------------------


def changing(board, home):
    board[0, 0] = 1
    return 0


def changing_homes(board, home):
    home[0, 0] += 1
    return 0


def confusing(board, home):
    """The compiler fails here, and does not say where."""
    home[0] += 1
    return 0


def text_and_number(board, home):
    moves = 0
    for _ in board.flat:
        moves += "a"
    return moves


def importing(board, home):
    import math

    return math.floor(1.5)


def unknown(board, home):
    return no_such_name  # noqa: F821


def deep(board, home):
    return text_and_number(board, home)


def fraction(board, home):
    return by_hand(board, home) / 2


def nothing_at_all(board, home):
    pass


def one_argument(board):
    return 0


def by_keyword(board, home, *, weight=2):
    return weight


def by_any_keyword(board, home, **weights):
    return 0


def generating(board, home):
    yield 1


class Callable:
    def __call__(self, board, home):
        return 0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (changing, r"because of line \d+, 'board\[0, 0\] = 1': neither the board nor other arrays may be changed"),
        (
            changing_homes,
            r"because of line \d+, 'home\[0, 0\] \+= 1': neither the board nor other arrays may be changed",
        ),
        (confusing, r"own:confusing cannot be compiled because of something after line \d+: "),
        (text_and_number, r"because of line \d+, 'moves \+= \"a\"': No implementation of function"),
        (importing, r"because of line \d+, 'import math'"),
        (unknown, "no_such_name"),
        (deep, r"own:deep cannot be compiled because of line \d+, 'moves \+= \"a\"'"),
        (fraction, "own:fraction returns float64, not an integer"),
        (nothing_at_all, "own:nothing_at_all returns none, not an integer"),
        (generating, "own:generating returns .*generator.*, not an integer"),
        (one_argument, r"write it as 'def one_argument\(board, home\)'"),
        (by_keyword, r"and nothing by keyword only: write it as 'def by_keyword\(board, home\)'"),
        (by_any_keyword, r"write it as 'def by_any_keyword\(board, home\)'"),
        (Callable(), "must be a name or a function"),
        (Callable, "must be a name or a function"),
        (len, "must be a name or a function"),
        (np.sum, "must be a name or a function"),
        (3, "must be a name or a function, got 3"),
    ],
    ids=lambda value: getattr(value, "__name__", "") or type(value).__name__,
)
def test_what_cannot_be_used_is_one_line(function, message):
    for use in (lambda: solve(BOARD, heuristic=function, algorithm="greedy"), lambda: check_heuristic(function, "2x2")):
        with pytest.raises(InputError, match=message) as error:
            use()
        assert len(str(error.value).splitlines()) == 1 and len(str(error.value)) < 500


@heuristic(consistent=True)
def outside(board, home):
    return by_hand(board, home) if board[1, 1] != 8 else board[3, 3]


@heuristic(consistent=True)
def raising(board, home):
    if board[2, 2] == 8:
        raise ValueError("not this one")
    return by_hand(board, home)


@pytest.mark.parametrize("name", ["greedy", "ida-star", "a-star", "bidirectional"])
def test_an_error_that_a_function_raises_is_an_error_with_the_board(name):
    for function, message in ((outside, "IndexError"), (raising, r"ValueError \(not this one\)")):
        with pytest.raises(InputError, match=f"own:{function.__name__} raises {message}.* for the board ") as error:
            solve(BOARD, heuristic=function, algorithm=name, threads=2)
        board = str(error.value).split("for the board ")[1].split(":")[0]
        assert board.split()[4 if function is outside else 8] == "8"


@numba.njit
def outside_of_a_table(table, at):
    return table[at]


def test_indices_are_checked_in_functions_that_are_compiled_already():
    def calling_a_global(board, home):
        return outside_of_a_table(board.ravel(), 1000)

    in_a_closure = outside_of_a_table

    def calling_a_cell(board, home):
        return in_a_closure(board.ravel(), 1000)

    for function in (calling_a_global, calling_a_cell):
        with pytest.raises(InputError, match=f"own:{function.__name__} raises IndexError"):
            solve(BOARD, heuristic=function, algorithm="greedy")


def test_an_error_counts_on_whichever_board():
    """Of a function that is not declared admissible, no board is looked at again after the search."""

    def undeclared_outside(board, home):
        return outside(board, home)

    with pytest.raises(InputError, match="own:undeclared_outside raises IndexError"):
        solve(BOARD, heuristic=undeclared_outside, algorithm="greedy")
    with pytest.raises(InputError, match="own:undeclared_outside raises IndexError"):
        check_heuristic(undeclared_outside, "3x3")


# ---- what they refer to -------------------------------------------------------------------------

NUMBER = 3


def referring(board, home):
    return NUMBER


def test_values_are_those_of_the_time_of_the_call(monkeypatch):
    table, factor = np.arange(9), 1

    def looking_up(board, home):
        return factor * table[board[0, 0]] + 100 * NUMBER

    def calling(board, home):
        return referring(board, home)

    assert value(looking_up, BOARD, "last") == 308 and value(calling, BOARD, "last") == 3
    before = own.compiled(looking_up), own.compiled(calling)
    assert own.compiled(looking_up) is before[0], "nothing has changed, so it is not compiled again"
    table[8] = 9
    assert value(looking_up, BOARD, "last") == 309
    factor = 2
    assert value(looking_up, BOARD, "last") == 318
    monkeypatch.setattr("tests.test_own_functions.NUMBER", 4)
    assert value(looking_up, BOARD, "last") == 418
    assert value(calling, BOARD, "last") == 4, "what a function calls is compiled with it"
    assert own.compiled(calling).fingerprint != before[1].fingerprint


weights = types.ModuleType("my.weights")
weights.NUMBER, weights.shape = 3, 5
shape = weights


def test_values_in_a_module_are_refused_where_it_is_a_module_of_ones_own():
    of_a_cell = weights

    def by_module(board, home):
        return weights.NUMBER

    def by_cell(board, home):
        return of_a_cell.NUMBER

    def helped(board, home):
        return by_module(board, home)

    for function, place in ((by_module, "by_module.*weights"), (by_cell, "by_cell.*of_a_cell"), (helped, "by_module")):
        with pytest.raises(
            InputError, match=rf"own:{place}.*: import .* by name, as in 'from my\.weights import NAME'"
        ):
            value(function, BOARD, "last")

    def allowed(board, home):
        return len(board.shape) + int(np.sqrt(9))

    assert value(allowed, BOARD, "last") == 5, "an attribute is not the module of its name"


class Weight(enum.IntEnum):
    CORNER = 3


def test_the_fingerprint_covers_the_members_of_an_enumeration(monkeypatch):
    def by_name(board, home):
        return Weight.CORNER.value

    before = own.fingerprint_of(by_name)
    assert own.fingerprint_of(by_name) == before
    monkeypatch.setattr("tests.test_own_functions.Weight", enum.IntEnum("Weight", {"CORNER": 4}))
    assert own.fingerprint_of(by_name) != before


def test_a_function_that_is_compiled_already_is_welcome():
    compiled = heuristic(consistent=True)(numba.njit(by_hand))
    assert solve(BOARD, heuristic=compiled).generated == solve(BOARD, heuristic="manhattan").generated


def test_the_code_of_a_function_is_not_kept_in_files():
    value(by_hand, BOARD, "last")  # has the search compiled
    before = sorted(os.listdir(jit._folder))

    def another(board, home):
        return by_hand(board, home) + 12345 % 7

    assert value(another, BOARD, "last") == 25
    assert sorted(os.listdir(jit._folder)) == before


def test_a_journal_goes_on_with_the_same_function_only(tmp_path):
    board, journal = "6 2 4 9 / 12 5 14 3 / 10 1 8 15 / 13 11 7 0", tmp_path / "journal"
    whole = solve(board, heuristic=by_hand)
    part = solve(board, heuristic=by_hand, journal=journal, prove_at_least=34)
    assert part.stopped == "proven"
    rest = solve(board, heuristic=by_hand, journal=journal)
    assert (rest.tiles, rest.expanded, rest.generated) == (whole.tiles, whole.expanded, whole.generated)

    def changed():
        @heuristic(consistent=True)
        def by_hand(board, home):
            return np.abs(board).sum() * 0

        return by_hand

    with pytest.raises(InputError, match="journal of another search"):
        solve(board, heuristic=changed(), journal=journal)


def test_workers_of_a_cluster_do_not_have_them():
    prepared = own.prepare(by_hand, frame_of(Grid(3, 3), goal_board(Grid(3, 3))))
    with pytest.raises(InputError, match="own:by_hand is a function that workers do not have: leave out `cluster`"):
        wanted_for(Grid(3, 3), 0, prepared, None)


# ---- the check ----------------------------------------------------------------------------------


@heuristic(consistent=True)
def high(board, home):
    """Too high on a few boards."""
    return by_hand(board, home) + (8 if board[0, 0] == 3 and board[0, 1] == 2 else 0)


@pytest.mark.parametrize("grid", [Grid(2, 3), Grid(3, 2), Grid(2, 2), Grid(2, 3, True)], ids=str)
@pytest.mark.parametrize("goal", ["last", "spiral"])
def test_the_check_compares_with_the_true_distances(grid, goal):
    target = goal_board(grid, goal)
    distances = distances_to(grid, target)
    home = {tile: divmod(cell, grid.cols) for cell, tile in enumerate(target)}

    def by_definition(function, board):
        return function(np.array(board).reshape(grid.rows, grid.cols), np.array([home[tile] for tile in sorted(home)]))

    for function in (by_hand, around, high, undeclared, not_consistent):
        values = {board: by_definition(function, board) for board in distances}
        exceeding = [distance for board, distance in distances.items() if values[board] > distance]
        jumps = [
            distances[board]
            for board in distances
            if any(abs(values[board] - values[after]) > 1 for after in boards_after(grid, board))
        ]
        found = check_heuristic(function, grid, goal)
        assert (found.boards, found.goal) == (len(distances), target)
        assert found.admissible == (not exceeding) and found.consistent == (not exceeding and not jumps)
        assert found.mean == pytest.approx(np.mean(list(values.values())))
        assert found.mean_distance == pytest.approx(np.mean(list(distances.values())))
        if exceeding:
            board, shown, distance = found.too_high
            assert (shown, distance) == (values[board], distances[board]) and distance == min(exceeding) < shown
        if jumps:
            board, shown, after, shown_after = found.jump
            assert after in boards_after(grid, board) and distances[board] == min(jumps)
            assert (shown, shown_after) == (values[board], values[after]) and abs(shown - shown_after) > 1
        declared = own.claims_of(function)
        facts = found.admissible, found.consistent
        assert found.holds == all(fact or not claim for fact, claim in zip(facts, declared, strict=True))


@pytest.mark.parametrize("of_the_goal", [-3, 0, 1])
def test_the_check_and_searches_agree_on_the_value_of_the_goal(of_the_goal):
    @heuristic(consistent=True)
    def constant(board, home):
        return of_the_goal

    found = check_heuristic(constant, "2x2")
    assert found.holds == found.consistent == (of_the_goal <= 0)
    board, distance = max(distances_to(Grid(2, 2), found.goal).items(), key=lambda pair: pair[1])
    if found.holds:
        assert solve(list(board), shape="2x2", heuristic=constant, algorithm="bidirectional").length == distance
    else:
        with pytest.raises(InputError, match="it is 1 for the goal"):
            solve(list(board), shape="2x2", heuristic=constant, algorithm="bidirectional")


def test_the_check_in_words():
    found = check_heuristic(high, "2x3")
    assert not found.holds
    text = str(found).splitlines()
    assert text[0].startswith("own:high on 360 boards of 2x3: ") and text[1] == "not admissible, though declared so"
    assert any(line.startswith("too high: ") for line in text) and any(line.startswith("jump: ") for line in text)
    assert str(check_heuristic(by_hand, (2, 3))).splitlines()[1:] == [
        "admissible, as declared",
        "consistent, as declared",
    ]
    found = check_heuristic(undeclared, "2x3")
    assert found.holds and str(found).endswith("admissible, not declared so\nconsistent, not declared so")


@pytest.mark.parametrize("name", ["_list_after", "_evaluate", "_first_jump"])
def test_the_check_is_interrupted_between_two_pieces(name, monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    kernel, sizes = getattr(heuristic_check, name), []

    def interrupted(numbers, *others):
        sizes.append(numbers.size)
        if sum(sizes) >= 100:
            signal.raise_signal(signal.SIGINT)
        return kernel(numbers, *others)

    monkeypatch.setattr(heuristic_check, name, interrupted)
    monkeypatch.setattr(heuristic_check, "AT_ONCE", 50)
    try:
        with pytest.raises(KeyboardInterrupt):
            check_heuristic(by_hand, "2x3")
    finally:
        signal.signal(signal.SIGINT, before)
    assert max(sizes) <= 50 and sum(sizes[:-1]) < 100, "the first moment at which it can be"


@pytest.mark.parametrize("function", [high, by_hand])
def test_the_size_of_pieces_does_not_matter(function, monkeypatch):
    whole = check_heuristic(function, "2x3")
    monkeypatch.setattr(heuristic_check, "AT_ONCE", 7)
    assert check_heuristic(function, "2x3") == whole
    assert len(heuristic_check._board_of.signatures) == 1, "compiled once"


def test_the_check_is_for_small_shapes():
    for shape in ("3x4", "10x10"):
        with pytest.raises(InputError, match=r"too many to try all boards: .* at most 10, as in 3x3 or 2x5"):
            check_heuristic(by_hand, shape)
    assert check_heuristic(around, "3x3", wrap=True).boards == 362880


def test_a_function_that_finds_a_way_to_change_the_board_changes_a_copy():
    @heuristic(admissible=True)
    def scribbling(board, home):
        moves = by_hand(board, home)
        board.flat[0] = board.flat[1]  # which numba does not notice
        home.flat[3] = 7
        return moves

    for algorithm in ("ida-star", "a-star"):
        for board in ("1 2 3 / 5 4 6 / 0 8 7", "2 1 3 / 4 5 6 / 8 7 0"):
            expected = solve(board, heuristic="manhattan", algorithm=algorithm)
            found = solve(board, heuristic=scribbling, algorithm=algorithm)
            assert (found.length, found.expanded) == (expected.length, expected.expanded)
    assert check_heuristic(scribbling, "2x3").holds


def test_a_function_that_calls_itself_is_refused():
    def deeper(board, home, depth):
        return 0 if depth < 0 else deeper(board, home, depth + 1)

    def endless(board, home):
        return deeper(board, home, 0)

    with pytest.raises(InputError, match="own:deeper calls itself, and might never end: write a loop"):
        solve("1 2 3 / 4 5 6 / 0 7 8", heuristic=heuristic(admissible=True)(endless))


def test_limits_hold_for_a_function_that_is_not_what_it_is_declared_to_be():
    @heuristic(admissible=True)
    def exaggerating(board, home):
        moves = by_hand(board, home)
        return moves if (moves >= 4 and board[2, 0] == 0) or moves == 0 else 5 * moves

    with contextlib.suppress(InputError):  # if that is noticed on the way
        found = solve("1 2 3 / 5 4 6 / 0 8 7", heuristic=exaggerating, direction="forward", node_limit=60)
        assert found.stopped
