"""The bundles of one iteration, searched by the workers of a cluster.

Bundles become tasks of half a second at least, beside which a message counts for nothing (``search.sharing``).

*What can go wrong.* Tasks of a worker that dies are run elsewhere, by Dask, or sent again if several workers have died
with it. A worker that turns out to be unfit (``bundle_tasks``) is left out from then on. Without any worker the search
waits, and says so. If the scheduler is gone, the search ends as by a limit, with what is known.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from math import inf
from typing import Any
from uuid import uuid4

from pdb_builder import __version__
from pdb_builder.base.errors import InputError

from ..heuristics.preparing import Notify
from ..search import NEVER_UNDO
from ..search.outcome import Problem, Stopped
from ..search.sharing import TASK_SECONDS, tasks_of
from .bundle_tasks import SearchedTree, Unfit, check_worker, give_up, search_bundles
from .connection import Connection

CLUSTER = "cluster"  # the limit that is reached when the scheduler is gone
SENT = 8  # tasks between two pulses
PULSE = 0.02  # seconds between looks at what has come
ALONE = 10.0  # seconds without workers that are worth a notice
LOOK = 2.0  # seconds between looks at the workers
TRIES = 5  # of a task with which workers die


class ClusterSearch:
    """The cluster of one search: what ``outcome.Cluster`` asks for."""

    def __init__(self, connection: Connection, notify: Notify) -> None:
        self.connection, self.notify = connection, notify
        self.unfit: set[str] = set()  # addresses of workers
        self.checked: set[SearchedTree] = set()

    def search(
        self,
        tree: Any,
        bound: int,
        work: dict[int, tuple[list[bytes], float]],
        seconds: float,
        add: Callable[[int, dict], int],
        pulse: Callable[[], object],
    ) -> None:
        of = self._described(tree.problem, tree.every, tree.looks_back)
        self._check(of, bound)
        _Iteration(self, of, bound, work, seconds, add, pulse).run()

    def check_workers(self, problem: Problem, every: bool) -> None:
        """Raise ``InputError`` if one of the workers there are cannot take part."""
        self._check(self._described(problem, every, NEVER_UNDO), 0)

    def _described(self, problem: Problem, every: bool, moves: int) -> SearchedTree:
        return SearchedTree(
            __version__,
            problem.grid.shape,
            problem.grid.wrap,
            problem.blank,
            problem.start,
            problem.heuristic.name,
            tuple(database.seal for database in problem.heuristic.databases),
            problem.by_value,
            every,
            moves,
            self.connection.folder,
        )

    def _check(self, of: SearchedTree, bound: int) -> None:
        """Have all workers prepare for a tree."""
        if of not in self.checked:
            reasons = self.connection.run_everywhere(check_worker, of, bound)
            for reason in filter(None, reasons.values()):
                raise InputError(reason)
            self.checked.add(of)


class _Iteration:
    """One iteration, whose tasks are with the workers."""

    def __init__(
        self,
        search: ClusterSearch,
        of: SearchedTree,
        bound: int,
        work: dict[int, tuple[list[bytes], float]],
        seconds: float,
        add: Callable[[int, dict], int],
        pulse: Callable[[], object],
    ) -> None:
        self.cluster, self.connection, self.of, self.bound = search, search.connection, of, bound
        self.work, self.seconds, self.add, self.pulse = work, seconds, add, pulse
        self.token = uuid4().hex
        self.under_way: dict[str, tuple[Any, list[int]]] = {}  # the key of a task -> the task and its bundles
        self.deaths: Counter[int] = Counter()
        self.stop_at: float = inf
        self.looked = self.with_workers = time.monotonic()

    def run(self) -> None:
        numbers, weights = list(self.work), [weight for _, weight in self.work.values()]
        tied = tasks_of([weight * self.seconds for weight in weights], TASK_SECONDS, self.connection.threads(), weights)
        tasks = [[numbers[place] for place in task] for task in tied]
        self.arriving = self.connection.arrivals()
        try:
            for task in tasks:
                if len(self.under_way) % SENT == 0:
                    self.pulse()
                self._send(task)
            while self.under_way:
                arrived = self.arriving.next_batch(block=False)
                for future, result in arrived:
                    self._take(future, result)
                self.pulse()
                self._look()
                if not arrived:
                    time.sleep(PULSE)
        finally:
            if self.under_way:
                self._abandon(-1)
            self.arriving.clear()

    def _send(self, task: list[int]) -> None:
        bundles = [(number, self.work[number][0]) for number in task]
        where = sorted(set(self.connection.workers()) - self.cluster.unfit) if self.cluster.unfit else None
        future = self.connection.submit(search_bundles, self.of, self.bound, bundles, self.token, workers=where or None)
        self.under_way[future.key] = future, task
        self.arriving.add(future)

    def _take(self, future: Any, result: Any) -> None:
        """What has become of a task."""
        _, task = self.under_way.pop(future.key, (None, []))
        if future.status == "finished":
            for number, record in result:
                stop_at = self.add(number, record)
                if stop_at < self.stop_at:
                    self._abandon(stop_at)
            return
        wanted = [number for number in task if number < self.stop_at]
        if future.status == "error" and wanted:
            self._failed(result[1], wanted)
        elif wanted:
            self._gone_if_lost(0.0)
            self._send(wanted)

    def _failed(self, error: BaseException, task: list[int]) -> None:
        """Send a task again, unless its error would repeat itself."""
        if isinstance(error, Unfit):
            address = error.args[0]
            if address not in self.cluster.unfit:
                self.cluster.unfit.add(address)
                self.cluster.notify(f"{error}; the search goes on without it")
        elif self.connection.is_killed(error):
            self.deaths.update(task)
            if max(self.deaths[number] for number in task) >= TRIES:
                raise InputError(f"{error}: look at the logs of the workers, there may be too little memory") from None
        else:
            raise error
        self._send(task)

    def _abandon(self, number: float) -> None:
        """Tell all workers, and the scheduler, that bundles from a number on are not wanted."""
        self.stop_at = number
        unwanted = [future for future, task in self.under_way.values() if task[0] >= number]
        for future in unwanted:
            del self.under_way[future.key]
        self.connection.abandon(unwanted, give_up, self.token, number)

    def _look(self) -> None:
        """Now and then: are there workers, is there a scheduler?"""
        now = time.monotonic()
        if now - self.looked < LOOK:
            return
        self.looked = now
        self._gone_if_lost(LOOK)
        if self.connection.workers():
            self.with_workers = now
        elif now - self.with_workers >= ALONE:
            self.cluster.notify(f"{self.connection.name} has no workers: the search waits until there are some")
            self.with_workers = inf  # said once

    def _gone_if_lost(self, patience: float) -> None:
        if self.connection.is_lost(patience):
            raise Stopped(CLUSTER)
