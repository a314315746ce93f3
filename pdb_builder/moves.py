"""The moves into a block, found from its footprint whenever they are needed.

A block of a sparse board is entered by some thirteen moves, and is looked at only while it gains states, on about four
levels if it is small. A list of all moves would take several times the memory of its bits, and a fifth of the time.

Moves can be undone, so the blocks that moves come from are those that the moves of the block lead to. Such a move takes
a tile from one cell to a free neighbour. The rank of a footprint is a sum over its cells (``index``), of which the move
changes one; the cells that the tile passes go up or down by one ordinal. That is a sum of a few differences, with no
need to rank the other footprint from scratch. Which of its zones the blank is in is looked up: most footprints have one
zone only, and ``parted`` has those of the others.
"""

from __future__ import annotations

from .base.jit import fetch, kernel, lowest, popcount, prefetch_line, put, shared, word_at
from .index import BINOMIAL, footprint_at, next_footprint, zone_around
from .pattern import MAX_TILES

ROW = BINOMIAL.shape[1]
CHOICES = BINOMIAL.ravel()
MAX_MOVES = 4 * MAX_TILES  # into one block: a tile has at most four neighbours
STEPS = 24  # to the footprint so many ranks ahead, step by step is faster than from scratch


@shared
def choices(cell, ordinal):
    """``BINOMIAL[cell, ordinal]``, unchecked."""
    return fetch(CHOICES, cell * ROW + ordinal)


@shared
def next_turn(turn, rank, high, due):
    """The first footprint from ``rank`` on whose turn it is on levels of the kind ``due``: ``high`` or more if none is.

    Eight are looked at together. Which footprints a level concerns changes slowly, and most are asleep or done.
    """
    each = due * 0x0101010101010101
    while rank < high:
        found = word_at(turn, rank) & each
        if found != 0:
            return rank + (lowest(found) >> 3)
        rank += 8
    return rank


@shared
def footprint_ahead(footprint, rank, target, size, cells):
    """The footprint of rank ``target``, where ``footprint`` is that of a ``rank`` before it."""
    if target - rank > STEPS:
        return footprint_at(target, size, cells)
    for _ in range(target - rank):
        footprint = next_footprint(footprint)
    return footprint


@kernel
def list_parted(size, cells, everywhere, near, first_block, parted, low, high):
    """Fill in ``parted`` for the footprints ``low`` ... ``high - 1``: their zones, but for the last of each.

    The last one is what is left. So the zones of the footprint with rank r begin at place ``first_block[r] - r``.
    """
    footprint = footprint_at(low, size, cells)
    for rank in range(low, high):
        free = everywhere & ~footprint
        for place in range(first_block[rank] - rank, first_block[rank + 1] - rank - 1):
            parted[place] = zone_around(free & -free, free, near)
            free &= ~parted[place]
        footprint = next_footprint(footprint)


@shared
def lay_out(footprint, size, cells, fall, rise):
    """Fill in the cells of a footprint by ordinal, and how its rank changes if the first j fall or rise by one."""
    change = 0
    for ordinal in range(size):
        cells[ordinal] = lowest(footprint)
        footprint &= footprint - 1
        fall[ordinal] = change
        change += BINOMIAL[cells[ordinal], ordinal] - BINOMIAL[cells[ordinal], ordinal + 1]
    fall[size] = change
    change = 0
    for ordinal in range(size - 1):
        rise[ordinal] = change
        change += BINOMIAL[cells[ordinal], ordinal + 2] - BINOMIAL[cells[ordinal], ordinal + 1]
    rise[size - 1] = change


@shared
def rank_after(rank, here, cell, there, target, fall, rise):
    """The rank of the footprint after its tile of ordinal ``here`` went from ``cell`` to ``target``: ordinal ``there``.

    ``fall`` and ``rise`` are those that ``lay_out`` makes of the footprint with this rank.
    """
    rises = fetch(rise, here) - fetch(rise, there)  # both sums, so that nothing has to be guessed at a branch
    falls = fetch(fall, there + 1) - fetch(fall, here + 1)
    passed = falls if target > cell else rises
    return rank - choices(cell, here + 1) + passed + choices(target, there + 1)


@shared
def find_moves(
    footprint, rank, zone, size, near, first_block, parted, cells, fall, rise, ranks, sources, recipes, bits, width
):
    """Find the moves into the block of a zone of the footprint with this rank, and return their number.

    Move i comes from block ``sources[i]``, of the footprint with rank ``ranks[i]``, and ``recipes[i]`` is the number of
    its recipe: ordinal there * size + ordinal here. The zone is a set of cells; ``lay_out`` makes ``cells``, ``fall``
    and ``rise``. The sources will be read in ``bits``, where a block has ``width`` bytes: their memory is requested.
    """
    moves = 0
    for here in range(size):
        cell = fetch(cells, here)
        others = footprint & ~(1 << cell)
        targets = fetch(near, cell) & zone
        while targets != 0:
            target = lowest(targets)
            targets &= targets - 1
            there = popcount(others & ((1 << target) - 1))
            other = rank_after(rank, here, cell, there, target, fall, rise)
            source = fetch(first_block, other)
            zones = source - other
            for place in range(zones, fetch(first_block, other + 1) - other - 1):
                if (fetch(parted, place) >> cell) & 1:
                    break
                source += 1
            prefetch_line(bits, source * width)
            put(ranks, moves, other)
            put(sources, moves, source)
            put(recipes, moves, there * size + here)
            moves += 1
    return moves
