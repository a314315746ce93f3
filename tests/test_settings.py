"""Settings: what makes no sense is refused in one line, and what was left out is filled in."""

import math
from fractions import Fraction

import pytest

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid
from solver.search import SEARCHES
from solver.settings import DEFAULT_SECONDS, DEFAULT_WEIGHT, Settings, check_settings

SMALL, LARGE = Grid(5, 5), Grid(6, 6)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"threads": 0}, "threads must be between 1 and 256, got 0"),
        ({"threads": -1}, "between 1 and 256, got -1"),
        ({"threads": 10**6}, "between 1 and 256, got 1000000"),
        ({"threads": 1.5}, "between 1 and 256, got 1.5"),
        ({"threads": "two"}, "between 1 and 256, got 'two'"),
        ({"threads": True}, "between 1 and 256, got True"),
        ({"time_limit": True}, "`time_limit` must be above 0, got True"),
        ({"node_limit": -(10**400)}, "`node_limit` must be above 0, got -1000"),
        ({"width": True}, "`width` must be an integer between 1 and 100,000,000, got True"),
        ({"weight": True}, "`weight` must be between 1 and 1000, got True"),
        ({"time_limit": 0}, "`time_limit` must be above 0, got 0: give a positive number, or leave it out"),
        ({"time_limit": -1.5}, "`time_limit` must be above 0, got -1.5"),
        ({"time_limit": math.nan}, "`time_limit` must be above 0, got nan"),
        ({"time_limit": "soon"}, "`time_limit` must be above 0, got 'soon'"),
        ({"node_limit": 0}, "`node_limit` must be above 0, got 0"),
        ({"node_limit": -5}, "`node_limit` must be above 0, got -5"),
        ({"node_limit": "many"}, "`node_limit` must be above 0, got 'many'"),
        ({"memory_limit": 0}, "`memory_limit` must be above 0, got 0"),
        ({"order": "best"}, "unknown `order` 'best': use fixed or value"),
        ({"order": ""}, "unknown `order` ''"),
        ({"width": 0}, "`width` must be an integer between 1 and 100,000,000, got 0"),
        ({"width": 10**9}, "`width` must be an integer between 1 and 100,000,000, got 1000000000"),
        ({"width": 2.5}, "`width` must be an integer between 1 and 100,000,000, got 2.5"),
        ({"depth": -1}, "`depth` must be an integer between 1 and 10,000, got -1"),
        ({"pruning": 1}, "`pruning` must be an integer between 2 and 24, got 1"),
        ({"pruning": 25}, "`pruning` must be an integer between 2 and 24, got 25"),
        ({"pruning": 14.5}, "`pruning` must be an integer between 2 and 24, got 14.5"),
        ({"pruning": True}, "`pruning` must be an integer between 2 and 24, got True"),
        (
            {"algorithm": "bfs", "pruning": 9},
            "bfs has no automaton to look back with: leave out `pruning`, or use ida-",
        ),
        ({"width": 10, "pruning": 9}, "beam has no automaton to look back with"),
        ({"weight": 0.9}, "`weight` must be between 1 and 1000, got 0.9"),
        ({"weight": math.nan}, "`weight` must be between 1 and 1000, got nan"),
        ({"weight": "heavy"}, "`weight` must be between 1 and 1000, got 'heavy'"),
        ({"algorithm": "a*"}, "unknown algorithm 'a*': use ida-star, a-star, "),
        ({"algorithm": "a_star"}, "unknown algorithm 'a_star'"),
        ({"algorithm": "outcome"}, "unknown algorithm 'outcome'"),
        ({"algorithm": 3}, "`algorithm` must be a name, got 3: give it as text"),
        ({"heuristic": 3}, "`heuristic` must be a name or a function, got 3: give it as text"),
        ({"algorithm": "a-star", "every": True}, "a-star finds a single solution: use ida-star to find all"),
        (
            {"algorithm": "beam", "order": "value"},
            "beam has no choice of order: leave out `order`, or use ida-star",
        ),
        ({"algorithm": "a-star", "weight": 2}, "a-star has no weight: leave out `weight`, or use weighted-a-star"),
        ({"algorithm": "greedy", "width": 9}, "greedy has no width: leave out `width`, or use beam"),
        ({"algorithm": "bfs", "depth": 9}, "bfs has no depth limit: leave out `depth`, or use dfs"),
        ({"algorithm": "dfs", "heuristic": "manhattan"}, "dfs is uninformed: leave out `heuristic`, or use another"),
        ({"depth": 9, "heuristic": "manhattan"}, "dfs is uninformed"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(given, message):
    with pytest.raises(InputError) as error:
        check_settings(Settings(**given), SMALL)
    assert message in str(error.value) and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    "grid, given, algorithm",
    [
        (SMALL, {}, "ida-star"),
        (LARGE, {}, "beam"),
        (LARGE, {"every": True}, "ida-star"),
        (LARGE, {"order": "value"}, "ida-star"),
        (LARGE, {"pruning": 8}, "ida-star"),
        (LARGE, {"pruning": 8, "depth": 100}, "dfs"),
        (SMALL, {"weight": 2}, "weighted-a-star"),
        (SMALL, {"width": 100}, "beam"),
        (LARGE, {"depth": 100}, "dfs"),
    ],
    ids=str,
)
def test_the_algorithm_follows_from_the_board_and_the_options(grid, given, algorithm):
    assert check_settings(Settings(**given), grid).algorithm == algorithm
    for name in SEARCHES:
        assert check_settings(Settings(algorithm=name), grid).algorithm == name


def test_limits_without_an_end_are_no_limits():
    checked = check_settings(Settings(time_limit=math.inf, node_limit=math.inf, memory_limit=1e9), SMALL)
    assert (checked.time_limit, checked.node_limit, checked.memory_limit) == (None, None, 10**9)
    assert isinstance(checked.memory_limit, int)
    assert check_settings(Settings(node_limit=10**400, time_limit=Fraction(1, 2)), SMALL)[3:5] == (0.5, None)
    assert check_settings(Settings(node_limit=0.5, time_limit=0.5), SMALL)[3:5] == (0.5, 1)


def test_a_weighted_search_has_a_weight_and_a_beam_an_end():
    assert check_settings(Settings(algorithm="weighted-a-star")).weight == DEFAULT_WEIGHT
    assert check_settings(Settings(algorithm="beam")).time_limit == DEFAULT_SECONDS
    for given in ({"width": 10}, {"node_limit": 10}):
        assert check_settings(Settings(algorithm="beam", **given)).time_limit is None


def test_without_a_grid_the_algorithm_is_left_for_later():
    assert check_settings(Settings(threads=2)) == Settings(threads=2)
    with pytest.raises(InputError, match="threads must be"):
        check_settings(Settings(threads=0))
