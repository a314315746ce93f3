"""What a search asks of a heuristic.

A search loop is written once, for every heuristic. Numba compiles it for each *kind* of heuristic and fills in the
operations below with the code of that kind. A kind is a NamedTuple of arrays; its module registers the bodies of its
operations with ``@body_of``.

A heuristic keeps what it knows of the *current board* in its own arrays and is carried from board to board by moves. A
move is ``(tile, source, target)``: the tile on cell ``source`` goes to the blank's cell ``target``, and the blank to
``source``. Every kind has three operations:

- ``load(heuristic, board, parts, at)`` makes ``board`` the current one. Its *parts*, the numbers whose maximum is its
  value, are ``parts[at]`` and following; a heuristic that can work out its value need not look at them.
- ``evaluate(heuristic, slot, tile, source, target)`` is the value of the board after a move, which is not made.
- ``apply(heuristic, slot, tile, source, target)`` makes a move that was evaluated in ``slot``. The same call with
  ``source`` and ``target`` exchanged takes it back.

*Slots* are numbered places to note what evaluating a move has found out, so that applying it costs nothing more.
``apply`` leaves in the slot what takes the move back. A heuristic that has nothing to note ignores them.

The other operations have bodies already, which serve if the kind has a field ``state``, an int64 array with all that
changes from board to board:

- ``save(heuristic, words, at)`` copies the state to ``words[at]`` and following, ``restore(heuristic, words, at)``
  copies it back.
- ``write_parts(heuristic, slot, value, parts, at)`` writes the parts of the board that was evaluated in ``slot`` and
  has this value. A heuristic of one part writes the value.
- ``prefetch(heuristic, slot, tile, source, target, via, via_tile)`` comes before ``evaluate`` and asks memory for what
  that will need, so that the waits for many moves overlap. The move is one of the current board, or of the board after
  the move of ``via_tile`` that was evaluated in slot ``via``; a ``via_tile`` of 0 means the current board. Unless a
  kind registers a body, nothing is fetched, and ``prefetches(heuristic)`` is False when a search is compiled.

*Under a bound.* A depth-first search does not need the value of a move that exceeds its bound, only that it does. A
heuristic that can tell for less than it takes to evaluate the move, a ``bounded`` one, judges moves in two steps
instead: ``aim`` and ``exceeds``, then for those that survive ``reach`` and ``settle``. ``begin`` comes first, ``step``
makes a move, and ``slack_of`` is what they are ordered by. A *node* is the number of a board on the path, or of a
sibling of one; the slots of its moves are ``MOVES_OF_NODE`` times this number, and the following. The bodies are in
``tight_sums``.

What Python holds is a ``Heuristic``: a name, and the means to make the NamedTuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import config, typeof
from numba.core.errors import TypingError
from numba.extending import overload

from pdb_builder.base.errors import InputError
from pdb_builder.base.jit import fetch, kernel, put
from pdb_builder.grid import Grid
from pdb_builder.pattern import has_patterns

if TYPE_CHECKING:
    from pdb_builder.database import Database

if config.DISABLE_JIT:  # the bodies of operations are chosen by the compiler
    raise InputError(
        "NUMBA_DISABLE_JIT is set, and only pdb-builder runs without the compiler: unset it to solve boards"
    )

Board = Sequence[int]
MOVES_OF_NODE = 4  # a board has at most four moves

# ---- operations ---------------------------------------------------------------------------------

_bodies: dict[Callable, dict[type, Callable]] = {}  # by operation and kind


def operation(function: Callable, required: bool = False) -> Callable:
    """Let kernels call an operation: with the body registered for the kind of its first argument, else with its own."""
    bodies = _bodies.setdefault(function, {})

    def choose(*arguments):
        kind = getattr(arguments[0], "instance_class", None)
        if kind not in bodies and required:
            raise TypingError(f"{kind or arguments[0]} has no {function.__name__}: register a body with @body_of")
        return bodies.get(kind, function)

    overload(function, jit_options={"forceinline": True}, strict=False)(
        choose
    )  # not strict: ``choose`` accepts any arguments
    return function


required_operation = partial(operation, required=True)


def body_of(operation: Callable, *kinds: type) -> Callable:
    """Decorator: the body of an operation for heuristics of some kinds, which are NamedTuple classes."""

    def register(body: Callable) -> Callable:
        _bodies[operation].update(dict.fromkeys(kinds, body))
        return body

    return register


@required_operation
def load(heuristic, board, parts, at):
    """Make ``board`` the current board."""


@required_operation
def evaluate(heuristic, slot, tile, source, target):
    """The value of the board after a move."""


@required_operation
def apply(heuristic, slot, tile, source, target):
    """Make the move in ``slot``, or take it back."""


@operation
def write_parts(heuristic, slot, value, parts, at):
    """Write the parts of the board in ``slot``."""
    parts[at] = value


@operation
def save(heuristic, words, at):
    """Write all that is known of the current board."""
    for word in range(heuristic.state.size):
        put(words, at + word, fetch(heuristic.state, word))


@operation
def restore(heuristic, words, at):
    """Make a board that was saved the current one."""
    for word in range(heuristic.state.size):
        put(heuristic.state, word, fetch(words, at + word))


@operation
def prefetch(heuristic, slot, tile, source, target, via, via_tile):
    """Ask memory for what ``evaluate`` will need."""


@operation
def prefetches(heuristic):
    """Whether ``prefetch`` does anything."""
    return False


# ---- under a bound ------------------------------------------------------------------------------


@operation
def begin(heuristic, node, room):
    """Make the current board a node, with ``room`` moves left to the goal."""


@operation
def aim(heuristic, node, slot, tile, source, target, via, via_tile):
    """Ask memory for what ``exceeds`` will need of a node's move; ``via`` and ``via_tile`` as for ``prefetch``."""


@operation
def exceeds(heuristic, slot, tile):
    """Whether a move that was aimed at is known to exceed the bound, by a first look."""
    return False


@operation
def reach(heuristic, node, slot, child, tile, source, target):
    """Ask memory for the rest of what there is to know of a move, which leads from a node to the node ``child``."""


@operation
def settle(heuristic, node, slot, child, tile):
    """Look at the rest: whether the move stays within the bound. If so, all that must be known of ``child`` is."""
    return True


@operation
def slack_of(heuristic, node, among):
    """How far depth plus value of a node stay below the bound, by the sums of a set."""
    return 0


@operation
def step(heuristic, slot, tile, source, target):
    """``apply``, for a search under a bound."""
    apply(heuristic, slot, tile, source, target)


# ---- heuristics ---------------------------------------------------------------------------------


@kernel
def _loaded_value(heuristic, board, parts):
    load(heuristic, board, parts, 0)
    return heuristic.state[0]


@dataclass(frozen=True)
class Heuristic:
    """An estimate of the moves to one goal, 0 for the goal alone.

    ``workspace(slots)`` makes the NamedTuple that kernels work on, with room for that many slots; every thread needs
    its own. ``measure(board)`` gives the parts of a board; without it they are what ``load`` makes of the board, which
    must then leave the value in ``state[0]``. Boards are in the numbering of the canonical goal.
    """

    name: str
    workspace: Callable[[int], Any]
    measure: Callable[[Board], list[int]] = None  # type: ignore[assignment]
    parts: int = 1  # how many numbers the value is the maximum of
    left_out: int = 0  # how many more there would be, if kernels had room for them
    saved_words: int = 0  # how many ``save`` writes; 0: as many as the state has
    databases: tuple[Database, ...] = ()  # that it reads from
    bounded: bool = False  # whether it can tell that a move exceeds a bound for less than it takes to evaluate the move
    first_part: Callable[[], Heuristic] | None = None  # of a bounded one: makes the first of its parts alone
    consistent: bool = False  # whether no move changes the value by more than one
    by_value: bool = False  # whether moves are best tried in the order of their values (see ``ida_star``)
    admissible: bool = True  # whether it never exceeds the moves needed, so that solutions can be proven shortest
    # Of one's own (see ``own``):
    fingerprint: str = ""  # tells one function from another
    look: Callable[[], object] | None = None  # raises an error if something was wrong with a value
    at_once: int | None = None  # the most boards to expand between two looks at the limits

    def __post_init__(self) -> None:
        if self.measure is None:
            object.__setattr__(self, "measure", self._measure_by_loading)
        if not self.saved_words:
            object.__setattr__(self, "saved_words", self.workspace(1).state.size)

    def _measure_by_loading(self, board: Board) -> list[int]:
        return [int(_loaded_value(self.workspace(1), np.array(board, dtype=np.uint8), np.zeros(1, dtype=np.int64)))]

    @cached_property
    def kind(self) -> str:
        """Heuristics of the same kind share compiled code."""
        return str(typeof(self.workspace(1)))


def check_not_wrapped(grid: Grid, name: str) -> None:
    """Raise ``InputError`` if the edges are joined, for a heuristic that is inadmissible there."""
    if grid.wrap:
        others = "manhattan or pdb" if has_patterns(grid) else "manhattan"
        raise InputError(f"{name} is inadmissible on {grid} boards, where tiles slide across the edges: use {others}")
