"""A few threads that work through jobs in the order in which they came, and can be told to stop at any time.

Every request that needs the library is a job, so that the thread which talks to browsers never waits. A job that waits
is told its place whenever that changes; one that is not wanted any more leaves the queue, or, if it runs, is asked to
stop: its ``interrupt`` is set, which searches look at many times a second. A queue that is too long refuses jobs:
otherwise it would grow for as long as they come faster than they are done.

The compiler cannot be interrupted. A job that it holds up, and that nobody wants any more, does not count: another
thread takes its place, a few times over. The threads are daemons, so a program that ends does not wait for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from secrets import token_urlsafe
from threading import Condition, Event, Thread, Timer

RUNNING = 0  # the place of a job that is not waiting
GRACE = 1.0  # seconds in which a job that runs stops, unless it is held up


class Busy(Exception):
    """Too many jobs are waiting."""


class Job:
    """What is to be done, ``work(interrupt)``, and ``moved``, which is told the place in the queue: 0 when it runs.

    Work whose interrupt is set from the beginning must only say that it was stopped.
    """

    def __init__(self, work: Callable[[Event], object], moved: Callable[[int], object] = lambda place: None) -> None:
        self.id = token_urlsafe(12)  # not to be guessed by another tab
        self.work, self.moved = work, moved
        self.interrupt = Event()


class Workers:
    """Threads, and the jobs that run and wait."""

    def __init__(self, threads: int, most_waiting: int) -> None:
        self._changed = Condition()
        self._waiting: deque[Job] = deque()
        self._running: set[Job] = set()
        self._held_up: set[Job] = set()  # of those that run: as many as there are threads, at most
        self._threads, self._most_waiting, self._closed = threads, most_waiting, False
        for _ in range(threads):
            self._start()

    def _start(self) -> None:
        Thread(target=self._work, name="page", daemon=True).start()

    def submit(self, job: Job) -> None:
        """Have a job done. Raises ``Busy`` if too many are waiting."""
        with self._changed:
            if self._closed or len(self._waiting) >= self._most_waiting:
                raise Busy
            self._waiting.append(job)
            job.moved(len(self._waiting))
            self._changed.notify()

    def stop(self, id: str) -> bool:
        """Stop the job with this id: if it waits, it leaves the queue and says so; False if there is none."""
        with self._changed:
            job = next((job for job in (*self._running, *self._waiting) if job.id == id), None)
            if job is None:
                return False
            job.interrupt.set()
            waited = self._forget(job)
        if waited:
            job.work(job.interrupt)
        return True

    def withdraw(self, job: Job) -> None:
        """Forget a job that waits, or stop it if it runs. Nothing happens if it is done."""
        job.interrupt.set()
        with self._changed:
            self._forget(job)
            if job in self._running:
                timer = Timer(GRACE, self._replace, [job])
                timer.daemon = True
                timer.start()

    def _forget(self, job: Job) -> bool:
        """Take a job out of the queue; False if it is not in it."""
        if job not in self._waiting:
            return False
        self._waiting.remove(job)
        self._tell_places()
        return True

    def _replace(self, job: Job) -> None:
        """Have another thread do the work of one whose job is still running, though nobody wants it."""
        with self._changed:
            if job in self._running and job not in self._held_up and len(self._held_up) < self._threads:
                self._held_up.add(job)
                self._start()

    def close(self) -> None:
        """Forget all jobs that wait, stop those that run, and take no more."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            for job in self._running:
                job.interrupt.set()
            self._changed.notify_all()

    def _work(self) -> None:
        while job := self._next():
            try:
                job.work(job.interrupt)
            finally:
                with self._changed:
                    self._running.remove(job)
                    replaced = job in self._held_up
                    self._held_up.discard(job)
            if replaced:
                return

    def _next(self) -> Job | None:
        """The next job, when there is one; None when all is over."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            job = self._waiting.popleft()
            self._running.add(job)
            job.moved(RUNNING)
            self._tell_places()
            return job

    def _tell_places(self) -> None:
        for place, job in enumerate(self._waiting, 1):
            job.moved(place)
