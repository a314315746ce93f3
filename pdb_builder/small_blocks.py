"""Carrying small blocks, of up to five tiles, from block to block: in two words.

A block of five tiles has 120 bits, so all of it fits into two machine words, and one of up to four tiles into a single
one. What arrives at a block is collected there, without a detour over memory: for most moves, which change no
arrangement, that is all there is to do. Vectors of many rows, as for larger blocks (``lanes``), do not pay for one row,
or five.

A move that passes a tile shuffles the bits. A row of 24 bits is turned byte by byte: for each shuffle and each byte of
the row there is a table that says where its bits go. There are at most sixteen shuffles, of 3 kB each.
"""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np

from .base.jit import inlined, popcount, word_at
from .index import LEADING
from .recipes import merge_moves, order_maps

SMALL = LEADING + 1  # tiles: with more of them, a merge has several rows
ROW_BYTES = 3
WORD_BYTES = 8


class SmallRecipes(NamedTuple):
    """What the moves do to the rows of a small block, one for each merge; recipes are numbered as in ``recipes``."""

    targets: np.ndarray  # recipe, row -> the row that it becomes, -1 if all stay as they are
    shuffles: np.ndarray  # recipe, row -> how its bits are shuffled
    turned: np.ndarray  # shuffle, byte of a row, value -> the bits of the row after the shuffle


@cache
def small_recipes(size: int) -> SmallRecipes:
    """The recipes of all moves of a pattern of up to ``SMALL`` tiles."""
    leading = min(size, LEADING)
    moves = merge_moves(size)
    shuffles = np.where(moves.leading, moves.before * leading + moves.after, 0)  # shuffle 0 leaves all as it is
    targets = np.where((moves.before == moves.after).all(axis=2, keepdims=True), -1, moves.target)
    return SmallRecipes(*(array.reshape(size * size, -1) for array in (targets, shuffles)), turned_rows(leading))


@cache
def turned_rows(tiles: int) -> np.ndarray:
    """[shuffle, byte, value] -> what becomes of a byte of a row, which has a bit for each order of some tiles.

    The number of the shuffle is the ordinal of a tile before * tiles + its ordinal after.
    """
    turned = np.zeros((tiles * tiles, ROW_BYTES, 256), dtype=np.uint32)
    values = np.arange(256)
    for shuffle, ranks in enumerate(order_maps(tiles).reshape(-1, factorial(tiles)).tolist()):
        for bit, target in enumerate(ranks):
            turned[shuffle, bit // 8, values >> bit % 8 & 1 == 1] |= np.uint32(1 << target)
    return turned


@inlined
def turn(turned, shuffle, bits):
    """A row after a shuffle. What stands behind it in its word does not count."""
    low, middle, high = bits & 255, bits >> 8 & 255, bits >> 16 & 255
    return np.int64(turned[shuffle, 0, low] | turned[shuffle, 1, middle] | turned[shuffle, 2, high])


@inlined
def carry_small(
    width, targets, shuffles, turned, after, moves, sources, numbers, previous, new, visited, block, accumulate
):
    """Carry the states of some moves into a block, put what is new into the maps, and return how many states that are.

    The moves come from the blocks ``sources``, with the recipes ``numbers``. ``accumulate`` is explained in ``build``;
    ``after`` is scratch memory. What stands in inactive blocks arrives as well, but it is from earlier levels, so all
    its neighbours have been visited: it would take longer to look whether a block is active than to carry it.
    """
    rows = max(1, width // ROW_BYTES)
    low = 0
    high = 0
    for row in range(rows):
        after[row] = 0
    for move in range(moves):
        start = sources[move] * width
        recipe = numbers[move]
        if targets[recipe, 0] < 0:  # the tile keeps its ordinal: all arrangements stay
            low |= word_at(previous, start)
            if width > WORD_BYTES:
                high |= word_at(previous, start + WORD_BYTES)
            continue
        for row in range(rows):
            bits = word_at(previous, start + ROW_BYTES * row)
            after[targets[recipe, row]] |= turn(turned, shuffles[recipe, row], bits)
    start = block * width
    low |= after[0]
    if width <= WORD_BYTES:
        return _add(low & ((1 << 8 * width) - 1), width, new, visited, start, accumulate)
    low |= after[1] << 24 | after[2] << 48
    high |= after[2] >> 16 | after[3] << 8 | after[4] << 32
    count = _add(low, WORD_BYTES, new, visited, start, accumulate)
    rest = width - WORD_BYTES
    return count + _add(high & ((1 << 8 * rest) - 1), rest, new, visited, start + WORD_BYTES, accumulate)


@inlined
def _add(arrived, width, new, visited, at, accumulate):
    """Put what is new among the states of up to eight bytes into the maps, and return how many states that are."""
    before = word_at(visited, at)
    kept = 0
    if accumulate:
        kept = word_at(new, at)
    added = arrived & ~(before | kept)
    for byte in range(width):
        if accumulate:
            new[at + byte] = (kept | added) >> 8 * byte & 255
        else:
            new[at + byte] = added >> 8 * byte & 255
            visited[at + byte] = (before | added) >> 8 * byte & 255
    return popcount(added)
