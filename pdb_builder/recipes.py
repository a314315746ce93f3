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


def _shifted(places: np.ndarray, start: int, end: int) -> np.ndarray:
    """Where things stand after the one at ``start`` has moved to ``end`` and those between stepped aside."""
    step = np.where((places > start) & (places <= end), -1, np.where((places < start) & (places >= end), 1, 0))
    return np.where(places == start, end, places + step)


def _order_maps(count: int) -> dict[tuple[int, int], np.ndarray]:
    """For each (from, to) among ``count`` tiles the map of their order ranks."""
    orders = np.array(list(permutations(range(count)))).reshape(factorial(count), count)
    maps = {}
    for start in range(count):
        for end in range(count):
            moved = _shifted(orders, start, end)
            ranks = np.zeros(len(orders), dtype=np.int64)
            for tile in range(count):
                ranks = ranks * (count - tile) + (moved[:, tile + 1 :] < moved[:, tile : tile + 1]).sum(axis=1)
            maps[start, end] = ranks
    return maps


@cache
def recipes_of(size: int) -> Recipes:
    """The recipes of all moves of a pattern of ``size`` tiles."""
    leading = min(size, LEADING)
    trailing = size - leading
    rows = factorial(trailing)
    merges = [sum(1 << o for o in chosen) for chosen in combinations(range(size), leading)]
    merges.sort()
    number = {merge: place for place, merge in enumerate(merges)}

    row_source = np.zeros(max(1, trailing * trailing) * rows, dtype=np.uint32)
    for (start, end), ranks in _order_maps(trailing).items():
        row_source[(start * trailing + end) * rows + ranks] = np.arange(rows)

    terms = np.zeros(leading * leading, dtype=np.int64)
    masks = np.zeros(leading * leading * TURNS, dtype=np.uint32)
    turns = np.zeros(leading * leading * TURNS, dtype=np.uint32)
    for (start, end), ranks in _order_maps(leading).items():
        shuffle = start * leading + end
        by_turn: dict[int, int] = {}
        for bit, target in enumerate(ranks.tolist()):
            by_turn[(target - bit) % 32] = by_turn.get((target - bit) % 32, 0) | 1 << bit
        terms[shuffle] = len(by_turn)
        for term, (turn, mask) in enumerate(by_turn.items(), start=shuffle * TURNS):
            turns[term], masks[term] = turn, mask

    groups = np.zeros((size * size, 4), dtype=np.int64)
    entries: list[tuple[int, int, int]] = []
    for start in range(size):
        for end in range(size):
            members: tuple[list, list, list] = ([], [], [])
            for merge in merges:
                ordinals = np.flatnonzero([merge >> o & 1 for o in range(size)])
                moved = sum(1 << int(o) for o in _shifted(ordinals, start, end))
                is_leading = merge >> start & 1
                mine, mine_moved, count = (merge, moved, leading) if is_leading else (~merge, ~moved, trailing)
                before = (mine & ((1 << start) - 1)).bit_count()
                after = (mine_moved & ((1 << end) - 1)).bit_count()
                group = 0 if before == after else 1 + is_leading
                members[group].append((number[moved] * rows, number[merge] * rows, before * count + after))
            move = start * size + end
            for group in range(3):
                groups[move, group] = len(entries)
                entries += sorted(members[group], key=lambda entry: (entry[2], entry[0]))
            groups[move, 3] = len(entries)
    target, source, shuffle = np.array(entries, dtype=np.int64).T.copy()
    return Recipes(groups, target, source, shuffle, row_source, terms, masks, turns)
