"""Recipes compared with moving a tile in a list."""

from math import factorial

import numpy as np
import pytest

from pdb_builder.independent_index import list_arrangements
from pdb_builder.recipes import MAX_TERMS, recipes_of


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", range(1, 10))
def test_recipes_send_every_arrangement_where_it_belongs(size):
    """Each recipe, applied to all arrangements, against moving a tile in the listed ordinals."""
    table = recipes_of(size)
    ordinals = list_arrangements(size)
    number = {tuple(row): place for place, row in enumerate(ordinals.tolist())}
    bits = factorial(min(size, 4))
    rows = factorial(size) // bits // len(set(table.target[table.groups[0, 0] : table.groups[0, 3]]))
    sample = range(0, factorial(size), 1 + factorial(size) // 400)
    for move in range(0, size * size, 1 if size < 7 else 5):
        where = {}
        for group in range(3):
            for entry in range(table.groups[move, group], table.groups[move, group + 1]):
                where[int(table.source[entry])] = (group, int(table.target[entry]), int(table.shuffle[entry]))
        start, end = divmod(move, size)
        for arrangement in sample:
            row, bit = divmod(arrangement, bits)
            merge = row - row % rows
            group, target, shuffle = where[merge]
            row -= merge
            if group == 1:
                row = int(np.flatnonzero(table.row_source[shuffle * rows : (shuffle + 1) * rows] == row)[0])
            if group == 2:
                terms = range(shuffle * MAX_TERMS, shuffle * MAX_TERMS + table.terms[shuffle])
                rotations = [int(table.rotations[term]) for term in terms if table.masks[term] >> bit & 1]
                assert len(rotations) == 1
                bit = (bit + rotations[0]) % 32
            left = [place for place in range(size) if place != start]
            left.insert(end, start)
            moved = tuple(left.index(place) for place in ordinals[arrangement])
            assert (target + row) * bits + bit == number[moved]
