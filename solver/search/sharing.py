"""How the work of an iteration becomes tasks for many workers, and how long each may take.

Each task costs the client and the scheduler a moment, one after another, so small bundles that are neighbours go
together. Tasks are sent in the order of the search, in which a solution that is found spares those after it. But where
there are only a few for each worker, the largest go first, by what is expected of them, so that no worker begins a
large one when all others are about to end.

What is expected is often wrong, so a task hands back what it has not finished in its time (``pieces``). As in guided
self-scheduling, the time falls as the work gets less: it is a part of an even share of what is left. So workers end
together, however the tree is shaped. What is handed back goes on as two tasks, or more if there are workers without
work: who has got a large subtree soon has many helpers. If everything takes longer than was expected, what nobody has
begun is still left: otherwise all further tasks would have the shortest time, and be too many for the scheduler.

Small iterations are not worth the messages, and those of a meeting need what the client has in its memory. Both stay
with the client, and so do beams.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

GROWTH = 6  # of an iteration beside the one before, as a rule
WORTH = 2.0  # seconds that one worker is expected to take for an iteration that is shared out
FEW = 8  # tasks per worker: with no more, the largest go first
TASK_SECONDS = 0.5  # that a task takes at least, if there is enough to do
LONGEST_TASK = 1.5  # seconds: what is larger than it was expected to be is divided while the others still have work
LEAST_LIMIT = 0.15  # seconds after which a task may hand back what is left
SHARE = 0.6  # of an even share of what is left that a task may take
LEAST_DEALT, MOST_DEALT = 2, 4  # tasks that are made of what one has handed back

P = TypeVar("P")


def is_worth_sharing(before: float) -> bool:
    """Whether an iteration is worth the messages, if the one before took one worker so many seconds."""
    return GROWTH * before >= WORTH


def tasks_of(expected: Sequence[float], least: float, workers: int) -> list[list[int]]:
    """Bundles, by number, tied together into tasks of so many seconds at least, in the order in which to send them."""
    tasks: list[list[int]] = []
    open_task, total = False, 0.0
    for number, seconds in enumerate(expected):
        if not open_task:
            tasks.append([])
            total = 0.0
        tasks[-1].append(number)
        total += seconds
        open_task = total < least
    if len(tasks) <= FEW * workers:
        tasks.sort(key=lambda task: -sum(expected[number] for number in task))
    return tasks


def time_limit(left: float, workers: int) -> float:
    """Seconds after which a task hands back what it has not finished, if all that is left takes one worker so long."""
    return min(LONGEST_TASK, max(LEAST_LIMIT, SHARE * left / workers))


class Left:
    """The seconds that one worker is expected to take for what is left of an iteration."""

    def __init__(self, expected: float) -> None:
        self.seconds = self._not_begun = expected

    def take(self, seconds: float, begun: float) -> None:
        """Take down what a task took, and what was expected of those bundles that it was the first to begin."""
        self._not_begun -= begun
        self.seconds = max(0.0, self._not_begun, self.seconds - seconds)


def dealt(pieces: list[P], idle: int) -> list[list[P]]:
    """The tasks that are made of what a task has handed back, if so many workers have nothing to do.

    The later a piece comes, the earlier it branched off, and the larger it is: so each task gets some of all sizes.
    """
    count = min(len(pieces), max(LEAST_DEALT, min(1 + idle, MOST_DEALT)))
    return [pieces[first::count] for first in range(count)]
