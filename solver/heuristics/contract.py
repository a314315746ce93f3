"""What a search asks of a heuristic.

A search loop is written once, for every heuristic. Numba compiles it anew for each *kind* of
heuristic, and at that moment fills in the functions below with the code of that kind: a kind
is a NamedTuple of arrays, and its file provides the bodies (``@body_of``).

A heuristic keeps, in its own arrays, what it knows of the current board, and is carried from board
to board by moves. A move is ``(tile, source, target)``: the tile on cell ``source`` goes to the
blank's cell ``target``, and the blank to ``source``.

- ``aim(heuristic, slot, tile, source, target, via, via_tile)`` works out what a move asks of memory, notes
  it in the numbered ``slot`` and asks for it. The move is one of the current board, or of the board after
  the move of ``via_tile`` that was looked at in slot ``via``; a ``via_tile`` of 0 is none. ``fetches(heuristic)``
  says whether there is anything to ask for.
- ``look(heuristic, slot, tile, source, target)`` is the value of the board after the move that was aimed
  at in ``slot``. The move is not made.
- ``step(heuristic, slot, tile, source, target)`` makes the move that was looked at in ``slot``, and
  leaves there what takes it back: the same step with ``source`` and ``target`` exchanged.
- ``settle(heuristic, board, parts, at)`` makes ``board`` the current one, from nothing but its
  tiles and its *parts*, the numbers whose maximum is its value: ``parts[at]`` and following.
- ``note(heuristic, slot, value, parts, at)`` writes the parts of the board that was looked at in
  ``slot`` and has this value.
- ``keep(heuristic, words, at)`` writes all that is known of the current board into ``words[at]`` and following, and
  ``resume(heuristic, words, at)`` makes the board that was kept there the current one: faster than ``settle``, for
  those who have the room.

Slots let a search aim at many moves before it looks at any of them, so that the waits for memory
overlap, and then make the chosen ones without looking again.

What a search holds in Python is a ``Heuristic``: a name and the means to make the NamedTuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

Board = Sequence[int]


@dataclass(frozen=True)
class Heuristic:
    """A lower bound on the moves to one goal, 0 for the goal alone; or, if it is not ``admissible``, a mere estimate.

    ``fresh(slots)`` makes the NamedTuple that kernels work on, with room for so many slots; every
    thread needs its own. ``measure(board)`` gives the parts of a board. Boards are in the numbering
    of the canonical goal.
    """

    name: str
    kind: str  # heuristics of the same kind share compiled code
    parts: int  # how many numbers the value is the maximum of
    fresh: Callable[[int], Any]
    measure: Callable[[Board], list[int]]
    words: int  # how many ``keep`` writes
    mapped: tuple[np.ndarray, ...] = ()  # the files it reads, mapped into memory
    by_value: bool = False  # whether moves are best tried in the order of their values (see ``ida_star``)
    admissible: bool = True  # whether it never exceeds the moves needed: else solutions need not be shortest


def fetches(heuristic):
    """Whether ``aim`` does anything."""


def aim(heuristic, slot, tile, source, target, via, via_tile):
    """Ask memory for what ``look`` will need."""


def look(heuristic, slot, tile, source, target):
    """The value of the board after a move that was aimed at."""


def step(heuristic, slot, tile, source, target):
    """Make the move in ``slot``, or take it back."""


def settle(heuristic, board, parts, at):
    """Make ``board`` the current board."""


def note(heuristic, slot, value, parts, at):
    """Write the parts of the board in ``slot``."""


def keep(heuristic, words, at):
    """Write all that is known of the current board."""


def resume(heuristic, words, at):
    """Make a board that was kept the current one."""


def body_of(function, *kinds: type):
    """Decorator: the body of ``function`` for heuristics of some kinds, which are NamedTuple classes."""

    def register(body):
        def choose(*arguments):
            numba_type = arguments[0]
            ours = isinstance(numba_type, types.BaseNamedTuple) and numba_type.instance_class in kinds
            return body if ours else None

        overload(function, strict=False)(choose)  # not strict: ``choose`` takes any arguments
        return body

    return register


def asks_nothing(kind: type) -> None:
    """Give a kind that needs nothing fetched from far the bodies of ``fetches`` and ``aim``."""

    @body_of(fetches, kind)
    def _fetches(heuristic):
        return False

    @body_of(aim, kind)
    def _aim(heuristic, slot, tile, source, target, via, via_tile):
        pass
