"""Progress on stderr: a line for one search, a bar for many boards, a bar for a comparison.

They are drawn only if stderr is a terminal. Each has a method ``report`` for the searches to call now and then, from
any thread; a search whose heuristic is built first reports that as well.
"""

from __future__ import annotations

import time

from tqdm import tqdm

from pdb_builder.shell import notice

from ..comparison.comparison import Comparison
from ..jobs import PULSE
from ..number_text import counted, format_duration, format_large
from ..search.outcome import Progress


class SearchMeter:
    """How far a search is, in one line; and a notice for every better solution, on a terminal or not."""

    def __init__(self, silent: bool = False) -> None:
        self._line = tqdm(bar_format="{desc}", disable=None, leave=False)
        self._last = 0.0
        self._first: tuple[float, int] | None = None  # when the search first reported, and how far it was then
        self._silent = silent  # about better solutions
        self._length: int | None = None

    def __enter__(self) -> SearchMeter:
        return self

    def __exit__(self, *exception) -> None:
        self._line.close()

    def report(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.preparing:
            if now - self._last >= PULSE:
                self._last = now
                self._line.set_description_str(_preparing(progress))
            return
        self._first = self._first or (now, progress.generated)
        if progress.length is not None and progress.length != self._length:
            self._length = progress.length
            if not self._silent:
                self._line.clear()
                notice(f"{counted(self._length, 'move')} after {now - self._first[0]:.1f} s")
        if now - max(self._last, self._first[0]) < PULSE or self._line.disable:
            return
        self._last = now
        speed = (progress.generated - self._first[1]) / (now - self._first[0])
        share = "" if progress.share is None else f" {progress.share:4.0%} done"
        stored = "" if progress.stored is None else f", {format_large(progress.stored)} stored"
        where = (
            f"bound {progress.bound}" if progress.width is None else f"width {progress.width:,}, level {progress.bound}"
        )
        self._line.set_description_str(
            f"{where}{share}: {format_large(progress.generated)} generated{stored}, {format_large(speed)}/s"
        )


class BoardsBar:
    """How many of the boards are answered. It is not drawn if ``hidden``, as an animated board would be in its way."""

    def __init__(self, count: int | None, hidden: bool) -> None:
        self._bar = tqdm(total=count, unit=" boards", disable=hidden or None, leave=False)

    def __enter__(self) -> BoardsBar:
        return self

    def __exit__(self, *exception) -> None:
        self._bar.close()

    def clear(self) -> None:
        """Make room for an answer."""
        self._bar.clear()

    def advance(self) -> None:
        """Called after every board."""
        self._bar.set_postfix_str("", refresh=False)
        self._bar.update()

    def report(self, progress: Progress) -> None:
        if progress.preparing:
            self._bar.set_postfix_str(_preparing(progress))


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
            bar_format="{percentage:3.0f}% |{bar}| {n_fmt} of {total_fmt} searches, {elapsed}{postfix}",
        )
        self._next = 0.0  # when to estimate the time left again

    def __enter__(self) -> ComparisonBar:
        return self

    def __exit__(self, *exception) -> None:
        self._bar.close()

    def advance(self) -> None:
        """Called after every search."""
        self._bar.update()

    def report(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._next or self._bar.disable:
            return
        self._next = now + 10 * PULSE
        left = self._comparison.seconds_left(self._jobs)
        words = [] if left is None else [f"about {format_duration(left)} left"]
        if self._jobs == 1:
            words += [f"bound {progress.bound}"] + ([] if progress.share is None else [f"{progress.share:.0%} done"])
        self._bar.set_postfix_str(", ".join(words))


def _preparing(progress: Progress) -> str:
    return f"{progress.preparing}: {progress.share:.0%} done"
