"""IDA*: depth-first search under a rising bound. Hardly any memory, and the fastest way to a proof.

An iteration visits every path whose length so far plus heuristic value stays within the bound. If none leads to the
goal, the bound rises to the least sum that exceeded it: no shorter solution exists. The first solution found is
therefore a shortest one, whether the heuristic is consistent or not.

``depth_first`` is the loop, ``tree`` shares an iteration out to threads. ``two_ended`` is the same search with what a
long one can gain from: a solution beforehand, the better end to begin from, or both.

*Without a heuristic* the same loop is depth-first search with iterative deepening. With a depth limit there is a single
iteration, which ends at the first solution it comes across; that need not be a shortest one.

*Order.* Moves are tried in the fixed order of the automaton, or in the order of their values, which helps to find the
solution sooner in the last iteration and changes nothing in the others.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Protocol

from .outcome import PROVEN, Limits, OnProgress, Outcome, Problem, Stopped, noting_stop
from .tree import Tree


def search(
    problem: Problem,
    *,
    threads: int,
    limits: Limits,
    progress: OnProgress,
    every: bool = False,
    enough: float = inf,
) -> Outcome:
    """A shortest solution, or with ``every`` all of them; or what is known when a limit stops the search.

    A lower bound that is high ``enough`` ends it as well.
    """
    tree = Tree(problem, threads, limits, progress, every)

    def iterations() -> None:
        bound = tree.outcome.lower_bound
        while not tree.outcome.paths:
            if bound >= enough:
                tree.outcome.lower_bound = bound
                raise Stopped(PROVEN)
            bound = problem.at_least(tree.iterate(bound))
        tree.outcome.suboptimality_bound = 1.0

    return searched(tree, iterations)


def dfs(problem: Problem, *, threads: int, limits: Limits, progress: OnProgress, depth: int | None = None) -> Outcome:
    """The first solution of at most ``depth`` moves that depth-first search meets; without a depth, a shortest one.

    The problem's heuristic is the uninformed one.
    """
    if depth is None:
        return search(problem, threads=threads, limits=limits, progress=progress)

    # A solution of the tree above a cut could come before or after those below: one thread keeps the order.
    tree = Tree(problem, 1, limits, progress)

    def one_iteration() -> None:
        if tree.outcome.lower_bound <= depth:
            tree.iterate(depth, early=True)
        if not tree.outcome.paths:
            tree.outcome.lower_bound = problem.at_least(depth + 1)
            raise Stopped("depth")

    return searched(tree, one_iteration)


class Searched(Protocol):
    """A tree, or several of the same problem."""

    problem: Problem
    outcome: Outcome

    def close(self) -> None: ...


def searched(trees: Searched, work: Callable[[], object]) -> Outcome:
    """What became of the work on some trees, however it ended."""
    outcome = trees.outcome
    try:
        with noting_stop(outcome):
            if outcome.lower_bound == 0:
                outcome.paths, outcome.suboptimality_bound = [[trees.problem.blank]], 1.0
            else:
                work()
    finally:
        trees.close()
    return outcome
