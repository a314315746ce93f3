"""Progress on stderr: a line for one search, a bar for many boards; ``comparison_bar`` has that of a comparison.

They are drawn only if stderr is a terminal. Each has a method ``report`` for the searches to call now and then, from
any thread; a search whose heuristic is built first reports that as well. Behind a bar there is room for one search: of
several at a time the first one that reports, and another when it falls silent.
"""

from __future__ import annotations

import threading
import time

from tqdm import tqdm

from pdb_builder.base.wording import counted
from pdb_builder.shell import notice

from ..jobs import PULSE
from ..number_text import format_large
from ..search.outcome import Progress

# Without the usual estimate of the time left: see ``comparison.time_left``.
COUNTED = "{{percentage:3.0f}}% |{{bar}}| {{n_fmt}} of {{total_fmt}} {}, {{elapsed}}{{postfix}}"
SILENCE = 1.0  # seconds after which another search is shown: they all report several times a second
LONG = 1.0  # seconds after which a search is worth showing behind a bar, and an estimate worth making again


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
                self._line.set_description_str(where(progress))
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
        stored = "" if progress.stored is None else f", {format_large(progress.stored)} stored"
        self._line.set_description_str(
            f"{where(progress)}: {format_large(progress.generated)} generated{stored}, {format_large(speed)}/s"
        )


class Turns:
    """When to show the progress of a search behind a bar, and of which one."""

    def __init__(self, bar: tqdm, pulse: float) -> None:
        self._bar, self._pulse = bar, pulse
        self._thread: int | None = None  # of the search that is shown
        self._next = 0.0

    def is_mine(self) -> bool:
        """Whether the search that calls this is to be shown now."""
        now, thread = time.monotonic(), threading.get_ident()
        if self._bar.disable or now < self._next + (0 if thread == self._thread else SILENCE):
            return False
        self._thread, self._next = thread, now + self._pulse
        return True


class BoardsBar:
    """How many of the boards are answered. It is not drawn if ``hidden``, as an animated board would be in its way."""

    def __init__(self, count: int | None, hidden: bool) -> None:
        form = "boards: {n_fmt}, {elapsed}{postfix}" if count is None else COUNTED.format("boards")
        self._bar = tqdm(total=count, disable=hidden or None, leave=False, bar_format=form)
        self._turns = Turns(self._bar, PULSE)
        self._latest = time.monotonic()  # when the latest board was answered

    def __enter__(self) -> BoardsBar:
        return self

    def __exit__(self, *exception) -> None:
        self._bar.close()

    def clear(self) -> None:
        """Make room for an answer."""
        self._bar.clear()

    def advance(self) -> None:
        """Called after every board."""
        self._latest = time.monotonic()
        self._bar.set_postfix_str("", refresh=False)
        self._bar.update()

    def report(self, progress: Progress) -> None:
        if time.monotonic() - self._latest >= LONG and self._turns.is_mine():
            self._bar.set_postfix_str(where(progress))


def where(progress: Progress) -> str:
    """How far a search is, or what is built before it begins."""
    if progress.preparing:
        return f"{progress.preparing}: {progress.share:.0%} done"
    width = "" if progress.width is None else f"width {progress.width:,}, "
    share = "" if progress.share is None else f" {progress.share:4.0%} done"
    length = "" if progress.length is None else f", {counted(progress.length, 'move')} so far"
    return f"{width}{'level' if width else 'bound'} {progress.bound}{share}{length}"
