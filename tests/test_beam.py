"""Beam search: large boards in stages, better solutions with time, and whatever a level carries along."""

import random
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pdb_builder import Grid
from solver.commands import bench
from solver.heuristics import linear_conflict, manhattan
from solver.instances import random_board
from solver.search import beam, beam_level
from solver.search.outcome import Limits, Problem

from .helpers import HARD, check_threads_change_nothing, korf_in_order, length, scrambled, searched

pytestmark = [pytest.mark.jit, pytest.mark.beam]


def inadmissible(grid, blank):
    """Twice the Manhattan distance, which often exceeds the moves needed."""
    return replace(manhattan.sum_over_tiles("twice", 2 * manhattan.distances_home(grid, blank)), admissible=False)


# ---- large boards -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape, blank", [((8, 8), 0), ((9, 9), 40), ((10, 10), 0), ((7, 12), 83), ((2, 20), 21)])
def test_large_boards_are_solved_in_stages(shape, blank):
    grid = Grid(*shape)
    chance = random.Random(shape[0])
    board = random_board(grid, grid.goal(blank), chance)
    outcome = searched("beam", grid, blank, board, linear_conflict.prepare(grid, blank), width=1000, threads=2)
    assert length(outcome) < 4 * outcome.lower_bound


def test_each_stage_brings_one_more_line_home():
    stages = beam_level._stages(Grid(8, 6), 0)
    assert [len(tiles) for tiles in stages] == [6, 12, 18, 23, 28, 32]  # rows and columns, the longer side first
    homes = [{Grid(8, 6).home(tile, 0) for tile in tiles} for tiles in stages]
    assert all(first < second for first, second in pairwise(homes))
    assert homes[-1] == {cell for cell in range(48) if cell // 6 >= 4 or cell % 6 >= 4}


def test_a_beam_that_is_lost_returns_to_its_best_board_and_continues_in_stages(monkeypatch):
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
    assert {stages for before, stages in begun if before} == {9}
    assert {stages for before, stages in begun if not before} == {1}


@pytest.mark.parametrize("width", [1, 2, 7])
def test_a_beam_that_is_too_narrow_gives_up(width):
    grid = Grid(6, 6)
    board = random_board(grid, grid.goal(0), random.Random(1))
    outcome = searched("beam", grid, 0, board, linear_conflict.prepare(grid, 0), width=width)
    assert outcome.paths or outcome.stopped == "width"
    assert len(outcome.iterations) == 1 and outcome.expanded <= width * beam.LONGEST * grid.cells


# ---- levels -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grid, kind", [(Grid(5, 5), linear_conflict), (Grid(5, 5, True), manhattan)], ids=["5x5", "5x5 wrapped"]
)
def test_what_a_level_carries_along_equals_what_is_computed_afresh(grid, kind, monkeypatch):
    choose, checked = beam.choose, []

    def spy(heuristic, level, children, chosen, history, rules, *rest):
        choose(heuristic, level, children, chosen, history, rules, *rest)
        boards = chosen.boards.reshape(-1, grid.cells)[: history.size]
        for number in range(0, history.size, 197):
            board = boards[number].tolist()
            home = [tile != 0 and grid.home(tile, 5) == cell for cell, tile in enumerate(board)]
            pairs = sum(home[cell] != home[other] for cell in range(grid.cells) for other in grid.neighbours[cell]) // 2
            places = np.array(board) * grid.cells + range(grid.cells)  # of each tile on its cell
            stretch = int(rules.stretch[places].sum()) + rules.border * pairs
            assert chosen.stretches[number] == stretch
            mixed = np.bitwise_xor.reduce(rules.keys[places])
            assert chosen.hashes[number] == mixed
            checked.append(rules.border)

    monkeypatch.setattr(beam, "choose", spy)
    monkeypatch.setattr(beam, "PATIENCE", 0)  # lost at every chance
    board = scrambled(grid, grid.goal(5), 300, random.Random(1))
    searched("beam", grid, 5, board, kind.prepare(grid, 5), width=300)
    assert {0, beam_level.SCALE * beam_level.BORDER} <= set(checked) and len(checked) > 100


@pytest.mark.parametrize("shape", [(2, 50), (4, 25), (10, 10), (50, 2)])
def test_ranks_of_the_worst_boards_can_be_told_apart(shape):
    grid = Grid(*shape)
    problem = Problem(grid, 0, tuple(reversed(range(grid.cells))), linear_conflict.prepare(grid, 0))
    rules = beam_level.rules_of(problem, np.random.default_rng(1))[-1]
    pairs = sum(map(len, grid.neighbours)) // 2
    places = np.array(problem.start) * grid.cells + range(grid.cells)
    stretch = rules.stretch[places].sum() + rules.border * pairs
    rank = rules.scale * problem.heuristic.measure(problem.start)[0] + stretch
    assert (rank + 1 << beam_level.TIE_BITS) < beam_level.NO_RANK


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(beam, "PIECE", 50)
    for grid, kind in ((Grid(4, 4), linear_conflict), (Grid(3, 4, True), manhattan)):
        board = scrambled(grid, grid.goal(0), 40, random.Random(9))
        check_threads_change_nothing("beam", grid, board, kind)


# ---- passes -------------------------------------------------------------------------------------


def compile_all(grid, heuristic):
    """Compile everything that a search with a time limit calls, so that the time is not spent on that."""
    board, limits = scrambled(grid, grid.goal(0), 5, random.Random(1)), Limits(deadline=time.monotonic() + 600)
    assert length(searched("beam", grid, 0, board, heuristic, width=None, limits=limits)) == 5


def incumbents(outcome):
    """The lengths of the solutions in the order in which they were found."""
    return [incumbent.length for incumbent in outcome.incumbents]


def test_a_beam_finds_better_solutions_with_time():
    grid, heuristic = Grid(5, 5), linear_conflict.prepare(Grid(5, 5), 0)
    compile_all(grid, heuristic)
    limits = Limits(deadline=time.monotonic() + 2)
    outcome = searched("beam", grid, 0, HARD, heuristic, width=None, limits=limits, threads=2)
    lengths = incumbents(outcome)
    assert outcome.stopped is None and len(outcome.iterations) > 1
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] == length(outcome) >= 95
    assert outcome.lower_bound > outcome.h_start


def test_the_best_solution_is_reported_whoever_found_it():
    """On boards that IDA* can solve in its share of the time, the narrow beam is mostly not the best."""
    grid, heuristic, finders = Grid(4, 4), linear_conflict.prepare(Grid(4, 4), 0), set()
    for one in korf_in_order()[:12]:
        reports, limits = [], Limits(deadline=time.monotonic() + 60)
        outcome = searched("beam", grid, 0, one.board, heuristic, width=None, limits=limits, progress=reports.append)
        assert length(outcome) == one.length == outcome.lower_bound == incumbents(outcome)[-1]
        assert reports[-1].length == incumbents(outcome)[0]
        finders.add(outcome.incumbents[-1].width)
    assert finders == {None, beam.FIRST_WIDTH}


def test_an_inadmissible_heuristic_never_makes_the_incumbent_worse():
    """Nothing is pruned then, so a pass can come to the length of the incumbent and beyond."""
    grid, heuristic, chance = Grid(4, 4), inadmissible(Grid(4, 4), 0), random.Random(8)
    compile_all(grid, heuristic)
    for _ in range(3):
        board, limits = random_board(grid, grid.goal(0), chance), Limits(deadline=time.monotonic() + 0.3)
        outcome = searched("beam", grid, 0, board, heuristic, width=None, limits=limits)
        assert incumbents(outcome) == sorted(set(incumbents(outcome)), reverse=True)
        assert incumbents(outcome)[-1] == length(outcome)
        assert (outcome.suboptimality_bound, outcome.lower_bound) == (None, 0)


def test_the_bench_reports_length_against_time(monkeypatch):
    monkeypatch.setattr(bench, "BEAM_SECONDS", 2)
    figures = bench._lengths("4x4", 3, None)
    assert figures["boards"] == 3 and figures["moves_after_1_s"] >= figures["moves_after_2_s"] >= figures["lower_bound"]
    assert figures["longest"] >= figures["moves_after_2_s"] and figures["ratio"] >= 1 and "optimal_moves" not in figures
