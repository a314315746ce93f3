"""Many jobs on a few threads, with a clean end when they are interrupted.

Results come in the order of the items, so that a pipe of any length can run through: a slow item holds back only the
few results after it. Or they come as they are ready, so that none is held back at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import Empty, Queue
from threading import Event, Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

PULSE = 0.1  # seconds between updates, and between chances for Ctrl-C
AHEAD = 4  # items started per additional job while the first one is waited for


def map_jobs(
    items: Iterable[Item], work: Callable[[Item], Result], jobs: int, interrupt: Event, in_order: bool = True
) -> Iterator[Result]:
    """``work(item)`` for every item, on ``jobs`` threads.

    After an interruption, or an error, ``interrupt`` is set, which ``work`` should heed. After an interruption the
    results of items already started are still yielded before it is raised again.
    """
    started: list[Future] = []
    with ThreadPoolExecutor(jobs) as executor:
        try:
            for item in _as_they_come(items, jobs):
                if item is not None:
                    started.append(executor.submit(work, item))
                yield from _finished(started, AHEAD * (jobs - 1), in_order)
            yield from _finished(started, 0, in_order)
        except BaseException as error:
            for future in started:
                future.cancel()
            interrupt.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
            for future in started:
                if not future.cancelled():
                    yield future.result()
            raise


def _finished(started: list[Future], most: int, in_order: bool) -> Iterator:
    """Remove finished futures and yield their results; waits until at most ``most`` are left."""
    while started:
        awaited = started[:1] if in_order else started
        done = next((future for future in awaited if future.done()), None)
        if done is not None:
            yield done.result()
            started.remove(done)
        elif len(started) > most:
            wait(awaited, PULSE, FIRST_COMPLETED)
        else:
            return


def _as_they_come(items: Iterable[Item], jobs: int) -> Iterator[Item | None]:
    """The items, and None now and then while the next one is awaited, so that results need not wait for it."""
    if jobs == 1 or isinstance(items, list):
        yield from items
        return
    queue: Queue = Queue(maxsize=jobs)

    def read() -> None:
        try:
            for item in items:
                queue.put(item)
            queue.put(StopIteration())
        except Exception as error:
            queue.put(error)

    Thread(target=read, daemon=True).start()
    while True:
        try:
            item = queue.get(timeout=PULSE)
        except Empty:
            item = None
        if isinstance(item, StopIteration):
            return
        if isinstance(item, Exception):
            raise item
        yield item
