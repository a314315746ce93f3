"""Recipes: what a move does to all arrangements of a block at once.

During the build a block is a matrix of bits: one uint32 per (merge, row), of which 24 bits are used
(``index`` explains the three digits of an arrangement). A move takes a tile from one ordinal to
another and shifts the tiles between by one. It sends every merge to another merge, and depending on
the merge it

0. copies the rows, if the tile passes no other tile of its own group,
1. shuffles the rows, all bits alike, if the tile is not a leading one and passes another of its group,
2. shuffles the bits of every row, all rows alike, if the tile is a leading one and passes another.

A shuffle of 24 bits is the union of a few *terms*: each selects some of the bits with a mask and
rotates them. The recipe of a move lists its merges by these three groups, so that each group is one
tight loop.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from math import factorial
from typing import NamedTuple

import numpy as np

from .index import LEADING

MAX_TERMS = 24  # of one shuffle of bits


class Recipes(NamedTuple):
    """The recipes of all moves of a pattern of k tiles.

    The move from ordinal f to ordinal t has the number f * k + t. Its entries, one per merge, are in
    three groups: ``groups[move, g]`` ... ``groups[move, g + 1] - 1`` copy the rows (g = 0), shuffle the
    rows (g = 1), or shuffle the bits (g = 2).
    """

    groups: np.ndarray
    target: np.ndarray  # entry -> the first row of the merge it leads to
    source: np.ndarray  # entry -> the first row of the merge it comes from
    shuffle: np.ndarray  # entry -> the number of its shuffle, of rows or of bits
    row_source: np.ndarray  # shuffle of rows, row -> the row that goes there
    terms: np.ndarray  # shuffle of bits -> how many terms it has, at most MAX_TERMS
    masks: np.ndarray  # shuffle of bits, term -> the bits it selects
    rotations: np.ndarray  # shuffle of bits, term -> how far it rotates them to the left


class MergeMoves(NamedTuple):
    """What the move from ordinal f to ordinal t does to every merge: arrays of shape (k, k, merges)."""

    target: np.ndarray  # the merge it becomes
    leading: np.ndarray  # whether the moved tile is a leading one
    before: np.ndarray  # the moved tile's place in its group, the leading tiles or the others, before the move
    after: np.ndarray  # its place in the group after the move


def _shifted(ordinals: np.ndarray, start: int, end: int) -> np.ndarray:
    """The ordinals after a move from ``start`` to ``end``, which shifts those between by one."""
    step = np.where((ordinals > start) & (ordinals <= end), -1, np.where((ordinals < start) & (ordinals >= end), 1, 0))
    return np.where(ordinals == start, end, ordinals + step)


@cache
def merge_moves(size: int) -> MergeMoves:
    """What all moves do to the merges of a pattern of ``size`` tiles."""
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
    """How a tile that moves from one place to another changes the order ranks of ``count`` tiles.

    The shape is (count, count, count!): place before, place after, rank before -> rank after.
    """
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
    masks = np.zeros(leading * leading * MAX_TERMS, dtype=np.uint32)
    rotations = np.zeros(leading * leading * MAX_TERMS, dtype=np.uint32)
    for shuffle, ranks in enumerate(order_maps(leading).reshape(-1, factorial(leading))):
        by_rotation: dict[int, int] = {}
        for bit, target in enumerate(ranks.tolist()):
            rotation = (target - bit) % 32
            by_rotation[rotation] = by_rotation.get(rotation, 0) | 1 << bit
        terms[shuffle] = len(by_rotation)
        for term, (rotation, mask) in enumerate(by_rotation.items(), start=shuffle * MAX_TERMS):
            rotations[term], masks[term] = rotation, mask

    moves = merge_moves(size)
    group = np.where(moves.before == moves.after, 0, 1 + moves.leading).reshape(size * size, -1)
    shuffle_of = (moves.before * np.where(moves.leading, leading, trailing) + moves.after).reshape(group.shape)
    target_of = moves.target.reshape(group.shape)
    order = np.lexsort((target_of, shuffle_of, group))  # sorts the merges of each move by group, shuffle and target
    groups = np.zeros((size * size, 4), dtype=np.int64)
    groups[:, 1:] = (group[:, :, None] < [1, 2, 3]).sum(axis=1)
    groups += np.arange(size * size)[:, None] * group.shape[1]
    targets, shuffles = (np.take_along_axis(array, order, axis=1).ravel() for array in (target_of, shuffle_of))
    return Recipes(groups, targets * rows, order.ravel() * rows, shuffles, row_source, terms, masks, rotations)
