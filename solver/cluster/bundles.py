"""The bundles of one iteration, searched by the workers of a cluster.

Bundles become tasks of half a second at least, beside which a message counts for nothing (``search.sharing``). What a
task has not finished in its time comes back in pieces (``search.pieces``), which are sent again.

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
from ..search.pieces import Assembly, Part, Piece, Returned
from ..search.sharing import TASK_SECONDS, Left, dealt, tasks_of, time_limit
from .bundle_tasks import SearchedTree, Task, give_up, search_task
from .connection import Connection
from .crew import Crew, Pulse
from .fitness import Unfit, Wanted, wanted_for

SENT = 250  # tasks in a message, which makes them cheaper, and between two pulses
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
        self, tree: Any, bound: int, work: Work, seconds: float, add: Callable[[int, list[Part]], object], pulse: Pulse
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
            self.notify(f"{error}, and repeat the search; {how}")
            raise Stopped(CLUSTER) from None
        return True

    def threads(self) -> int:
        return self.connection.threads()

    def _wanted(self, problem: Problem) -> Wanted:
        return wanted_for(problem.grid, problem.blank, problem.heuristic, self.connection.folder)


class _Sent(NamedTuple):
    """A task that is with the cluster."""

    future: Any
    pieces: list[Piece]
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
        add: Callable[[int, list[Part]], object],
        pulse: Pulse,
    ) -> None:
        self.crew, self.connection, self.of, self.bound = crew, crew.connection, of, bound
        self.add, self.pulse = add, pulse
        self.expected = {number: weight * seconds for number, (_, weight) in work.items()}
        self.left = Left(sum(self.expected.values()))
        self.not_begun = set(work)  # bundles
        self.assembly = Assembly({number: paths for number, (paths, _) in work.items()}, of.every)
        self.missing = set(work)  # bundles
        self.token = uuid4().hex
        self.under_way: dict[str, _Sent] = {}  # by the keys of the tasks
        self.held: list[list[Piece]] = []  # tasks that are to be sent
        self.failures: Counter[int] = Counter()  # by bundle
        self.stop_at = max(work, default=-1) + 1
        self.arriving = self.connection.arrivals()

    def run(self) -> None:
        """Search all bundles that are wanted."""
        try:
            self._send_all()
            while self.missing and (self.under_way or self.held):
                arrived = self.arriving.next_batch(block=False)
                for future, result in arrived:
                    self._take(future, result)
                self.pulse()
                if self.crew.look(self.of.wanted):
                    self._call_stranded()
                held, self.held = self.held, []
                self._send(held)
                if not arrived:
                    time.sleep(PULSE)
        finally:
            if self.under_way:
                self._abandon(-1)
            self.arriving.clear()

    def _threads(self) -> int:
        """How many tasks can run at a time, by the last look."""
        return self.crew.threads(self.of.wanted)

    def _send_all(self) -> None:
        """Send the bundles. The later a task is sent, the less there will be to do when it begins."""
        numbers, expected = list(self.expected), list(self.expected.values())
        tied = [[numbers[one] for one in task] for task in tasks_of(expected, TASK_SECONDS, self._threads())]
        left = self.left.seconds
        for first in range(0, len(tied), SENT):
            self.pulse()
            tasks = tied[first : first + SENT]
            self._send(
                [[piece for one in task for piece in self.assembly.bundles[one]] for task in tasks], left, -first
            )
            left -= sum(self.expected[number] for task in tasks for number in task)

    def _send(self, tasks: list[list[Piece]], left: float | None = None, priority: int = 1) -> None:
        """Send tasks; those that are sent again come before all others."""
        places = self.crew.places(self.of.wanted)
        if places == []:
            self.held += tasks
        elif tasks:
            seconds = time_limit(self.left.seconds if left is None else left, self._threads())
            given = [Task(self.of, self.bound, pieces, self.token, seconds) for pieces in tasks]
            futures = self.connection.submit_all(search_task, given, workers=places, priority=priority)
            for future, pieces in zip(futures, tasks, strict=True):
                self.under_way[future.key] = _Sent(future, pieces, places)
                self.arriving.add(future)

    def _take(self, future: Any, result: Any) -> None:
        """What has become of a task."""
        sent = self.under_way.pop(future.key, None)
        if sent is None:  # it was abandoned
            return
        if isinstance(result, Returned):
            self._take_returned(result)
            return
        again = [piece for piece in sent.pieces if self._wanted(piece)]
        if not again:
            return
        if isinstance(result, tuple):  # its type, the error, and a traceback
            self._failed(result[1], {piece.bundle for piece in again})
        elif self.connection.is_lost(0):
            raise self.connection.gone()
        self.held.append(again)

    def _take_returned(self, returned: Returned) -> None:
        """Take down what a task has done, and have the rest sent again."""
        begun = self.not_begun & {part.piece.bundle for part in returned.parts}
        self.not_begun -= begun
        seconds = sum(part.found["seconds"] for part in returned.parts)
        self.left.take(seconds, sum(self.expected[number] for number in begun))
        for number, parts in self.assembly.take(returned):
            self.missing.discard(number)
            self.add(number, parts)
        if self.assembly.stop_at < self.stop_at:  # there is a solution
            self._abandon(int(self.assembly.stop_at))
        wanted = [piece for piece in returned.left if self._wanted(piece)]
        self.held += dealt(wanted, self._threads() - len(self.under_way) - len(self.held))

    def _wanted(self, piece: Piece) -> bool:
        return piece.bundle < self.stop_at and self.assembly.wanted(piece)

    def _failed(self, error: BaseException, bundles: set[int]) -> None:
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

    def _call_stranded(self) -> None:
        """Take back what may only be run by workers that have left, to be sent again."""
        if not self.crew.fit(self.of.wanted):
            return
        for key, (future, pieces, places) in list(self.under_way.items()):
            if places is not None and not set(places) & self.crew.there.keys():
                del self.under_way[key]
                future.cancel()
                self.held.append(pieces)

    def _abandon(self, number: int) -> None:
        """Tell all workers, and the scheduler, that bundles from a number on are not wanted."""
        self.stop_at = number
        self.missing = {one for one in self.missing if one < number}
        self.held = [wanted for task in self.held if (wanted := [piece for piece in task if piece.bundle < number])]
        unwanted = [sent.future for sent in self.under_way.values() if sent.pieces[0].bundle >= number]
        for future in unwanted:
            del self.under_way[future.key]
        self.connection.abandon(unwanted, give_up, self.token, number)
