"""A filter of boards: it knows every board that was put into it, and takes few others for one of them.

This is Bloom's filter (1970), cut into words: a board and the moves made so far pick one word and four of its bits. To
put the board in, these are set; it is in the filter if all of them are. So a board that was put in is always found, and
another one is found by chance, the more often the fuller the filter is: of those with 16 bits to a board, about one in
300. Nothing is ever compared with the boards themselves, which are not kept.

A board is hashed as Zobrist (1970) did: every pair of a tile and a cell has a random word, and the *key* of a board is
the exclusive or of those of its pairs. A move changes two of them.
"""

from __future__ import annotations

import numpy as np

from pdb_builder.base.jit import fetch, prefetch_line, put_bits, shared

from ..frame import Frame

SEED = 1970
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, and its bits are spread
BITS_OF_WORD = 6
WELL_FILLED = 16  # bits to a board: with fewer, other boards are taken for it too often
LEAST, MOST = 1 << 10, 1 << 32  # words


def new_filter(boards: float, memory: int) -> np.ndarray:
    """An empty filter for about so many boards, in at most so many bytes."""
    words = min(boards * WELL_FILLED / 64, memory / 8, MOST)
    return np.zeros(max(LEAST, int(words)), dtype=np.int64)


def pair_words(frame: Frame) -> np.ndarray:
    """[tile, cell], flat -> the random word of a pair, so that a board has the same key in every frame."""
    cells = frame.grid.cells
    words = np.random.default_rng(SEED).integers(-(2**63), 2**63, (cells, cells))
    inside = np.zeros_like(words)
    inside[np.ix_(frame.tiles, frame.cells)] = words
    inside[0] = 0  # where the blank is follows from the rest
    return inside.ravel()


@shared
def place_of(filter_words, key, moves):
    """The word and the bits of a board."""
    mixed = (np.uint64(key) + np.uint64(moves)) * MULTIPLIER
    mixed ^= mixed >> np.uint64(29)
    mixed *= MULTIPLIER
    word = np.int64(((mixed >> np.uint64(32)) * np.uint64(filter_words.size)) >> np.uint64(32))
    low = np.int64(mixed & np.uint64(0xFFFFFFFF))
    bits = np.int64(0)
    for which in range(4):
        bits |= np.int64(1) << ((low >> (BITS_OF_WORD * which)) & ((1 << BITS_OF_WORD) - 1))
    return word, bits


@shared
def ask_for(filter_words, key, moves):
    """Ask memory for the word of a board."""
    word, _ = place_of(filter_words, key, moves)
    prefetch_line(filter_words, word)


@shared
def put_in(filter_words, key, moves):
    """Put a board into the filter."""
    word, bits = place_of(filter_words, key, moves)
    put_bits(filter_words, word, bits)


@shared
def is_in(filter_words, key, moves):
    """Whether the filter knows a board: certainly if it was put in, and rarely if not."""
    word, bits = place_of(filter_words, key, moves)
    return fetch(filter_words, word) & bits == bits
