"""IDA* from the better end and from both: no solution is missed, whatever thresholds, filter and automaton are."""

import json
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from pdb_builder import NAMED, Grid, Spec, open_database
from pdb_builder.base.errors import DatabaseError, InputError
from solver import solving
from solver.frame import frame_of
from solver.heuristics import linear_conflict, manhattan, pattern_database, uninformed
from solver.search import board_filter, two_ended
from solver.search.board_filter import is_in, new_filter, pair_words, put_in
from solver.search.outcome import Limits, Problem, Pruning, unreported
from solver.search.rank_files import packaged_rank
from solver.search.split import Visits, best_thresholds
from solver.search.two_ended import BACKWARD, FORWARD, SIDES, _Ends

from .helpers import boards_along, cut_small_trees, korf_in_order, length, of_homes, scrambled, searched
from .oracle import board_distances, solvable_boards

pytestmark = pytest.mark.jit


def ends_of(grid, blank, board, prepare, threads=1, pruning=2, memory=None):
    """Both trees of a board, ready to meet."""
    problem = Problem(
        grid,
        blank,
        board,
        prepare(grid, blank),
        backward=lambda grid, blank, *_: prepare(grid, blank),
        pruning=Pruning(pruning, pruning),
    )
    ends = _Ends(problem, threads, Limits(memory=memory), unreported)
    assert ends.open_the_other(ends.outcome.lower_bound, None)
    return ends


def splits(ends, bound):
    """All pairs of thresholds that make a difference."""
    together = 2 * bound - 1
    for threshold in range(ends.trees[FORWARD].value - 1, together - ends.trees[BACKWARD].value + 2):
        yield {FORWARD: threshold, BACKWARD: together - threshold}


def check_meetings(ends, distance, few=None):
    """At every pair of thresholds, lengths without a solution are refuted, and that of a shortest one is found."""
    problem, outcome = ends.problem, ends.outcome
    first = max(tree.value for tree in ends.trees.values())
    for bound in {problem.at_least(first), distance - ends.step, distance}:
        if not first <= bound <= distance:
            continue
        pairs = list(splits(ends, bound))
        for thresholds in pairs if few is None else random.Random(bound).sample(pairs, min(few, len(pairs))):
            outcome.paths = []
            ends.meet(bound, thresholds)
            assert bool(outcome.paths) == (bound == distance), (bound, distance, thresholds)
            for path in outcome.paths:
                assert len(path) - 1 == bound
                assert boards_along(problem.grid, problem.start, path)[-1] == problem.grid.goal(problem.blank)


GRIDS = [Grid(2, 3), Grid(2, 4), Grid(3, 3), Grid(2, 3, True), Grid(2, 4, True), Grid(3, 3, True)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("pruning", [2, 12])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_no_solution_is_missed_whatever_the_thresholds(grid, pruning):
    """Also with odd sides, where a move may leave a value as it is, and with an automaton on each side."""
    blanks = {0, 1, grid.cells // 2}
    for blank in blanks:
        distances = board_distances(grid, blank)
        boards = [board for board in solvable_boards(grid, blank) if distances[board]]
        for board in random.Random(blank).sample(boards, 12):
            for prepare in (manhattan.prepare, uninformed.prepare):
                if prepare is uninformed.prepare and distances[board] > 14:
                    continue
                ends = ends_of(grid, blank, board, prepare, pruning=pruning)
                check_meetings(ends, distances[board], few=6)


@pytest.mark.exhaustive
@pytest.mark.parametrize("prepare", [manhattan.prepare, linear_conflict.prepare], ids=["manhattan", "linear-conflict"])
def test_every_board_of_2x3_is_solved_from_both_ends(prepare):
    grid = Grid(2, 3)
    for blank in range(grid.cells):
        distances = board_distances(grid, blank)
        for board in solvable_boards(grid, blank)[:: 3 if blank else 1]:
            outcome = searched("ida-star", grid, blank, board, prepare(grid, blank), backward=prepare, both_ends="on")
            assert length(outcome) == outcome.lower_bound == distances[board]


@pytest.mark.slow
@pytest.mark.parametrize("grid", [*GRIDS[:2], *GRIDS[3:5]], ids=str)
def test_every_board_and_every_goal_at_random_thresholds(grid):
    for blank in range(grid.cells):
        distances = board_distances(grid, blank)
        for board in solvable_boards(grid, blank):
            if distances[board]:
                ends = ends_of(grid, blank, board, manhattan.prepare, pruning=10)
                check_meetings(ends, distances[board], few=1)


@pytest.mark.slow
def test_korfs_boards_from_both_ends():
    for one in korf_in_order()[:80]:
        outcome = either_way(Grid(4, 4), 0, one.board, manhattan.prepare, threads=2, both_ends="on")
        assert length(outcome) == outcome.lower_bound == one.length


@pytest.mark.exhaustive
@pytest.mark.parametrize("threads", [1, 2])
def test_tiny_filters_and_threads_change_nothing_but_the_time(threads, monkeypatch):
    """A filter of a single word takes nearly every board for one of the other side."""
    monkeypatch.setattr(board_filter, "LEAST", 1)
    cut_small_trees(monkeypatch)
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    for board in random.Random(5).sample(solvable_boards(grid, 0), 8):
        for pruning in (2, 14):
            ends = ends_of(grid, 0, board, manhattan.prepare, threads, pruning, memory=8)
            check_meetings(ends, distances[board], few=3)


def test_perfect_and_several_sums(database_of):
    """With a perfect heuristic, with a collection of many sums, and with both on 4x4 boards of some difficulty."""
    grid = Grid(3, 3)
    perfect = of_homes(database_of, grid, (tuple(range(1, 9)),))
    distances = board_distances(grid, 0)
    for board in random.Random(6).sample(solvable_boards(grid, 0), 20):
        check_meetings(ends_of(grid, 0, board, perfect), distances[board], few=3)


COLLECTION = (
    *(((1, 2, 3, 4), (5, 6, 7, 8)), ((1, 2, 5, 6), (3, 4, 7, 8)), ((1, 3, 5, 7), (2, 4, 6, 8))),
    *(((1, 4, 6, 7), (2, 3, 5, 8)), ((1, 2, 7, 8), (3, 4, 5, 6))),
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("pruning", [2, 14])
def test_collections_whose_thresholds_go_by_one_sum(pruning, database_of):
    """Moves are judged by all sums, and the thresholds by the first alone: of both sides the same one."""
    grid = Grid(3, 3)
    many = of_homes(database_of, grid, COLLECTION)
    assert many(grid, 0).bounded and many(grid, 0).first_part().parts == 1
    distances = board_distances(grid, 0)
    for board in random.Random(7).sample(solvable_boards(grid, 0), 25):
        check_meetings(ends_of(grid, 0, board, many, pruning=pruning), distances[board], few=4)


def test_a_filter_that_forgets_is_noticed(monkeypatch):
    """The test of the tests: with random bits cleared after the first side, solutions are missed."""
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    iterate, chance = _Ends.iterate, np.random.default_rng(1)

    def forgetful(ends, side, bound, most=None, meeting=None):
        found = iterate(ends, side, bound, most, meeting)
        if meeting and meeting.role == two_ended.PUT_IN:
            meeting.filter_words[:] &= chance.integers(-(2**63), 2**63, meeting.filter_words.size)
        return found

    monkeypatch.setattr(_Ends, "iterate", forgetful)
    with pytest.raises(AssertionError):
        for board in random.Random(5).sample(solvable_boards(grid, 0), 10):
            check_meetings(ends_of(grid, 0, board, manhattan.prepare), distances[board], few=3)


def test_thresholds_that_leave_a_gap_are_noticed():
    """Less than they should be together, and there are boards that neither side visits."""
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    missed = 0
    for board in random.Random(5).sample(solvable_boards(grid, 0), 10):
        ends = ends_of(grid, 0, board, manhattan.prepare)
        for thresholds in splits(ends, distances[board]):
            ends.outcome.paths = []
            ends.meet(distances[board], thresholds | {BACKWARD: thresholds[BACKWARD] - 2})
            missed += not ends.outcome.paths
    assert missed


# ---- the search ---------------------------------------------------------------------------------


def either_way(grid, blank, board, prepare, **options):
    return searched("ida-star", grid, blank, board, prepare(grid, blank), backward=prepare, **options)


def test_a_search_goes_on_from_the_better_end(monkeypatch):
    monkeypatch.setattr(two_ended, "SMALL", 1_000)
    chosen = set()
    for one in korf_in_order()[:12]:
        grid = Grid(4, 4)
        plain = either_way(grid, 0, one.board, manhattan.prepare)
        outcome = either_way(grid, 0, one.board, manhattan.prepare, direction="auto")
        assert length(outcome) == length(plain) == one.length
        tried = [it for it in outcome.iterations if it.side == BACKWARD]
        assert tried and outcome.why
        chosen.add([it.side for it in outcome.iterations if it.side in SIDES][-1])
    assert chosen == {FORWARD, BACKWARD}


@pytest.mark.parametrize("options", [{"direction": "backward"}, {"both_ends": "on"}, {"direction": "auto"}], ids=str)
def test_korfs_boards_from_the_other_end_and_from_both(options, monkeypatch):
    monkeypatch.setattr(two_ended, "MANY", 100_000)
    for one in korf_in_order()[:8]:
        outcome = either_way(Grid(4, 4), 0, one.board, manhattan.prepare, threads=2, **options)
        assert length(outcome) == outcome.lower_bound == one.length


def test_an_incumbent_spares_the_last_iteration(monkeypatch):
    monkeypatch.setattr(two_ended, "LONG", 1_000)
    monkeypatch.setattr(two_ended, "BEAM_SHARE", 50)
    one = korf_in_order()[20]
    told = []
    outcome = either_way(
        Grid(4, 4), 0, one.board, manhattan.prepare, direction="auto", progress=lambda it: told.append(it.length)
    )
    assert length(outcome) == outcome.lower_bound == one.length == outcome.incumbents[-1].length
    assert max(it.bound for it in outcome.iterations) < one.length
    assert told[0] is None and told[-1] == one.length


def test_a_stopped_search_has_the_incumbent_and_the_bound(monkeypatch):
    monkeypatch.setattr(two_ended, "LONG", 1_000)
    board = korf_in_order()[-1].board
    for limits in (Limits(nodes=600_000), Limits(nodes=2_000_000)):
        outcome = either_way(Grid(4, 4), 0, board, manhattan.prepare, direction="auto", limits=limits)
        assert outcome.stopped == "nodes" and outcome.suboptimality_bound is None
        assert outcome.generated < 1.5 * limits.nodes + 500_000
        assert 40 < outcome.lower_bound < length(outcome)


@pytest.mark.parametrize("both_ends", ["off", "on"])
def test_an_upper_bound_ends_the_search(both_ends):
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    for board in random.Random(9).sample([one for one in solvable_boards(grid, 0) if distances[one] > 20], 5):
        for bound in (distances[board], distances[board] - 5):
            outcome = either_way(grid, 0, board, manhattan.prepare, upper_bound=bound, both_ends=both_ends)
            assert not outcome.paths and outcome.stopped == "upper-bound"
            assert bound <= outcome.lower_bound <= distances[board]
        outcome = either_way(grid, 0, board, manhattan.prepare, upper_bound=distances[board] + 1, both_ends=both_ends)
        assert length(outcome) == distances[board]


def test_a_better_estimate_from_the_goal_raises_the_bound(database_of):
    """Before anything is searched from there: no tree is searched below the value of its start."""
    grid = Grid(3, 3)
    weak, strong = ((1, 2), (3, 4), (5, 6), (7, 8)), (tuple(range(1, 9)),)
    databases = {0: Spec(grid, weak, 0, "bits"), 1: Spec(grid, strong, 1, "bits")}
    distances = board_distances(grid, 0)

    def prepare(grid, blank):
        return pattern_database.prepare(grid, blank, open_database(database_of(databases[blank])))

    boards = [one for one in solvable_boards(grid, 0) if distances[one] == 27 and frame_of(grid, one).blank == 1]
    for board in boards[:6]:
        for options in ({"both_ends": "on"}, {"direction": "backward"}):
            outcome = either_way(grid, 0, board, prepare, **options)
            assert length(outcome) == outcome.lower_bound == 27
            assert {one.bound for one in outcome.iterations if one.side == BACKWARD} <= {27}


def test_an_inconsistent_way_back_is_not_met(database_of, monkeypatch):
    """A bytes database, which may be all there is for the other end."""
    monkeypatch.setattr(two_ended, "SMALL", 10)
    monkeypatch.setattr(two_ended, "MANY", 10)
    grid, partition = Grid(3, 3), ((1, 3, 6, 8), (2, 4, 5, 7))
    databases = {0: Spec(grid, partition, 0, "bits"), 1: Spec(grid, partition, 1, "bytes")}
    distances = board_distances(grid, 0)

    def prepare(grid, blank):
        return pattern_database.prepare(grid, blank, open_database(database_of(databases[blank])))

    for board in ((5, 0, 4, 3, 7, 2, 6, 1, 8), (2, 3, 7, 5, 1, 0, 8, 4, 6)):
        outcome = either_way(grid, 0, board, prepare, direction="auto", both_ends="auto")
        assert length(outcome) == distances[board] and not any(one.meets for one in outcome.iterations)
        with pytest.raises(InputError, match="needs consistent heuristics"):
            either_way(grid, 0, board, prepare, direction="auto", both_ends="on")


def test_all_threads_take_part_in_a_meeting_after_iterations_from_one_end(monkeypatch):
    cut_small_trees(monkeypatch)
    grid, board = Grid(4, 4), korf_in_order()[2].board
    ends = ends_of(grid, 0, board, manhattan.prepare, threads=3)
    bound = ends.outcome.lower_bound
    ends.try_both(bound, None)
    for later in (bound + 2, bound + 4):
        ends.iterate(FORWARD, later)
        ends.iterate(BACKWARD, later)
    ends.meet(bound + 6, ends.thresholds(bound + 6))
    for tree in ends.trees.values():
        assert len(tree.workers) == 3 and all(worker.opposite for worker in tree.workers)
        (last,) = (one for one in ends.outcome.iterations[-2:] if one.side == tree.side)
        assert tree.visited().sum() == last.expanded - 1
        assert tree.meeting is None and all(worker.opposite.filter_words.size == 1 for worker in tree.workers)


def test_a_beam_knows_the_upper_bound_and_its_boards_are_counted(monkeypatch):
    monkeypatch.setattr(two_ended, "LONG", 1_000)
    monkeypatch.setattr(two_ended, "BEAM_SHARE", 5)
    one = korf_in_order()[20]
    for bound, stopped in ((one.length, "upper-bound"), (one.length - 4, "upper-bound"), (one.length + 1, None)):
        outcome = either_way(Grid(4, 4), 0, one.board, manhattan.prepare, direction="auto", upper_bound=bound)
        assert outcome.stopped == stopped and bool(outcome.paths) == (stopped is None)
        assert any(it.side == "beam" for it in outcome.iterations)
        assert outcome.expanded == sum(it.expanded for it in outcome.iterations)
        assert outcome.generated == 1 + sum(it.generated for it in outcome.iterations)


def test_a_beam_ranks_as_the_package_has_learned_and_classically_if_that_is_damaged(monkeypatch):
    monkeypatch.setattr(two_ended, "LONG", 1_000)
    monkeypatch.setattr(two_ended, "BEAM_SHARE", 5)
    one, shorten, ranks, remarks = korf_in_order()[20], two_ended.beam.shorten, [], []

    def spy(problem, *rest, **options):
        ranks.append(problem.weights)
        return shorten(problem, *rest, **options)

    def damaged():
        raise DatabaseError("rank.h5 is damaged: install slidepdb again")

    monkeypatch.setattr(two_ended.beam, "shorten", spy)
    pruning = Pruning(notify=remarks.append)
    outcomes = [either_way(Grid(4, 4), 0, one.board, manhattan.prepare, direction="auto", pruning=pruning)]
    learned = [*ranks]
    assert learned and all(rank is packaged_rank().weights for rank in learned) and not remarks
    monkeypatch.setattr(two_ended, "packaged_rank", damaged)
    outcomes.append(either_way(Grid(4, 4), 0, one.board, manhattan.prepare, direction="auto", pruning=pruning))
    assert set(ranks[len(learned) :]) == {None} and "not used: rank.h5 is damaged" in remarks[0]
    assert [length(outcome) for outcome in outcomes] == [one.length] * 2


# ---- what people see ----------------------------------------------------------------------------

BOARD = "6 2 4 9 / 12 5 14 3 / 10 1 8 15 / 13 11 7 0"


def test_the_text_says_from_which_end_and_why(run):
    code, output, errors = run("solve", BOARD, "--heuristic", "manhattan", "--both-ends", "on")
    assert (code, errors) == (0, "") and "38 moves, proven shortest" in output
    why = r"^the last bound was searched from both ends: bound \d+ took [\d,]+ boards from the start and"
    assert re.search(why, output, re.MULTILINE)
    assert re.search(r"^ +38 .*  start, to meet the other$", output, re.MULTILINE)
    back = run("solve", BOARD, "--heuristic", "manhattan", "--direction", "backward")[1]
    assert "\nthe last bound was searched from the goal\n" in back and "  from" not in back
    forward = run("solve", BOARD, "--heuristic", "manhattan", "--direction", "forward")[1]
    assert "the last bound" not in forward and "  from" not in forward


def test_json_names_the_direction_and_the_sides(run):
    record = json.loads(run("solve", BOARD, "--heuristic", "manhattan", "--both-ends", "on", "--json")[1])
    assert (record["direction"], record["length"], record["optimal"]) == ("both", 38, True) and record["why"]
    assert {(one["side"], one["meets"]) for one in record["iterations"][4:]} == {("forward", True), ("backward", True)}
    record = json.loads(run("solve", BOARD, "--heuristic", "manhattan", "--order", "fixed", "--json")[1])
    assert (record["direction"], record["why"]) == ("forward", None)


def test_an_upper_bound_without_a_shorter_solution_is_a_bound(run):
    code, output, errors = run("solve", BOARD, "--heuristic", "manhattan", "--upper-bound", "38", "--quiet")
    assert (code, output) == (3, "") and "no solution has fewer than 38 moves" in errors


def test_what_was_to_be_proven_counts_before_the_upper_bound(run):
    words = ("--heuristic", "manhattan", "--upper-bound", "20", "--prove-at-least", "30")
    code, output, _ = run("solve", BOARD, *words)
    assert code == 0 and "at least" in output and "proven" in output


def test_an_end_that_was_given_up_is_not_where_the_search_went_on(monkeypatch):
    """The way back has no heuristic, so it is hopeless."""
    monkeypatch.setattr(two_ended, "SMALL", 1000)
    board = korf_in_order()[3].board
    outcome = searched(
        "ida-star",
        Grid(4, 4),
        0,
        board,
        manhattan.prepare(Grid(4, 4), 0),
        backward=uninformed.prepare,
        direction="auto",
    )
    (given_up,) = (one for one in outcome.iterations if one.given_up)
    assert given_up.side == "backward" and "takes more than" in outcome.why
    assert solving._direction(outcome) == "forward" and length(outcome) == korf_in_order()[3].length


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--both-ends on --direction forward", "--both-ends on and --direction forward exclude each other: leave out"),
        ("--all --both-ends on", "all solutions are found from the start alone, one by one: leave out --both-ends"),
        ("--all --upper-bound 50", "all solutions are found from the start alone, one by one: leave out --upper-bound"),
        ("--algorithm a-star --direction forward", "a-star has no choice of direction: leave out --direction"),
        ("--algorithm dfs --both-ends on", "dfs has no choice of ends: leave out --both-ends, or use ida-star"),
        ("--algorithm beam --upper-bound 4", "beam has no upper bound: leave out --upper-bound, or use ida-star"),
    ],
)
def test_refusals_are_one_line(run, words, message):
    code, output, errors = run("solve", BOARD, *words.split())
    assert (code, output) == (2, "") and message in errors and len(errors.splitlines()) == 1, errors


def test_inconsistent_heuristics_are_refused_with_the_reason(run, database_of, databases):
    path = database_of(Spec(Grid(3, 3), ((1, 2, 3, 4), (5, 6, 7, 8)), 0, "bytes"))
    words = ("solve", "8 6 7 / 2 5 4 / 3 0 1", "--goal", "first", "--heuristic", f"pdb:{path}")
    for more in (("--both-ends", "on"), ("--algorithm", "bidirectional")):
        code, output, errors = run(*words, *more)
        assert (code, output) == (2, "") and len(errors.splitlines()) == 1, errors
        assert "needs a consistent heuristic, one that no move changes by more than one" in errors
    assert run(*words)[0] == 0  # by itself, it searches from one end


def test_the_database_for_the_way_back_is_built_once(run, database_of, databases):
    shutil.copy(database_of(Spec(Grid(3, 3), NAMED["3x3-8"])), databases)
    words = ("solve", "8 6 7 / 2 5 4 / 3 0 1", "--goal", "first", "--both-ends", "on", "--json")
    first, again = run(*words), run(*words)
    assert first[0] == again[0] == 0 and json.loads(first[1])["length"] == 27
    assert re.match(r"building .*3x3-8-blank1\.h5, once, to search from the goal to the start as well\n$", first[2])
    assert again[2] == ""
    assert {Path(one["path"]).stem for one in json.loads(again[1])["databases"]} == {"3x3-8", "3x3-8-blank1"}


def test_methods_of_compare_can_choose_their_ends(run):
    words = ("compare", "--random", "3x3", "-n", "3", "--heuristics", "manhattan", "--json", "--algorithms")
    methods = "ida-star,ida-star:direction=auto,ida-star:both-ends=on,ida-star:direction=backward"
    code, output, errors = run(*words, methods)
    record = json.loads(output)
    assert code == 0 and len({cell["length"] for cell in record["cells"] if cell["instance"] == 1}) == 1
    expanded = [method["expanded"] for method in record["methods"]]
    assert expanded[0] == expanded[1] != expanded[2] != expanded[3]
    code, _, errors = run(*words, "ida-star:both-ends=sideways")
    assert code == 2 and "unknown both_ends 'sideways': use auto or on or off" in errors


# ---- filter and split ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:overflow")  # which is meant
def test_a_filter_knows_what_was_put_in():
    words, chance = new_filter(10_000, 10**9), random.Random(3)
    put = [(chance.getrandbits(63), chance.randrange(100)) for _ in range(10_000)]
    for key, moves in put:
        put_in(words, np.int64(key), moves)
    assert all(is_in(words, np.int64(key), moves) for key, moves in put)
    others = sum(bool(is_in(words, np.int64(chance.getrandbits(63)), 50)) for _ in range(100_000))
    assert others < 600  # one in 300, and chance
    assert not any(is_in(new_filter(10, 10**9), np.int64(key), moves) for key, moves in put)


def test_a_board_has_the_same_key_in_every_frame():
    grid, chance = Grid(4, 4), random.Random(2)
    board = scrambled(grid, grid.goal(0), 40, chance)
    frame = frame_of(grid, scrambled(grid, grid.goal(0), 41, chance))
    plain = frame._replace(cells=tuple(range(16)), tiles=tuple(range(16)))

    def key(words, board):
        return np.bitwise_xor.reduce([words[tile * 16 + cell] for cell, tile in enumerate(board)])

    assert key(pair_words(plain), board) == key(pair_words(frame), frame.enter(board))
    assert key(pair_words(plain), board) != key(pair_words(plain), grid.goal(0))


def test_predictions_grow_column_by_column():
    visits = Visits(2)
    for bound, counts in ((20, {18: 100, 20: 50}), (22, {20: 400, 22: 100})):
        histogram = np.zeros(100, dtype=np.int64)
        histogram[list(counts)] = list(counts.values())
        visits.note(bound, histogram)
    assert visits.predicted(22) == 500 and visits.predicted(22, 20) == 400
    assert visits.predicted(24) == 1600 + 200 and visits.predicted(24, 22) == 1600
    partly = np.zeros(100, dtype=np.int64)
    partly[22] = 1000
    visits.note(24, partly, 22)
    assert visits.predicted(24) == 1000 + 200  # of the other column nothing new is known


def test_the_best_thresholds_balance_both_sides():
    sides = []
    for size in (1, 10):
        visits, histogram = Visits(2), np.zeros(200, dtype=np.int64)
        histogram[20:60:2] = [size * 3**step for step in range(20)]
        visits.note(40, histogram)
        sides.append(visits)
    forward, backward = best_thresholds(40, (20, 20), tuple(sides))
    assert forward + backward == 79 and forward > backward
    choices = [sides[0].predicted(40, t) + sides[1].predicted(40, 79 - t) for t in range(18, 80)]
    assert sides[0].predicted(40, forward) + sides[1].predicted(40, backward) == min(choices)
