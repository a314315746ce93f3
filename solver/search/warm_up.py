"""Code compiled before the clock starts.

The first search with a kind of heuristic has its code compiled, or read from the cache. That takes seconds, which are
not the search's, and an interruption must not reach the compiler. So an easy board is solved first, one that gives
every part of the search something to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pdb_builder.grid import Grid

from ..heuristics import manhattan
from ..heuristics.contract import Heuristic
from .outcome import NO_JOURNAL, Limits, Missing, Problem, Pruning, unreported

EASY = {"width": 100, "depth": 2}  # enough for the easy board
EASY_NODES = 100_000  # far more than it takes, unless a heuristic of one's own is not what it is declared to be
EASY_PRUNING = 4  # moves: an automaton made in no time, by all the code that makes others
_compiled: set[tuple] = set()


def easy_board(grid: Grid, home: int) -> tuple[int, ...]:
    """A board two moves from the goal."""
    board, blank = list(grid.goal(home)), home
    for _ in range(2):
        near = next(cell for cell in grid.neighbours[blank] if cell != home)
        board[blank], board[near], blank = board[near], 0, near
    return tuple(board)


def _easy_way_back(grid: Grid, blank: int, missing: Missing, check: Callable[[], object]) -> Heuristic:
    return manhattan.prepare(grid, blank)


def warm_up(search: Callable, problem: Problem, options: dict, both_ends: bool) -> None:
    """Have the code of a search compiled for the heuristic and the options of a problem."""
    pruning = Pruning(min(problem.pruning.first, EASY_PRUNING), min(problem.pruning.later, EASY_PRUNING))
    asked = (search, problem.heuristic.kind, pruning, *(name for name, value in options.items() if value is not None))
    if asked not in _compiled:
        start = easy_board(problem.grid, problem.blank)
        easy = problem._replace(start=start, backward=_easy_way_back, pruning=pruning, journal=NO_JOURNAL)
        given = {name: EASY.get(name, value) for name, value in options.items() if value is not None}
        limits = Limits(deadline=time.monotonic() + 3600, nodes=EASY_NODES, memory=10**6)
        search(easy, threads=1, limits=limits, progress=unreported, **given)
        _compiled.add(asked)
    if both_ends:  # which board it begins with decides which heuristic leads back
        search(problem, threads=1, limits=Limits(nodes=10, memory=10**6), progress=unreported)
