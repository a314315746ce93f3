"""Bitboards: the states of a few tiles on a large board, in words that are sets of cells.

On a large board a block of four or five tiles has few states, and the search spends its time on finding moves. So here
the last tile of the pattern is taken apart from the others. Wherever these are, the cells that the last one may be on
fit into a word of 64 bits. The states are kept in *lines*: there is one for each footprint of the other tiles, its
*base*, with a word for each order of these tiles. Bit c of a word says that the state with the last tile on cell c has
been visited. On 8x8 and with five tiles, a line has up to 1440 states in 24 words, a block 120.

All states of a line move at once:

- A move of the last tile stays in the line: all words are shifted, by one bit to the left, say, without those bits that
  would go round the edge of the board.
- A move of another tile comes from the line of another base, whose words are united with those of this one. If the tile
  passes no tile of the base, they are taken as they are, otherwise they change places. The last tile is not in the way.

So no bits are shuffled within a word, and each move is found once for a line, not once for a block.

*Where the blank is* does not show on a bitboard. Nearly always the free cells hang together. Where they do not, a
bitboard has the states with the blank in the largest zone, and the others are *pockets*, with a search of their own
(``pockets``). A move between a pocket and another zone is a *crossing*. A bitboard must not make it, but it takes tiles
all around a pocket, so there are few: a move into a line has a mask of the cells of the last tile that make it one, if
there are any.

*Both parities share a word.* Which of its bits can be states of a level depends on the colours of the cells, so a level
adds bits on cells of one colour only, and only bits on the other colour, which it leaves as they are, lead to them. Two
maps are enough, as in ``build``. In these a word takes no more bytes than the board needs.
"""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np

from .base.jit import fetch, kernel, lowest, popcount, put, shared, word_at
from .grid import Grid
from .index import footprint_at, signed_masks
from .lanes import add_masked, or_chosen, or_masked, or_shifted, prefetch_rows
from .moves import MAX_MOVES, choices, footprint_ahead, lay_out, next_turn, rank_after
from .recipes import order_maps

LEAST_BYTES = 4  # of a set of cells: ``SPARE`` bytes behind the last line are enough for vectors of more than one set
SIDES = 4  # neighbours of a cell, at most
ASLEEP, AWAKE, FULL = 0, 1, 2  # lines are asleep as long as no state next to them was found


class Board(NamedTuple):
    """What the search has to know of a board and a goal."""

    cells: int
    everywhere: int  # the set of all cells
    odd: int  # the cells of one colour
    odd_tiles: int  # how many tiles of the pattern are at home on these
    near: np.ndarray
    lefts: np.ndarray  # shift -> by how many bits it goes to the left, 0 if it goes to the right
    rights: np.ndarray
    ends: np.ndarray  # shift -> the cells where it may end


class Lines(NamedTuple):
    """How far the search of each line is, and the crossings that lead into it."""

    turn: np.ndarray  # ASLEEP, AWAKE or FULL
    latest: np.ndarray  # the last level on which it gained states
    crossing: np.ndarray  # which moves have a mask: bit ``SIDES * ordinal + side``, behind these a bit for each shift
    first_mask: np.ndarray
    masks: np.ndarray  # the cells of the last tile with which a move is a crossing


def shifts_of(grid: Grid) -> dict[int, int]:
    """By how much moves change the number of a cell, each with the set of cells where such moves end."""
    shifts: dict[int, int] = {}
    for cell, around in enumerate(grid.neighbours):
        for other in around:
            shifts[other - cell] = shifts.get(other - cell, 0) | 1 << other
    return shifts


def board_of(grid: Grid, goal: int) -> Board:
    """What the search has to know of a bipartite board, and of a goal with the tiles of the pattern on these cells."""
    shifts = shifts_of(grid)
    lefts, rights = (np.array([max(0, sign * step) for step in shifts], dtype=np.int64) for sign in (1, -1))
    everywhere, odd = signed_masks([grid.all_cells, grid.odd_cells])
    odd_tiles = (goal & grid.odd_cells).bit_count()
    ends = signed_masks(list(shifts.values()))
    return Board(grid.cells, everywhere, odd, odd_tiles, signed_masks(grid.near), lefts, rights, ends)


def set_bytes(cells: int) -> int:
    """The bytes of a set of cells on a board of so many."""
    return max(LEAST_BYTES, -(-cells // 8))


@cache
def set_sources(others: int) -> np.ndarray:
    """[ordinal here, ordinal there, word here] -> the word there that a move from there to here makes it."""
    return order_maps(others).astype(np.uint32).ravel()


@shared
def is_of_level(level, footprint, odd, odd_tiles):
    """Whether the states of a footprint have distances of the parity of a level."""
    return (level + odd_tiles + popcount(footprint & odd)) & 1 == 0


@shared
def list_columns(footprint, size, cells, lines):
    """Fill in the cells of a footprint and, for each, the line that has its states with the last tile there.

    Returns the rank of the footprint.
    """
    above = 0
    for ordinal in range(size):
        cell = lowest(footprint)
        footprint &= footprint - 1
        put(cells, ordinal, cell)
        above += choices(cell, ordinal)
    below = 0
    for ordinal in range(size):
        cell = fetch(cells, ordinal)
        above -= choices(cell, ordinal)
        put(lines, ordinal, below + above)
        below += choices(cell, ordinal + 1)
    return below


@shared
def wake_around(base, rank, others, near, turn, cells, fall, rise):
    """Wake up a line and those that it leads to. ``lay_out`` made ``cells``, ``fall`` and ``rise`` of its base.

    Several threads may do so: a line that has never gained states is not full.
    """
    turn[rank] = AWAKE
    for here in range(others):
        cell = cells[here]
        targets = near[cell] & ~base
        while targets != 0:
            target = lowest(targets)
            targets &= targets - 1
            there = popcount(base & ~(1 << cell) & ((1 << target) - 1))
            other = rank_after(rank, here, cell, there, target, fall, rise)
            if turn[other] == ASLEEP:
                turn[other] = AWAKE


@cache
def sweep_kernel(size: int, width: int):
    """The kernel that finds one level of the lines, compiled for ``size`` tiles and sets of ``width`` bytes."""
    others, orders = size - 1, factorial(size - 1)
    line_bytes = orders * width

    @kernel
    def sweep(level, board, lines, set_sources, previous, new, visited, low, high):
        """Find the states of ``level`` in the lines ``low`` ... ``high - 1``, crossings apart; return their number.

        They are added to ``new``, which together with ``visited`` is all that was visited.
        """
        cells, everywhere, odd, odd_tiles, near, lefts, rights, shift_ends = board
        turn, latest, crossing, first_mask, masks = lines
        arrived = np.zeros(orders, dtype=np.int64)
        tile_cells = np.zeros(others, dtype=np.int64)
        fall = np.zeros(others + 1, dtype=np.int64)
        rise = np.zeros(others + 1, dtype=np.int64)
        sources = np.zeros(MAX_MOVES, dtype=np.int64)
        source_masks = np.zeros(MAX_MOVES, dtype=np.int64)
        shuffles = np.zeros(MAX_MOVES, dtype=np.int64)
        total = 0
        rank_before = low
        base = footprint_at(low, others, cells)
        rank = next_turn(turn, low, high, AWAKE)
        while rank < high:
            base = footprint_ahead(base, rank_before, rank, others, cells)
            lay_out(base, others, tile_cells, fall, rise)
            start = rank * line_bytes
            has_mask = np.int64(fetch(crossing, rank))
            mask = np.int64(fetch(first_mask, rank))
            # The moves of other tiles, from the front those that change no order, from the back the others. Each is
            # written to both places, and overwritten where it does not belong: a branch would take longer.
            plain = 0
            shuffled = MAX_MOVES - 1
            for here in range(others):
                cell = fetch(tile_cells, here)
                rest = base & ~(1 << cell)
                targets = fetch(near, cell)
                slot = SIDES * here
                while targets != 0:
                    target = lowest(targets)
                    targets &= targets - 1
                    if (base >> target) & 1 == 0:
                        there = popcount(rest & ((1 << target) - 1))
                        source = rank_after(rank, here, cell, there, target, fall, rise) * line_bytes
                        prefetch_rows(previous, source, line_bytes)
                        masked = (has_mask >> slot) & 1
                        wrong = fetch(masks, mask) & -masked
                        mask += masked
                        put(sources, plain, source)
                        put(source_masks, plain, ~wrong)
                        put(sources, shuffled, source)
                        put(source_masks, shuffled, ~wrong)
                        put(shuffles, shuffled, (here * others + there) * orders)
                        passes = there != here
                        plain += passes ^ 1
                        shuffled -= passes
                    slot += 1
            for order in range(orders):
                put(arrived, order, 0)
            for shift in range(lefts.size):
                masked = (has_mask >> (SIDES * others + shift)) & 1
                ends = fetch(shift_ends, shift) & ~(fetch(masks, mask) & -masked)
                mask += masked
                or_shifted(arrived, previous, start, fetch(lefts, shift), fetch(rights, shift), ends, width, orders)
            for move in range(plain):
                or_masked(arrived, previous, fetch(sources, move), fetch(source_masks, move), width, orders)
            for move in range(shuffled + 1, MAX_MOVES):
                source, mask, shuffle = fetch(sources, move), fetch(source_masks, move), fetch(shuffles, move)
                or_chosen(arrived, previous, source, set_sources, shuffle, mask, width, orders)
            free = everywhere & ~base
            colour = ~odd if is_of_level(level, base, odd, odd_tiles) else odd
            count = add_masked(arrived, free & colour, new, visited, start, width, orders)
            if count != 0:
                total += count
                if latest[rank] == 0:
                    wake_around(base, rank, others, near, turn, tile_cells, fall, rise)
                latest[rank] = level
            else:
                full = True
                for at in range(start, start + line_bytes, width):
                    full &= (word_at(visited, at) | word_at(new, at)) & free == free
                if full:
                    turn[rank] = FULL
            rank_before = rank
            rank = next_turn(turn, rank + 1, high, AWAKE)
        return total

    return sweep
