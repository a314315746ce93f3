"""Recipes: what a move does to all arrangements of a block at once.

While it is built, a block is a matrix of bits: a uint32 for every (merge, row), of which the 24 bits
are used (``index`` explains the three digits of an arrangement). A move takes a tile from one
ordinal to another, and the tiles between step aside. That sends every merge to another merge, and
on the way it

0. leaves the rows as they are, if the tile overtakes no other of its own group,
1. shuffles the rows, all bits alike, if it is not a leading tile and overtakes another such,
2. shuffles the bits of every row, all rows alike, if it is a leading tile and overtakes another.

Shuffling 24 bits is the union of a few *terms*: some bits chosen by a mask, turned by some places.
The recipe of a move lists its merges in these three groups, so that each is one tight loop.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from math import factorial
from typing import NamedTuple

import numpy as np

from .index import LEADING

TURNS = 24  # room for the terms of one shuffle of bits


class Recipes(NamedTuple):
    """For the move from ordinal f to ordinal t, numbered f * k + t, its merges in three groups.

    The merges ``groups[move, g]`` ... ``groups[move, g + 1]`` belong to group g: 0 copy the rows,
    1 shuffle the rows, 2 shuffle the bits. ``target`` and ``source`` are first rows of merges,
    ``shuffle`` tells which shuffle.
    """

    groups: np.ndarray
    target: np.ndarray
    source: np.ndarray
    shuffle: np.ndarray
    row_source: np.ndarray  # shuffle of rows, row -> the row that goes there
    terms: np.ndarray  # shuffle of bits -> how many of its TURNS terms are used
    masks: np.ndarray
    turns: np.ndarray


class MergeMoves(NamedTuple):
    """What the move from ordinal f to ordinal t does to every merge: arrays of shape (k, k, merges).

    The moved tile stands among those of its group (the leading tiles or the others) at ``before``
    and afterwards at ``after``.
    """

    target: np.ndarray  # the merge it becomes
    leading: np.ndarray  # whether the moved tile is a leading one
    before: np.ndarray
    after: np.ndarray


def _shifted(places: np.ndarray, start: int, end: int) -> np.ndarray:
    """Where things stand after the one at ``start`` has moved to ``end`` and those between stepped aside."""
    step = np.where((places > start) & (places <= end), -1, np.where((places < start) & (places >= end), 1, 0))
    return np.where(places == start, end, places + step)


@cache
def merge_moves(size: int) -> MergeMoves:
    """What moves do to the merges of a pattern of ``size`` tiles."""
    members = np.array(list(combinations(range(size), min(size, LEADING))))
    masks = (1 << members).sum(axis=1)
    members, masks = members[np.argsort(masks)], np.sort(masks)
    result = MergeMoves(*(np.empty((size, size, len(masks)), dtype=np.int64) for _ in MergeMoves._fields))
    for start in range(size):
        for end in range(size):
            moved = _shifted(members, start, end)
            leading = (masks >> start) & 1
            before, after = (members < start).sum(axis=1), (moved < end).sum(axis=1)
            result.target[start, end] = np.searchsorted(masks, (1 << moved).sum(axis=1))
            result.leading[start, end] = leading
            result.before[start, end] = np.where(leading, before, start - before)
            result.after[start, end] = np.where(leading, after, end - after)
    return result


@cache
def order_maps(count: int) -> np.ndarray:
    """The map of the order ranks of ``count`` tiles for each (from, to): an array (count, count, count!)."""
    orders = np.array(list(permutations(range(count)))).reshape(factorial(count), count)
    maps = np.zeros((count, count, len(orders)), dtype=np.int64)
    for start in range(count):
        for end in range(count):
            moved = _shifted(orders, start, end)
            ranks = maps[start, end]
            for tile in range(count):
                ranks *= count - tile
                ranks += (moved[:, tile + 1 :] < moved[:, tile : tile + 1]).sum(axis=1)
    return maps


@cache
def recipes_of(size: int) -> Recipes:
    """The recipes of all moves of a pattern of ``size`` tiles."""
    leading = min(size, LEADING)
    trailing = size - leading
    rows = factorial(trailing)

    row_source = np.zeros(max(1, trailing * trailing) * rows, dtype=np.uint32)
    for shuffle, ranks in enumerate(order_maps(trailing).reshape(-1, rows)):
        row_source[shuffle * rows + ranks] = np.arange(rows)

    terms = np.zeros(leading * leading, dtype=np.int64)
    masks = np.zeros(leading * leading * TURNS, dtype=np.uint32)
    turns = np.zeros(leading * leading * TURNS, dtype=np.uint32)
    for shuffle, ranks in enumerate(order_maps(leading).reshape(-1, factorial(leading))):
        by_turn: dict[int, int] = {}
        for bit, target in enumerate(ranks.tolist()):
            by_turn[(target - bit) % 32] = by_turn.get((target - bit) % 32, 0) | 1 << bit
        terms[shuffle] = len(by_turn)
        for term, (turn, mask) in enumerate(by_turn.items(), start=shuffle * TURNS):
            turns[term], masks[term] = turn, mask

    moves = merge_moves(size)
    group = np.where(moves.before == moves.after, 0, 1 + moves.leading).reshape(size * size, -1)
    shuffle = (moves.before * np.where(moves.leading, leading, trailing) + moves.after).reshape(group.shape)
    target = moves.target.reshape(group.shape)
    order = np.lexsort((target, shuffle, group))  # the merges of each move, by group, shuffle and target
    groups = np.zeros((size * size, 4), dtype=np.int64)
    groups[:, 1:] = (group[:, :, None] < [1, 2, 3]).sum(axis=1)
    groups += np.arange(size * size)[:, None] * group.shape[1]
    in_order = [np.take_along_axis(array, order, axis=1).ravel() for array in (target, shuffle)]
    return Recipes(groups, in_order[0] * rows, order.ravel() * rows, in_order[1], row_source, terms, masks, turns)
