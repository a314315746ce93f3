"""The searches by name. Their code, and with it numba, is imported when one is used.

Each is a function ``search(problem, *, threads, limits, progress, ...) -> Outcome``, and may have further options.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from pdb_builder.base.errors import InputError
from pdb_builder.base.machine import available_memory

NEVER_UNDO, MOST_PRUNING = 2, 24  # moves that the automaton of a depth-first search can look back
# Where a depth-first search begins, and whether it does so from both ends at once.
AUTO, FORWARD, BACKWARD, ON, OFF = "auto", "forward", "backward", "on", "off"
# In place of a side: what is done to find a solution beforehand, and the look for a heuristic for the way back.
BEAM, WAY_BACK = "beam", "way back"
# How a beam ranks boards: as was learned from solutions, or by the heuristic and a few rules alone; AUTO is the best.
LEARNED, CLASSIC = "learned", "classic"


class Search(NamedTuple):
    """What is known about a search before it is loaded."""

    function: str  # with its module
    summary: str
    options: tuple[str, ...] = ()  # settings that it has beside those that all have
    uninformed: bool = False  # does without a heuristic
    optimal: bool = True  # guarantees a shortest solution, which needs an admissible heuristic
    both_ends: bool = False  # needs a heuristic from the goal to the start


SEARCHES = {
    "ida-star": Search(
        "two_ended.search",
        "depth first under a rising bound: shortest, hardly any memory, all threads",
        options=("every", "order", "pruning", "direction", "both_ends", "upper_bound", "prove_at_least", "journal"),
    ),
    "a-star": Search("best_first.a_star", "best first: shortest, fewest boards expanded, all of them in memory"),
    "bidirectional": Search(
        "bidirectional.search",
        "BAE*, best first from both ends: shortest, far fewer boards than A*, all of them in memory, two threads",
        both_ends=True,
    ),
    "weighted-a-star": Search(
        "best_first.weighted_a_star",
        "A* with the heuristic multiplied by a weight: at most that many times the shortest length",
        options=("weight",),
        optimal=False,
    ),
    "greedy": Search("best_first.greedy", "best first by the heuristic alone: fast, no guarantee", optimal=False),
    "beam": Search(
        "beam.search",
        "level by level, only the best boards of each: good solutions of large boards, better ones with time",
        options=("width", "rank"),
        optimal=False,
    ),
    "bfs": Search("best_first.bfs", "level by level, uninformed: shortest, all boards in memory", uninformed=True),
    "dijkstra": Search(
        "best_first.dijkstra", "nearest first, uninformed: the same, goal expanded last", uninformed=True
    ),
    "dfs": Search(
        "ida_star.dfs",
        "depth first, uninformed: shortest by iterative deepening, or the first within a depth limit",
        options=("depth", "pruning"),
        uninformed=True,
    ),
}


def default_memory(searches: int = 1) -> int:
    """The bytes that each of some searches may use by default: half of what is free, shared out."""
    free = available_memory()
    return (2 * 10**9 if free is None else free) // (2 * searches)


def check_search(name: str) -> Search:
    """The entry of a search; raises ``InputError`` if there is none with this name."""
    if name not in SEARCHES:
        raise InputError(f"unknown algorithm {name[:60]!r}: use {', '.join(SEARCHES)}")
    return SEARCHES[name]


def search_named(name: str) -> Callable:
    """The function of a search."""
    module, function = check_search(name).function.split(".")
    return getattr(import_module(f".{module}", __name__), function)
