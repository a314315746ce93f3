"""Tight sums: what a depth-first search under a bound needs to know of many sums, and nothing more.

On a bipartite board a move changes every sum by exactly one, since it changes the distance of one view of each sum by
one. The *slack* of a sum is how far depth + sum stays below the bound; it is even. A move that lowers the sum leaves
its slack as it is, one that raises it takes two. So a move leads beyond the bound if and only if it raises a sum
without slack, a *tight* one. Most of the moves that are pruned are pruned by the first look-up, that of any view of a
tight sum, however many sums there are. Moves that survive this are looked up in the other views as well.

*Sets.* A set of sums is one word, so a view is worth a look if the set of sums that it belongs to and the set of tight
ones have an element in common. The halved slacks are kept as *planes*: bit i of plane p is bit p of that of sum i. One
subtraction, a few operations on words, serves all sums at once.

*Waiting for memory.* The first look-up of a move is prepared one move ahead (``aim``), the others when it is needed
(``reach``), and between asking memory and looking (``settle``) the search aims at the moves of the next board: a sum
that is tight stays tight as long as its path survives, so most of these are known by then.
"""

from __future__ import annotations

import numpy as np

from pdb_builder.base.jit import byte_at, fetch, inlined, put

from .contract import MOVES_OF_NODE, aim, begin, body_of, exceeds, reach, settle, slack_of, step
from .views import (
    ADDRESS,
    CODE,
    DIGITS,
    FACTS,
    FOOTPRINT,
    MEMBER_OF,
    NO_VIEW,
    NODE,
    NOTE,
    STATE,
    TIGHT,
    LargeManyBits,
    ManyBits,
    exchange,
    note,
    state_after,
)

KINDS = (ManyBits, LargeManyBits)
NOT_AIMED = -1


@body_of(begin, *KINDS)
def _begin(heuristic, node, room):
    for digit in range(DIGITS):
        heuristic.slack[node * NODE + digit] = 0
    heuristic.counted[0] = 0
    positive = 0
    for number in range(heuristic.sums):
        slack = (room - heuristic.totals[number]) >> 1
        # A sum is left out if it is 256 moves or more below the bound. The largest never is: no search gets that far.
        if slack >> DIGITS == 0:
            heuristic.counted[0] |= 1 << number
            positive |= np.int64(slack != 0) << number
            for digit in range(DIGITS):
                heuristic.slack[node * NODE + digit] |= ((slack >> digit) & 1) << number
    heuristic.slack[node * NODE + TIGHT] = heuristic.counted[0] & ~positive
    for index in range(MOVES_OF_NODE):
        heuristic.aimed[node * MOVES_OF_NODE + index] = NOT_AIMED


@inlined
def _look_up(heuristic, slot, place, view):
    """Whether the distance of a view rises; completes its note."""
    at = (slot * heuristic.most + place) * NOTE
    old = fetch(heuristic.states, view * STATE + CODE) & 3
    address = fetch(heuristic.noted, at + ADDRESS)
    # It rises if its bit 1 is that of one more than the old one.
    bit = (byte_at(address >> 3) >> (address & 7)) << 1
    rises = 1 - (((bit ^ (old + 1)) >> 1) & 1)
    put(heuristic.noted, at + CODE, (fetch(heuristic.noted, at + CODE) & ~0xFF) | ((old + 3 + 2 * rises) & 3))
    return rises


@body_of(aim, *KINDS)
def _aim(heuristic, node, slot, tile, source, target, via, via_tile):
    if fetch(heuristic.aimed, slot) != NOT_AIMED:
        return
    tight = fetch(heuristic.slack, node * NODE + TIGHT)
    first = np.int64(tile) * (heuristic.most + 1)
    for place in range(heuristic.most):
        view = np.int64(fetch(heuristic.views_of, first + place))
        if view == NO_VIEW:
            break
        if fetch(heuristic.facts, view * FACTS + MEMBER_OF) & tight != 0:
            footprint, code = state_after(heuristic, view, via, via_tile)
            note(heuristic, slot, place, view, footprint, code, source, target)
            put(heuristic.aimed, slot, place)
            break


@body_of(exceeds, *KINDS)
def _exceeds(heuristic, slot, tile):
    place = fetch(heuristic.aimed, slot)
    if place == NOT_AIMED:
        return False
    view = np.int64(fetch(heuristic.views_of, np.int64(tile) * (heuristic.most + 1) + place))
    return _look_up(heuristic, slot, place, view) != 0


@body_of(reach, *KINDS)
def _reach(heuristic, node, slot, child, tile, source, target):
    aimed = fetch(heuristic.aimed, slot)
    first = np.int64(tile) * (heuristic.most + 1)
    for place in range(heuristic.most):
        view = np.int64(fetch(heuristic.views_of, first + place))
        if view == NO_VIEW:
            break
        if place != aimed:
            footprint = fetch(heuristic.states, view * STATE + FOOTPRINT)
            code = fetch(heuristic.states, view * STATE + CODE)
            note(heuristic, slot, place, view, footprint, code, source, target)
    put(heuristic.slack, child * NODE + TIGHT, fetch(heuristic.slack, node * NODE + TIGHT))
    for index in range(MOVES_OF_NODE):
        put(heuristic.aimed, child * MOVES_OF_NODE + index, NOT_AIMED)


@body_of(settle, *KINDS)
def _settle(heuristic, node, slot, child, tile):
    aimed = fetch(heuristic.aimed, slot)
    rose = 0
    first = np.int64(tile) * (heuristic.most + 1)
    for place in range(heuristic.most):
        view = np.int64(fetch(heuristic.views_of, first + place))
        if view == NO_VIEW:
            break
        if place != aimed:
            rose |= fetch(heuristic.facts, view * FACTS + MEMBER_OF) & -_look_up(heuristic, slot, place, view)
    if rose & fetch(heuristic.slack, node * NODE + TIGHT) != 0:
        return False
    positive = 0
    borrow = rose
    for digit in range(DIGITS):
        plane = fetch(heuristic.slack, node * NODE + digit)
        put(heuristic.slack, child * NODE + digit, plane ^ borrow)
        positive |= plane ^ borrow
        borrow &= ~plane
    put(heuristic.slack, child * NODE + TIGHT, fetch(heuristic.counted, 0) & ~positive)
    return True


@body_of(slack_of, *KINDS)
def _slack_of(heuristic, node, among):
    least = 0
    candidates = fetch(heuristic.counted, 0) & among
    for digit in range(DIGITS - 1, -1, -1):
        without = candidates & ~fetch(heuristic.slack, node * NODE + digit)
        least = (least << 1) | np.int64(without == 0)
        candidates = without if without != 0 else candidates
    return 2 * least


@body_of(step, *KINDS)
def _step(heuristic, slot, tile, source, target):
    exchange(heuristic, slot, tile)
