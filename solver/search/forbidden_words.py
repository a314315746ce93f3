"""Forbidden words: sequences of moves that no search needs to try, because others do the same.

A *word* is a sequence of moves of the blank from a given cell. Two words from the same cell are equivalent if they lead
every board to the same board. A search loses nothing if it leaves out a word that has an equivalent one before it in
*shortlex* order: fewer moves come first, and of words of equal length the lexicographically smaller one. For take the
first of all shortest solutions in that order. If it contained such a word, exchanging the two would make a solution
before the first (Taylor & Korf 1993).

The letters of a word are move indices: at every cell, moves are numbered in the ascending order of the cells they lead
to. Two words from the same cell differ first in a letter at the same cell, so the order is a total one.

*How they are found.* From each cell, a breadth-first search visits words in shortlex order. It begins with tiles that
are all different, so equal boards mean equivalent words. A word that leads to a board seen before is forbidden, and not
extended. Boards are looked up by a Zobrist-style hash and then compared tile by tile: the word that first led there is
played again. A forbidden word whose tail, without the first move, is forbidden from the next cell adds nothing, and is
dropped. What remains are the *minimal* forbidden words.

*Ties.* Whoever wants all shortest solutions must keep equivalent words of equal length: with ``ties``, a word is
forbidden only if a shorter one is equivalent to it.
"""

from __future__ import annotations

import numpy as np

from pdb_builder.base.jit import kernel, shared
from pdb_builder.base.workers import Workers
from pdb_builder.grid import Grid

from .automaton import MOVES

LONGEST = 24  # moves of a word; longer ones would fit into 64 bits, but not into memory
LETTER_BITS = 2
SEED = 1
LOWER = np.uint64(0xFFFFFFFF)


@shared
def letter_at(word, place):
    """The letter of a word at a place, counted from its end."""
    return (word >> (LETTER_BITS * place)) & (MOVES - 1)


@kernel
def _play(neighbours, cell, word, length, board):
    """Make the moves of a word on a board with the blank on ``cell``."""
    blank = cell
    for place in range(length - 1, -1, -1):
        source = neighbours[blank, letter_at(word, place)]
        board[blank] = board[source]
        blank = source
    board[blank] = 0


@kernel
def _slot(key, table):
    """Where the search for a hash begins."""
    return np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (table.size - 1)


@kernel
def _fill(table, keys):
    """Enter all hashes into an empty table."""
    for number in range(keys.size):
        at = _slot(keys[number], table)
        while table[at] != 0:
            at = (at + 1) & (table.size - 1)
        table[at] = (keys[number] & ~LOWER) | np.uint64(number + 1)


@kernel
def _extend(neighbours, hash_of, cell, length, ties, level, boards, table, first, after, boards_after, forbidden):
    """Extend the words of a level, which have ``length`` moves, by every move.

    The columns of ``level`` are the word, the hash of its board, the cell of the blank, and the cell before that. The
    columns of ``first`` are the words that were the first to reach a board, their lengths and the hashes; ``table``
    finds their numbers by the upper halves of the hashes. The longer words go to ``after``, with their boards, as far as
    there is room. Returns how many are in ``after`` and how many are forbidden; the number of first words is kept in
    ``first[-1, 0]``.
    """
    cells = boards.shape[1]
    known = np.int64(first[-1, 0])
    kept = 0
    refused = 0
    scratch = np.zeros(cells, dtype=np.uint8)
    for number in range(level.shape[0]):
        blank, before = np.int64(level[number, 2]), np.int64(level[number, 3])
        for letter in range(MOVES):
            source = neighbours[blank, letter]
            if source < 0 or source == before:
                continue
            tile = boards[number, source]
            word = (np.int64(level[number, 0]) << LETTER_BITS) | letter
            key = level[number, 1] ^ hash_of[tile, source] ^ hash_of[tile, blank]
            at = _slot(key, table)
            earlier = -1
            while table[at] != 0 and earlier < 0:
                if (table[at] ^ key) >> np.uint64(32) == 0:
                    candidate = np.int64(table[at] & LOWER) - 1
                    for place in range(cells):
                        scratch[place] = place + 1
                    _play(neighbours, cell, np.int64(first[candidate, 0]), np.int64(first[candidate, 1]), scratch)
                    same = scratch[source] == 0 and scratch[blank] == tile
                    for place in range(cells):
                        if place != source and place != blank:
                            same = same and scratch[place] == boards[number, place]
                    if same:
                        earlier = candidate
                at = (at + 1) & (table.size - 1)
            if earlier >= 0 and not (ties and first[earlier, 1] == length + 1):
                forbidden[refused] = word
                refused += 1
                continue
            if earlier < 0:
                first[known, 0], first[known, 1], first[known, 2] = np.uint64(word), np.uint64(length + 1), key
                known += 1
                table[at] = (key & ~LOWER) | np.uint64(known)
            if kept < after.shape[0]:
                after[kept, 0], after[kept, 1] = np.uint64(word), key
                after[kept, 2], after[kept, 3] = np.uint64(source), np.uint64(blank)
                for place in range(cells):
                    boards_after[kept, place] = boards[number, place]
                boards_after[kept, blank], boards_after[kept, source] = tile, 0
                kept += 1
    first[-1, 0] = np.uint64(known)
    return kept, refused


def neighbours_of(grid: Grid) -> np.ndarray:
    """[cell, move index] -> the cell that the move leads to, -1 if there is none."""
    neighbours = np.full((grid.cells, MOVES), -1, dtype=np.int64)
    for cell, around in enumerate(grid.neighbours):
        neighbours[cell, : len(around)] = around
    return neighbours


def _words_from(grid: Grid, cell: int, longest: int, ties: bool) -> list[np.ndarray]:
    """For each length, the forbidden words from a cell whose beginnings are not forbidden, in ascending order."""
    neighbours = neighbours_of(grid)
    hash_of = np.random.default_rng(SEED).integers(1, 2**63, (grid.cells + 1, grid.cells), dtype=np.uint64)
    boards = np.arange(1, grid.cells + 1, dtype=np.uint8)[None]
    boards[0, cell] = 0
    level = np.array([[0, 0, cell, grid.cells]], dtype=np.uint64)
    first = np.zeros((2, 3), dtype=np.uint64)
    first[-1, 0] = known = 1
    words: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
    for length in range(longest):
        room = (MOVES - (length > 0)) * len(level)
        first = np.vstack([first[:known], np.zeros((room + 1, 3), dtype=np.uint64)])
        first[-1, 0] = known
        table = np.zeros(1 << (2 * (known + room)).bit_length(), dtype=np.uint64)
        _fill(table, first[:known, 2])
        room_after = room if length + 1 < longest else 0
        after = np.zeros((room_after, 4), dtype=np.uint64)
        boards_after = np.zeros((room_after, grid.cells), dtype=np.uint8)
        forbidden = np.zeros(room, dtype=np.int64)
        where = (level, boards, table, first, after, boards_after, forbidden)
        kept, refused = _extend(neighbours, hash_of, cell, length, ties, *where)
        known = int(first[-1, 0])
        level, boards = after[:kept], boards_after[:kept]
        words.append(forbidden[:refused].copy())
    return words


def forbidden_words(grid: Grid, longest: int, ties: bool = False, threads: int | None = None) -> list[list[np.ndarray]]:
    """[cell][length] -> the minimal forbidden words of at most ``longest`` moves; undoing a move is not listed."""
    with Workers(threads) as workers:
        cells = [(cell, cell + 1) for cell in range(grid.cells)]
        found = workers.over(cells, lambda cell, _: _words_from(grid, cell, longest, ties))
    return [[_minimal(grid, cell, length, found) for length in range(longest + 1)] for cell in range(grid.cells)]


def _minimal(grid: Grid, cell: int, length: int, found: list[list[np.ndarray]]) -> np.ndarray:
    """The forbidden words from a cell whose tails are not forbidden from the cell after the first move."""
    words = found[cell][length]
    if length < 2:
        return words
    first, tail = letter_at(words, length - 1), words & ((1 << (LETTER_BITS * (length - 1))) - 1)
    minimal = np.ones(len(words), dtype=bool)
    for letter, other in enumerate(grid.neighbours[cell]):
        here = first == letter
        minimal[here] = ~np.isin(tail[here], found[other][length - 1], assume_unique=True)
    return words[minimal]
