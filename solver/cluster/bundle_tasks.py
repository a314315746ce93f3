"""What a worker does: search bundles of subtrees of one iteration.

A worker keeps what it has prepared, the heuristic and the automaton, for the next task of the same search. Whatever it
prepares must be what the client has: the same version of this package, and databases with the same checksums. If they
are not, the task fails by ``Unfit``, and the client does without this worker.

A task that runs is not interrupted by Dask. So between slices it looks at a note that the client can leave with every
worker (``give_up``).
"""

from __future__ import annotations

import socket
from collections import OrderedDict
from collections.abc import Callable
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from typing import NamedTuple

from pdb_builder import __version__
from pdb_builder.base.errors import DatabaseError, InputError
from pdb_builder.base.folders import databases_folder
from pdb_builder.grid import Grid

from ..heuristics.contract import Heuristic
from ..heuristics.preparing import prepare
from ..search.outcome import Limits, Problem, Pruning, unreported
from ..search.tree import Tree
from ..watch import Watch

MOST_KEPT = 4  # trees: those of both ends, and of another search
MOST_TOKENS = 64


class Unfit(Exception):
    """A worker cannot take part: the arguments are its address, the name of its machine, and the reason."""

    def __str__(self) -> str:
        address, host, reason = self.args
        return f"the worker {address} on {host} cannot take part: {reason}"


class SearchedTree(NamedTuple):
    """A tree as the client describes it to workers."""

    version: str
    shape: str
    wrap: bool
    blank: int
    start: tuple[int, ...]
    heuristic: str  # its name
    seals: tuple[str, ...]  # of its databases
    by_value: bool
    every: bool
    moves: int  # that the automaton looks back
    folder: str | None  # of databases; None: the worker's own


class _Ready(NamedTuple):
    """What a worker has prepared for a tree."""

    tree: Tree
    idle: SimpleQueue  # stacks that no task uses
    watch: Watch


_kept: OrderedDict[SearchedTree, _Ready] = OrderedDict()  # in the order of their last use
_preparing = Lock()
_given_up: OrderedDict[str, float] = OrderedDict()  # token -> bundles from this number on are given up


def check_worker(of: SearchedTree, bound: int) -> str | None:
    """Prepare to search a tree; returns why that is impossible, or None."""
    try:
        _ready(of, bound)
    except Unfit as error:
        return str(error)
    return None


def give_up(token: str, number: float) -> None:
    """Leave a note: bundles from this number on are not wanted any more."""
    _given_up[token] = min(number, _given_up.get(token, inf))
    while len(_given_up) > MOST_TOKENS:
        _given_up.popitem(last=False)


def search_bundles(of: SearchedTree, bound: int, bundles: list[tuple[int, list[bytes]]], token: str) -> list:
    """Search bundles, given by their numbers and the cells on the way to their subtrees.

    Returns a list of numbers and records of what was found, without those that were given up.
    """
    tree, idle, watch = _ready(of, bound)
    try:
        worker = idle.get_nowait()
    except Empty:
        worker = tree.new_worker()
    if worker.stack.todo.size < bound + 2:  # made for an earlier bound
        worker = tree.new_worker()
    found = []
    try:
        for number, paths in bundles:

            def unwanted(number: int = number) -> bool:
                return number >= _given_up.get(token, inf)

            ways = [tree.path_through(cells) for cells in paths]
            one = None if unwanted() else tree.search_bundle(worker, bound, ways, unwanted)
            if one is not None:
                found.append((number, one.as_record()))
    finally:
        idle.put(worker)
    try:
        watch.finish(None, lambda what, share: None)  # what a damaged table says is not to be believed
    except DatabaseError as error:
        raise _unfit(str(error)) from None
    return found


def _ready(of: SearchedTree, bound: int) -> _Ready:
    """A tree, prepared for a bound."""
    with _preparing:
        if of not in _kept:
            _kept[of] = _prepared(of)
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(of)
        ready = _kept[of]
        if ready.tree.depth < bound + 2:
            ready.tree.make_ready(bound)
        return ready


def unfit_unless(version: str, seals: tuple[str, ...], prepared: Callable[[], Heuristic]) -> Heuristic:
    """The heuristic that this worker prepares; raises ``Unfit`` unless it is that of the client."""
    if version != __version__:
        raise _unfit(f"it has slidepdb {__version__}, not {version}: install the same version")
    try:
        heuristic = prepared()
    except InputError as error:
        raise _unfit(str(error)) from None
    for database, seal in zip(heuristic.databases, seals, strict=True):
        if database.seal != seal:
            raise _unfit(
                f"its {database.path} has the checksum {database.seal[:12]}, that of the client {seal[:12]}: copy the "
                "client's file there"
            )
    return heuristic


def _prepared(of: SearchedTree) -> _Ready:
    grid, folder = Grid.parse(of.shape, of.wrap), databases_folder() if of.folder is None else Path(of.folder)
    heuristic = unfit_unless(of.version, of.seals, lambda: prepare(of.heuristic, grid, of.blank, folder))
    problem = Problem(*(grid, of.blank, of.start, heuristic, of.by_value), pruning=Pruning(of.moves, of.moves, folder))
    watch = Watch()
    watch.over(heuristic)
    return _Ready(Tree(problem, 1, Limits(), unreported, of.every), SimpleQueue(), watch)


def _unfit(reason: str) -> Unfit:
    from distributed import get_worker

    return Unfit(get_worker().address, socket.gethostname(), reason)
