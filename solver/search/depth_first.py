"""The loop of depth-first search under a bound, for all heuristics, from one end or from both.

To expand a board the loop judges all its moves first, so that the waits for memory overlap; those that stay within the
bound are noted in ``todo``, one word per depth. A move is judged by its value, or by less if the heuristic can (see
``heuristics.tight_sums``), and in a search that is to meet another one by its threshold as well (see ``thresholds``).
Moves are made and taken back on one board. The loop returns after a given number of expansions and can be resumed, so
that Python decides about time, interruption and progress.

With a *floor* the loop lists the paths that reach this depth instead of following them: so a tree is cut into subtrees.

Some arguments are known when the loop is compiled, so that what they do not ask for costs nothing: ``early`` and
``bounded`` are True or None, and ``opposite`` is an ``Opposite`` or None.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import borrowing, fetch, inlined, kernel, prefetch_line, put, shared

from ..heuristics.contract import (
    aim,
    apply,
    begin,
    evaluate,
    exceeds,
    load,
    prefetch,
    prefetches,
    reach,
    settle,
    slack_of,
    step,
)
from .automaton import MOVES, cell_of, state_of
from .packed_moves import MOVE_BITS, VALUE_BITS, by_ascending_value, listed, move_at, node_of, slot_of
from .thresholds import (
    ask_ahead,
    begin_opposite,
    follow,
    follow_unjudged,
    key_after,
    put_in_if_asked,
    within_threshold,
)

# What the loop was doing when it returned.
FINISHED, FOUND, SLICED, FULL = range(4)
# Where the numbers of a stack are kept in ``Stack.state``.
DEPTH, BASE, EXPANDED, GENERATED, LEAST, LISTED, KEY, STATE = range(8)
MORE_THAN_SLACK = 1 << 12  # of any node


class Stack(NamedTuple):
    """The path of one search and what is left to do along it."""

    board: np.ndarray
    path: np.ndarray  # [depth] -> the successor that was reached, and above its 32 bits the index of the move to it
    todo: np.ndarray  # [depth] -> the moves still to be made, packed
    state: np.ndarray


def new_stack(cells: int, depth: int) -> Stack:
    """A stack for paths of less than ``depth`` moves."""
    return Stack(
        np.zeros(cells, dtype=np.uint8),
        np.zeros(depth, dtype=np.int64),
        np.zeros(depth, dtype=np.int64),
        np.zeros(STATE, dtype=np.int64),
    )


@shared
def _reached(successor, index):
    """An entry of the path: a successor, and the index of the move that led to it."""
    return successor | (index << 32)


@shared
def _last_move(entry):
    """The index of the move that led to an entry of the path."""
    return entry >> 32


@inlined
def _prefetch_moves(heuristic, node, successor, board, automaton, via, bounded):
    """Prefetch all moves of a node: that after the move in slot ``via`` of the current board, or the board itself."""
    first, blank = state_of(successor) * MOVES, cell_of(successor)
    via_tile = fetch(board, blank)  # which the move has not yet taken from there; 0 if there is none
    for index in range(MOVES):
        child = np.int64(fetch(automaton.successors, first + index))
        if child == 0:
            break
        source = cell_of(child)
        tile = fetch(board, source)
        if bounded is not None:
            aim(heuristic, node, slot_of(node, index), tile, source, blank, via, via_tile)
        else:
            prefetch(heuristic, slot_of(node, index), tile, source, blank, via, via_tile)


@inlined
def _within_bound(heuristic, depth, here, board, automaton, room, with_values, key, opposite):
    """The moves of a node that stay within the bound, judged by a ``bounded`` heuristic.

    They are packed, together with their values if these are asked for; also how many there are, and how many moves were
    judged. The values are too large by ``MORE_THAN_SLACK`` less the room.
    """
    node, first, blank = node_of(depth, _last_move(here)), state_of(here) * MOVES, cell_of(here)
    judged = 0
    left = 0  # moves that survive the first look, packed
    places = 0
    for index in range(MOVES):
        child = np.int64(fetch(automaton.successors, first + index))
        if child == 0:
            break
        judged += 1
        if not exceeds(heuristic, slot_of(node, index), fetch(board, cell_of(child))):
            prefetch_line(automaton.successors, state_of(child) * MOVES)
            left |= listed(index, places)
            places += 1
    for place in range(places):
        index = move_at(left, place)
        source = cell_of(np.int64(fetch(automaton.successors, first + index)))
        slot, child_node = slot_of(node, index), node_of(depth + 1, index)
        reach(heuristic, node, slot, child_node, fetch(board, source), source, blank)
    if opposite is not None:
        ask_ahead(opposite, node, automaton, first, board, blank, key, depth, room, left, places)
    for place in range(places):  # while memory answers
        index = move_at(left, place)
        child = np.int64(fetch(automaton.successors, first + index))
        _prefetch_moves(heuristic, node_of(depth + 1, index), child, board, automaton, slot_of(node, index), True)
    chosen = 0
    values = 0
    count = 0
    among = -1
    if opposite is not None:
        among = opposite.own_sums
    for place in range(places):
        index = move_at(left, place)
        tile = fetch(board, cell_of(np.int64(fetch(automaton.successors, first + index))))
        child_node = node_of(depth + 1, index)
        if settle(heuristic, node, slot_of(node, index), child_node, tile):
            chosen |= listed(index, count)
            if with_values:
                values |= (MORE_THAN_SLACK - slack_of(heuristic, child_node, among)) << (VALUE_BITS * count)
            count += 1
    return chosen, values, count, judged


@inlined
def _carry(heuristic, opposite, key, slot, tile, source, target):
    """Make a move that was judged in ``slot``, or take it back; returns the key of the board after it."""
    step(heuristic, slot, tile, source, target)
    if opposite is not None:
        follow(opposite, slot, tile, source, target)
        key = key_after(opposite, key, tile, source, target)
    return key


@borrowing
def start_below(heuristic, stack, automaton, start, parts, prefix, bound, bounded, opposite):
    """Put a search at the end of a path of successors from the start."""
    board, path, todo, state = stack
    for cell in range(board.size):
        board[cell] = start[cell]
    load(heuristic, board, parts, 0)
    key = 0
    if opposite is not None:
        key = begin_opposite(opposite, board)
    path[0] = prefix[0]
    blank = cell_of(path[0])
    for depth in range(1, prefix.size):
        path[depth] = prefix[depth]
        source = cell_of(path[depth])
        tile = board[source]
        prefetch(heuristic, 0, tile, source, blank, 0, 0)
        evaluate(heuristic, 0, tile, source, blank)
        apply(heuristic, 0, tile, source, blank)
        if opposite is not None:
            follow_unjudged(opposite, tile, source, blank)
            key = key_after(opposite, key, tile, source, blank)
        board[blank] = tile
        blank = source
    board[blank] = 0
    base = prefix.size - 1
    begin(heuristic, node_of(base, 0), bound - base)
    _prefetch_moves(heuristic, node_of(base, 0), path[base], board, automaton, 0, bounded)
    state[DEPTH] = state[BASE] = base
    todo[base] = 0
    state[EXPANDED] = state[GENERATED] = state[LISTED] = 0
    state[LEAST] = 1 << 30
    state[KEY] = key


@borrowing
def search_below(
    heuristic, stack, automaton, bound, by_value, unexpanded, floor, prefixes, counts, most, early, bounded, opposite
):
    """Search the subtree of a stack until it is finished, a solution is found or ``most`` boards were expanded.

    ``unexpanded`` says that the board at the current depth is still to be expanded. Paths that reach depth ``floor``
    are listed in ``prefixes`` instead of being followed, with the counts up to there. Without ``early``, no solution
    is shorter than the bound, and none is looked for.
    """
    board, path, todo, state = stack
    successors = automaton.successors
    depth, base = state[DEPTH], state[BASE]
    expanded, generated, least, on_floor = state[EXPANDED], state[GENERATED], state[LEAST], state[LISTED]
    key = state[KEY]
    last = expanded + most
    here = path[depth]
    blank = cell_of(here)
    chosen = todo[depth]
    status = SLICED
    while True:
        if unexpanded:
            first = state_of(here) * MOVES
            node = node_of(depth, _last_move(here))
            room = bound - depth - 1
            expanded += 1
            with_values = by_value
            offset = 0
            if opposite is not None:
                with_values = True
            if bounded is not None:
                offset = room - MORE_THAN_SLACK
                chosen, values, count, judged = _within_bound(
                    heuristic, depth, here, board, automaton, room, with_values, key, opposite
                )
                generated += judged
                if count < judged:
                    least = min(least, bound + 2)
            else:
                chosen = 0
                values = 0
                count = 0
                excess = 1 << 20
                for index in range(MOVES):
                    child = np.int64(fetch(successors, first + index))
                    if child == 0:
                        break
                    generated += 1
                    source = cell_of(child)
                    value = evaluate(heuristic, slot_of(node, index), fetch(board, source), source, blank)
                    fits = np.int64(value <= room)
                    chosen |= listed(index, count) & -fits
                    values |= (value & -fits) << (VALUE_BITS * count)
                    count += fits
                    excess = min(excess, value + (fits << 20))
                    if early is not None and value == 0:
                        chosen, room = listed(index, 0), 0
                        break
                least = min(least, excess + depth + 1)
                if opposite is not None:
                    ask_ahead(opposite, node, automaton, first, board, blank, key, depth, room, chosen, count)
            if opposite is not None:
                chosen, values, count = within_threshold(
                    opposite, node, automaton, first, board, blank, key, depth, room, chosen, values, offset, count
                )
                put_in_if_asked(opposite, key, depth)
            if room == 0 and chosen != 0:  # with no room left only the goal itself is within the bound
                path[depth + 1] = np.int64(successors[first + move_at(chosen, 0)])
                todo[depth] = 0
                status = FOUND
                break
            if by_value and count > 1:
                chosen = by_ascending_value(chosen, values, count)
            todo[depth] = chosen
            for place in range(count):
                index = move_at(chosen, place)
                child = np.int64(fetch(successors, first + index))
                prefetch_line(successors, state_of(child) * MOVES)
                if prefetches(heuristic):
                    via = slot_of(node, index)
                    _prefetch_moves(heuristic, node_of(depth + 1, index), child, board, automaton, via, bounded)
            if expanded >= last:
                break
        # Go on with the next move to be made, here or above.
        while chosen == 0 and depth > base:
            index = _last_move(here)
            source = blank
            depth -= 1
            here = fetch(path, depth)
            blank = cell_of(here)
            tile = fetch(board, blank)
            put(board, source, tile)
            slot = slot_of(node_of(depth, _last_move(here)), index)
            key = _carry(heuristic, opposite, key, slot, tile, blank, source)
            chosen = fetch(todo, depth)
        if chosen == 0:
            status = FINISHED
            break
        index = move_at(chosen, 0)
        successor = np.int64(fetch(successors, state_of(here) * MOVES + index))
        unexpanded = depth + 1 != floor
        if not unexpanded:
            if on_floor == counts.shape[0]:
                status = FULL
                break
            for above in range(depth + 1):
                prefixes[on_floor, above] = path[above] & 0xFFFFFFFF
            prefixes[on_floor, floor] = successor
            counts[on_floor, 0], counts[on_floor, 1] = expanded, generated
            on_floor += 1
        chosen >>= MOVE_BITS
        put(todo, depth, chosen)
        if unexpanded:
            source = cell_of(successor)
            tile = fetch(board, source)
            put(board, blank, tile)
            slot = slot_of(node_of(depth, _last_move(here)), index)
            key = _carry(heuristic, opposite, key, slot, tile, source, blank)
            depth += 1
            here = _reached(successor, index)
            put(path, depth, here)
            blank = source
    state[DEPTH] = depth
    state[EXPANDED], state[GENERATED], state[LEAST], state[LISTED] = expanded, generated, least, on_floor
    state[KEY] = key
    return status


@kernel
def later_moves(path, first, last, automaton):
    """How many moves come after those of a path, at the depths ``first`` ... ``last - 1``."""
    count = 0
    for depth in range(first, last):
        state = state_of(path[depth])
        index = 0
        while np.int64(automaton.successors[state * MOVES + index]) != path[depth + 1]:
            index += 1
        count += automaton.branching[state] - 1 - index
    return count
