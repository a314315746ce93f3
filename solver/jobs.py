"""Many tasks on a few threads, and a clean end when they are interrupted.

Answers are given in the order of the tasks, so that a pipe of any length can run through: a task that makes
others wait does not hold more than a few answers back. Or they are given as they come, so that none is held
back at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import Empty, Queue
from threading import Event, Thread
from typing import TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")

PULSE = 0.1  # seconds between looks at what goes on, and chances for Ctrl-C
AHEAD = 4  # tasks begun for each further job while the first one is waited for


def answers(
    tasks: Iterable[Task], work: Callable[[Task], Answer], jobs: int, interrupt: Event, in_order: bool = True
) -> Iterator[Answer]:
    """What ``work`` makes of every task.

    After an interruption, or an error, ``interrupt`` is set, which ``work`` should heed; after an interruption
    the answers to what was begun are still given before it is raised again.
    """
    begun: list[Future] = []
    with ThreadPoolExecutor(jobs) as executor:
        try:
            for task in _as_they_come(tasks, jobs):
                if task is not None:
                    begun.append(executor.submit(work, task))
                yield from _finished(begun, AHEAD * (jobs - 1), in_order)
            yield from _finished(begun, 0, in_order)
        except BaseException as error:
            for future in begun:
                future.cancel()
            interrupt.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
            for future in begun:
                if not future.cancelled():
                    yield future.result()
            raise


def _finished(begun: list[Future], most: int, in_order: bool) -> Iterator:
    """The answers there are; waits for them until no more than ``most`` tasks are still begun."""
    while begun:
        awaited = begun[:1] if in_order else begun
        done = next((future for future in awaited if future.done()), None)
        if done is not None:
            yield done.result()
            begun.remove(done)
        elif len(begun) > most:
            wait(awaited, PULSE, FIRST_COMPLETED)
        else:
            return


def _as_they_come(tasks: Iterable[Task], jobs: int) -> Iterator[Task | None]:
    """The tasks, and None from time to time while the next one is waited for, so that answers need not wait."""
    if jobs == 1 or isinstance(tasks, list):
        yield from tasks
        return
    queue: Queue = Queue(maxsize=jobs)

    def read() -> None:
        try:
            for task in tasks:
                queue.put(task)
            queue.put(StopIteration())
        except Exception as error:
            queue.put(error)

    Thread(target=read, daemon=True).start()
    while True:
        try:
            task = queue.get(timeout=PULSE)
        except Empty:
            task = None
        if isinstance(task, StopIteration):
            return
        if isinstance(task, Exception):
            raise task
        yield task
