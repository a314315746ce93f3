"""How long an iteration would take with more workers: its tasks, played through by the clock of a simulation.

The client sends one task after another, each of which costs it a moment. A task begins when it was sent and a worker is
free, those that were handed back first. It ends when it is done, or when its time is over, and then what is left is
sent again, all of it by the rules of ``sharing``.

*From a journal* the seconds of bundles are known, but not what a stack would leave of one. It is taken to leave eight
pieces, of a quarter of the rest at most, and the iteration as a whole to take as long as was expected. ``pdb-solver
bench workers`` plays an iteration through with the stacks themselves; with these shares a simulation comes to the same
end, within one percent (docs/benchmarks.md).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .sharing import TASK_SECONDS, Left, dealt, is_worth_sharing, tasks_of, time_limit

if TYPE_CHECKING:
    from .journal import Step

TASK_COST = 0.00045  # seconds of the scheduler for a task (docs/benchmarks.md)
CUT_COST = 10e-6  # seconds of the client to find a subtree (docs/benchmarks.md)
NEARLY = 0.9  # of the whole time: then that is what limits it
LEFT = (1 / 16,) * 4 + (1 / 8,) * 2 + (1 / 4,) * 2  # shares of the rest in the pieces that a stack leaves

P = TypeVar("P")


class Simulated(NamedTuple):
    """An iteration with a number of workers."""

    workers: int
    tasks: int
    seconds: float
    busy: float  # the share of the workers' time in which they search
    limit: str  # what keeps it from being faster


def play(
    tasks: Sequence[list[P]],
    expected: Sequence[float],
    workers: int,
    search: Callable[[list[P], float], tuple[float, list[P]]],
    cost: float = TASK_COST,
    begin: float = 0.0,
) -> Simulated:
    """Play tasks through that are sent from a time on, and of which so many seconds are expected.

    ``search`` is given what a task is to do and its time limit; it returns the seconds it takes, and what is left.
    """
    client, number, to_send, left = begin, 0, sum(expected), Left(sum(expected))
    first: list[tuple[float, int, list[P], float]] = []  # when each is sent, its number, what it is and its time limit
    again: list[tuple[float, int, list[P], float]] = []
    for task, size in zip(tasks, expected, strict=True):
        client, number = client + cost, number + 1
        first.append((client, number, task, time_limit(to_send, workers)))
        to_send -= size
    free = [0.0] * workers
    ended: list[tuple[float, int, float, list[P]]] = []  # when, the number, the seconds it took and what is left
    under_way, searched, longest, end, sending = number, 0.0, 0.0, 0.0, client - begin
    while first or again or ended:
        waiting = [heap for heap in (again, first) if heap]
        start = max(free[0], min(heap[0][0] for heap in waiting)) if waiting else float("inf")
        if ended and ended[0][0] <= start:
            now, one, seconds, rest = heapq.heappop(ended)
            under_way -= 1
            left.take(seconds, expected[one - 1] if one <= len(expected) else 0.0)
            for task in dealt(rest, workers - under_way):
                client, number, under_way = max(client, now) + cost, number + 1, under_way + 1
                sending += cost
                heapq.heappush(again, (client, number, task, time_limit(left.seconds, workers)))
            continue
        heap = next(heap for heap in waiting if heap[0][0] <= start)
        _, one, task, limit = heapq.heappop(heap)
        heapq.heappop(free)
        seconds, rest = search(task, limit)
        heapq.heappush(free, start + seconds)
        heapq.heappush(ended, (start + seconds, one, seconds, rest))
        searched, longest, end = searched + seconds, max(longest, seconds), max(end, start + seconds)
    whole = max(end, 1e-9)
    limits = {"the longest task": longest, "the client": sending + begin}
    limit_by = next((name for name, seconds in limits.items() if seconds >= NEARLY * whole), "the work")
    return Simulated(workers, number, end, searched / (workers * whole), limit_by)


def simulate(
    seconds: Sequence[float], weights: Sequence[float], workers: int, cost: float = TASK_COST, subtrees: int = 0
) -> Simulated:
    """An iteration of so many subtrees, whose bundles took so many seconds, and were expected to be so large."""
    per_weight = sum(seconds) / max(sum(weights), 1e-9)
    guessed = [weight * per_weight for weight in weights]
    tasks = tasks_of(guessed, TASK_SECONDS, workers)
    expected = [sum(guessed[number] for number in task) for task in tasks]
    bundles = [[seconds[number] for number in task] for task in tasks]
    return play(bundles, expected, workers, _search, cost, CUT_COST * subtrees)


def _search(task: list[float], limit: float) -> tuple[float, list[float]]:
    """A task, given by the seconds of its pieces."""
    done = 0.0
    for place, seconds in enumerate(task):
        if done + seconds > limit:
            rest = done + seconds - limit
            return limit, [share * rest for share in LEFT] + task[place + 1 :]
        done += seconds
    return done, []


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
            last = simulate(seconds, expected, workers, cost, (step.cut or [0])[0])
            shared += last.seconds
        else:
            with_client += result.get("seconds", 0.0)
        before[what.get("side", "")] = sum(one["seconds"] for one in bundles) or result.get("seconds", 0.0)
    return SimulatedSearch(workers, with_client + shared, with_client, last)
