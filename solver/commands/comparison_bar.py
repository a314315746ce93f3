"""The progress of a comparison on stderr: a bar, how long the rest may take, and how far the present search is.

In a module of its own, so that ``solve`` starts without importing comparisons.
"""

from __future__ import annotations

import time

from tqdm import tqdm

from ..comparison.comparison import Comparison
from ..comparison.time_left import time_left
from ..number_text import format_duration
from ..search.outcome import Progress
from .progress import COUNTED, LONG, Turns, where


class ComparisonBar:
    """How many searches of a comparison are done, and how long the others may take."""

    def __init__(self, comparison: Comparison, jobs: int) -> None:
        total = len(comparison.instances) * len(comparison.methods)
        self._comparison, self._jobs = comparison, jobs
        self._bar = tqdm(
            total=total,
            initial=total - len(comparison.missing()),
            disable=None,
            leave=False,
            bar_format=COUNTED.format("searches"),
        )
        self._turns = Turns(self._bar, LONG)
        self._latest = time.monotonic()  # when the latest search ended

    def __enter__(self) -> ComparisonBar:
        return self

    def __exit__(self, *exception) -> None:
        self._bar.close()

    def advance(self) -> None:
        """Called after every search."""
        self._latest = time.monotonic()
        self._bar.update()

    def report(self, progress: Progress) -> None:
        if self._turns.is_mine():
            self._bar.set_postfix_str(", ".join([*self._time_left(), where(progress)]))

    def _time_left(self) -> list[str]:
        left = time_left(self._comparison, self._jobs)
        if left is None or time.monotonic() - self._latest > left[1]:  # a search that takes longer has refuted it
            return []
        shortest, longest = map(format_duration, left)
        return [f"about {longest} left" if shortest == longest else f"{shortest} to {longest} left"]
