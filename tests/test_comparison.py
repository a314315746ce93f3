"""Comparisons: the same boards by several methods, what they must agree on, and the figures drawn from them."""

import math
from pathlib import Path
from threading import Event

import pytest

from pdb_builder.base.errors import Disagreement, InputError
from pdb_builder.base.machine import processor_and_cores
from pdb_builder.revision import revision
from solver import Settings, Unsolvable, compare, load_set, solve, solve_board
from solver.board import format_board
from solver.comparison.cells import Cell, furthest
from solver.comparison.comparison import Comparison
from solver.comparison.methods import Method, prepare_methods
from solver.comparison.results_file import ResultsFile
from solver.comparison.resuming import recall
from solver.comparison.tables import board_table, summary_table
from solver.comparison.time_left import time_left
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

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.jit


def run(comparison, jobs=2):
    for one in comparison.run(jobs, Event()):
        comparison.add(one)
    return comparison


def counts_of(found):
    """What a cell and a solution have in common."""
    return found.h_start, found.expanded, found.generated, found.stored


# ---- running ------------------------------------------------------------------------------------


def test_every_cell_agrees_with_solve_and_with_breadth_first_search():
    settings = Settings(threads=1, memory_limit=10**8)
    methods = prepare_methods(GRID, GOAL, ["ida-star", "a-star"], ["manhattan", "hamming"], settings)
    comparison = run(Comparison(GRID, GOAL, boards(12), methods))
    distances = board_distances(GRID, 8)
    assert len(comparison.cells) == 48 and not comparison.missing()
    for one in comparison.finished():
        for method in methods:
            found = comparison.cell(one, method)
            options = {"pruning": 2} if method.algorithm == "ida-star" else {}
            alone = solve(one.board, heuristic=method.heuristic, algorithm=method.algorithm, threads=1, **options)
            assert found.length == distances[one.board] == alone.length
            assert counts_of(found) == counts_of(alone) and found.limit_hit is None
            assert (found.stored is None) == (method.algorithm == "ida-star")


def test_methods_are_named_after_their_databases(small):
    settings = Settings(folder=small.parent, memory_limit=10**8)
    heuristics = [f"pdb:{small}", f"pdb-unreflected:{small}", "manhattan"]
    methods = prepare_methods(GRID, GOAL, ["ida-star:fixed", "ida-star:value"], heuristics, settings)
    assert [str(method) for method in methods[:3]] == [
        "ida-star:fixed with pdb:3x3-4-4",
        "ida-star:fixed with pdb-unreflected:3x3-4-4",
        "ida-star:fixed with manhattan",
    ]
    comparison = run(Comparison(GRID, GOAL, boards(3), methods))
    for one in comparison.finished():
        for method in methods:
            order = method.algorithm.partition(":")[2]
            alone = solve(one.board, heuristic=method.settings.heuristic, folder=small.parent, order=order, pruning=2)
            assert comparison.cell(one, method).generated == alone.generated


@pytest.mark.parametrize(
    ("algorithms", "heuristics", "message"),
    [
        ("ida-star ida-star", "manhattan", "ida-star with manhattan is named twice"),
        ("ida-star", "manhattan linear-conflict manhattan", "manhattan is named twice"),
        ("bfs bfs", "manhattan", "bfs is named twice"),
        ("weighted-a-star weighted-a-star:1.50", "manhattan", "weighted-a-star:1.50 with manhattan is named"),
        ("", "manhattan", "no algorithm to compare is given"),
        ("bfs greedy", "", "greedy needs a heuristic, but none is given"),
        ("magic", "manhattan", "unknown algorithm 'magic'"),
        ("ida-star", "pdb:nowhere", "nowhere.h5"),
        ("ida-star:best", "manhattan", "unknown order 'best'"),
        ("ida-star:", "manhattan", "unknown order ''"),
        ("a-star:value", "manhattan", "a-star has no choice of order"),
        (
            "weighted-a-star:much",
            "manhattan",
            "the weight of weighted-a-star must be a number, got 'much': write it as",
        ),
        ("weighted-a-star:0.9", "manhattan", "weighted-a-star:0.9: weight must be between 1 and 1000, got 0.9"),
        ("weighted-a-star:nan", "manhattan", "weight must be between 1 and 1000, got nan"),
        ("beam:", "manhattan", "the width of beam must be an integer, got '': write it as beam:10000"),
        ("beam:1.5", "manhattan", "the width of beam must be an integer, got '1.5'"),
        ("beam:0", "manhattan", "width must be an integer between 1 and 100,000,000, got 0"),
        ("dfs:deep", "manhattan", "the depth of dfs must be an integer, got 'deep'"),
        ("dfs:-1", "manhattan", "depth must be an integer between 1 and 10,000, got -1"),
        ("ida-star ida-star:pruning=2", "manhattan", "ida-star:pruning=2 with manhattan is named twice"),
        (
            "ida-star:pruning=",
            "manhattan",
            "the pruning of ida-star must be an integer, got '': write it as ida-star:pru",
        ),
        ("ida-star:pruning=deep", "manhattan", "got 'deep': write it as ida-star:pruning=14"),
        ("ida-star:pruning=1", "manhattan", "ida-star:pruning=1: pruning must be an integer between 2 and 24, got 1"),
        ("ida-star:pruning=25", "manhattan", "pruning must be an integer between 2 and 24, got 25"),
        ("ida-star:14", "manhattan", "unknown order '14'"),
        ("ida-star:pruning=8:pruning=9", "manhattan", "ida-star:pruning=8:pruning=9 gives the pruning twice"),
        (
            "ida-star:width=9",
            "manhattan",
            "ida-star has no parameter 'width': write it as ida-star:order=fixed or ida-",
        ),
        ("ida-star:=9", "manhattan", "ida-star has no parameter ''"),
        ("beam:pruning=8", "manhattan", "beam has no parameter 'pruning': write it as beam:width=10000"),
        ("a-star:pruning=8", "manhattan", "a-star takes no parameter, got 'pruning=8'"),
        ("greedy:2", "manhattan", "greedy takes no parameter, got '2'"),
        ("bfs:30", "manhattan", "bfs takes no parameter, got '30'"),
        ("greedy bidirectional", "inversions", "inadmissible, so bidirectional cannot guarantee a"),
    ],
)
def test_methods_that_make_no_sense_are_refused(algorithms, heuristics, message, tmp_path):
    with pytest.raises(InputError, match=message):
        prepare_methods(GRID, GOAL, algorithms.split(), heuristics.split(), Settings(folder=tmp_path))


def test_parameters_are_settings():
    algorithms = ["ida-star", "ida-star:pruning=14", "ida-star:value:pruning=6", "ida-star:pruning=6:order=fixed"]
    algorithms += ["dfs", "dfs:25", "dfs:25:pruning=8", "dfs:pruning=8", "beam:width=20", "weighted-a-star:weight=2"]
    methods = prepare_methods(GRID, GOAL, algorithms, ["manhattan"], Settings(threads=1, memory_limit=10**8))
    assert [method.algorithm for method in methods] == algorithms
    found = [(one.order, one.pruning, one.depth, one.width, one.weight) for one in (m.settings for m in methods)]
    assert found == [
        (None, 2, None, None, None),
        (None, 14, None, None, None),
        ("value", 6, None, None, None),
        ("fixed", 6, None, None, None),
        (None, 2, None, None, None),
        (None, 2, 25, None, None),
        (None, 8, 25, None, None),
        (None, 8, None, None, None),
        (None, None, None, 20, None),
        (None, None, None, None, 2),
    ]


def test_cells_of_methods_that_look_back_further_are_kept_apart():
    algorithms = ["ida-star", "ida-star:pruning=8", "ida-star:pruning=14"]
    methods = prepare_methods(GRID, GOAL, algorithms, ["manhattan"], Settings(threads=1))
    whole = run(Comparison(GRID, GOAL, boards(4), methods))
    generated = [sum(found.generated for found in whole.column(method)) for method in methods]
    assert generated == sorted(generated, reverse=True) and len(set(generated)) == 3
    again = Comparison(GRID, GOAL, boards(4), methods)
    recall(again, list(whole.cells.values()), "file.csv")
    assert again.cells == whole.cells
    swapped = [found._replace(algorithm="ida-star") for found in whole.column(methods[2])]
    with pytest.raises(InputError, match=r"generates .* boards for board \d, but here it is"):
        recall(Comparison(GRID, GOAL, boards(4), methods), swapped, "file.csv")


def test_every_search_can_be_compared():
    algorithms = [*SEARCHES, "weighted-a-star:3", "beam:20", "dfs:25"]
    settings = Settings(threads=1, time_limit=5, memory_limit=10**8)
    methods = prepare_methods(GRID, GOAL, algorithms, ["manhattan", "hamming"], settings)
    uninformed = [method for method in methods if method.heuristic == "none"]
    assert [str(method) for method in uninformed] == ["bfs", "dijkstra", "dfs", "dfs:25"], "once for all heuristics"
    assert len(methods) == 4 + 2 * (len(algorithms) - 4)
    comparison = run(Comparison(GRID, GOAL, boards(5), methods))
    distances = board_distances(GRID, 8)
    for one in comparison.finished():
        for method in methods:
            found = comparison.cell(one, method)
            if method.repeatable:
                alone = solve_board(GRID, one.board, GOAL, method.settings)
                assert found.length == alone.length
                assert found.limit_hit == alone.stopped
                assert counts_of(found) == counts_of(alone)
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
        ("beam:50", "manhattan", None, True),
        ("beam", "manhattan", None, True),
    ],
)
def test_what_methods_guarantee(algorithm, heuristic, bound, admissible):
    for limit in (None, 1):  # with 1, a search ends before it has begun
        (method,) = prepare_methods(GRID, GOAL, [algorithm], [heuristic], Settings(node_limit=limit))
        assert (method.suboptimality_bound, method.admissible) == (bound, admissible)
        assert method.repeatable == (algorithm != "beam")


def test_a_beam_without_a_width_has_a_time_limit():
    for limits in ({}, {"time_limit": 3.0}, {"node_limit": 10}):
        wide, narrow = prepare_methods(GRID, GOAL, ["beam", "beam:9"], ["manhattan"], Settings(**limits))
        assert wide.settings.time_limit == (limits.get("time_limit") if limits else DEFAULT_SECONDS)
        assert narrow.settings.time_limit == limits.get("time_limit")


def test_too_small_a_depth_or_width_ends_a_cell():
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


def test_a_board_with_an_unproven_solution_is_not_solved(monkeypatch):
    stop_before_the_proof(monkeypatch)
    methods = prepare_methods(GRID, GOAL, ["a-star", "bidirectional"], ["hamming"], Settings(threads=1))
    comparison = run(Comparison(GRID, GOAL, boards(2), methods))
    exact, stopped = comparison.summaries()
    assert (exact.unfinished, exact.cut_short) == (0, 0) and exact.length is not None
    assert (stopped.unfinished, stopped.cut_short, stopped.length, stopped.ratio_is) == (2, 2, None, "<")
    assert all(comparison.cell(one, methods[1]).length for one in comparison.finished())
    alone = run(Comparison(GRID, GOAL, boards(1), methods[1:]))
    assert alone.shortest(alone.instances[1])[1] is False


def test_interrupted_searches_leave_no_cell():
    interrupt = Event()
    interrupt.set()
    grid, goal, instances = load_set("korf100")
    assert list(Comparison(grid, goal, {1: instances[0], 88: instances[87]}, [A]).run(1, interrupt)) == []


def test_a_limit_ends_a_cell_and_not_the_comparison():
    limited = Method("ida-star", "manhattan", Settings("manhattan", node_limit=200, threads=1))
    comparison = run(Comparison(GRID, GOAL, boards(20), [limited, B]))
    cells = [comparison.cell(one, limited) for one in comparison.finished()]
    assert len(cells) == 20
    hit = [found for found in cells if found.limit_hit]
    assert 0 < len(hit) < 20
    assert all(found.limit_hit == "nodes" and found.length is None and found.generated >= 200 for found in hit)
    assert all(found.length is not None for found in cells if not found.limit_hit)


def test_comparisons_from_python(small):
    chosen = [list(one.board) for one in boards(3).values()]
    comparison = compare(chosen, ["manhattan", f"pdb:{small}"], ["ida-star", "ida-star:value"], folder=small.parent)
    assert len(comparison.cells) == 12 and [summary.boards for summary in comparison.summaries()] == [3] * 4
    published = compare("korf100", ["manhattan"], node_limit=1000)
    assert [summary.unfinished for summary in published.summaries()] == [100]
    with pytest.raises(InputError, match="these 2 boards cannot be compared: give at least one, and all of one shape"):
        compare(["1 2 3 0", "1 2 3 4 5 6 7 8 0"], ["manhattan"])
    with pytest.raises(InputError, match="these 0 boards"):
        compare([], ["manhattan"])
    with pytest.raises(Unsolvable):
        compare(["2 1 3 4 5 6 7 8 0"], ["manhattan"])


def test_suboptimal_and_uninformed_searches_from_python():
    chosen = [list(one.board) for one in boards(3).values()]
    rows = compare(chosen, ["manhattan"], ["weighted-a-star:2", "greedy", "beam:100", "bfs"]).summaries()
    assert [(row.algorithm, row.heuristic, row.suboptimality_bound) for row in rows] == [
        ("weighted-a-star:2", "manhattan", 2),
        ("greedy", "manhattan", None),
        ("beam:100", "manhattan", None),
        ("bfs", "none", 1),
    ]
    assert all(row.length >= rows[-1].length for row in rows) and rows[0].length <= 2 * rows[-1].length
    uninformed = compare(chosen, [], ["bfs", "dijkstra"])
    assert [row.length for row in uninformed.summaries()] == [rows[-1].length] * 2


# ---- agreement ----------------------------------------------------------------------------------


def test_lengths_that_disagree_are_an_error():
    with pytest.raises(Disagreement, match=r"board 1 .*manhattan finds 20, ida-star with linear-conflict finds 22"):
        filled(cell(1, A), cell(1, B, length=22))


def test_no_heuristic_may_exceed_the_length():
    with pytest.raises(Disagreement, match="linear-conflict gives 24 at the start"):
        filled(cell(1, A, length=22), cell(1, B, h_start=24, limit="nodes"))
    filled(cell(1, A, length=22), cell(1, B, h_start=22, length=22))


def test_the_published_length_must_agree():
    comparison = Comparison(GRID, GOAL, {1: boards(1)[1]._replace(length=18)}, [A])
    with pytest.raises(Disagreement, match="18 is published, ida-star with manhattan finds 20"):
        comparison.add(cell(1, A))


def test_a_method_must_agree_with_itself():
    with pytest.raises(Disagreement, match="manhattan finds 22, ida-star with manhattan, before that, finds 20"):
        filled(cell(1, A), cell(1, A, length=22))


def test_boards_need_not_agree_with_each_other():
    assert len(filled(cell(1, A), cell(1, B), cell(2, A, length=22), cell(2, B, length=22)).finished()) == 2


@pytest.mark.parametrize(
    "others",
    [
        (cell(1, WEIGHTED, 32), cell(1, GREEDY, 40), cell(1, DEEP, 30, limit="depth"), unproven(32)),
        (cell(1, WEIGHTED, 33), unproven(30)),  # in floating point, 33 / 1.1 is a little more than 30
        (cell(1, GREEDY, 30, h_start=99), cell(1, DEEP, 30, h_start=1)),
        (cell(1, BOTH_ENDS, 30), unproven(34)),
    ],
)
def test_suboptimal_methods_may_find_longer_solutions(others):
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
def test_no_method_may_find_a_shorter_solution_or_break_its_guarantee(others, words):
    with pytest.raises(Disagreement, match=words):
        filled(cell(1, A, 30), *others, methods=ALL)


def test_a_stopped_method_is_held_to_the_solution_it_had_found():
    filled(unproven(32), cell(1, BOTH_ENDS, 30), methods=ALL)
    with pytest.raises(Disagreement, match=r"hamming finds 30, .* before that, finds 28 without a guarantee"):
        filled(unproven(28), cell(1, BOTH_ENDS, 30), methods=ALL)


def test_a_solution_without_a_guarantee_can_contradict_a_proof():
    with pytest.raises(
        Disagreement, match="inversions finds 20 without a guarantee, dfs:20 finds nothing within 20 moves"
    ):
        filled(cell(1, GREEDY, 20), cell(1, DEEP, limit="depth"), methods=ALL)
    with pytest.raises(Disagreement, match=r"finds 40, at most 1.1 times the shortest, greedy .* finds 34"):
        filled(cell(1, WEIGHTED, 40), cell(1, GREEDY, 34), methods=ALL)
    comparison = filled(cell(1, WEIGHTED, 40), cell(1, GREEDY, 38), methods=ALL)
    assert comparison.shortest(comparison.instances[1]) == (38, False), "not proven to be the shortest"


def test_a_depth_limit_that_a_method_does_not_have_proves_nothing():
    filled(cell(1, A, limit="depth"), cell(1, B), count=1)


def test_every_method_is_held_to_the_published_length():
    instances = {1: boards(1)[1]._replace(length=30)}
    comparison = Comparison(GRID, GOAL, instances, list(ALL))
    for one in (cell(1, WEIGHTED, 32), cell(1, GREEDY, 50, h_start=60), unproven(30)):
        comparison.add(one)
    assert comparison.shortest(instances[1]) == (30, True)
    with pytest.raises(Disagreement, match=r"30 is published, .*greedy with inversions finds 28 without a guarantee"):
        comparison.add(cell(1, GREEDY, 28))
    with pytest.raises(Disagreement, match=r"30 is published, .*manhattan finds 34, at most 1.1 times the shortest"):
        Comparison(GRID, GOAL, instances, list(ALL)).add(cell(1, WEIGHTED, 34))


def test_the_cell_that_got_further_is_kept():
    early, late = cell(1, BOTH_ENDS, limit="nodes", generated=500), cell(1, BOTH_ENDS, limit="time", generated=900)
    done = cell(1, BOTH_ENDS, 30, generated=400)
    ranks = [early, late, unproven(34), unproven(32), done]
    for at, worse in enumerate(ranks):
        for better in ranks[at + 1 :]:
            assert furthest(worse, better) == furthest(better, worse) == better


# ---- resuming -----------------------------------------------------------------------------------


def test_saved_cells_are_not_run_again():
    whole = run(Comparison(GRID, GOAL, boards(4), [A, B]))
    saved = list(whole.cells.values())[:5]
    other = Comparison(GRID, GOAL, boards(4), [A, B])
    recall(other, saved, "saved.csv")
    assert set(other.cells.values()) == set(saved) and len(other.missing()) == 3
    run(other)
    assert {key: found._replace(seconds=0) for key, found in other.cells.items()} == {
        key: found._replace(seconds=0) for key, found in whole.cells.items()
    }


def test_cells_say_where_they_were_made():
    (found,) = run(Comparison(GRID, GOAL, boards(1), [A])).cells.values()
    assert (found.machine, found.revision) == (processor_and_cores(), revision())


@pytest.mark.parametrize("origin", [("Z80, 1 core", "0.1.0"), ("", "")])
def test_cells_of_another_machine_and_revision_are_used(origin):
    whole = run(Comparison(GRID, GOAL, boards(2), [A], machine=origin[0], revision=origin[1]))
    saved = list(whole.cells.values())
    assert {(found.machine, found.revision) for found in saved} == {origin}
    other = Comparison(GRID, GOAL, boards(3), [A])
    recall(other, saved, "saved.csv")
    assert set(other.cells.values()) == set(saved) and len(other.missing()) == 1


def test_cells_of_other_boards_and_methods_are_ignored():
    comparison = Comparison(GRID, GOAL, boards(2), [A])
    other = cell(3, A, h_start=solve(boards(3)[3].board, heuristic="manhattan").h_start)
    moved = cell(1, A, h_start=0, length=0)._replace(board="1 2 3 4 5 6 7 8 0")
    recall(comparison, [other, cell(1, B), moved], "saved.csv")
    assert not comparison.cells


def test_a_file_is_for_one_puzzle_even_if_none_of_its_cells_is_used():
    comparison = Comparison(GRID, GOAL, boards(1), [A])
    for board, goal, said in (
        ("1 2 3 / 4 5 0", "last", r"saved.csv holds boards of 2x3, not of 3x3: start a new file of results for these"),
        ("1 2 3 4 5 6 7 8 0 # wrapped", "last", r"saved.csv holds boards of 3x3 wrapped, not of 3x3: start a new file"),
        ("1 2 3 4 5 6 7 8 0", "first", r"saved.csv holds results for the goal 'first', not for 'last': start a new"),
        ("1 2 3 4 5 6 7 8 0", "2 1 3 4 5 6 7 8 0", r"results for the goal '2 1 3 4 5 6 7 8 0', not for 'last': st"),
        ("1 2 3 4 5 6 7 8 8", "last", r"saved.csv, board 7: not a 3x3 board"),
    ):
        with pytest.raises(InputError, match=said):
            recall(comparison, [cell(1, B)._replace(instance=7, board=board, goal=goal)], "saved.csv")
    wrong = cell(2, A, h_start=solve(boards(2)[2].board, heuristic="manhattan").h_start + 2)
    with pytest.raises(InputError, match="the database or the program has changed"):
        recall(comparison, [wrong], "saved.csv")
    assert not comparison.cells


def test_a_saved_cell_with_another_value_at_the_start_is_refused():
    value = solve(boards(1)[1].board, heuristic="manhattan").h_start
    comparison = Comparison(GRID, GOAL, boards(1), [A])
    with pytest.raises(InputError, match=rf"the value {value + 2} at the start of board 1, but here it is {value}"):
        recall(comparison, [cell(1, A, h_start=value + 2, length=40)], "saved.csv")


@pytest.mark.parametrize("field", ["length", "expanded", "generated"])
def test_saved_counts_that_differ_are_refused(field):
    whole = run(Comparison(GRID, GOAL, boards(3), [A]))
    saved = sorted(whole.cells.values(), key=lambda found: found.generated)
    saved[0] = saved[0]._replace(**{field: getattr(saved[0], field) - 2})
    with pytest.raises(InputError, match="the database or the program has changed"):
        recall(Comparison(GRID, GOAL, boards(3), [A]), saved, "saved.csv")


@pytest.mark.parametrize("method", [A, BOTH_ENDS])
def test_cells_of_another_goal_are_refused_whatever_their_values_and_methods(method):
    """The two goals give the board the same Manhattan distance."""
    board, goals = (1, 7, 8, 2, 4, 3, 0, 6, 5), (GOAL, (4, 2, 0, 8, 3, 5, 1, 7, 6))
    saved = list(run(Comparison(GRID, GOAL, {1: Instance(1, board, None, None)}, [A])).cells.values())
    assert saved[0].h_start == solve(board, goals[1], heuristic="manhattan").h_start
    other = Comparison(GRID, goals[1], {1: Instance(1, board, None, None)}, [method])
    with pytest.raises(InputError, match="holds results for the goal 'last', not for '4 2 0 8 3 5 1 7 6': "):
        recall(other, saved, "saved.csv")


def test_a_mixed_file_is_refused_whichever_goal_comes_first():
    (found,) = run(Comparison(GRID, GOAL, boards(1), [A])).cells.values()
    with pytest.raises(InputError, match="holds results for the goal 'spiral', not for 'last': "):
        recall(Comparison(GRID, GOAL, boards(1), [A]), [found, found._replace(goal="spiral")], "saved.csv")


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
def test_a_cell_that_hit_a_limit_is_run_again_if_it_would_get_further(limit, settings, kept):
    (found,) = run(Comparison(GRID, GOAL, boards(1), [A])).cells.values()
    if limit:
        found = found._replace(length=None, generated=1000, seconds=0.5, limit_hit=limit)
    comparison = Comparison(GRID, GOAL, boards(1), [A._replace(settings=Settings("manhattan", **settings))])
    recall(comparison, [found], "saved.csv")
    assert bool(comparison.cells) == kept


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


@pytest.mark.parametrize(
    "algorithm", ["weighted-a-star", "greedy", "beam:50", "bfs", "dijkstra", "dfs:31", "bidirectional"]
)
def test_every_search_but_a_beam_without_a_width_is_repeatable(algorithm):
    methods = prepare_methods(GRID, GOAL, [algorithm], ["manhattan"], Settings(threads=1, memory_limit=10**8))
    saved = list(run(Comparison(GRID, GOAL, boards(2), methods)).cells.values())
    again = Comparison(GRID, GOAL, boards(2), methods)
    recall(again, saved, "saved.csv")
    assert not again.missing()
    saved = [found._replace(generated=found.generated + 2) for found in saved]
    with pytest.raises(InputError, match=rf"saved.csv says that {algorithm} with .* generates .* boards for board"):
        recall(Comparison(GRID, GOAL, boards(2), methods), saved, "saved.csv")


def test_a_beam_that_ran_until_its_time_limit_is_trusted():
    (method,) = prepare_methods(GRID, GOAL, ["beam"], ["manhattan"], Settings())
    value = solve(boards(1)[1].board, heuristic="manhattan").h_start
    comparison = Comparison(GRID, GOAL, boards(1), [method])
    recall(comparison, [cell(1, method, 60, h_start=value, generated=12345)], "saved.csv")
    assert not comparison.missing()
    with pytest.raises(InputError, match="at the start of board 1, but here it is"):
        recall(comparison, [cell(1, method, 60, h_start=value + 2)], "saved.csv")


def test_an_unproven_solution_is_searched_again_with_a_higher_limit():
    value = solve(boards(1)[1].board, heuristic="hamming").h_start
    for nodes, kept in ((1000, True), (2000, False)):
        method = BOTH_ENDS._replace(settings=BOTH_ENDS.settings._replace(node_limit=nodes))
        comparison = Comparison(GRID, GOAL, boards(1), [method])
        recall(comparison, [unproven(33)._replace(h_start=value)], "saved.csv")
        assert bool(comparison.cells) == kept, "and nothing is run again to compare the counts"


# ---- the time left ------------------------------------------------------------------------------


def timed(method, *seconds):
    return [cell(number, method, seconds=time) for number, time in enumerate(seconds, 1)]


def test_nothing_is_said_before_enough_searches_of_every_method_are_done():
    comparison = filled(*timed(A, *[3.0] * 12), *timed(B, *[5.0] * 9), count=120)
    assert time_left(comparison, 1) is None, "nine of B"
    comparison.add(cell(10, B, seconds=5.0))
    assert time_left(comparison, 1) is None, "a tenth of the boards is twelve"
    for number in (11, 12):
        comparison.add(cell(number, B, seconds=5.0))
    assert time_left(comparison, 1) == pytest.approx((108 * 8.0, 108 * 8.0))
    assert time_left(comparison, 2) == pytest.approx((108 * 4.0, 108 * 4.0))


def test_the_last_searches_are_not_shared_out():
    comparison = filled(*timed(A, *[3.0] * 12), *timed(B, *[5.0] * 11), count=12)
    assert time_left(comparison, 8) == pytest.approx((5.0, 5.0))
    comparison.add(cell(12, B, seconds=5.0))
    assert time_left(comparison, 8) == (0, 0)


def test_the_more_the_times_vary_the_wider_the_range():
    shortest, longest = time_left(filled(*timed(A, *[1, 3] * 10), methods=[A], count=40), 1)
    # Two standard errors of a mean of 20 times, and of another: the standard deviation is half of the mean.
    assert longest / 40 == 40 / shortest == pytest.approx(math.exp(2 * 0.5 * math.sqrt(2 / 20)))
    assert time_left(filled(*timed(A, *[1] * 19, 10**5), methods=[A], count=40), 1) is None, "a range that says nothing"


def test_no_search_takes_longer_than_its_time_limit():
    limited = A._replace(settings=Settings("manhattan", time_limit=4))
    shortest, longest = time_left(filled(*timed(limited, *[1, 4, 4, 4] * 5), methods=[limited], count=40), 1)
    assert longest == 20 * 4 > shortest


def test_the_time_left_of_a_real_comparison():
    """Korf's boards in their order, by four heuristics whose times span four orders of magnitude."""
    grid, goal, instances = load_set("korf100")
    with ResultsFile(ROOT / "docs" / "results" / "korf100.csv", resume=True) as results:
        saved = results.cells
    names = dict.fromkeys(found.heuristic for found in saved)
    methods = [Method("ida-star", name, Settings(name)) for name in names]
    comparison = Comparison(grid, goal, {one.id: one for one in instances}, methods)
    left = sum(found.seconds for found in saved)
    for found in saved:
        comparison.add(found)
        left -= found.seconds
        estimate = time_left(comparison, 1)
        if found.instance < 10:
            assert estimate is None
        elif 10 < found.instance <= 80:
            assert estimate[0] / 1.5 < left < estimate[1] * 1.5
            assert estimate[1] / estimate[0] < 10
        elif estimate and left > 1:
            assert estimate[0] / 4 < left < estimate[1] * 4


# ---- summaries ----------------------------------------------------------------------------------


def test_means_are_over_the_boards_that_all_methods_have_finished():
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
def test_a_ratio_says_what_is_known_about_it(first, second, ratio, sign):
    comparison = filled(cell(1, A, limit=first), cell(1, B, generated=100, limit=second), count=1)
    found = comparison.summaries()[1]
    assert (found.ratio, found.ratio_is) == (ratio, sign)
    assert comparison.summaries()[0].ratio == 1


def test_boards_that_hit_a_limit_count_in_the_means():
    comparison = filled(cell(1, A), cell(1, B), cell(2, A, generated=9000, limit="nodes"), cell(2, B))
    a, b = comparison.summaries()
    assert (a.unfinished, a.generated, b.unfinished) == (1, 5000, 0)
    table = summary_table(comparison)
    row = dict(zip(table.headings, table.rows[0], strict=True))
    assert row["generated"] == "> 5,000" and row["solved"] == "1 of 2" and row["seconds"] == "> 0.5000"
    assert row["h mean"] == "10.00", "heuristic values are exact anyway"
    assert dict(zip(table.headings, table.rows[1], strict=True))["ratio"] == "> 5"


def test_without_a_finished_board_there_are_no_summaries():
    assert filled(cell(1, A)).summaries() == []


# ---- tables -------------------------------------------------------------------------------------


def test_columns_are_aligned():
    comparison = filled(cell(1, A), cell(1, B, generated=5), cell(2, A, limit="time"), cell(2, B))
    for table in (summary_table(comparison), board_table(comparison)):
        lines = str(table).splitlines()
        assert len(lines) == len(table.rows) + 1 + bool(table.groups)
        numbers = lines[-len(table.rows) :]
        assert len({len(line) for line in numbers}) == 1, "the last column is right-aligned"
    text = str(board_table(comparison)).splitlines()
    assert text[0].split() == ["ida-star", "with", "manhattan", "ida-star", "with", "linear-conflict"]
    assert text[2].split() == ["1", "20", "10", "1,000", "0.5000", "10", "5", "0.5000"]
    assert text[3].split() == ["2", "20", "10", ">", "1,000", ">", "0.5000", "10", "1,000", "0.5000"]


def test_columns_without_information_are_left_out():
    plain = summary_table(filled(cell(1, A), cell(1, B)))
    assert plain.headings == ["heuristic", "h mean", "median", "expanded", "generated", "seconds", "nodes/s", "ratio"]
    other = Method("a-star", "manhattan", Settings())
    full = summary_table(filled(cell(1, A), cell(1, other, stored=7, limit="memory"), methods=(A, other)))
    assert full.headings[:3] == ["algorithm", "heuristic", "solved"] and "stored" in full.headings
    assert [row[full.headings.index("stored")] for row in full.rows] == ["-", "> 7"]


def test_lengths_have_columns_if_they_vary():
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
    assert alone.rows[0][:2] == ["1", "<= 24"], "no method has proven it"


def test_published_counts_are_shown_beside_ours():
    grid, goal, instances = load_set("korf100")
    one = instances[0]
    counts = (one.length, 41, 1, one.generated, None, 0.1, None)
    comparison = Comparison(grid, goal, {one.id: one}, [A])
    comparison.add(Cell(1, format_board(grid, one.board), "first", "ida-star", "manhattan", *counts))
    table = board_table(comparison)
    assert table.rows == [["1", "57", "276,361,933", "41", "276,361,933", "0.1000"]]
    assert table.groups == [("", 2), ("published", 1), ("ida-star with manhattan", 3)]
    comparison.cells.clear()
    counts = (None, 41, 1, 1000, None, 0.1, "nodes")
    comparison.add(Cell(1, format_board(grid, one.board), "first", "ida-star", "manhattan", *counts))
    assert board_table(comparison).rows == [["1", "57", "276,361,933", "41", "> 1,000", "> 0.1000"]]
