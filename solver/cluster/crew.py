"""The workers of a cluster that take part in a search.

Whoever is there when a search begins must be fit (``fitness``), or the search does not begin: that is a mistake to be
put right first. Whoever turns out to be unfit later is left out, and the search goes on. Workers come and go; without
any the search waits, and says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from threading import Lock

from pdb_builder.base.errors import ClusterError

from ..heuristics.preparing import Notify
from .connection import Connection
from .fitness import Unfit, Wanted, examine

LOOK = 2.0  # seconds between looks at the workers
ALONE = 10.0  # seconds without workers that are worth a notice
SILENT = 10.0  # and without the answer of one
PATIENCE = 4.0  # seconds without a scheduler

Pulse = Callable[[], object]


class Crew:
    """The workers that there are, and those that are left out. Several threads use it."""

    def __init__(self, connection: Connection, notify: Notify) -> None:
        self.connection, self.notify = connection, notify
        self.there: dict[str, int] = {}  # address -> threads, when that was last looked at
        self._unfit: set[tuple[str, Wanted]] = set()
        self._examined: set[Wanted] = set()
        self._lock = Lock()
        self._looked, self._with_workers = 0.0, time.monotonic()

    def insist(self, wanted: Wanted, pulse: Pulse) -> None:
        """Raise ``InputError`` if one of the workers there are is unfit."""
        if wanted not in self._examined:
            for error in self.examine(wanted, pulse):
                raise ClusterError(str(error))

    def can(self, wanted: Wanted, pulse: Pulse) -> bool:
        """Whether there is a worker that is fit, or none at all yet. Those that are not are left out."""
        if wanted not in self._examined:
            for error in self.examine(wanted, pulse):
                self.leave_out(wanted, error)
        self.there = self.connection.workers()
        return not self.there or bool(self.fit(wanted))

    def examine(self, wanted: Wanted, pulse: Pulse) -> list[Unfit]:
        """Have all workers say whether they are fit; returns why some are not."""
        found, asked, told = [], time.monotonic(), False

        def wait() -> None:
            nonlocal told
            pulse()
            if not told and time.monotonic() - asked >= SILENT:
                told = True
                self.notify(f"some workers of {self.connection.name} have yet to answer: the search waits for them")

        for address, answer in self.connection.run_everywhere(examine, wanted, pulse=wait).items():
            if isinstance(answer, OSError):  # it has left
                continue
            if isinstance(answer, BaseException):  # it cannot even be asked
                reason = f"{type(answer).__name__}: {answer}".splitlines()[0][:200]
                answer = "its machine", f"{reason}: install the client's version of slidepdb there"
            if answer is not None:
                found.append(Unfit(address, *answer))
        if not found:
            self._examined.add(wanted)
        return found

    def leave_out(self, wanted: Wanted, error: Unfit) -> None:
        """Do without a worker from now on, and say so once."""
        with self._lock:
            known = (error.args[0], wanted) in self._unfit
            self._unfit.add((error.args[0], wanted))
        if not known:
            self.notify(f"{error}; the search goes on without it")

    def fit(self, wanted: Wanted) -> list[str]:
        """The workers that are not left out."""
        return [address for address in self.there if (address, wanted) not in self._unfit]

    def threads(self, wanted: Wanted) -> int:
        """How many tasks they can run at a time: one at least."""
        return max(1, sum(threads for address, threads in self.there.items() if (address, wanted) not in self._unfit))

    def places(self, wanted: Wanted) -> list[str] | None:
        """Where to send a task: None is anywhere, an empty list nowhere as yet."""
        if not any(of == wanted for _, of in self._unfit):
            return None
        return self.fit(wanted)

    def look(self, wanted: Wanted) -> bool:
        """Now and then: are there workers, is there a scheduler? Returns whether the workers were looked at.

        Raises ``ClusterLost`` if there is no scheduler, or nobody can come.
        """
        if self.connection.is_lost(PATIENCE):
            raise self.connection.gone()
        with self._lock:
            now = time.monotonic()
            if now - self._looked < LOOK:
                return False
            self._looked = now
        self.there = self.connection.workers()
        if self.fit(wanted):
            self._with_workers = now
        elif now - self._with_workers >= ALONE:
            self._with_workers = inf  # said once
            which = "workers that can take part" if self.there else "workers"
            self.notify(f"{self.connection.name} has no {which}: the search waits until there are some")
        return True
