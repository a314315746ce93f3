"""What a worker does: search pieces of bundles of one iteration, and hand back what is left when its time is over.

A worker keeps what it has prepared, the heuristic and the automaton, for the next task of the same search.

A task that runs is not interrupted by Dask. So between slices it looks at a note that the client can leave with every
worker (``give_up``).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from math import inf
from queue import Empty, SimpleQueue
from threading import Lock
from typing import NamedTuple

from pdb_builder.base.errors import DatabaseError, InputError

from ..heuristics.contract import Heuristic
from ..search.outcome import Limits, Problem, Pruning, unreported
from ..search.pieces import Piece, Returned
from ..search.piecework import search_pieces
from ..search.tree import Tree
from ..watch import Watch
from .fitness import Wanted, fitting, unfit

MOST_KEPT = 4  # trees: those of both ends, and of another search
MOST_TOKENS = 64
SLICE = 50_000  # expansions between looks at the clock: some hundredths of a second with a database


class SearchedTree(NamedTuple):
    """A tree as the client describes it to workers."""

    wanted: Wanted
    start: tuple[int, ...]
    by_value: bool
    every: bool
    moves: int  # that the automaton looks back


@dataclass(frozen=True)
class Task:
    """What a worker is given: a class of its own, into which Dask does not look for other tasks."""

    of: SearchedTree
    bound: int
    pieces: list[Piece]
    token: str
    seconds: float  # after which what is left is handed back


class _Ready(NamedTuple):
    """What a worker has prepared for a tree."""

    tree: Tree
    idle: SimpleQueue  # stacks that no task uses
    watch: Watch


_kept: OrderedDict[SearchedTree, _Ready] = OrderedDict()  # in the order of their last use
_preparing = Lock()
_given_up: OrderedDict[str, float] = OrderedDict()  # token -> bundles from this number on are given up


def give_up(token: str, number: float) -> None:
    """Leave a note: bundles from this number on are not wanted any more."""
    _given_up[token] = min(number, _given_up.get(token, inf))
    while len(_given_up) > MOST_TOKENS:
        _given_up.popitem(last=False)


def search_task(task: Task) -> Returned:
    """Search pieces until the time of the task is over; what was given up is not in the result."""
    tree, idle, watch = _ready(task.of, task.bound)
    try:
        worker = idle.get_nowait()
    except Empty:
        worker = tree.new_worker()
    if worker.stack.todo.size < task.bound + 2:  # made for an earlier bound
        worker = tree.new_worker()
    deadline = time.monotonic() + task.seconds

    def is_late() -> bool:
        return time.monotonic() >= deadline

    def is_unwanted(bundle: int) -> bool:
        return bundle >= _given_up.get(task.token, inf)

    try:
        returned = search_pieces(tree, worker, task.bound, task.pieces, is_late, is_unwanted)
    finally:
        idle.put(worker)
    try:
        watch.finish(None, lambda what, share: None)  # what a damaged table says is not to be believed
    except DatabaseError as error:
        raise unfit(str(error)) from None
    return returned


def _ready(of: SearchedTree, bound: int) -> _Ready:
    """A tree, prepared for a bound."""
    with _preparing:
        heuristic = fitting(of.wanted)
        if of not in _kept or _kept[of].tree.problem.heuristic is not heuristic:
            _kept[of] = _prepared(of, heuristic)
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(of)
        ready = _kept[of]
        if ready.tree.depth < bound + 2:
            try:
                ready.tree.make_ready(bound)
            except InputError as error:  # there is no memory for the automaton
                raise unfit(str(error)) from None
        return ready


def _prepared(of: SearchedTree, heuristic: Heuristic) -> _Ready:
    wanted, watch = of.wanted, Watch()
    watch.over(heuristic)
    pruning = Pruning(of.moves, of.moves, wanted.where)
    problem = Problem(wanted.grid, wanted.blank, of.start, heuristic, of.by_value, pruning=pruning)
    tree = Tree(problem, 1, Limits(), unreported, of.every)
    tree.slice = SLICE
    return _Ready(tree, SimpleQueue(), watch)
