"""Which moves a search tries: an automaton that forbids the useless ones.

A *state* of the automaton is the blank's cell together with what is remembered of the moves before. Here that is the
previous cell alone, and the one rule is never to undo a move; automata that remember more, and forbid longer detours,
are other tables of the same form.

A *successor* is what a move leads to: the next state and the blank's cell there, packed into 32 bits, so that a search
needs no second look-up to know where the blank goes. Seven bits hold any cell and leave room for 33 million states. The
successors of a state are numbered by *move index*, from 0, in the order in which they are tried: blank up, left, right,
down on a plain board, which is the ascending order of its cells. (The order of Korf's published node counts.)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import shared
from pdb_builder.grid import Grid

MOVES = 4  # the most successors of a state, since a cell has at most four neighbours
CELL_BITS = 7
STATE_BITS = 32 - CELL_BITS


class Automaton(NamedTuple):
    """The automaton as tables. All arrays are flat, whatever the brackets say."""

    successors: np.ndarray  # [state, move index] -> the next state and its cell, packed
    branching: np.ndarray  # [state] -> how many successors it has
    cell: np.ndarray  # [state] -> where the blank is
    previous: np.ndarray  # [state] -> where it was before; on the same cell at the start
    starts: np.ndarray  # [cell] -> the state of a search that begins with the blank there: every move is allowed


@shared
def pack(state, cell):
    """A successor."""
    return (state << CELL_BITS) | cell


@shared
def cell_of(successor):
    """Where the blank is after a move."""
    return successor & ((1 << CELL_BITS) - 1)


@shared
def state_of(successor):
    """The automaton's state after a move."""
    return (successor >> CELL_BITS) & ((1 << STATE_BITS) - 1)


def _state(cell: int, came_from: int | None) -> int:
    """The state of the blank on ``cell``, reached from neighbour number ``came_from``, or at the start."""
    return cell * (MOVES + 1) + (0 if came_from is None else 1 + came_from)


@lru_cache(maxsize=8)
def never_undo(grid: Grid) -> Automaton:
    """The automaton of a board that forbids undoing the last move, and nothing else."""
    states = grid.cells * (MOVES + 1)
    successors = np.zeros((states, MOVES), dtype=np.uint32)
    branching, cells, previous = np.zeros((3, states), dtype=np.uint8)
    for cell, neighbours in enumerate(grid.neighbours):
        for came_from, last in [(None, cell), *enumerate(neighbours)]:
            state = _state(cell, came_from)
            cells[state], previous[state] = cell, last
            others = [other for other in neighbours if other != last]
            branching[state] = len(others)
            for index, other in enumerate(others):
                successors[state, index] = pack(_state(other, grid.neighbours[other].index(cell)), other)
    starts = np.array([_state(cell, None) for cell in range(grid.cells)])
    return Automaton(successors.ravel(), branching, cells, previous, starts)
