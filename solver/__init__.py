"""Proven shortest solutions of sliding-tile puzzles.

>>> from solver import compare, distribution, solve
>>> solution = solve("1 2 3 4 5 6 0 7 8", heuristic="manhattan")
>>> solution.moves, solution.length
('LL', 2)
>>> [tuple(board) for board in solution.boards()][-1]
(1, 2, 3, 4, 5, 6, 7, 8, 0)
>>> solve("8 0 6 / 5 4 7 / 2 3 1", goal="first", heuristic="linear-conflict", algorithm="a-star").length
31
>>> comparison = compare(["8 0 6 / 5 4 7 / 2 3 1"], ["manhattan", "linear-conflict"], goal="first")
>>> [(row.heuristic, row.h_mean, row.generated) for row in comparison.summaries()]
[('manhattan', 21.0, 28380.0), ('linear-conflict', 23.0, 15244.0)]
>>> found = distribution("2x3")
>>> found.boards, found.maximum, found.farthest
(360, 21, ((4, 5, 0, 1, 2, 3),))
>>> solve("2 1 3 4 5 6 7 8 0", heuristic="manhattan")
Traceback (most recent call last):
    ...
pdb_builder.base.errors.Unsolvable: the board cannot be solved: its order is an odd number of exchanges from the goal, \
but its blank is an even number of moves from home: exchange any two tiles, such as 1 and 2
"""

from pdb_builder.base.lazy import lazy_names

TYPE_CHECKING = False  # importing it from ``typing`` would take most of the time
if TYPE_CHECKING:  # the same names, for type checkers
    from pdb_builder.base.errors import Unsolvable as Unsolvable

    from .board import parse_board as parse_board
    from .board_files import read_boards as read_boards
    from .comparison.comparison import Comparison as Comparison
    from .comparison.comparison import compare as compare
    from .distance_distribution import Distribution as Distribution
    from .distance_distribution import distribution as distribution
    from .goals import goal_board as goal_board
    from .heuristic_check import HeuristicCheck as HeuristicCheck
    from .heuristic_check import check_heuristic as check_heuristic
    from .heuristics import HEURISTICS as HEURISTICS
    from .heuristics.own import heuristic as heuristic
    from .instances import load_set as load_set
    from .instances import random_board as random_board
    from .notation import scramble as scramble
    from .search import SEARCHES as SEARCHES
    from .settings import Settings as Settings
    from .show.film import save_svg as save_svg
    from .show.gif import save_gif as save_gif
    from .show.svg import svg as svg
    from .show.terminal import animate as animate
    from .solution import Solution as Solution
    from .solvability import facts_of as facts_of
    from .solvability import why_unsolvable as why_unsolvable
    from .solving import solve as solve
    from .solving import solve_board as solve_board

_HOMES = {
    "solve": "solver.solving",
    "solve_board": "solver.solving",
    "Solution": "solver.solution",
    "Settings": "solver.settings",
    "Unsolvable": "pdb_builder.base.errors",
    "distribution": "solver.distance_distribution",
    "Distribution": "solver.distance_distribution",
    "compare": "solver.comparison.comparison",
    "Comparison": "solver.comparison.comparison",
    "animate": "solver.show.terminal",
    "save_gif": "solver.show.gif",
    "save_svg": "solver.show.film",
    "svg": "solver.show.svg",
    "parse_board": "solver.board",
    "read_boards": "solver.board_files",
    "goal_board": "solver.goals",
    "random_board": "solver.instances",
    "why_unsolvable": "solver.solvability",
    "facts_of": "solver.solvability",
    "load_set": "solver.instances",
    "scramble": "solver.notation",
    "heuristic": "solver.heuristics.own",
    "check_heuristic": "solver.heuristic_check",
    "HeuristicCheck": "solver.heuristic_check",
    "HEURISTICS": "solver.heuristics",
    "SEARCHES": "solver.search",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
