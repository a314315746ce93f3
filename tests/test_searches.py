"""Searches: solutions as good as guaranteed, node counts as published, and limits kept."""

import random
import threading
import time

import pytest

from pdb_builder import NAMED, Grid, Spec, open_database
from solver.heuristics import hamming, inversions, linear_conflict, manhattan, maximum, pattern_database
from solver.instances import load_set
from solver.search import SEARCHES, best_first, bundled, tree
from solver.search.outcome import Limits

from .helpers import (
    HARD,
    boards_along,
    check_length,
    check_threads_change_nothing,
    cut_small_trees,
    korf_in_order,
    length,
    scrambled,
    searched,
)
from .oracle import board_distances, count_shortest_solutions, distances_to, solvable_boards

pytestmark = pytest.mark.jit

ALL = [pytest.param(name, marks=pytest.mark.beam if name == "beam" else ()) for name in SEARCHES]
# Slow searches are tried on every nth board.
EVERY_NTH = dict.fromkeys(SEARCHES, 4) | {"ida-star": 1, "bidirectional": 8, "beam": 40}
EVERY_NTH |= {name: 20 for name, search in SEARCHES.items() if search.uninformed}


def all_kinds(grid, blank, database_of, *specs):
    """A heuristic of every kind: the simple ones, one per (partition, encoding), and a maximum."""
    kinds = [manhattan.prepare(grid, blank)]
    for partition, encoding in specs:
        database = open_database(database_of(Spec(grid, partition, blank, encoding)))
        kinds.append(pattern_database.prepare(grid, blank, database))
    if not grid.wrap:
        kinds.append(linear_conflict.prepare(grid, blank))
    return [*kinds, maximum.prepare(kinds[1], kinds[-1])] if specs else kinds


def kinds_for(name, kinds):
    """The kinds to try a search with: all with IDA*, and none with an uninformed search.

    The loops of the other searches do the same with every kind: one of a single part and one of several will do.
    """
    return kinds if name == "ida-star" else kinds[:1] if SEARCHES[name].uninformed else kinds[:2]


SPECS_3X3 = [
    (NAMED["3x3-4-4"], "bits"),  # of two parts
    (NAMED["3x3-8"], "bits"),
    (((1, 2, 3, 4, 5), (6, 7, 8)), "bytes"),
]


# ---- lengths ------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2)])
@pytest.mark.parametrize("name", ALL)
def test_every_small_board_and_every_goal(name, shape, database_of):
    grid = Grid(*shape)
    for blank in range(grid.cells):
        distances = board_distances(grid, blank)
        tiles = tuple(range(1, grid.cells))
        specs = [((tiles[:2], tiles[2:]), "bits"), ((tiles,), "bytes")] if blank in (0, grid.cells - 1) else []
        for heuristic in kinds_for(name, all_kinds(grid, blank, database_of, *specs)):
            for board in list(distances)[:: 1 if SEARCHES[name].uninformed else EVERY_NTH[name]]:
                check_length(name, searched(name, grid, blank, board, heuristic), distances[board])


@pytest.mark.exhaustive
@pytest.mark.parametrize("blank", [0, 1, 4])
@pytest.mark.parametrize("name", ALL)
def test_some_boards_of_3x3(name, blank, database_of):
    check_3x3(name, blank, database_of, step=907 if blank == 0 else 2711)


@pytest.mark.slow
@pytest.mark.parametrize("blank", [0, 1, 4])
@pytest.mark.parametrize("name", ALL)
def test_every_board_of_3x3(name, blank, database_of):
    """All 181,440 boards, or every nth, with the blank's home in a corner; every eleventh with the other homes."""
    check_3x3(name, blank, database_of, step=1 if blank == 0 else 11)


def check_3x3(name, blank, database_of, step):
    grid = Grid(3, 3)
    distances = board_distances(grid, blank)
    assert len(distances) == 181_440 and max(distances.values()) == (30 if blank == 4 else 31)
    for heuristic in kinds_for(name, all_kinds(grid, blank, database_of, *SPECS_3X3)):
        for board in solvable_boards(grid, blank)[:: step * EVERY_NTH[name]]:
            check_length(name, searched(name, grid, blank, board, heuristic), distances[board])


@pytest.mark.exhaustive
@pytest.mark.parametrize("grid", [Grid(3, 3, True), Grid(2, 4, True), Grid(2, 3, True)], ids=str)
@pytest.mark.parametrize("name", ALL)
def test_wrapped_boards(name, grid, database_of):
    """With an odd side a move may leave the value as it is, and bounds rise by one."""
    distances = board_distances(grid, 0)
    half = grid.cells // 2
    partition = (tuple(range(1, half)), tuple(range(half, grid.cells)))
    specs = [(partition, "bytes")] if name == "ida-star" else []
    for heuristic in all_kinds(grid, 0, database_of, *specs):
        for board in solvable_boards(grid, 0)[:: EVERY_NTH[name] * (1 + len(distances) // 80)]:
            check_length(name, searched(name, grid, 0, board, heuristic), distances[board])


@pytest.mark.beam
def test_searches_and_heuristics_agree_on_larger_boards(database_of):
    chance = random.Random(4)
    for grid, blank, partition in [
        (Grid(4, 4), 0, NAMED["4x4-5-5-5"]),
        (Grid(4, 4), 5, NAMED["4x4-5-5-5"]),
        (Grid(3, 5), 0, ((1, 2, 3, 5, 6, 7), (4, 8, 9, 12, 13, 14), (10, 11))),
    ]:
        kinds = all_kinds(grid, blank, database_of, (partition, "bits"), (partition, "bytes"))
        for _ in range(3):
            board = scrambled(grid, grid.goal(blank), 45, chance)
            proven, *others = (searched("ida-star", grid, blank, board, heuristic) for heuristic in kinds)
            assert {length(outcome) for outcome in others} == {length(proven)}
            for name, search in SEARCHES.items():
                if not search.uninformed:
                    heuristic = linear_conflict.prepare(grid, blank) if name == "beam" else kinds[1]
                    check_length(name, searched(name, grid, blank, board, heuristic), length(proven))


# ---- node counts --------------------------------------------------------------------------------


def textbook_ida_star(grid, blank, board, heuristic):
    """IDA* as it is taught: the counts of each iteration, [(bound, expanded, generated)]."""
    goal = grid.goal(blank)
    iterations = []
    bound = max(heuristic.measure(board))

    def visit(now, hole, last, depth):
        nonlocal expanded, generated, least
        if now == goal:
            return True
        expanded += 1
        for cell in grid.neighbours[hole]:
            if cell != last:
                generated += 1
                after = list(now)
                after[hole], after[cell] = after[cell], 0
                total = depth + 1 + max(heuristic.measure(after))
                if total > bound:
                    least = min(least, total)
                elif visit(tuple(after), cell, hole, depth + 1):
                    return True
        return False

    while True:
        expanded, generated, least = 0, 0, 10**9
        done = visit(board, board.index(0), None, 0)
        iterations.append((bound, expanded, generated))
        if done:
            return iterations
        bound = least


def counts(outcome):
    """The counts of each iteration: bound, expanded and generated."""
    return [tuple(iteration[:3]) for iteration in outcome.iterations]


@pytest.fixture(params=[False, True], ids=["whole", "cut"])
def cut_early(request, monkeypatch):
    """Without and with a tree that is cut into subtrees even in small searches."""
    if request.param:
        cut_small_trees(monkeypatch)


def test_counts_are_those_of_the_textbook(cut_early, database_of):
    grid = Grid(3, 3)
    boards = random.Random(8).sample(solvable_boards(grid, 0), 4)
    for heuristic in all_kinds(grid, 0, database_of, SPECS_3X3[0], SPECS_3X3[2]):
        for board in boards:
            expected = textbook_ida_star(grid, 0, board, heuristic)
            for threads in (1, 3):
                outcome = searched("ida-star", grid, 0, board, heuristic, threads=threads)
                assert counts(outcome) == expected
                assert outcome.generated == 1 + sum(generated for _, _, generated in expected)
                assert outcome.expanded == sum(expanded for _, expanded, _ in expected)


@pytest.mark.parametrize("by_value", [False, True])
def test_threads_of_ida_star_change_neither_the_solution_nor_the_counts(by_value, monkeypatch, database_of):
    cut_small_trees(monkeypatch)
    grid, chance = Grid(4, 4), random.Random(2)
    for heuristic in all_kinds(grid, 0, database_of, (NAMED["4x4-5-5-5"], "bits")):
        board = scrambled(grid, grid.goal(0), 50, chance)
        alone, *others = (
            searched("ida-star", grid, 0, board, heuristic, threads=threads, by_value=by_value) for threads in (1, 2, 5)
        )
        for other in others:
            assert other.paths == alone.paths
            assert counts(other) == counts(alone)


def test_the_order_of_moves_matters_in_the_last_iteration_only(database_of):
    grid = Grid(4, 4)
    _, _, instances = load_set("korf100")
    database = open_database(database_of(Spec(grid, NAMED["4x4-6-6-3"])))
    heuristic = pattern_database.prepare(grid, 0, database)
    for one in instances[:3]:
        fixed, ordered = (
            searched("ida-star", grid, 0, one.board, heuristic, by_value=by_value, threads=2)
            for by_value in (False, True)
        )
        assert length(fixed) == length(ordered) == one.length
        assert counts(fixed)[:-1] == counts(ordered)[:-1]


def check_korf(one, threads):
    grid = Grid(4, 4)
    outcome = searched("ida-star", grid, 0, one.board, manhattan.prepare(grid, 0), threads=threads)
    assert (length(outcome), outcome.generated) == (one.length, one.generated)


def test_manhattan_counts_of_korfs_twenty_cheapest_boards():
    for one in korf_in_order()[:20]:
        check_korf(one, threads=2)


@pytest.mark.slow
def test_manhattan_counts_of_all_of_korfs_boards():
    assert sum(one.generated for one in korf_in_order()) == 36_302_808_031
    for one in korf_in_order():
        check_korf(one, threads=2)


@pytest.mark.exhaustive
def test_lengths_of_all_of_korfs_boards(database_of):
    grid = Grid(4, 4)
    heuristic = pattern_database.prepare(grid, 0, open_database(database_of(Spec(grid, NAMED["4x4-7-8"]))))
    outcomes = [
        searched("ida-star", grid, 0, one.board, heuristic, threads=2, by_value=True) for one in korf_in_order()
    ]
    assert [length(outcome) for outcome in outcomes] == [one.length for one in korf_in_order()]
    assert sum(outcome.generated for outcome in outcomes) / 100 < 20_300


@pytest.mark.slow
def test_the_farthest_boards_take_80_moves(database_of):
    grid, _, instances = load_set("farthest")
    database = open_database(database_of(Spec(grid, NAMED["4x4-7-8"])))
    heuristic = pattern_database.prepare(grid, 0, database)
    assert len(instances) == 17
    for one in instances:
        board = half_turn(one.board)  # the blank's home is then the first cell
        assert length(searched("ida-star", grid, 0, board, heuristic, threads=2)) == 80


def half_turn(board):
    """A board turned upside down, with its tiles renumbered so that the order of the goal is kept."""
    return tuple((len(board) - tile) % len(board) for tile in reversed(board))


@pytest.mark.slow
@pytest.mark.parametrize("number, generated", [(38, 38_173_507), (40, 65_099_578)])
def test_published_counts_of_5x5_boards(number, generated, database_of):
    grid, _, instances = load_set("korf24")
    one = instances[number - 1]
    assert (one.id, one.generated) == (number, generated)
    database = open_database(database_of(Spec(grid, NAMED["5x5-6-6-6-6"], 0, "bytes")))
    heuristic = pattern_database.prepare(grid, 0, database)
    outcome = searched("ida-star", grid, 0, one.board, heuristic, threads=2)
    # The published counts do not include the start.
    assert (length(outcome), outcome.generated - 1) == (one.length, generated)


# ---- all solutions, and any within a depth ------------------------------------------------------


def test_all_shortest_solutions_are_found_once(cut_early, database_of):
    grid = Grid(3, 3)
    distances, goal = board_distances(grid, 0), grid.goal(0)
    for heuristic in all_kinds(grid, 0, database_of, SPECS_3X3[0]):
        for board in [*random.Random(3).sample(solvable_boards(grid, 0), 25), goal]:
            outcome = searched("ida-star", grid, 0, board, heuristic, every=True, threads=2)
            different = {tuple(path) for path in outcome.paths}
            assert len(outcome.paths) == len(different) == count_shortest_solutions(grid, board, goal)
            assert {len(path) - 1 for path in outcome.paths} == {distances[board]}


@pytest.mark.exhaustive
def test_depth_first_search_within_a_depth():
    grid = Grid(3, 3)
    distances, heuristic = board_distances(grid, 0), manhattan.prepare(grid, 0)
    for board in random.Random(5).sample(solvable_boards(grid, 0), 12):
        for depth in (1, distances[board] - 1, distances[board], distances[board] + 1, distances[board] + 9):
            outcome = searched("dfs", grid, 0, board, heuristic, depth=max(depth, 1))
            if depth < distances[board]:
                assert outcome.stopped == "depth" and depth < outcome.lower_bound <= distances[board]
            else:
                assert distances[board] <= length(outcome) <= depth
                assert grid.goal(0) not in boards_along(grid, board, outcome.paths[0])[:-1], "it ends at the goal"


# ---- best first ---------------------------------------------------------------------------------

TEACHING = (1, 3, 2, 0, 5, 6, 4, 8, 9, 10, 7, 11, 13, 14, 15, 12)  # the blank's home is last


def test_the_teaching_example_takes_as_many_boards_as_published():
    """BFS explores 1,064,625 boards, A* 1,286 with Manhattan distance and 511 with linear conflict; ties differ."""
    grid, board = Grid(4, 4), half_turn(TEACHING)
    outcome = searched("bfs", grid, 0, board, manhattan.prepare(grid, 0))
    assert length(outcome) == 19 and 500_000 < outcome.expanded < 1_064_625 < outcome.stored < 1_500_000
    for kind, published in ((manhattan, 1286), (linear_conflict, 511)):
        outcome = searched("a-star", grid, 0, board, kind.prepare(grid, 0))
        assert length(outcome) == 19 and published / 2 < outcome.expanded < published * 2


def test_a_star_expands_no_board_twice_if_the_heuristic_is_consistent():
    grid = Grid(2, 4)
    distances, heuristic = board_distances(grid, 0), manhattan.prepare(grid, 0)
    for board in random.Random(6).sample(solvable_boards(grid, 0), 5):
        outcome = searched("a-star", grid, 0, board, heuristic)
        assert outcome.expanded <= outcome.stored
        # Everything with a smaller sum must be expanded, nothing with a larger one may be.
        sums = [moves + heuristic.measure(other)[0] for other, moves in distances_to(grid, board).items()]
        assert outcome.expanded <= sum(one <= distances[board] for one in sums)
        assert outcome.expanded >= sum(one < distances[board] for one in sums)


def test_a_weight_of_one_is_a_star():
    grid, board = Grid(4, 4), half_turn(TEACHING)
    one, other = (
        searched(name, grid, 0, board, manhattan.prepare(grid, 0), **options)
        for name, options in (("a-star", {}), ("weighted-a-star", {"weight": 1}))
    )
    assert (one.paths, one.expanded, one.generated) == (other.paths, other.expanded, other.generated)


def test_the_heavier_the_weight_the_fewer_boards_and_never_beyond_the_guarantee():
    grid = Grid(4, 4)
    boards = korf_in_order()[:12]
    expanded = []
    for weight in (1, 1.2, 1.5, 2, 5):
        outcomes = [
            searched("weighted-a-star", grid, 0, one.board, linear_conflict.prepare(grid, 0), weight=weight)
            for one in boards
        ]
        for one, outcome in zip(boards, outcomes, strict=True):
            assert one.length <= length(outcome) <= weight * one.length and outcome.lower_bound <= one.length
        expanded.append(sum(outcome.expanded for outcome in outcomes))
    assert expanded == sorted(expanded, reverse=True)


@pytest.mark.parametrize("name", ["greedy", "weighted-a-star"])
def test_an_inadmissible_heuristic_guarantees_nothing(name):
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    for board in random.Random(2).sample(solvable_boards(grid, 0), 40):
        outcome = searched(name, grid, 0, board, inversions.prepare(grid, 0))
        assert (outcome.suboptimality_bound, outcome.lower_bound) == (None, 0)
        assert length(outcome) >= distances[board]


def test_both_ends_meet_in_the_middle():
    """Neither side goes beyond half the way, so even a poor heuristic needs few boards."""
    grid = Grid(3, 4)
    board = scrambled(grid, grid.goal(0), 25, random.Random(1))
    both = searched("bidirectional", grid, 0, board, hamming.prepare(grid, 0), backward=hamming.prepare)
    one = searched("bfs", grid, 0, board, hamming.prepare(grid, 0))
    assert length(both) == length(one) and both.expanded < one.expanded / 3


def test_threads_of_a_bidirectional_search_change_nothing():
    for grid, kind in ((Grid(4, 4), manhattan), (Grid(4, 4), linear_conflict), (Grid(3, 4, True), manhattan)):
        board = scrambled(grid, grid.goal(0), 40, random.Random(9))
        check_threads_change_nothing("bidirectional", grid, board, kind)


def test_the_hash_table_grows():
    """A search of many more boards than the first hash table has chains."""
    one = korf_in_order()[5]
    grid = Grid(4, 4)
    outcome = searched("a-star", grid, 0, one.board, manhattan.prepare(grid, 0))
    assert length(outcome) == one.length and outcome.stored > 4 * best_first.FIRST_CHAINS


@pytest.mark.parametrize(
    "shape, words", [((2, 2), 1), ((3, 3), 2), ((4, 4), 2), ((5, 5), 5), ((6, 6), 8), ((8, 8), 13), ((10, 10), 25)]
)
def test_boards_are_packed_tightly(shape, words):
    assert best_first.layout_of(Grid(*shape), 1).key == words


# ---- limits -------------------------------------------------------------------------------------

# Greedy search solves anything, so it is left out; a weighted search and a beam are made slow.
ENDLESS = [one for one in ALL if one.values != ("greedy",)]
PATIENT = {"weighted-a-star": {"weight": 1.01}, "beam": {"width": 300_000}}


def search_hard(name, **options):
    """Search a board of 5x5 that takes far too long."""
    grid = Grid(5, 5)
    return searched(name, grid, 0, HARD, manhattan.prepare(grid, 0), threads=2, **PATIENT.get(name, {}) | options)


@pytest.mark.parametrize("name", ENDLESS)
def test_a_node_limit_is_kept_closely(name):
    least = manhattan.prepare(Grid(5, 5), 0).measure(HARD)[0]
    for nodes in (1, 2, 1000, 3_000_000 if name == "ida-star" else 300_000):
        outcome = search_hard(name, limits=Limits(nodes=nodes))
        assert outcome.stopped == "nodes" and outcome.paths == []
        # Both sides of a bidirectional search do their slices, and a beam does all of a level.
        slack = {"bidirectional": 40_000, "beam": 200 + nodes}.get(name, 200)
        assert nodes <= outcome.generated < 1.2 * nodes + slack
        assert SEARCHES[name].uninformed or outcome.lower_bound >= least


@pytest.mark.parametrize("name", ENDLESS)
def test_a_time_limit_is_kept(name):
    search_hard(name, limits=Limits(nodes=1000))  # so that all code is compiled
    outcome = search_hard(name, limits=Limits(deadline=time.monotonic() + 0.5))
    assert outcome.stopped == "time" and outcome.generated > 1000
    starts = 2 if name == "bidirectional" else 1
    assert sum(iteration.generated for iteration in outcome.iterations) + starts == outcome.generated


@pytest.mark.parametrize("name", ENDLESS)
def test_a_search_can_be_interrupted_from_another_thread(name):
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert search_hard(name, limits=Limits(interrupt=stop)).stopped == "interrupt"


def test_bundles_too_small_to_be_waited_for_do_not_keep_a_search_from_stopping(monkeypatch):
    monkeypatch.setattr(tree, "UNCUT", 1_000)
    monkeypatch.setattr(bundled, "PULSE", 600)  # so every bundle ends before it
    shares, stop = [], threading.Event()

    def report(progress):
        if progress.share:
            shares.append(progress.share)
            stop.set()

    grid, board = Grid(3, 3), (8, 6, 7, 2, 5, 4, 3, 0, 1)
    limits = Limits(interrupt=stop)
    outcome = searched("dfs", grid, 8, board, None, threads=2, progress=report, limits=limits)
    assert outcome.stopped == "interrupt" and len(shares) == 1 and shares[0] < 0.5


def test_a_star_keeps_its_memory_limit():
    outcome = search_hard("a-star", limits=Limits(memory=20_000_000))
    assert outcome.stopped == "memory" and outcome.lower_bound >= 71
    row = 4 * best_first.layout_of(Grid(5, 5), 1).row + best_first.CHAIN_BYTES
    assert 0.9 * 20_000_000 < outcome.stored * row <= 20_000_000


@pytest.mark.parametrize("name", ENDLESS)
def test_progress_is_reported(name, monkeypatch):
    cut_small_trees(monkeypatch)
    reports = []
    search_hard(name, limits=Limits(nodes=400_000), progress=reports.append)
    generated = [progress.generated for progress in reports]
    assert generated == sorted(generated) and generated[-1] > 100_000
