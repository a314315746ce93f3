"""Searches that promise less, or look at no heuristic, or go from both ends."""

import random
import time
from itertools import pairwise

import numpy as np
import pytest

from pdb_builder import Grid
from solver.heuristics import hamming, inversions, linear_conflict, manhattan
from solver.instances import random_board
from solver.search import beam, beam_level
from solver.search.outcome import Limits, Problem

from .oracle import board_distances
from .test_search import HARD, korf_in_order, length, searched, walked

pytestmark = pytest.mark.jit

TEACHING = (1, 3, 2, 0, 5, 6, 4, 8, 9, 10, 7, 11, 13, 14, 15, 12)  # the blank's home is last
TURNED = tuple((16 - tile) % 16 for tile in reversed(TEACHING))  # the same with the blank's home first


def test_the_teaching_example_takes_as_many_boards_as_published():
    """BFS 1,064,625 explored, A* 1,286 with Manhattan distance, 511 with linear conflict; ties are broken otherwise."""
    grid = Grid(4, 4)
    blindly = searched("bfs", grid, 0, TURNED, manhattan.prepare(grid, 0))
    assert length(blindly) == 19 and 500_000 < blindly.expanded < 1_064_625 < blindly.stored < 1_500_000
    for kind, published in ((manhattan, 1286), (linear_conflict, 511)):
        outcome = searched("a-star", grid, 0, TURNED, kind.prepare(grid, 0))
        assert length(outcome) == 19 and published / 2 < outcome.expanded < published * 2


def test_a_weight_of_one_is_a_star():
    grid = Grid(4, 4)
    one, other = (
        searched(name, grid, 0, TURNED, manhattan.prepare(grid, 0), **options)
        for name, options in (("a-star", {}), ("weighted-a-star", {"weight": 1}))
    )
    assert (one.paths, one.expanded, one.generated) == (other.paths, other.expanded, other.generated)


def test_the_heavier_the_weight_the_fewer_boards_and_never_beyond_the_promise():
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


def test_inversions_promise_nothing():
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    for board in random.Random(2).sample(sorted(distances), 40):
        for name in ("greedy", "weighted-a-star", "beam"):
            outcome = searched(name, grid, 0, board, inversions.prepare(grid, 0))
            assert (
                outcome.suboptimality_bound is None and outcome.lower_bound == 0 and length(outcome) >= distances[board]
            )


def test_depth_first_search_within_a_depth():
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    for board in random.Random(5).sample(sorted(distances), 30):
        for depth in (1, distances[board] - 1, distances[board], distances[board] + 1, distances[board] + 9):
            outcome = searched("dfs", grid, 0, board, manhattan.prepare(grid, 0), depth=max(depth, 1))
            if depth < distances[board]:
                assert outcome.stopped == "depth" and depth < outcome.lower_bound <= distances[board]
            else:
                assert distances[board] <= length(outcome) <= depth
                assert grid.goal(0) not in boards_along(grid, board, outcome.paths[0])[:-1], "it ends at the goal"


def boards_along(grid, board, path):
    boards = [board]
    for hole, cell in pairwise(path):
        now = list(boards[-1])
        now[hole], now[cell] = now[cell], 0
        boards.append(tuple(now))
    return boards


@pytest.mark.parametrize("name", ["bidirectional", "beam"])
def test_the_number_of_threads_changes_nothing(name, monkeypatch):
    monkeypatch.setattr(beam, "PIECE", 50)
    for grid, kind in ((Grid(4, 4), manhattan), (Grid(4, 4), linear_conflict), (Grid(3, 4, True), manhattan)):
        board = walked(grid, 0, 60, random.Random(9))
        outcomes = [searched(name, grid, 0, board, kind.prepare(grid, 0), threads=threads) for threads in (1, 2, 3)]
        assert len({(length(one), one.expanded, one.generated, one.lower_bound) for one in outcomes}) == 1


def test_both_ends_meet_in_the_middle():
    """Neither side goes beyond half the way, so a search without a heuristic worth the name takes few boards."""
    grid = Grid(3, 4)
    board = walked(grid, 0, 50, random.Random(1))
    both = searched("bidirectional", grid, 0, board, hamming.prepare(grid, 0))
    one = searched("bfs", grid, 0, board, hamming.prepare(grid, 0))
    assert length(both) == length(one) and both.expanded < one.expanded / 3


@pytest.mark.parametrize("shape, blank", [((8, 8), 0), ((9, 9), 40), ((10, 10), 0), ((7, 12), 83), ((2, 20), 21)])
def test_a_beam_solves_large_boards_in_stages(shape, blank):
    grid = Grid(*shape)
    chance = random.Random(shape[0])
    board = random_board(grid, grid.goal(blank), chance)
    outcome = searched("beam", grid, blank, board, linear_conflict.prepare(grid, blank), width=1000, threads=2)
    assert length(outcome) < 4 * outcome.lower_bound


def test_stages_take_line_by_line():
    stages = beam_level._stages(Grid(8, 6), 0)
    assert [len(tiles) for tiles in stages] == [6, 12, 18, 23, 28, 32]  # rows and columns, the longer side first
    homes = [{Grid(8, 6).home(tile, 0) for tile in tiles} for tiles in stages]
    assert all(first < second for first, second in pairwise(homes))
    assert homes[-1] == {cell for cell in range(48) if cell // 6 >= 4 or cell % 6 >= 4}


def test_a_beam_that_is_lost_goes_back_and_on_in_stages(monkeypatch):
    grid, begun = Grid(8, 8), []
    follow = beam._Beam._follow

    def spy(self, board, before, width, stages):
        begun.append((before, len(stages)))
        return follow(self, board, before, width, stages)

    monkeypatch.setattr(beam._Beam, "_follow", spy)
    chance = random.Random(3)
    for _ in range(4):
        board = random_board(grid, grid.goal(0), chance)
        outcome = searched("beam", grid, 0, board, linear_conflict.prepare(grid, 0), width=40)
        assert length(outcome) < 4 * outcome.lower_bound
    assert {stages for before, stages in begun if before} == {9} and {
        stages for before, stages in begun if not before
    } == {1}


@pytest.mark.parametrize("grid, kind", [(Grid(5, 5), linear_conflict), (Grid(5, 5, True), manhattan)])
def test_what_a_beam_carries_along_is_what_it_would_work_out(grid, kind, monkeypatch):
    choose, checked = beam.choose, []

    def spy(heuristic, level, children, chosen, history, rules, *rest):
        choose(heuristic, level, children, chosen, history, rules, *rest)
        boards = chosen.boards.reshape(-1, grid.cells)[: history.size]
        for number in range(0, history.size, 97):
            board = boards[number].tolist()
            home = [tile != 0 and grid.home(tile, 5) == cell for cell, tile in enumerate(board)]
            pairs = sum(home[cell] != home[other] for cell in range(grid.cells) for other in grid.neighbours[cell]) // 2
            stretch = sum(int(rules.stretch[tile, cell]) for cell, tile in enumerate(board)) + rules.border * pairs
            assert chosen.stretches[number] == stretch
            mixed = np.bitwise_xor.reduce(rules.keys[board, range(grid.cells)])
            assert chosen.hashes[number] == mixed
            checked.append(rules.border)

    monkeypatch.setattr(beam, "choose", spy)
    monkeypatch.setattr(beam, "PATIENCE", 0)  # lost at every chance
    board = walked(grid, 5, 300, random.Random(1))
    searched("beam", grid, 5, board, kind.prepare(grid, 5), width=300)
    assert {0, beam_level.SCALE * beam_level.BORDER} <= set(checked) and len(checked) > 100


@pytest.mark.parametrize("width", [1, 2, 7])
def test_a_beam_too_narrow_gives_up(width):
    grid = Grid(6, 6)
    board = random_board(grid, grid.goal(0), random.Random(1))
    outcome = searched("beam", grid, 0, board, linear_conflict.prepare(grid, 0), width=width)
    assert outcome.paths or outcome.stopped == "width"
    assert len(outcome.iterations) == 1 and outcome.expanded <= width * beam.LONGEST * grid.cells


def test_a_beam_gets_better_with_time():
    grid = Grid(5, 5)
    limits = Limits(deadline=time.monotonic() + 4)
    outcome = searched("beam", grid, 0, HARD, linear_conflict.prepare(grid, 0), width=None, limits=limits, threads=2)
    lengths = [better.length for better in outcome.incumbents]
    assert outcome.stopped is None and len(outcome.iterations) > 1
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] == length(outcome) >= 95
    assert outcome.lower_bound > outcome.h_start


def test_a_beam_tells_of_the_best_solution_whoever_found_it():
    """On boards that IDA* can solve in its share of the time, the narrow beam is mostly not the best."""
    grid, heuristic, finders = Grid(4, 4), linear_conflict.prepare(Grid(4, 4), 0), set()
    for one in korf_in_order()[:12]:
        told, limits = [], Limits(deadline=time.monotonic() + 60)
        outcome = searched("beam", grid, 0, one.board, heuristic, width=None, limits=limits, progress=told.append)
        assert length(outcome) == one.length == outcome.lower_bound == outcome.incumbents[-1].length
        assert told[-1].length == outcome.incumbents[0].length
        finders.add(outcome.incumbents[-1].width)
    assert finders == {None, beam.FIRST_WIDTH}


def test_a_beam_by_a_guess_that_is_no_lower_bound_never_gets_worse():
    """Nothing is left out as too long then, so a pass can come to the length of the best solution and beyond."""
    grid, chance = Grid(4, 4), random.Random(8)
    searched("beam", grid, 0, TURNED, inversions.prepare(grid, 0), width=10)  # so that the code is compiled
    for _ in range(3):
        board, limits = random_board(grid, grid.goal(0), chance), Limits(deadline=time.monotonic() + 1)
        outcome = searched("beam", grid, 0, board, inversions.prepare(grid, 0), width=None, limits=limits)
        lengths = [better.length for better in outcome.incumbents]
        assert lengths == sorted(set(lengths), reverse=True) and lengths[-1] == length(outcome)


@pytest.mark.parametrize("shape", [(2, 50), (4, 25), (10, 10), (50, 2)])
def test_ranks_of_the_worst_boards_can_be_told_apart(shape):
    grid = Grid(*shape)
    problem = Problem(grid, 0, tuple(reversed(range(grid.cells))), linear_conflict.prepare(grid, 0))
    rules = beam_level.rules_of(problem, np.random.default_rng(1))[-1]
    pairs = sum(map(len, grid.neighbours)) // 2
    stretch = rules.stretch[list(problem.start), range(grid.cells)].sum() + rules.border * pairs
    assert (
        beam_level.TIE_BREAKS * (rules.scale * problem.heuristic.measure(problem.start)[0] + stretch + 1)
        < beam_level.NO_RANK
    )
