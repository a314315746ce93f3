"""Forbidden words: sequences of moves that no search needs to try, because others do the same.

A *word* is a sequence of moves of the blank from a given cell. Two words from the same cell are equivalent if they lead
every board to the same board. A search loses nothing if it leaves out a word that has an equivalent one before it in
*shortlex* order: fewer moves come first, and of words of equal length the lexicographically smaller one. For consider
the first of all shortest solutions in that order. If it contained such a word, exchanging the two would make a solution
before the first (Taylor & Korf 1993).

The letters of a word are move indices: at every cell, moves are numbered in the ascending order of the cells they lead
to. Two words from the same cell differ first in a letter at the same cell, so the order is a total one. A word is kept
as an integer, a 1 and then two bits per letter: the order of these integers is shortlex order.

*How they are found.* From each cell, a breadth-first search visits words in shortlex order. It begins with tiles that
are all different, so equal boards mean equivalent words. A word that leads to a board seen before is forbidden, and not
extended. Boards are not kept: the hash of a board leads to the word that was the first to reach it, and if the hashes
agree, both words are played and the boards compared tile by tile. A forbidden word whose tail, without the first move,
is forbidden from the next cell adds nothing, and is dropped. What remains are the *minimal* forbidden words. All this
can take minutes, so it is done in slices of a fraction of a second: between them it can be told to stop.

*Proofs.* Each forbidden word comes with the earlier word that does the same. To play both is a proof that whoever gets
the words can repeat (``all_proven``), wherever they come from. A list of proven words that is not complete forbids
less, and is just as valid.

*Ties.* Whoever wants all shortest solutions must keep equivalent words of equal length: with ``ties``, a word is
forbidden only if a shorter one is equivalent to it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import kernel, prefetch_line, shared
from pdb_builder.base.workers import Workers
from pdb_builder.grid import Grid
from pdb_builder.index import neighbours_of

from . import MOST_PRUNING
from .automaton import MOVES

LONGEST = MOST_PRUNING  # moves of a word
LETTER_BITS = 2
EMPTY = 1  # the word without moves
TAG_BITS = 64 - LETTER_BITS * LONGEST - 1  # of a hash, beside the word in an entry of the table
SLICE = 1 << 18  # words that are extended between two looks at whether to go on, about a tenth of a second
AHEAD = 64  # words whose places in the table are requested before the first of them is looked up
SEED = 1

# Is told several times a second which share of the words is found, and may end the work by raising something.
OnShare = Callable[[float], object]


class Words(NamedTuple):
    """The minimal forbidden words of a grid from all cells, and for each the earlier word that does the same.

    Those from a cell are ``words[first[cell] : first[cell + 1]]``, in shortlex order. Undoing a move is forbidden as
    well, and not listed.
    """

    words: np.ndarray
    earlier: np.ndarray
    first: np.ndarray  # [cell], and one more: how many there are


# ---- words --------------------------------------------------------------------------------------


@shared
def length_of(word):
    """The number of moves of a word."""
    length = 0
    while word >> (LETTER_BITS * length) > EMPTY:
        length += 1
    return length


@shared
def letter_at(word, place):
    """The letter of a word at a place, counted from its end."""
    return (word >> (LETTER_BITS * place)) & (MOVES - 1)


@shared
def _play(neighbours, cell, word, length, board):
    """Make a board from the moves of a word, with the blank on ``cell`` to begin with; False if there is no such move.

    To begin with, the number of a tile is that of its cell and 1.
    """
    for place in range(board.size):
        board[place] = place + 1
    blank = cell
    for place in range(length - 1, -1, -1):
        source = neighbours[blank, letter_at(word, place)]
        if source < 0:
            return False
        board[blank] = board[source]
        blank = source
    board[blank] = 0
    return True


@shared
def _equivalent(neighbours, cell, word, length, other, other_length, board, other_board):
    """Whether two words lead to the same board. The last two arguments are room for boards."""
    if not _play(neighbours, cell, word, length, board):
        return False
    if not _play(neighbours, cell, other, other_length, other_board):
        return False
    same = True
    for place in range(board.size):
        same &= board[place] == other_board[place]
    return same


@kernel
def _proven(neighbours, cell, words, earlier, longest, ties):
    """Whether every word is forbidden from a cell by the earlier word beside it, and they are in shortlex order."""
    board, other_board = np.zeros((2, neighbours.shape[0]), dtype=np.uint8)
    before = np.int64(EMPTY)
    for number in range(words.size):
        word, other = np.int64(words[number]), np.int64(earlier[number])
        if not before < word < 2 << (LETTER_BITS * longest) or not EMPTY <= other < word:
            return False
        length, other_length = length_of(word), length_of(other)
        if word >> (LETTER_BITS * length) != EMPTY or other >> (LETTER_BITS * other_length) != EMPTY:
            return False
        if ties and length == other_length:
            return False
        if not _equivalent(neighbours, cell, word, length, other, other_length, board, other_board):
            return False
        before = word
    return True


def all_proven(grid: Grid, words: Words, longest: int, ties: bool, progress: OnShare = lambda share: None) -> bool:
    """Whether all words are forbidden, and of at most ``longest`` moves: each is played, and the earlier one too."""
    neighbours = neighbours_of(grid)
    ends = zip(words.first[:-1].tolist(), words.first[1:].tolist(), strict=True)
    for cell, (low, high) in enumerate(ends):
        if not _proven(neighbours, cell, words.words[low:high], words.earlier[low:high], longest, ties):
            return False
        progress(1.0)
    return True


# ---- finding them -------------------------------------------------------------------------------


@kernel
def _extend(neighbours, hash_of, cell, length, ties, level, table, after, forbidden, earlier):
    """Extend words of a level, which have ``length`` moves, by every move but the one that undoes the last.

    The words ascend, so most moves of one are those of the word before it: they are not made again. The
    table has for each board the word that was the first to reach it, and above it a part of the board's hash. Longer
    words go to ``after`` as far as there is room, or to ``forbidden``, with the earlier ones. Returns how many are in
    each.
    """
    cells = neighbours.shape[0]
    board, one_board, other_board = np.zeros((3, cells), dtype=np.uint8)
    for place in range(cells):
        board[place] = place + 1
    board[cell] = 0
    blanks = np.zeros(length + 1, dtype=np.int64)  # along the current word
    keys = np.zeros(length + 1, dtype=np.uint64)
    blanks[0] = cell
    words = np.zeros(AHEAD + MOVES, dtype=np.int64)
    hashes = np.zeros(AHEAD + MOVES, dtype=np.uint64)
    slot_shift = np.uint64(64)
    while (1 << np.int64(64 - slot_shift)) < table.size:
        slot_shift -= np.uint64(1)
    tag_mask = ~((np.uint64(1) << np.uint64(64 - TAG_BITS)) - np.uint64(1))
    word_mask = ~tag_mask
    kept = refused = 0
    waiting = 0
    current = np.int64(-1)
    for number in range(level.size):
        word = level[number]
        same = 0
        if number > 0:
            differs = word ^ current
            while differs >> (LETTER_BITS * (length - same - 1)) == 0:
                same += 1
            for depth in range(length, same, -1):
                board[blanks[depth]] = board[blanks[depth - 1]]
                board[blanks[depth - 1]] = 0
        current = word
        for depth in range(same, length):
            blank = blanks[depth]
            source = neighbours[blank, letter_at(word, length - 1 - depth)]
            tile = board[source]
            keys[depth + 1] = keys[depth] ^ hash_of[tile, source] ^ hash_of[tile, blank]
            board[blank], board[source] = tile, 0
            blanks[depth + 1] = source
        blank = blanks[length]
        for letter in range(MOVES):
            source = neighbours[blank, letter]
            if source < 0 or (length > 0 and source == blanks[length - 1]):
                continue
            tile = board[source]
            key = keys[length] ^ hash_of[tile, source] ^ hash_of[tile, blank]
            words[waiting], hashes[waiting] = (word << LETTER_BITS) | letter, key
            prefetch_line(table, np.int64(key >> slot_shift))
            waiting += 1
        if waiting < AHEAD and number + 1 < level.size:
            continue
        for one in range(waiting):
            longer, key = words[one], hashes[one]
            tag = (key << np.uint64(64 - TAG_BITS)) & tag_mask
            at = np.int64(key >> slot_shift)
            found = np.int64(0)
            while table[at] != 0:
                if table[at] & tag_mask == tag:
                    other = np.int64(table[at] & word_mask)
                    reached = length_of(other)
                    if _equivalent(neighbours, cell, longer, length + 1, other, reached, one_board, other_board):
                        found = other
                        break
                at = (at + 1) & (table.size - 1)
            if found == 0:
                table[at] = tag | np.uint64(longer)
            elif not ties or found >> (LETTER_BITS * (length + 1)) == 0:
                forbidden[refused], earlier[refused] = longer, found
                refused += 1
                continue
            if kept < after.size:
                after[kept] = longer
                kept += 1
        waiting = 0
    return kept, refused


@kernel
def _tail_forbidden(neighbours, cell, words, first, minimal):
    """Note which of the forbidden words from a cell are minimal: their tails are allowed from the cell after.

    The words ascend, and so do the tails of those that begin with the same letter: they are merged with the words from
    the cell after.
    """
    places = np.zeros(MOVES, dtype=np.int64)
    for letter in range(MOVES):
        if neighbours[cell, letter] >= 0:
            places[letter] = first[neighbours[cell, letter]]
    for number in range(first[cell], first[cell + 1]):
        word = words[number]
        length = length_of(word)
        letter = letter_at(word, length - 1)
        tail_end = 1 << (LETTER_BITS * (length - 1))
        tail = (word & (tail_end - 1)) | tail_end
        end = first[neighbours[cell, letter] + 1]
        at = places[letter]
        while at < end and words[at] < tail:
            at += 1
        places[letter] = at
        minimal[number] = at == end or words[at] != tail


def count_walks(grid: Grid, longest: int) -> np.ndarray:
    """[length, cell] -> how many words of that length there are from a cell that never undo a move."""
    edges = [(cell, other) for cell, around in enumerate(grid.neighbours) for other in around]
    onward = {edge: 1.0 for edge in edges}  # words that begin with a move
    counts = [[1.0] * grid.cells]
    for _ in range(longest):
        counts.append([sum(onward[cell, other] for other in around) for cell, around in enumerate(grid.neighbours)])
        onward = {(cell, near): counts[-1][near] - onward[near, cell] for cell, near in edges}
    return np.array(counts)


def _words_from(
    grid: Grid, cell: int, longest: int, ties: bool, walks: np.ndarray, between: Callable[[], object]
) -> tuple[np.ndarray, np.ndarray]:
    """The forbidden words from a cell whose beginnings are not forbidden, and the earlier ones; both ascend.

    ``between`` is called between slices of work.
    """
    neighbours = neighbours_of(grid)
    random_bits = np.random.default_rng(SEED).integers(0, 2**64, (grid.cells + 1, grid.cells), dtype=np.uint64)
    table = np.zeros(table_size(grid, walks), dtype=np.uint64)
    table[0] = EMPTY  # the hash of the first board is 0
    level = np.array([EMPTY])
    words, earlier = [], []
    for length in range(longest):
        longer = []
        for at in range(0, len(level), SLICE):
            some = level[at : at + SLICE]
            room = (MOVES - (length > 0)) * len(some)
            after = np.empty(room if length + 1 < longest else 0, dtype=np.int64)
            forbidden = np.empty((2, room), dtype=np.int64)
            kept, refused = _extend(neighbours, random_bits, cell, length, ties, some, table, after, *forbidden)
            longer.append(after[:kept].copy())
            words.append(forbidden[0, :refused].copy())
            earlier.append(forbidden[1, :refused].copy())
            between()
        level = np.concatenate(longer) if longer else level[:0]
    return np.concatenate(words), np.concatenate(earlier)


def table_size(grid: Grid, walks: np.ndarray) -> int:
    """The entries of the table for a cell with so many words of each length."""
    boards = min(walks.sum(), factorial(grid.cells))
    return 1 << int(1.25 * boards).bit_length()


def forbidden_words(
    grid: Grid, longest: int, ties: bool = False, threads: int | None = None, progress: OnShare = lambda share: None
) -> Words:
    """The minimal forbidden words of at most ``longest`` moves. ``progress`` is called by any thread."""
    walks = count_walks(grid, longest)
    done = []
    ended_by: list[BaseException] = []  # an error, a limit or Ctrl-C: the first one ends all threads

    def between() -> None:
        try:
            if not ended_by:
                progress(len(done) / grid.cells)
        except BaseException as error:
            ended_by.append(error)  # before this thread begins with another cell
        if ended_by:
            raise ended_by[0]

    def one_cell(cell: int, _: int) -> tuple[np.ndarray, np.ndarray]:
        found = _words_from(grid, cell, longest, ties, walks[:, cell], between)
        done.append(cell)
        between()
        return found

    with Workers(threads) as workers:
        try:
            found = workers.over([(cell, cell + 1) for cell in range(grid.cells)], one_cell)
        except BaseException as error:
            ended_by.append(error)
            raise
    words, earlier = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    first = np.cumsum([0, *(len(some) for some, _ in found)])
    minimal = np.zeros(len(words), dtype=bool)
    neighbours = neighbours_of(grid)
    for cell in range(grid.cells):
        _tail_forbidden(neighbours, cell, words, first, minimal)
        progress(1.0)
    first = np.concatenate([[0], np.cumsum(minimal)])[first]
    return Words(words[minimal], earlier[minimal], first)
