"""What goes into a search and what comes out.

A search is given a ``Problem`` and its ``Limits`` and fills in an ``Outcome``. Between slices of work it checks the
limits; the one that is reached ends the search by the exception ``Stopped``, wherever it is. Whatever ends it, Ctrl-C
included, the outcome holds what is known by then: ``noting_stop`` surrounds the work of every search.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import NamedTuple

from pdb_builder.grid import Grid

from ..heuristics.contract import Heuristic


class Problem(NamedTuple):
    """A board to solve, in the numbering of the canonical goal with its blank on cell ``blank``."""

    grid: Grid
    blank: int
    start: tuple[int, ...]
    heuristic: Heuristic
    by_value: bool = False  # try moves in the order of their values instead of the fixed one
    backward: Callable[[Grid, int], Heuristic] | None = None  # makes the heuristic from the goal to the start

    def at_least(self, length: int) -> int:
        """The shortest length a solution can have if none is shorter than ``length``.

        Where the cells are coloured like a chessboard, every move takes the blank to the other colour, so all
        solutions are of even length, or all of odd.
        """
        if not self.grid.bipartite:
            return length
        colours = [self.grid.odd_cells >> cell & 1 for cell in (self.start.index(0), self.blank)]
        return length + (length + colours[0] + colours[1]) % 2


class Stopped(Exception):
    """The search was told to stop: its argument is the limit that was reached."""


INTERRUPT = "interrupt"  # the limit that the user sets with Ctrl-C


class Limits(NamedTuple):
    """When to give up. None means no limit."""

    deadline: float | None = None  # of time.monotonic()
    nodes: int | None = None  # boards generated
    memory: int | None = None  # bytes
    interrupt: Event | None = None  # set when the user wants to stop
    intact: Callable[[], object] = lambda: None  # raises an error if a database in use turns out to be damaged

    def check(self, generated: int) -> None:
        """Raise ``Stopped`` if the time is up, enough boards were generated or the user wants to stop."""
        self.intact()
        if self.interrupt is not None and self.interrupt.is_set():
            raise Stopped(INTERRUPT)
        if self.nodes is not None and generated >= self.nodes:
            raise Stopped("nodes")
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise Stopped("time")

    def expansions(self, generated: int, most: int) -> int:
        """How many boards to expand before the next check, so that the node limit is not exceeded by much."""
        if self.nodes is None:
            return most
        return min(most, max(1, (self.nodes - generated) // 3))


class Iteration(NamedTuple):
    """One bound of the search and the work it took."""

    bound: int  # or the width of a beam, 0 for its search for a lower bound
    expanded: int
    generated: int
    seconds: float


class Incumbent(NamedTuple):
    """A solution shorter than those found before it."""

    length: int
    seconds: float
    width: int | None  # of the beam that found it; None if the search for a lower bound did


@dataclass
class Outcome:
    """How a search ended.

    ``paths`` are the cells that the blank visits, start and goal included: of one solution, of all shortest ones if
    they were asked for, or of none if the search was stopped before it had any.
    """

    h_start: int  # the heuristic's value of the start
    lower_bound: int
    paths: list[list[int]] = field(default_factory=list)
    iterations: list[Iteration] = field(default_factory=list)
    expanded: int = 0
    generated: int = 1  # the start
    stored: int | None = None  # boards held in memory at the end
    suboptimality_bound: float | None = None  # the solution is at most this many times as long as a shortest one
    stopped: str | None = None  # the limit that was reached: time, nodes, memory, depth, width or interrupt
    incumbents: list[Incumbent] = field(default_factory=list)  # of a search that goes on after a solution


class Progress(NamedTuple):
    """How far a search has come."""

    bound: int
    expanded: int
    generated: int
    share: float | None = None  # of the current iteration
    stored: int | None = None
    length: int | None = None  # of the best solution so far
    width: int | None = None  # of the beam
    preparing: str | None = None  # what is built before the search begins, if that is what takes the time


OnProgress = Callable[[Progress], object]


def unreported(progress: Progress) -> None:
    """Ignore progress."""


@contextmanager
def noting_stop(outcome: Outcome) -> Iterator[None]:
    """Surrounds the work of a search: what stops it early is noted in the outcome and goes no further."""
    try:
        yield
    except Stopped as stop:
        outcome.stopped = str(stop)
    except KeyboardInterrupt:
        outcome.stopped = INTERRUPT
