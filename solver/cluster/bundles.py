"""The bundles of one iteration, searched by the workers of a cluster.

Bundles become tasks of half a second at least, beside which a message counts for nothing (``search.sharing``).

*What can go wrong.* Tasks of a worker that dies are run elsewhere, by Dask, or sent again if several workers have died
with it. A worker that turns out to be unfit (``fitness``) is left out from then on. Without any worker the search
waits, and says so. If the scheduler is gone, the search ends as by a limit, with what is known.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

from pdb_builder.base.errors import ClusterLost, InputError

from ..heuristics.preparing import Notify
from ..search.outcome import CLUSTER, Problem, Stopped
from ..search.sharing import TASK_SECONDS, tasks_of
from .bundle_tasks import SearchedTree, give_up, search_bundles
from .connection import Connection
from .crew import Crew, Pulse
from .fitness import Unfit, Wanted, wanted_for

SENT = 8  # tasks between two pulses
PULSE = 0.02  # seconds between looks at what has come
TRIES = 5  # of a task with which workers die, or that fails for another reason

Work = dict[int, tuple[list[bytes], float]]  # the number of a bundle -> the paths to its subtrees, and its weight


class ClusterSearch:
    """The cluster of one search: what ``outcome.Cluster`` asks for."""

    def __init__(self, connection: Connection, notify: Notify) -> None:
        self.connection, self.notify = connection, notify
        self.crew = Crew(connection, notify)

    def check_workers(self, problem: Problem, pulse: Pulse) -> None:
        """Raise ``InputError`` if one of the workers there are cannot take part."""
        self.crew.insist(self._wanted(problem), pulse)

    def search(
        self, tree: Any, bound: int, work: Work, seconds: float, add: Callable[[int, dict], int], pulse: Pulse
    ) -> bool:
        problem, wanted = tree.problem, self._wanted(tree.problem)
        of = SearchedTree(wanted, problem.start, problem.by_value, tree.every, tree.looks_back)
        try:
            if not self.crew.can(wanted, pulse):
                self.notify(f"no worker can search with {wanted.heuristic}: this is done here")
                return False
            _Iteration(self.crew, of, bound, work, seconds, add, pulse).run()
        except ClusterLost as error:
            how = "it goes on where it was" if problem.journal.kept else "with a `journal` it would go on where it was"
            self.notify(f"{error}: start the scheduler and its workers again, and repeat the search; {how}")
            raise Stopped(CLUSTER) from None
        return True

    def threads(self) -> int:
        return self.connection.threads()

    def _wanted(self, problem: Problem) -> Wanted:
        return wanted_for(problem.grid, problem.blank, problem.heuristic, self.connection.folder)


class _Sent(NamedTuple):
    """A task that is with the cluster."""

    future: Any
    bundles: list[int]
    places: list[str] | None  # the workers that may run it; None: all


class _Iteration:
    """One iteration, whose tasks are with the workers."""

    def __init__(
        self,
        crew: Crew,
        of: SearchedTree,
        bound: int,
        work: Work,
        seconds: float,
        add: Callable[[int, dict], int],
        pulse: Pulse,
    ) -> None:
        self.crew, self.connection, self.of, self.bound = crew, crew.connection, of, bound
        self.work, self.seconds, self.add, self.pulse = work, seconds, add, pulse
        self.token = uuid4().hex
        self.under_way: dict[str, _Sent] = {}  # by the keys of the tasks
        self.held: list[list[int]] = []  # tasks that no worker can run as yet
        self.failures: Counter[int] = Counter()  # by bundle
        self.stop_at = max(work, default=-1) + 1
        self.arriving = self.connection.arrivals()

    def run(self) -> None:
        """Search all bundles that are wanted."""
        numbers, weights = list(self.work), [weight for _, weight in self.work.values()]
        tied = tasks_of([weight * self.seconds for weight in weights], TASK_SECONDS, self.connection.threads(), weights)
        try:
            for place, task in enumerate([numbers[one] for one in task] for task in tied):
                if place % SENT == 0:
                    self.pulse()
                self._send(task, -place)
            while self.under_way or self.held:
                arrived = self.arriving.next_batch(block=False)
                for future, result in arrived:
                    self._take(future, result)
                self.pulse()
                if self.crew.look(self.of.wanted):
                    self._send_stranded()
                if not arrived:
                    time.sleep(PULSE)
        finally:
            if self.under_way:
                self._abandon(-1)
            self.arriving.clear()

    def _send(self, bundles: list[int], priority: int = 1) -> None:
        """Send a task; one that is sent again comes before all others."""
        places = self.crew.places(self.of.wanted)
        if places == []:
            self.held.append(bundles)
            return
        work = [(number, self.work[number][0]) for number in bundles]
        given = (self.of, self.bound, work, self.token)
        future = self.connection.submit(search_bundles, *given, workers=places, priority=priority)
        self.under_way[future.key] = _Sent(future, bundles, places)
        self.arriving.add(future)

    def _take(self, future: Any, result: Any) -> None:
        """What has become of a task."""
        sent = self.under_way.pop(future.key, None)
        if sent is None:  # it was abandoned
            return
        if isinstance(result, list):
            for number, record in result:
                self._take_bundle(number, record)
            done = {number for number, _ in result}
        else:
            done = set()
        left = [number for number in sent.bundles if number not in done and number < self.stop_at]
        if not left:
            return
        if isinstance(result, tuple):  # its type, the error, and a traceback
            self._failed(result[1], left)
        elif self.connection.is_lost(0):
            raise ClusterLost(f"{self.connection.name} is gone")
        self._send(left)

    def _take_bundle(self, number: int, record: dict) -> None:
        stop_at = self.add(number, record)
        if stop_at < self.stop_at:
            self._abandon(stop_at)

    def _failed(self, error: BaseException, bundles: list[int]) -> None:
        """Raise the error of a task, unless it is worth another try."""
        wanted = self.of.wanted
        if isinstance(error, Unfit):
            self.crew.leave_out(wanted, error)
            return
        self.failures.update(bundles)
        again = max(self.failures[number] for number in bundles) < TRIES
        if self.connection.is_killed(error):
            if not again:
                raise InputError(f"{error}: look at the logs of the workers, there may be too little memory") from None
            return
        # A worker that lacks this package, or has another one, fails in any way.
        unfit = self.crew.examine(wanted, self.pulse) if again else []
        if not unfit:
            raise error
        for one in unfit:
            self.crew.leave_out(wanted, one)

    def _send_stranded(self) -> None:
        """Send what no worker could run, and send again what may only be run by workers that have left."""
        if not self.crew.fit(self.of.wanted):
            return
        held, self.held = self.held, []
        for bundles in held:
            self._send(bundles)
        for key, (future, bundles, places) in list(self.under_way.items()):
            if places is not None and not set(places) & self.crew.there.keys():
                del self.under_way[key]
                future.cancel()
                self._send(bundles)

    def _abandon(self, number: int) -> None:
        """Tell all workers, and the scheduler, that bundles from a number on are not wanted."""
        self.stop_at = number
        self.held = [bundles for bundles in self.held if bundles[0] < number]
        unwanted = [sent.future for sent in self.under_way.values() if sent.bundles[0] >= number]
        for future in unwanted:
            del self.under_way[future.key]
        self.connection.abandon(unwanted, give_up, self.token, number)
