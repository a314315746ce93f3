"""Moves of a board packed into a word, and the numbers of nodes and slots: the bookkeeping of depth-first search.

The moves to be made at a depth are a word of four bits each, the next one lowest: the move index and a bit that is
always set, so that 0 is the end of the list. The values that they are ordered by are another word.
"""

from __future__ import annotations

from pdb_builder.base.jit import inlined, shared

from .automaton import MOVES

MOVE_BITS, LISTED_MOVE = 4, 4
VALUE_BITS = 16


@inlined
def listed(index, place):
    """A move at a place of a packed list, to be added to it."""
    return (index | LISTED_MOVE) << (MOVE_BITS * place)


@inlined
def move_at(moves, place):
    """The index of a move in a packed list."""
    return (moves >> (MOVE_BITS * place)) & (MOVES - 1)


@inlined
def value_at(values, place):
    """A value in a packed list."""
    return (values >> (VALUE_BITS * place)) & ((1 << VALUE_BITS) - 1)


@inlined
def by_ascending_value(moves, values, count):
    """Packed moves in ascending order of their packed values; equal ones stay in order."""
    ordered = 0
    for place in range(count):
        least = 1 << VALUE_BITS
        best = 0
        for other in range(count):
            value = value_at(values, other)
            if value < least:
                least = value
                best = other
        values |= ((1 << VALUE_BITS) - 1) << (VALUE_BITS * best)
        ordered |= listed(move_at(moves, best), place)
    return ordered


@shared
def node_of(depth, last_move):
    """The number of a board at this depth, reached by a move of this index: siblings have numbers of their own."""
    return (depth * MOVES) | last_move


@shared
def slot_of(node, index):
    """The slot for a move of a node."""
    return (node * MOVES) | index
