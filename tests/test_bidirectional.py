"""BAE*: the lower bound that it rests on, what it stores, and how far it goes."""

import random

import pytest

from pdb_builder import NAMED, Grid
from pdb_builder.base.workers import Workers
from solver.heuristics import hamming, linear_conflict, manhattan
from solver.search import bidirectional
from solver.search.bidirectional import FORWARD, ROWS, _round, _Table
from solver.search.outcome import Limits, Problem, unreported

from .helpers import check_length, korf_in_order, length, of_homes, searched
from .oracle import board_distances, distances_to, solvable_boards

pytestmark = pytest.mark.jit


def from_both(grid, blank, board, prepare, **options):
    return searched("bidirectional", grid, blank, board, prepare(grid, blank), backward=prepare, **options)


def problem_of(grid, board):
    def backward(grid, blank, missing, check):
        return manhattan.prepare(grid, blank)

    return Problem(grid, 0, board, manhattan.prepare(grid, 0), backward=backward)


@pytest.mark.exhaustive
@pytest.mark.parametrize("grid", [Grid(2, 3), Grid(2, 4), Grid(2, 3, True), Grid(2, 4, True)], ids=str)
@pytest.mark.parametrize("prepare", [manhattan.prepare, hamming.prepare], ids=["manhattan", "hamming"])
def test_boards_of_every_goal(grid, prepare):
    for blank in range(grid.cells):
        distances = board_distances(grid, blank)
        boards = solvable_boards(grid, blank)
        for board in boards[:: 1 + len(boards) // 60]:
            check_length("bidirectional", from_both(grid, blank, board, prepare), distances[board])


def test_a_perfect_heuristic_expands_little_more_than_a_solution(database_of):
    grid = Grid(3, 3)
    perfect = of_homes(database_of, grid, (tuple(range(1, 9)),))
    distances = board_distances(grid, 0)
    for board in random.Random(2).sample(solvable_boards(grid, 0), 20):
        outcome = from_both(grid, 0, board, perfect)
        check_length("bidirectional", outcome, distances[board])
        assert outcome.lower_bound == outcome.h_start and outcome.expanded < 20 * distances[board]


def test_databases_of_several_sums(database_of):
    grid = Grid(3, 3)
    two_sums = of_homes(database_of, grid, NAMED["3x3-4-4"])
    distances = board_distances(grid, 0)
    for board in random.Random(3).sample(solvable_boards(grid, 0), 40):
        check_length("bidirectional", from_both(grid, 0, board, two_sums), distances[board])


def test_the_lower_bound_never_exceeds_the_distance():
    """At every moment of the search, and it rises to the distance."""
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    for board in random.Random(4).sample(solvable_boards(grid, 0), 30):
        bounds = []
        outcome = from_both(grid, 0, board, hamming.prepare, progress=lambda one, to=bounds: to.append(one.bound))
        assert bounds == sorted(bounds) and all(bound <= distances[board] for bound in bounds)
        assert length(outcome) == outcome.lower_bound == distances[board]


def test_boards_that_are_dropped_too_early_are_noticed(monkeypatch):
    """The test of the tests: with a bound for the other side that is too high, shortest solutions are missed."""
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)

    def too_strict(table, workers, side, priority, other, most, shorter_than):
        _round(table, workers, side, priority, other + 6, most, shorter_than)

    monkeypatch.setattr(bidirectional, "_round", too_strict)
    monkeypatch.setattr(bidirectional, "FEW", 0)
    wrong = 0
    for board in random.Random(5).sample(solvable_boards(grid, 0), 60):
        outcome = bidirectional.search(problem_of(grid, board), threads=1, limits=Limits(), progress=unreported)
        wrong += [len(path) - 1 for path in outcome.paths] != [distances[board]]
    assert wrong


def test_boards_are_expanded_once_and_by_shortest_ways():
    """All rows that were expanded are different boards, and the moves to them the fewest there are."""
    grid, board = Grid(3, 3), (8, 6, 7, 2, 5, 4, 3, 0, 1)
    table = _Table(problem_of(grid, board), Limits(memory=10**8))
    with Workers(1) as alone:
        for _ in range(200):  # from one side alone: what the other has expanded, a side does not pass through
            table.next_round()
            _round(table, alone, FORWARD, int(table.agenda[FORWARD]), 0, 1000, bidirectional.NO_SOLUTION)
    distances, seen = distances_to(grid, board), set()
    for half in table.halves:
        for row in range(1, int(half.state[ROWS]) + 1):
            how = int(half.rows[row * table.layout.row + table.layout.key + bidirectional.HOW])
            if how & bidirectional.EXPANDED_FLAG and not how & bidirectional.STALE_FLAG:
                at, now = row * table.layout.row, [0] * 9
                for cell in range(9):
                    word = int(half.rows[at + table.layout.word[cell]])
                    now[cell] = word >> int(table.layout.shift[cell]) & table.layout.mask
                assert tuple(now) not in seen
                seen.add(tuple(now))
                assert how & 0x7FFF == distances[tuple(now)]
    assert len(seen) > 1000


def test_rounds_of_few_boards_are_those_of_many(monkeypatch):
    """Whether one thread works them off one after another or several share each: the boards are the same."""
    for one in korf_in_order()[5:8]:
        expected = from_both(Grid(4, 4), 0, one.board, manhattan.prepare)
        for few in (0, 50):
            monkeypatch.setattr(bidirectional, "FEW", few)
            outcome = from_both(Grid(4, 4), 0, one.board, manhattan.prepare, threads=2)
            assert outcome.expanded == expected.expanded and outcome.generated == expected.generated
            assert outcome.stored == expected.stored and outcome.paths == expected.paths
        monkeypatch.undo()


def test_a_board_of_4x4_takes_at_most_30_bytes():
    one = korf_in_order()[30]
    table = _Table(problem_of(Grid(4, 4), one.board), Limits(memory=10**9))
    with Workers(1) as alone:
        while sum(int(half.state[ROWS]) for half in table.halves) < 400_000:
            table.next_round()
            *least, side, _ = table.agenda.tolist()
            _round(table, alone, side, least[side], least[1 - side], 5000, one.length + 2)
            for half in table.halves:
                rows = int(half.state[ROWS])
                if rows > bidirectional.FIRST_CHAINS:
                    assert 4 * table.layout.row + half.chains.nbytes / rows <= 30


def test_full_memory_ends_the_search_with_what_is_known():
    one = korf_in_order()[60]
    for memory in (10**6, 2 * 10**7):
        outcome = from_both(Grid(4, 4), 0, one.board, manhattan.prepare, limits=Limits(memory=memory))
        assert outcome.stopped == "memory" and outcome.h_start <= outcome.lower_bound < one.length
        assert outcome.stored * 24 <= memory


@pytest.mark.parametrize("prepare", [manhattan.prepare, linear_conflict.prepare], ids=["manhattan", "linear-conflict"])
def test_far_fewer_boards_than_a_star(prepare):
    grid, mine, others = Grid(4, 4), 0, 0
    for one in korf_in_order()[10:16]:
        outcome = from_both(grid, 0, one.board, prepare, threads=2)
        assert length(outcome) == outcome.lower_bound == one.length
        mine += outcome.expanded
        others += searched("a-star", grid, 0, one.board, prepare(grid, 0)).expanded
    assert mine < others / 2


@pytest.mark.slow
@pytest.mark.parametrize(("prepare", "mean"), [(manhattan.prepare, 1.8e6), (linear_conflict.prepare, 0.65e6)])
def test_korfs_boards(prepare, mean):
    expanded = []
    for one in korf_in_order():
        outcome = from_both(Grid(4, 4), 0, one.board, prepare, threads=2)
        assert length(outcome) == outcome.lower_bound == one.length
        expanded.append(outcome.expanded)
    assert sum(expanded) / 100 <= mean and max(expanded) <= 60e6
