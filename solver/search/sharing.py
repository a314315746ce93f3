"""How bundles become tasks for many workers, and how long that would take with more of them.

Each task costs the client and the scheduler a moment, one after another, so small bundles that are neighbours go
together. Tasks are sent in the order of the search, in which a solution that is found spares those after it. But where
there are only a few for each worker, the largest go first, by what is expected of them, so that no worker begins a
large one when all others are about to end.

Small iterations are not worth the messages, and those of a meeting need what the client has in its memory. Both stay
with the client, and so do beams.

*A simulation* is list scheduling: the client sends one task after another, and each begins when it was sent and a
worker is free. The seconds of the bundles are those that were measured; what is not shared out takes as long as it did.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .journal import Step

GROWTH = 6  # of an iteration beside the one before, as a rule
WORTH = 2.0  # seconds that one worker is expected to take for an iteration that is shared out
FEW = 8  # tasks per worker: with no more, the largest go first
TASK_SECONDS = 0.5  # that a task takes at least, if there are enough bundles
TASK_COST = 0.002  # seconds of the client and the scheduler for a task (docs/benchmarks.md)
NEARLY = 0.9  # of the whole time: then that is what limits it


def is_worth_sharing(before: float) -> bool:
    """Whether an iteration is worth the messages, if the one before took one worker so many seconds."""
    return GROWTH * before >= WORTH


def tasks_of(sizes: Sequence[float], least: float, workers: int, expected: Sequence[float]) -> list[list[int]]:
    """Bundles, by number, tied together into tasks of a size that is ``least``, in the order in which to send them."""
    tasks: list[list[int]] = []
    open_task, total = False, 0.0
    for number, size in enumerate(sizes):
        if not open_task:
            tasks.append([])
            total = 0.0
        tasks[-1].append(number)
        total += size
        open_task = total < least
    if len(tasks) <= FEW * workers:
        tasks.sort(key=lambda task: -sum(expected[number] for number in task))
    return tasks


class Simulated(NamedTuple):
    """An iteration with a number of workers."""

    workers: int
    tasks: int
    seconds: float
    busy: float  # the share of the workers' time in which they search
    limit: str  # what keeps it from being faster


def simulate(seconds: Sequence[float], expected: Sequence[float], workers: int, cost: float = TASK_COST) -> Simulated:
    """An iteration whose bundles took so many seconds, and were expected to be so large."""
    per_weight = sum(seconds) / max(sum(expected), 1e-9)
    guessed = [weight * per_weight for weight in expected]
    tasks = tasks_of(guessed, TASK_SECONDS, workers, expected)
    free = [0.0] * workers
    longest = end = 0.0
    for number, task in enumerate(tasks, 1):
        taken = sum(seconds[bundle] for bundle in task)
        ended = max(heapq.heappop(free), number * cost) + taken
        heapq.heappush(free, ended)
        longest, end = max(longest, taken), max(end, ended)
    whole = max(end, 1e-9)
    if longest >= NEARLY * whole:
        limit = "the longest bundle"
    elif len(tasks) * cost >= NEARLY * whole:
        limit = "the client"
    else:
        limit = "the work"
    return Simulated(workers, len(tasks), end, sum(seconds) / (workers * whole), limit)


class SimulatedSearch(NamedTuple):
    """A search with a number of workers."""

    workers: int
    seconds: float
    with_client: float  # of these, those of what is not shared out
    last: Simulated | None  # the last iteration that is


def simulate_search(steps: Sequence[Step], workers: int, cost: float = TASK_COST) -> SimulatedSearch:
    """The search of a journal."""
    with_client = shared = 0.0
    last, before = None, dict[str, float]()  # what the iteration before took one worker, from each end
    for step in steps:
        what, result = step.what or {}, step.result or {}
        bundles = [step.bundles[number] for number in sorted(step.bundles)]
        if bundles and what.get("threshold") is None and is_worth_sharing(before.get(what["side"], 0.0)):
            seconds, expected = ([one[name] for one in bundles] for name in ("seconds", "weight"))
            last = simulate(seconds, expected, workers, cost)
            shared += last.seconds
        else:
            with_client += result.get("seconds", 0.0)
        before[what.get("side", "")] = sum(one["seconds"] for one in bundles) or result.get("seconds", 0.0)
    return SimulatedSearch(workers, with_client + shared, with_client, last)
