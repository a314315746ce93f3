"""Which moves a search tries: a small automaton that forbids the useless ones.

A *situation* is the cell of the blank together with what is remembered of the moves before. Here that
is the last cell alone, and the one rule is never to go straight back; automata that remember more,
and forbid longer detours, would be other tables of the same form.

Situations are numbered from 1. For each, ``following`` packs the situations that may come next,
sixteen bits each, lowest first, in the order in which they are tried: blank up, left, right, down on
a plain board, which is the ascending order of its cells. (The order of Korf's published node counts.)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid

WAYS = 4  # a blank has at most so many neighbours: the numbers of a situation's moves are below it


class Moves(NamedTuple):
    """The automaton as tables, indexed by situation."""

    following: np.ndarray  # packed
    ways: np.ndarray  # how many they are
    cell: np.ndarray  # where the blank is
    last: np.ndarray  # where it was before; itself at the start


def situation(cell: int, way: int | None = None) -> int:
    """The number of the blank on ``cell``, come from its neighbour number ``way``, or at the start."""
    return 1 + cell * (WAYS + 1) + (0 if way is None else 1 + way)


@lru_cache(maxsize=8)
def moves_of(grid: Grid) -> Moves:
    """The automaton of a board."""
    count = situation(grid.cells)
    following = np.zeros(count, dtype=np.int64)
    ways, cells, lasts = np.zeros((3, count), dtype=np.uint8)
    for cell, around in enumerate(grid.neighbours):
        for way, last in enumerate((None, *around)):
            number = situation(cell, None if last is None else way - 1)
            cells[number], lasts[number] = cell, cell if last is None else last
            others = [other for other in around if other != last]
            ways[number] = len(others)
            for place, other in enumerate(others):
                following[number] |= situation(other, grid.neighbours[other].index(cell)) << (16 * place)
    return Moves(following, ways, cells, lasts)
