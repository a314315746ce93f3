"""Thresholds: what a depth-first search needs to meet another one that comes from the other end.

Both ends have a heuristic. On the way from the start, let g be the moves made, h the estimate of those to the goal and
h' the estimate of those back to the start. Besides g + h, which must not exceed the length C that solutions are sought
of, a board has the sum

    b = g + h + (g - h')

whose last part is what the way to the board has wasted, as far as h' can tell. If both heuristics are consistent, no
move makes b smaller. Seen from the goal, a board on a solution of C moves has the sum b' = 2 C - b, because the moves
made from both sides are C together. So with thresholds t and t' whose sum is at least 2 C - 1, every board of the
solution has b <= t or b' <= t'. One side *puts in*: it visits its boards up to t, and puts each into a filter together
with the moves made. The other *looks up*: it visits its boards up to t', and goes on beyond only to boards that are in
the filter with the C - g moves that are missing. If there is a solution it finds one; if not, then C is refuted, at the
price of two small trees instead of a large one. (docs/design.md has the proof.) A board that the filter knows by
mistake costs the time to look at its moves, and nothing else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pdb_builder.base.jit import fetch, inlined, put

from ..heuristics.contract import apply, evaluate, load, prefetch
from .automaton import cell_of
from .board_filter import ask_for, is_in, put_in
from .packed_moves import VALUE_BITS, listed, move_at, slot_of, value_at

# What a side does with the filter.
NOTHING, PUT_IN, LOOK_UP = range(3)


class Opposite(NamedTuple):
    """The estimate of the moves back to the start of a search, and the rule that it is part of."""

    heuristic: Any  # whose goal is the start of the search
    own_sums: int  # the set of those sums of the search's own heuristic that thresholds go by
    cells: np.ndarray  # cell -> cell in the frame of that goal
    tiles: np.ndarray  # tile -> tile in that frame
    start: np.ndarray  # the start of the search in that frame, which is its goal
    parts: np.ndarray  # the parts of its value
    pair_words: np.ndarray  # [tile, cell], in the frame of the search (see ``board_filter``)
    filter_words: np.ndarray
    role: int
    threshold: int
    histogram: np.ndarray  # [b] -> how many boards with this sum were visited, but for the start


@inlined
def begin_opposite(opposite, board):
    """Make the start the current board; returns its key."""
    load(opposite.heuristic, opposite.start, opposite.parts, 0)
    key = np.int64(0)
    for cell in range(board.size):
        key ^= opposite.pair_words[np.int64(board[cell]) * board.size + cell]
    return key


@inlined
def key_after(opposite, key, tile, source, target):
    """The key of the board after a move, or before it."""
    first = np.int64(tile) * opposite.cells.size
    return key ^ fetch(opposite.pair_words, first + source) ^ fetch(opposite.pair_words, first + target)


@inlined
def follow(opposite, slot, tile, source, target):
    """Make a move that was judged in ``slot``, or take it back."""
    there, here = fetch(opposite.cells, source), fetch(opposite.cells, target)
    apply(opposite.heuristic, slot, fetch(opposite.tiles, np.int64(tile)), there, here)


@inlined
def follow_unjudged(opposite, tile, source, target):
    """Make a move on the way to where a search begins."""
    there, here = fetch(opposite.cells, source), fetch(opposite.cells, target)
    same_tile = fetch(opposite.tiles, np.int64(tile))
    prefetch(opposite.heuristic, 0, same_tile, there, here, 0, 0)
    evaluate(opposite.heuristic, 0, same_tile, there, here)
    apply(opposite.heuristic, 0, same_tile, there, here)


@inlined
def put_in_if_asked(opposite, key, depth):
    """Put the board that is expanded into the filter, if that is this side's part."""
    if opposite.role == PUT_IN:
        put_in(opposite.filter_words, key, depth)


@inlined
def ask_ahead(opposite, node, automaton, first, board, blank, key, depth, left, moves, count):
    """Ask memory for what judging some moves of a node will need; ``left`` are those from there to the other end."""
    if opposite.role == PUT_IN:
        ask_for(opposite.filter_words, key, depth)
    for place in range(count):
        index = move_at(moves, place)
        source = cell_of(np.int64(fetch(automaton.successors, first + index)))
        tile = np.int64(fetch(board, source))
        there, here = fetch(opposite.cells, source), fetch(opposite.cells, blank)
        prefetch(opposite.heuristic, slot_of(node, index), fetch(opposite.tiles, tile), there, here, 0, 0)
        if opposite.role == LOOK_UP:
            ask_for(opposite.filter_words, key_after(opposite, key, tile, source, blank), left)


@inlined
def within_threshold(opposite, node, automaton, first, board, blank, key, depth, left, moves, values, offset, count):
    """The moves, of some that stay within the bound, that stay within the threshold or are in the filter.

    ``values`` plus the offset are the estimates to the goal. Returns what is left of moves, values and count.
    """
    chosen = 0
    kept_values = 0
    kept = 0
    for place in range(count):
        index = move_at(moves, place)
        source = cell_of(np.int64(fetch(automaton.successors, first + index)))
        tile = np.int64(fetch(board, source))
        there, here = fetch(opposite.cells, source), fetch(opposite.cells, blank)
        back = evaluate(opposite.heuristic, slot_of(node, index), fetch(opposite.tiles, tile), there, here)
        value = value_at(values, place)
        total = 2 * (depth + 1) + value + offset - back
        keep = total <= opposite.threshold
        if not keep and opposite.role == LOOK_UP:
            keep = is_in(opposite.filter_words, key_after(opposite, key, tile, source, blank), left)
        if keep:
            if 0 <= total < opposite.histogram.size:  # as it always is, unless a table is damaged
                put(opposite.histogram, total, fetch(opposite.histogram, total) + 1)
            chosen |= listed(index, kept)
            kept_values |= value << (VALUE_BITS * kept)
            kept += 1
    return chosen, kept_values, kept
