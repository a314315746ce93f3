"""A heuristic of one's own: the complete example in CONTRIBUTING.md is all that any search needs.

It counts the tiles that are out of their row and those that are out of their column. A tile out of its row needs a
vertical move, one out of its column a horizontal move, and a move moves one tile in one direction: so the sum is
admissible. The example registers the three operations that every kind must have. Everything else is derived from its
``state``: saving and restoring (for beams), writing parts (for A*) and measuring a board.
"""

import random
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from pdb_builder import Grid
from solver.heuristics.contract import Heuristic, body_of, evaluate, load
from solver.search import SEARCHES, best_first
from solver.search.outcome import Limits, Problem, unreported

from .helpers import check_along_a_walk, check_length, length, searched
from .oracle import board_distances, solvable_boards
from .test_documentation import example

pytestmark = pytest.mark.jit

INFORMED = [
    pytest.param(name, marks=pytest.mark.beam if name == "beam" else ())
    for name, search in SEARCHES.items()
    if not search.uninformed
]


prepare = example("class OutOfLine")["prepare"]


# ---- what can be done with it -------------------------------------------------------------------


def tiles_out_of_line(grid, blank, board):
    """The value by the definition."""
    places = [
        (divmod(cell, grid.cols), divmod(grid.home(tile, blank), grid.cols)) for cell, tile in enumerate(board) if tile
    ]
    return sum((row != home_row) + (col != home_col) for (row, col), (home_row, home_col) in places)


@pytest.mark.parametrize("blank", [0, 4])
def test_its_value_is_measured_by_loading_a_board(blank):
    grid = Grid(3, 3)
    heuristic, distances = prepare(grid, blank), board_distances(grid, blank)
    assert (heuristic.parts, heuristic.saved_words, heuristic.admissible) == (1, 1, True)
    for board in [grid.goal(blank), *random.Random(1).sample(solvable_boards(grid, blank), 500)]:
        (value,) = heuristic.measure(board)
        assert value == tiles_out_of_line(grid, blank, board) <= distances[board]
        assert (value == 0) == (distances[board] == 0)


def test_it_is_carried_along_moves():
    check_along_a_walk(Grid(3, 4), 5, prepare(Grid(3, 4), 5), 200, seed=1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", INFORMED)
def test_every_search_can_use_it(name):
    grid = Grid(3, 3)
    for blank in (0, 4):
        distances = board_distances(grid, blank)
        for board in [grid.goal(blank), *random.Random(blank).sample(solvable_boards(grid, blank), 5)]:
            outcome = searched(name, grid, blank, board, prepare(grid, blank), backward=prepare)
            assert outcome.h_start == tiles_out_of_line(grid, blank, board)
            check_length(name, outcome, distances[board])


# ---- what goes wrong ----------------------------------------------------------------------------


class WithoutApply(NamedTuple):
    state: np.ndarray


@body_of(load, WithoutApply)
def _load(heuristic, board, parts, at):
    heuristic.state[0] = parts[at]


@body_of(evaluate, WithoutApply)
def _evaluate(heuristic, slot, tile, source, target):
    return heuristic.state[0]


def test_an_operation_without_a_body_is_named():
    heuristic = Heuristic("incomplete", lambda slots: WithoutApply(np.zeros(1, dtype=np.int64)), lambda board: [1])
    with pytest.raises(TypingError, match=r"WithoutApply.* has no apply: register a body with @body_of"):
        searched("ida-star", Grid(2, 2), 0, (1, 0, 2, 3), heuristic)


def test_a_heuristic_wrongly_called_admissible_is_found_out():
    """A search believes what it is told, and its proof is worth no more than that. The true distances tell."""
    grid = Grid(3, 3)
    distances, right = board_distances(grid, 0), prepare(grid, 0).workspace(1)
    heuristic = Heuristic("thrice", lambda slots: right._replace(cost=3 * right.cost, state=right.state.copy()))
    assert heuristic.admissible
    wrong = 0
    for board in random.Random(3).sample(solvable_boards(grid, 0), 20):
        problem = Problem(grid, 0, board, heuristic)
        outcome = best_first.a_star(problem, threads=1, limits=Limits(), progress=unreported)
        assert outcome.suboptimality_bound == 1
        if length(outcome) > distances[board]:
            with pytest.raises(AssertionError):
                check_length("a-star", outcome, distances[board])
            wrong += 1
    assert wrong
