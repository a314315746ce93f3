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
solver.solving.Unsolvable: the board cannot be solved: its order is an odd number of exchanges from the goal, \
but the way of the blank is an even number of moves: exchange any two tiles, as in 1 and 2
"""

from pdb_builder.lazy import lazy_names

_HOMES = {
    "solve": "solving",
    "solve_board": "solving",
    "Solution": "solving",
    "Settings": "solving",
    "Unsolvable": "solving",
    "distribution": "census",
    "Distribution": "census",
    "compare": "comparing",
    "Comparison": "comparing",
    "animate": "showing",
    "save_gif": "picture",
    "parse_board": "board",
    "read_boards": "board",
    "goal_board": "board",
    "random_board": "board",
    "why_unsolvable": "board",
    "facts_of": "solvability",
    "load_set": "board",
    "HEURISTICS": "heuristics",
    "SEARCHES": "search",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
