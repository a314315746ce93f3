"""Comparisons: the same boards by several methods, what they must agree on, the figures drawn from them, their file."""

import csv
import os
from threading import Event

import pytest

from pdb_builder.base.errors import Disagreement, InputError
from solver import Settings, Unsolvable, compare, load_set, solve
from solver.board import format_board
from solver.comparison.cells import Cell, furthest
from solver.comparison.comparison import Comparison
from solver.comparison.methods import Method, prepare_methods
from solver.comparison.results_file import ResultsFile
from solver.comparison.resuming import recall
from solver.comparison.tables import board_table, summary_table
from solver.instances import Instance
from solver.search import SEARCHES
from solver.settings import DEFAULT_SECONDS

from .comparisons import (
    ALL,
    BOTH_ENDS,
    DEEP,
    GOAL,
    GREEDY,
    GRID,
    WEIGHTED,
    A,
    B,
    boards,
    cell,
    filled,
    stop_before_the_proof,
    unproven,
)
from .oracle import board_distances


def run(comparison, jobs=2):
    for one in comparison.run(jobs, Event()):
        comparison.add(one)
    return comparison


# ---- running ------------------------------------------------------------------------------------


@pytest.mark.jit
def test_every_cell_is_what_solve_says_and_breadth_first_search_knows():
    settings = Settings(threads=1, memory_limit=10**8)
    methods = prepare_methods(GRID, GOAL, ["ida-star", "a-star"], ["manhattan", "linear-conflict"], settings)
    comparison = run(Comparison(GRID, GOAL, boards(12), methods))
    # Distances to the goal with the blank last are those of the board half turned.
    distances = board_distances(GRID, 8)
    assert len(comparison.cells) == 48 and not comparison.missing()
    for one in comparison.finished():
        for method in methods:
            found = comparison.cell(one, method)
            alone = solve(one.board, heuristic=method.heuristic, algorithm=method.algorithm, threads=1)
            assert found.length == distances[one.board] == alone.length
            counts = (alone.h_start, alone.expanded, alone.generated, alone.stored, None)
            assert (found.h_start, found.expanded, found.generated, found.stored, found.limit_hit) == counts
            assert (found.stored is None) == (method.algorithm == "ida-star")


@pytest.mark.jit
def test_methods_are_called_by_the_database_that_serves_them(small):
    settings = Settings(folder=small.parent, memory_limit=10**8)
    heuristics = [f"pdb:{small}", f"pdb-unreflected:{small}", "max:manhattan+linear-conflict"]
    methods = prepare_methods(GRID, GOAL, ["ida-star:fixed", "ida-star:value"], heuristics, settings)
    assert [str(method) for method in methods[:3]] == [
        "ida-star:fixed with pdb:3x3-4-4",
        "ida-star:fixed with pdb-unreflected:3x3-4-4",
        "ida-star:fixed with max:manhattan+linear-conflict",
    ]
    comparison = run(Comparison(GRID, GOAL, boards(3), methods))
    for one in comparison.finished():
        for method in methods:
            order = method.algorithm.partition(":")[2]
            alone = solve(one.board, heuristic=method.settings.heuristic, folder=small.parent, order=order)
            assert comparison.cell(one, method).generated == alone.generated


@pytest.mark.parametrize(
    ("algorithms", "heuristics", "words"),
    [
        (["ida-star", "ida-star"], ["manhattan"], "ida-star with manhattan is named twice"),
        (["ida-star"], ["manhattan", "linear-conflict", "manhattan"], "manhattan is named twice"),
        (["magic"], ["manhattan"], "unknown algorithm 'magic'"),
        (["ida-star:best"], ["manhattan"], "unknown order 'best'"),
        (["a-star:value"], ["manhattan"], "a-star has a fixed order of moves"),
        (["ida-star:"], ["manhattan"], "unknown order ''"),
        (["ida-star"], ["pdb:nowhere"], "nowhere.h5"),
        (["bfs", "bfs"], ["manhattan"], "bfs is named twice"),
        (["weighted-a-star", "weighted-a-star:1.50"], ["manhattan"], "weighted-a-star:1.50 with manhattan is named"),
        (
            ["weighted-a-star:much"],
            ["manhattan"],
            "the weight of weighted-a-star must be a number, got 'much': write it as",
        ),
        (["weighted-a-star:0.9"], ["manhattan"], "weighted-a-star:0.9: weight must be between 1 and 1000, got 0.9"),
        (["weighted-a-star:nan"], ["manhattan"], "weight must be between 1 and 1000, got nan"),
        (["beam:"], ["manhattan"], "the width of beam must be an integer, got '': write it as beam:10000"),
        (["beam:1.5"], ["manhattan"], "the width of beam must be an integer, got '1.5'"),
        (["beam:0"], ["manhattan"], "width must be an integer between 1 and 100,000,000, got 0"),
        (["dfs:deep"], ["manhattan"], "the depth of dfs must be an integer, got 'deep'"),
        (["dfs:-1"], ["manhattan"], "depth must be an integer between 1 and 10,000, got -1"),
        (["greedy:2"], ["manhattan"], "greedy takes no parameter, got '2'"),
        (["bfs:30"], ["manhattan"], "bfs takes no parameter, got '30'"),
        (["greedy", "bidirectional"], ["inversions"], "inadmissible, so bidirectional cannot guarantee a"),
        (["bfs", "greedy"], [], "greedy needs a heuristic, but none is given"),
        ([], ["manhattan"], "no algorithm to compare is given"),
    ],
)
@pytest.mark.jit
def test_methods_that_make_no_sense_are_refused(algorithms, heuristics, words, tmp_path):
    with pytest.raises(InputError, match=words):
        prepare_methods(GRID, GOAL, algorithms, heuristics, Settings(folder=tmp_path))


@pytest.mark.jit
def test_every_search_of_the_registry_can_be_compared():
    algorithms = [*SEARCHES, "weighted-a-star:3", "beam:20", "dfs:25"]
    settings = Settings(threads=1, time_limit=5, memory_limit=10**8)
    methods = prepare_methods(GRID, GOAL, algorithms, ["manhattan", "hamming"], settings)
    uninformed = [method for method in methods if method.heuristic == "none"]
    assert [str(method) for method in uninformed] == ["bfs", "dijkstra", "dfs", "dfs:25"], (
        "whatever heuristics there are"
    )
    assert len(methods) == 4 + 2 * (len(algorithms) - 4)
    comparison = run(Comparison(GRID, GOAL, boards(5), methods))
    distances = board_distances(GRID, 8)
    for one in comparison.finished():
        for method in methods:
            found, options = comparison.cell(one, method), method.settings
            alone = solve(
                one.board,
                heuristic=options.heuristic,
                algorithm=options.algorithm,
                weight=options.weight,
                width=options.width,
                depth=options.depth,
                time_limit=5,
                threads=1,
            )
            counts = (found.h_start, found.expanded, found.generated, found.stored, found.limit_hit)
            if method.repeatable:
                assert counts == (alone.h_start, alone.expanded, alone.generated, alone.stored, alone.stopped)
                assert found.length == alone.length
            if method.suboptimality_bound is not None:
                assert distances[one.board] <= found.length <= method.suboptimality_bound * distances[one.board]
            assert found.length is None or found.length >= distances[one.board]
        assert comparison.shortest(one) == (distances[one.board], True)


@pytest.mark.parametrize(
    ("algorithm", "heuristic", "bound", "admissible"),
    [
        ("ida-star:value", "manhattan", 1, True),
        ("bidirectional", "hamming", 1, True),
        ("bfs", None, 1, True),
        ("dfs", None, 1, True),
        ("dfs:30", None, None, True),
        ("weighted-a-star", "manhattan", 1.5, True),
        ("weighted-a-star:1", "manhattan", 1, True),
        ("weighted-a-star:1.2504", "manhattan", 1.25, True),
        ("weighted-a-star:2", "inversions", None, False),
        ("greedy", "manhattan", None, True),
        ("beam:50", "inversions", None, False),
        ("beam", "manhattan", None, True),
    ],
)
@pytest.mark.jit
def test_what_methods_guarantee(algorithm, heuristic, bound, admissible):
    for limit in (None, 1):  # with which a search ends before it has begun
        (method,) = prepare_methods(GRID, GOAL, [algorithm], [heuristic], Settings(node_limit=limit))
        assert (method.suboptimality_bound, method.admissible) == (bound, admissible)
        assert method.repeatable == (algorithm != "beam")


@pytest.mark.jit
def test_a_beam_without_a_width_has_a_time_limit():
    for limits in ({}, {"time_limit": 3.0}, {"node_limit": 10}):
        wide, narrow = prepare_methods(GRID, GOAL, ["beam", "beam:9"], ["manhattan"], Settings(**limits))
        assert wide.settings.time_limit == (limits.get("time_limit") if limits else DEFAULT_SECONDS)
        assert narrow.settings.time_limit == limits.get("time_limit")


@pytest.mark.jit
def test_a_depth_and_a_width_that_are_not_enough_end_a_cell():
    methods = prepare_methods(GRID, GOAL, ["bfs", "dfs:20", "beam:1"], ["hamming"], Settings(threads=1))
    comparison = run(Comparison(GRID, GOAL, boards(12), methods))
    for one in comparison.finished():
        shortest, deep, narrow = (comparison.cell(one, method) for method in methods)
        assert (deep.limit_hit == "depth") == (shortest.length > 20) == (deep.length is None)
        assert narrow.limit_hit == (None if narrow.length else "width")
    rows = comparison.summaries()
    assert 0 < rows[1].unfinished < 12 and rows[2].unfinished > 0
    assert [row.cut_short for row in rows] == [0, 0, 0] and {row.ratio_is for row in rows} == {"="}
    assert not any(">" in text for row in summary_table(comparison).rows for text in row), "the counts are exact"


@pytest.mark.jit
def test_a_solution_that_is_not_proven_does_not_make_a_board_solved(monkeypatch):
    stop_before_the_proof(monkeypatch)
    methods = prepare_methods(GRID, GOAL, ["a-star", "bidirectional"], ["hamming"], Settings(threads=1))
    comparison = run(Comparison(GRID, GOAL, boards(2), methods))
    exact, stopped = comparison.summaries()
    assert (exact.unfinished, exact.cut_short) == (0, 0) and exact.length is not None
    assert (stopped.unfinished, stopped.cut_short, stopped.length, stopped.ratio_is) == (2, 2, None, "<")
    assert all(comparison.cell(one, methods[1]).length for one in comparison.finished())
    alone = run(Comparison(GRID, GOAL, boards(1), methods[1:]))
    assert alone.shortest(alone.instances[1])[1] is False


@pytest.mark.jit
def test_searches_that_are_interrupted_leave_no_cell():
    interrupt = Event()
    interrupt.set()
    grid, goal, instances = load_set("korf100")
    assert list(Comparison(grid, goal, {1: instances[0], 88: instances[87]}, [A]).run(1, interrupt)) == []


@pytest.mark.jit
def test_a_limit_ends_a_cell_and_not_the_comparison():
    limited = Method("ida-star", "manhattan", Settings("manhattan", node_limit=200, threads=1))
    comparison = run(Comparison(GRID, GOAL, boards(20), [limited, B]))
    cells = [comparison.cell(one, limited) for one in comparison.finished()]
    assert len(cells) == 20
    hit = [found for found in cells if found.limit_hit]
    assert 0 < len(hit) < 20
    assert all(found.limit_hit == "nodes" and found.length is None and found.generated >= 200 for found in hit)
    assert all(found.length is not None for found in cells if not found.limit_hit)


@pytest.mark.jit
def test_from_python(small):
    chosen = [list(one.board) for one in boards(3).values()]
    comparison = compare(chosen, ["manhattan", f"pdb:{small}"], ["ida-star", "a-star"], folder=small.parent)
    assert len(comparison.cells) == 12 and [summary.boards for summary in comparison.summaries()] == [3] * 4
    published = compare("korf100", ["manhattan"], node_limit=1000)
    assert [summary.unfinished for summary in published.summaries()] == [100]
    with pytest.raises(InputError, match="these 2 boards cannot be compared: give at least one, and all of one shape"):
        compare(["1 2 3 0", "1 2 3 4 5 6 7 8 0"], ["manhattan"])
    with pytest.raises(InputError, match="these 0 boards"):
        compare([], ["manhattan"])
    with pytest.raises(Unsolvable):
        compare(["2 1 3 4 5 6 7 8 0"], ["manhattan"])


@pytest.mark.jit
def test_from_python_with_searches_that_guarantee_less():
    chosen = [list(one.board) for one in boards(3).values()]
    comparison = compare(chosen, ["manhattan", "inversions"], ["weighted-a-star:2", "greedy", "beam:100", "bfs"])
    rows = comparison.summaries()
    assert [(row.algorithm, row.heuristic, row.suboptimality_bound) for row in rows] == [
        ("weighted-a-star:2", "manhattan", 2),
        ("weighted-a-star:2", "inversions", None),
        ("greedy", "manhattan", None),
        ("greedy", "inversions", None),
        ("beam:100", "manhattan", None),
        ("beam:100", "inversions", None),
        ("bfs", "none", 1),
    ]
    assert all(row.length >= rows[-1].length for row in rows) and rows[0].length <= 2 * rows[-1].length
    uninformed = compare(chosen, [], ["bfs", "dijkstra"])
    assert [row.length for row in uninformed.summaries()] == [rows[-1].length] * 2


# ---- agreement ----------------------------------------------------------------------------------


def test_lengths_that_disagree_are_an_error():
    with pytest.raises(Disagreement, match=r"board 1 .*manhattan finds 20, ida-star with linear-conflict finds 22"):
        filled(cell(1, A), cell(1, B, length=22))


def test_no_heuristic_may_give_more_than_the_length():
    with pytest.raises(Disagreement, match="linear-conflict gives 24 at the start"):
        filled(cell(1, A, length=22), cell(1, B, h_start=24, limit="nodes"))
    filled(cell(1, A, length=22), cell(1, B, h_start=22, length=22))


def test_the_published_length_has_a_say():
    comparison = Comparison(GRID, GOAL, {1: boards(1)[1]._replace(length=18)}, [A])
    with pytest.raises(Disagreement, match="18 is published, ida-star with manhattan finds 20"):
        comparison.add(cell(1, A))


def test_a_method_has_to_agree_with_itself():
    with pytest.raises(Disagreement, match="manhattan finds 22, ida-star with manhattan, before that, finds 20"):
        filled(cell(1, A), cell(1, A, length=22))


def test_boards_do_not_have_to_agree_with_each_other():
    assert len(filled(cell(1, A), cell(1, B), cell(2, A, length=22), cell(2, B, length=22)).finished()) == 2


@pytest.mark.parametrize(
    "others",
    [
        (cell(1, WEIGHTED, 32), cell(1, GREEDY, 40), cell(1, DEEP, 30, limit="depth"), unproven(32)),
        (cell(1, WEIGHTED, 33), unproven(30)),  # 33 / 1.1 is a little more than 30, to a computer
        (cell(1, GREEDY, 30, h_start=99), cell(1, DEEP, 30, h_start=1)),
        (cell(1, BOTH_ENDS, 30), unproven(34)),
    ],
)
def test_methods_that_guarantee_less_may_find_longer_solutions(others):
    for order in (others, others[::-1]):
        comparison = filled(cell(1, A, 30), *order, methods=ALL)
        assert comparison.shortest(comparison.instances[1]) == (30, True)
        filled(*order, cell(1, A, 30), methods=ALL)


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (
            [cell(1, WEIGHTED, 34)],
            "finds 30, weighted-a-star:1.1 with manhattan finds 34, at most 1.1 times the shortest:",
        ),
        ([cell(1, WEIGHTED, 28)], "finds 30, weighted-a-star:1.1 with manhattan finds 28, at most 1.1 times"),
        ([cell(1, GREEDY, 28)], "finds 30, greedy with inversions finds 28 without a guarantee:"),
        ([cell(1, GREEDY, 40), cell(1, DEEP, 28)], "manhattan finds 30, dfs:20 finds 28 without a guarantee:"),
        ([unproven(28)], "finds 30, bidirectional with hamming finds 28 without a guarantee:"),
        ([cell(1, WEIGHTED, 30, h_start=32)], "finds 30, weighted.* finds 30, .* gives 32 at the start:"),
        ([cell(1, BOTH_ENDS, 32)], "manhattan finds 30, bidirectional with hamming finds 32:"),
    ],
)
def test_none_may_find_a_shorter_one_or_break_its_guarantee(others, words):
    with pytest.raises(Disagreement, match=words):
        filled(cell(1, A, 30), *others, methods=ALL)


def test_what_a_method_had_found_when_it_was_stopped_binds_it():
    filled(unproven(32), cell(1, BOTH_ENDS, 30), methods=ALL)
    with pytest.raises(Disagreement, match=r"hamming finds 30, .* before that, finds 28 without a guarantee"):
        filled(unproven(28), cell(1, BOTH_ENDS, 30), methods=ALL)


def test_solutions_without_a_guarantee_contradict_what_is_proven_by_others_without_one():
    with pytest.raises(
        Disagreement, match="inversions finds 20 without a guarantee, dfs:20 finds nothing within 20 moves"
    ):
        filled(cell(1, GREEDY, 20), cell(1, DEEP, limit="depth"), methods=ALL)
    with pytest.raises(Disagreement, match=r"finds 40, at most 1.1 times the shortest, greedy .* finds 34"):
        filled(cell(1, WEIGHTED, 40), cell(1, GREEDY, 34), methods=ALL)
    comparison = filled(cell(1, WEIGHTED, 40), cell(1, GREEDY, 38), methods=ALL)
    assert comparison.shortest(comparison.instances[1]) == (38, False), "which is not to say that it is the shortest"


def test_a_depth_limit_that_a_method_does_not_have_says_nothing():
    filled(cell(1, A, limit="depth"), cell(1, B), count=1)


def test_the_published_length_is_the_measure_of_all():
    instances = {1: boards(1)[1]._replace(length=30)}
    comparison = Comparison(GRID, GOAL, instances, list(ALL))
    for one in (cell(1, WEIGHTED, 32), cell(1, GREEDY, 50, h_start=60), unproven(30)):
        comparison.add(one)
    assert comparison.shortest(instances[1]) == (30, True)
    with pytest.raises(Disagreement, match=r"30 is published, .*greedy with inversions finds 28 without a guarantee"):
        comparison.add(cell(1, GREEDY, 28))
    with pytest.raises(Disagreement, match=r"30 is published, .*manhattan finds 34, at most 1.1 times the shortest"):
        Comparison(GRID, GOAL, instances, list(ALL)).add(cell(1, WEIGHTED, 34))


def test_of_two_cells_the_one_that_got_further_is_kept():
    early, late = cell(1, BOTH_ENDS, limit="nodes", generated=500), cell(1, BOTH_ENDS, limit="time", generated=900)
    done = cell(1, BOTH_ENDS, 30, generated=400)
    ranks = [early, late, unproven(34), unproven(32), done]
    for at, worse in enumerate(ranks):
        for better in ranks[at + 1 :]:
            assert furthest(worse, better) == furthest(better, worse) == better


# ---- going on -----------------------------------------------------------------------------------


@pytest.mark.jit
def test_saved_cells_are_not_done_again():
    whole = run(Comparison(GRID, GOAL, boards(4), [A, B]))
    saved = list(whole.cells.values())[:5]
    other = Comparison(GRID, GOAL, boards(4), [A, B])
    recall(other, saved, "saved.csv")
    assert set(other.cells.values()) == set(saved) and len(other.missing()) == 3
    run(other)
    assert {key: found._replace(seconds=0) for key, found in other.cells.items()} == {
        key: found._replace(seconds=0) for key, found in whole.cells.items()
    }


@pytest.mark.jit
def test_cells_of_other_boards_and_methods_are_ignored():
    comparison = Comparison(GRID, GOAL, boards(2), [A])
    recall(comparison, [cell(3, A), cell(1, B), cell(1, A)._replace(board="1 2 3 4 5 6 7 8 0")], "saved.csv")
    assert not comparison.cells


@pytest.mark.jit
def test_a_saved_cell_that_cannot_be_ours_is_refused():
    value = solve(boards(1)[1].board, heuristic="manhattan").h_start
    comparison = Comparison(GRID, GOAL, boards(1), [A])
    with pytest.raises(InputError, match=rf"the value {value + 2} at the start of board 1, but here it is {value}"):
        recall(comparison, [cell(1, A, h_start=value + 2, length=40)], "saved.csv")


@pytest.mark.jit
@pytest.mark.parametrize("field", ["length", "expanded", "generated"])
def test_saved_counts_that_are_not_ours_are_refused(field):
    whole = run(Comparison(GRID, GOAL, boards(3), [A]))
    saved = sorted(whole.cells.values(), key=lambda found: found.generated)
    saved[0] = saved[0]._replace(**{field: getattr(saved[0], field) - 2})
    with pytest.raises(InputError, match="the goal, the database or the program has changed"):
        recall(Comparison(GRID, GOAL, boards(3), [A]), saved, "saved.csv")


@pytest.mark.jit
def test_cells_of_another_goal_with_the_same_values_are_refused():
    """The two goals give the board the same Manhattan distance."""
    board, goals = (1, 7, 8, 2, 4, 3, 0, 6, 5), (GOAL, (4, 2, 0, 8, 3, 5, 1, 7, 6))
    one, other = (Comparison(GRID, goal, {1: Instance(1, board, None, None)}, [A]) for goal in goals)
    saved = list(run(one).cells.values())
    assert saved[0].h_start == solve(board, goals[1], heuristic="manhattan").h_start
    with pytest.raises(InputError, match="the goal, the database or the program has changed"):
        recall(other, saved, "saved.csv")


@pytest.mark.jit
@pytest.mark.parametrize(
    ("limit", "settings", "kept"),
    [
        ("nodes", {"node_limit": 1000}, True),
        ("nodes", {"node_limit": 1001}, False),
        ("nodes", {"time_limit": 0.1}, True),
        ("time", {"time_limit": 9, "node_limit": 10}, True),
        ("time", {"time_limit": 0.5}, True),
        ("time", {"time_limit": 0.6}, False),
        ("time", {}, False),
        ("memory", {"memory_limit": 10**6}, False),
        (None, {"node_limit": 10}, True),
    ],
)
def test_a_cell_that_hit_a_limit_is_done_again_if_it_would_get_further(limit, settings, kept):
    (found,) = run(Comparison(GRID, GOAL, boards(1), [A])).cells.values()
    if limit:
        found = found._replace(length=None, generated=1000, seconds=0.5, limit_hit=limit)
    comparison = Comparison(GRID, GOAL, boards(1), [A._replace(settings=Settings("manhattan", **settings))])
    recall(comparison, [found], "saved.csv")
    assert bool(comparison.cells) == kept


@pytest.mark.jit
@pytest.mark.parametrize(
    ("algorithm", "limit", "kept"),
    [("dfs:20", "depth", True), ("beam:9", "width", True), ("beam", "width", False), ("dfs:20", "nodes", False)],
)
def test_a_limit_that_is_part_of_the_method_is_not_tried_again(algorithm, limit, kept):
    (method,) = prepare_methods(GRID, GOAL, [algorithm], ["manhattan"], Settings())
    start = solve(boards(1)[1].board, heuristic="manhattan").h_start if "beam" in algorithm else 1
    comparison = Comparison(GRID, GOAL, boards(1), [method])
    recall(comparison, [cell(1, method, h_start=start, limit=limit)], "saved.csv")
    assert bool(comparison.cells) == kept


@pytest.mark.jit
@pytest.mark.parametrize(
    "algorithm", ["weighted-a-star", "greedy", "beam:50", "bfs", "dijkstra", "dfs:31", "bidirectional"]
)
def test_every_search_is_the_same_again_but_a_beam_without_a_width(algorithm):
    methods = prepare_methods(GRID, GOAL, [algorithm], ["manhattan"], Settings(threads=1, memory_limit=10**8))
    saved = list(run(Comparison(GRID, GOAL, boards(2), methods)).cells.values())
    again = Comparison(GRID, GOAL, boards(2), methods)
    recall(again, saved, "saved.csv")
    assert not again.missing()
    saved = [found._replace(generated=found.generated + 2) for found in saved]
    with pytest.raises(InputError, match=rf"saved.csv says that {algorithm} with .* generates .* boards for board"):
        recall(Comparison(GRID, GOAL, boards(2), methods), saved, "saved.csv")


@pytest.mark.jit
def test_a_beam_that_goes_by_the_clock_is_believed():
    (method,) = prepare_methods(GRID, GOAL, ["beam"], ["manhattan"], Settings())
    value = solve(boards(1)[1].board, heuristic="manhattan").h_start
    comparison = Comparison(GRID, GOAL, boards(1), [method])
    recall(comparison, [cell(1, method, 60, h_start=value, generated=12345)], "saved.csv")
    assert not comparison.missing()
    with pytest.raises(InputError, match="at the start of board 1, but here it is"):
        recall(comparison, [cell(1, method, 60, h_start=value + 2)], "saved.csv")


@pytest.mark.jit
def test_a_solution_that_is_not_proven_is_done_again_with_more_room():
    value = solve(boards(1)[1].board, heuristic="hamming").h_start
    for nodes, kept in ((1000, True), (2000, False)):
        method = BOTH_ENDS._replace(settings=BOTH_ENDS.settings._replace(node_limit=nodes))
        comparison = Comparison(GRID, GOAL, boards(1), [method])
        recall(comparison, [unproven(33)._replace(h_start=value)], "saved.csv")
        assert bool(comparison.cells) == kept, "and it is not a search to do again to the node"


def test_the_time_left_goes_by_each_method():
    comparison = filled(cell(1, A, seconds=3.0), count=4)
    assert comparison.seconds_left(1) is None, "nothing is known of B"
    comparison.add(cell(1, B, seconds=5.0))
    assert comparison.seconds_left(1) == 3 * 3.0 + 3 * 5.0
    assert comparison.seconds_left(2) == 12.0
    for number in (2, 3, 4):
        comparison.add(cell(number, A, seconds=1.0))
        comparison.add(cell(number, B, seconds=1.0))
    assert comparison.seconds_left(1) == 0


# ---- sums ---------------------------------------------------------------------------------------


def test_summaries_are_means_over_the_boards_that_all_methods_have_done():
    comparison = filled(
        cell(1, A, h_start=10, generated=1000, seconds=1.0),
        cell(1, B, h_start=12, generated=100, seconds=0.25),
        cell(2, A, h_start=13, generated=3000, seconds=3.0),
        cell(2, B, h_start=12, generated=100, seconds=0.25),
        cell(3, A, generated=10**9),
        count=3,
    )
    a, b = comparison.summaries()
    assert (a.boards, a.unfinished, a.h_mean, a.h_median) == (2, 0, 11.5, 11.5)
    assert (a.expanded, a.generated, a.stored, a.seconds) == (1000, 2000, None, 2.0)
    assert (a.nodes_per_second, a.ratio, a.ratio_is) == (1000, 1, "=")
    assert (b.generated, b.nodes_per_second, b.ratio, b.ratio_is) == (100, 400, 20, "=")


@pytest.mark.parametrize(
    ("first", "second", "ratio", "sign"),
    [
        (None, None, 10, "="),
        ("nodes", None, 10, ">"),
        (None, "time", 10, "<"),
        ("nodes", "time", None, ""),
    ],
)
def test_a_ratio_says_what_is_known_of_it(first, second, ratio, sign):
    comparison = filled(cell(1, A, limit=first), cell(1, B, generated=100, limit=second), count=1)
    found = comparison.summaries()[1]
    assert (found.ratio, found.ratio_is) == (ratio, sign)
    assert comparison.summaries()[0].ratio == 1


def test_nothing_that_hit_a_limit_is_left_out_of_a_mean():
    comparison = filled(cell(1, A), cell(1, B), cell(2, A, generated=9000, limit="nodes"), cell(2, B))
    a, b = comparison.summaries()
    assert (a.unfinished, a.generated, b.unfinished) == (1, 5000, 0)
    table = summary_table(comparison)
    row = dict(zip(table.headings, table.rows[0], strict=True))
    assert row["generated"] == "> 5,000" and row["solved"] == "1 of 2" and row["seconds"] == "> 0.5000"
    assert row["h mean"] == "10.00", "heuristic values are exact all the same"
    assert dict(zip(table.headings, table.rows[1], strict=True))["ratio"] == "> 5"


def test_before_a_board_is_done_there_is_nothing_to_say():
    assert filled(cell(1, A)).summaries() == []


# ---- tables -------------------------------------------------------------------------------------


def test_columns_are_aligned():
    comparison = filled(cell(1, A), cell(1, B, generated=5), cell(2, A, limit="time"), cell(2, B))
    for table in (summary_table(comparison), board_table(comparison)):
        lines = str(table).splitlines()
        assert len(lines) == len(table.rows) + 1 + bool(table.groups)
        numbers = lines[-len(table.rows) :]
        assert len({len(line) for line in numbers}) == 1, "the last column leans to the right"
    text = str(board_table(comparison)).splitlines()
    assert text[0].split() == ["ida-star", "with", "manhattan", "ida-star", "with", "linear-conflict"]
    assert text[2].split() == ["1", "20", "10", "1,000", "0.5000", "10", "5", "0.5000"]
    assert text[3].split() == ["2", "20", "10", ">", "1,000", ">", "0.5000", "10", "1,000", "0.5000"]


def test_columns_that_say_nothing_are_left_out():
    plain = summary_table(filled(cell(1, A), cell(1, B)))
    assert plain.headings == ["heuristic", "h mean", "median", "expanded", "generated", "seconds", "nodes/s", "ratio"]
    other = Method("a-star", "manhattan", Settings())
    full = summary_table(filled(cell(1, A), cell(1, other, stored=7, limit="memory"), methods=(A, other)))
    assert full.headings[:3] == ["algorithm", "heuristic", "solved"] and "stored" in full.headings
    assert [row[full.headings.index("stored")] for row in full.rows] == ["-", "> 7"]


def test_lengths_have_columns_if_they_are_not_the_same():
    comparison = filled(
        cell(1, A, 20),
        cell(1, WEIGHTED, 22),
        cell(1, GREEDY, 31, h_start=25),
        cell(2, A, limit="time"),
        cell(2, WEIGHTED, 23),
        cell(2, GREEDY, limit="memory"),
        methods=(A, WEIGHTED, GREEDY),
    )
    table = summary_table(comparison)
    assert table.headings[:6] == ["algorithm", "heuristic", "proves", "solved", "length", "h mean"]
    assert [row[2:5] for row in table.rows] == [
        ["optimal", "1 of 2", "20.00"],
        ["<= 1.1 x", "2 of 2", "22.50"],
        ["-", "1 of 2", "31.00"],
    ]
    assert "ratio" in table.headings
    table = board_table(comparison)
    assert table.headings == ["board", "length", *["h", "length", "generated", "seconds"] * 3]
    assert [span for _, span in table.groups] == [2, 4, 4, 4]
    assert [row[:2] + row[3::4] for row in table.rows] == [
        ["1", "20", "20", "22", "31"],
        ["2", "<= 23", "-", "23", "-"],
    ]
    none = filled(cell(1, GREEDY, limit="time"), methods=[GREEDY], count=1)
    assert summary_table(none).rows[0][:4] == ["inversions", "-", "0 of 1", "-"]


def test_lengths_have_no_columns_if_all_are_shortest():
    assert not filled(cell(1, A), cell(1, BOTH_ENDS), methods=(A, BOTH_ENDS), count=1).lengths_vary
    assert not filled(unproven(24), methods=[BOTH_ENDS], count=1).lengths_vary
    same, longer = (filled(cell(1, A), unproven(length), methods=(A, BOTH_ENDS), count=1) for length in (20, 24))
    assert (same.lengths_vary, longer.lengths_vary) == (False, True)
    assert [row[:5] for row in summary_table(longer).rows] == [
        ["ida-star", "manhattan", "optimal", "1 of 1", "20.00"],
        ["bidirectional", "hamming", "optimal", "0 of 1", "-"],
    ]
    alone = board_table(filled(unproven(24), methods=[BOTH_ENDS], count=1))
    assert alone.headings == ["board", "length", "h", "generated", "seconds"]
    assert alone.rows[0][:2] == ["1", "<= 24"], "nobody has proven it"


def test_published_counts_stand_beside_ours():
    grid, goal, instances = load_set("korf100")
    one = instances[0]
    counts = (one.length, 41, 1, one.generated, None, 0.1, None)
    comparison = Comparison(grid, goal, {one.id: one}, [A])
    comparison.add(Cell(1, format_board(grid, one.board), "ida-star", "manhattan", *counts))
    table = board_table(comparison)
    assert table.rows == [["1", "57", "276,361,933", "41", "276,361,933", "0.1000"]]
    assert table.groups == [("", 2), ("published", 1), ("ida-star with manhattan", 3)]
    comparison.cells.clear()
    counts = (None, 41, 1, 1000, None, 0.1, "nodes")
    comparison.add(Cell(1, format_board(grid, one.board), "ida-star", "manhattan", *counts))
    assert board_table(comparison).rows == [["1", "57", "276,361,933", "41", "> 1,000", "> 0.1000"]]


# ---- the results file ---------------------------------------------------------------------------

CELLS = [
    Cell(1, "1 2 3 4 5 6 0 7 8", "ida-star", "manhattan", 2, 2, 3, 7, None, 0.000125, None),
    Cell(1, "1 2 3 4 5 6 0 7 8", "a-star", "pdb:odd, name", 2, 2, 3, 7, 5, 1.5, None),
    Cell(2, "1 2 3 / 0 4 5", "ida-star", "manhattan", None, 2, 10**12, 10**13, None, 600.0, "time"),
]
HEADER = "instance,board,algorithm,heuristic,length,h_start,expanded,generated,stored,seconds,limit_hit"


def as_they_are(cell):
    return cell.instance


def written(path, cells, resume=False, order=as_they_are):
    with ResultsFile(path, resume) as results:
        for cell in cells:
            results.add(cell)
        results.sort(order)
    return path.read_text()


def read(path):
    with ResultsFile(path, resume=True) as results:
        return results.cells


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a.csv"
    text = written(path, CELLS)
    assert text.splitlines()[0] == HEADER
    assert text.splitlines()[1] == "1,1 2 3 4 5 6 0 7 8,ida-star,manhattan,2,2,3,7,,0.000125,"
    assert read(path) == CELLS
    assert [row["heuristic"] for row in csv.DictReader(text.splitlines())] == [cell.heuristic for cell in CELLS]


@pytest.mark.parametrize(
    "cell",
    [
        CELLS[2]._replace(algorithm="bidirectional", length=24, stored=5, limit_hit="nodes"),
        CELLS[2]._replace(algorithm="dfs:30", heuristic="none", limit_hit="depth"),
        CELLS[2]._replace(algorithm="beam:100", limit_hit="width"),
        CELLS[0]._replace(algorithm="weighted-a-star:1.5", length=24),
        CELLS[0]._replace(algorithm="greedy", heuristic="inversions", h_start=99),
    ],
    ids=lambda cell: cell.algorithm,
)
def test_what_searches_that_guarantee_less_leave_is_read(tmp_path, cell):
    written(tmp_path / "a.csv", [cell])
    assert read(tmp_path / "a.csv") == [cell]


def test_every_line_is_there_as_soon_as_it_is_known(tmp_path):
    with ResultsFile(tmp_path / "a.csv", resume=False) as results:
        for number, cell in enumerate(CELLS, 2):
            results.add(cell)
            assert len((tmp_path / "a.csv").read_text().splitlines()) == number


def test_a_file_that_is_there_is_not_overwritten(tmp_path):
    text = written(tmp_path / "a.csv", CELLS)
    with pytest.raises(FileExistsError):
        ResultsFile(tmp_path / "a.csv", resume=False)
    assert (tmp_path / "a.csv").read_text() == text


def test_going_on_adds_to_what_is_there(tmp_path):
    path = tmp_path / "a.csv"
    written(path, CELLS[:1], resume=True)
    written(path, CELLS[1:], resume=True)
    assert read(path) == CELLS


def test_a_line_that_was_cut_short_is_dropped_and_no_other(tmp_path):
    path = tmp_path / "a.csv"
    whole = written(path, CELLS).encode()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        known = max(0, sum(end <= size for end in ends) - 1)
        assert read(path) == CELLS[:known], size
        written(path, CELLS[known:], resume=True)
        assert path.read_bytes() == whole, size


@pytest.mark.parametrize(
    "content",
    [
        b"a,b,c\n1,2,3\n",
        b"hello",
        b"\xff\xfe\x00",
        b"\n",
        HEADER.upper().encode() + b"\n",
        (HEADER + ",more\n").encode(),
        b'"' + b"x" * 200_000 + b'"\n',
    ],
    ids=["columns", "text", "binary", "empty line", "capitals", "more", "long"],
)
def test_files_of_others_are_left_alone(content, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a.csv is not a results file: its first line is not") as error:
        read(path)
    assert "\n" not in str(error.value) and path.read_bytes() == content


@pytest.mark.parametrize("resume", [False, True])
def test_a_pipe_is_not_waited_for(resume, tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"a.csv is not a regular file: choose another name"):
        ResultsFile(tmp_path / "a.csv", resume=resume)


@pytest.mark.parametrize(
    "line",
    [
        "x,1 2 3 0,ida-star,manhattan,2,2,3,7,,0.1,",
        "1,1 2 3 0,ida-star,manhattan,,2,3,7,,0.1,",
        "1,1 2 3 0,ida-star,manhattan,2,2,3,7,,0.1,nodes",
        "1,1 2 3 0,beam:100,manhattan,2,2,3,7,,0.1,width",
        "1,1 2 3 0,ida-star,manhattan,,2,3,7,,0.1,patience",
        "1,1 2 3 0,ida-star,manhattan,2,2,3,7,,0.1",
        "1,1 2 3 0,ida-star,manhattan,2,2,3,-7,,0.1,",
        "1,1 2 3 0,ida-star,manhattan,2,2,3,0,,0.1,",
        "1,1 2 3 0,ida-star,manhattan,2,2,3,7,,nan,",
        "1,1 2 3 0,ida-star,manhattan,2,2,3,7,,-1,",
        f"1,1 2 3 0,ida-star,manhattan,2,2,3,{10**400},,0.1,",
        "",
    ],
)
def test_lines_that_make_no_sense_are_named(line, tmp_path):
    path = tmp_path / "a.csv"
    text = written(path, CELLS[:1]) + line + "\n"
    path.write_text(text)
    with pytest.raises(InputError, match=r"a.csv, line 3: '.*' is not a line of results"):
        read(path)
    assert path.read_text() == text


def test_two_programs_do_not_write_to_one_file(tmp_path):
    with ResultsFile(tmp_path / "a.csv", resume=True) as results:
        with pytest.raises(InputError, match="another program is writing to"):
            ResultsFile(tmp_path / "a.csv", resume=True)
        results.add(CELLS[0])
    assert read(tmp_path / "a.csv") == CELLS[:1]


def test_a_file_that_is_replaced_while_it_is_opened_is_not_written_to(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    written(path, CELLS)

    def replaced(file, how):
        (tmp_path / "new").write_text(path.read_text())
        os.replace(tmp_path / "new", path)

    monkeypatch.setattr("fcntl.flock", replaced)
    with pytest.raises(InputError, match="another program is writing to"):
        ResultsFile(path, resume=True)


def test_a_file_that_was_moved_away_is_not_put_over_another(tmp_path):
    path = tmp_path / "a.csv"
    with ResultsFile(path, resume=False) as results:
        for cell in CELLS[::-1]:
            results.add(cell)
        os.rename(path, tmp_path / "b.csv")
        path.write_text("something else")
        results.sort(as_they_are)
    assert path.read_text() == "something else" and len(read(tmp_path / "b.csv")) == 3


@pytest.mark.parametrize("done_first", [False, True])
def test_in_the_end_lines_are_in_order_and_of_one_cell_there_is_the_furthest(tmp_path, done_first):
    path = tmp_path / "a.csv"
    limited, done = CELLS[2], CELLS[2]._replace(length=20, generated=10**12, limit_hit=None)
    both = [done, limited] if done_first else [limited, done]
    written(path, [both[0], CELLS[1], CELLS[0], both[1]], order=lambda cell: (cell.instance, cell.algorithm))
    assert read(path) == [CELLS[1], CELLS[0], done]
    assert os.listdir(tmp_path) == ["a.csv"]


def test_a_solution_that_is_not_proven_is_less_than_a_proof_and_more_than_none(tmp_path):
    none = CELLS[2]._replace(algorithm="bidirectional", generated=10**13)
    unproven, done = none._replace(length=24, generated=10**12), none._replace(length=22, generated=10, limit_hit=None)
    for number, lines in enumerate(([none, unproven], [unproven, none])):
        written(tmp_path / f"{number}.csv", lines)
        assert read(tmp_path / f"{number}.csv") == [unproven]
    written(tmp_path / "a.csv", [done, unproven, none])
    assert read(tmp_path / "a.csv") == [done]


def test_the_file_keeps_its_mode(tmp_path):
    path = tmp_path / "a.csv"
    written(path, CELLS[:1])
    path.chmod(0o600)
    written(path, [CELLS[2], CELLS[1]], resume=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_other_programs_may_put_a_mark_first_and_end_lines_in_their_way(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + written(path, CELLS[:2]).replace("\n", "\r\n").encode() + b"2,cut sh")
    written(path, CELLS[2:], resume=True)
    assert read(path) == CELLS


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    written(tmp_path / "b.csv", CELLS[::-1], resume=True)
    assert (tmp_path / "b.csv").is_symlink() and read(tmp_path / "a.csv")[0].instance == 1


def test_if_lines_cannot_be_put_in_order_nothing_is_lost(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    written(tmp_path / "a.csv", CELLS[::-1])
    assert read(tmp_path / "a.csv") == CELLS[::-1] and os.listdir(tmp_path) == ["a.csv"]


def test_lines_are_put_in_order_however_long_the_name_is(tmp_path):
    path = tmp_path / ("x" * 250 + ".csv")
    written(path, CELLS[::-1])
    assert read(path) == [CELLS[1], CELLS[0], CELLS[2]] and os.listdir(tmp_path) == [path.name]
