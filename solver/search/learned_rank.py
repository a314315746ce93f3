"""The learned rank: what each tile and each pair of neighbouring tiles adds to the rank of a board in a beam.

Whether two tiles that belong side by side are in each other's way depends on where *both* are, and no sum over single
tiles can tell. So a learned rank is the one of ``beam_level`` plus a weight for each tile, by where it is, and a weight
for each pair of tiles whose homes are at most two rows and two columns apart, by where both of them are. It is an
additive pattern database of pairs, but its entries are fitted, not searched (``solver.learning``): they have whatever
values make the beam keep the boards that lead to short solutions. They may be negative. They bound nothing and prove
nothing, and nothing but the order of a beam's boards depends on them.

*Weights are shared* by all tiles, wherever their homes are. A tile is described by its *displacement*, the rows and the
columns from its home to where it is, of which up to REACH in each direction are told apart. A pair is described by the
*offset* from one home to the other and the displacements of both. So there are a few hundred thousand weights, each
learned from many pairs, and they serve square boards of any size.

*Symmetry.* With the blank's home in a corner, the reflection in the diagonal turns a board into one as far from the
goal, which must have the same rank. It turns rows into columns, so an offset and its reflection share their weights,
and so do a pair and the same pair seen from its other tile. Eight *classes* of offsets are left of the 24; the weights
of the four diagonal ones are equal in pairs.

*In the kernel* a move changes the displacement of one tile by one row or column. What such a *step* changes a weight by
is tabulated, for the smaller of the two displacements: down or to the right it is added, up or to the left taken off.
So a move reads one row of steps, with an entry for each partner. Steps mostly fit into a byte, and are read as they are
shared: 1.4 MB with 24 partners, which stay in the cache even on 10x10, where tables of all tiles and cells would take
48 MB.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import shared
from pdb_builder.grid import Grid

REACH = 6  # rows and columns from home that are told apart
SPAN = 2 * REACH + 1
DISPLACEMENTS = SPAN * SPAN  # numbered row by row; the next number stands for a tile that does not count
STEPS = 64  # of a weight, per move
# Classes of offsets between two homes, rows and columns, by the first of each class. A rank has the first few.
CLASSES = ((0, 1), (1, 1), (1, -1), (0, 2), (1, 2), (1, -2), (2, 2), (2, -2))
PARTNERS = {4: 1, 8: 3, 24: 8}  # of a tile in the middle, and the number of classes that makes
AS_IT_IS, REFLECTED, EXCHANGED = 0, 1, 2  # what the reflection does to a pair of a class: see ``reflection_of``


class Weights(NamedTuple):
    """The weights of a learned rank, ``STEPS`` to a move if they are integers, else in moves."""

    single: np.ndarray  # [displacement]
    pairs: np.ndarray  # [class, displacement of the first, of the second]


class PairTables(NamedTuple):
    """What the kernels of a beam read. All arrays are flat. Without a learned rank there are no steps."""

    firsts: np.ndarray  # [tile] -> where its partners begin, and one more element
    partners: np.ndarray  # [number] -> a tile that counts together with this one
    places: np.ndarray  # [number] -> where that partner's displacements begin in a row of steps, or of pairs
    displacements: np.ndarray  # [tile, cell]
    pairs: np.ndarray  # [displacement of the tile, offset to the partner, displacement of the partner]
    steps: np.ndarray  # [step of the tile, offset to the partner, displacement of the partner] -> what it adds
    row: int  # elements of a row of steps, or of pairs


def serves(grid: Grid, blank: int) -> bool:
    """Whether a learned rank is for boards of a grid with the blank's home, as seen in the frame, on a cell."""
    return grid.rows == grid.cols and not grid.wrap and blank == 0


def zero_weights(partners: int) -> Weights:
    """Weights that add nothing."""
    return Weights(
        np.zeros(DISPLACEMENTS, dtype=np.float32),
        np.zeros((PARTNERS[partners], DISPLACEMENTS, DISPLACEMENTS), dtype=np.float32),
    )


@cache
def reflected() -> np.ndarray:
    """[displacement] -> its reflection in the diagonal."""
    return np.arange(DISPLACEMENTS).reshape(SPAN, SPAN).T.ravel().copy()


def reflection_of(offset: tuple[int, int]) -> int:
    """What the reflection makes of a pair with the offset of a class.

    A pair of the same class as it is, one with its tiles exchanged, or one of another offset.
    """
    down, across = offset
    return REFLECTED if down == across else EXCHANGED if down == -across else AS_IT_IS


def reflect(pairs: np.ndarray, how: int) -> np.ndarray:
    """The weights of a class that is its own reflection, each in the place of its reflection."""
    image = pairs[np.ix_(reflected(), reflected())]
    return image.T if how == EXCHANGED else image


def is_symmetric(weights: Weights) -> bool:
    """Whether reflected boards have the same rank."""
    classes = zip(CLASSES, weights.pairs, strict=False)
    return bool((weights.single == weights.single[reflected()]).all()) and all(
        reflection_of(offset) == AS_IT_IS or bool((pairs == reflect(pairs, reflection_of(offset))).all())
        for offset, pairs in classes
    )


def displacements_of(grid: Grid) -> np.ndarray:
    """[tile, cell] -> the displacement, for the goal with its blank on cell 0."""
    rows, cols = np.divmod(np.arange(grid.cells), grid.cols)  # of the cells, and of the tiles' homes
    down, across = (np.clip(line[None, :] - line[:, None], -REACH, REACH) + REACH for line in (rows, cols))
    return (SPAN * down + across).astype(np.uint8)


@shared
def step_of(start, end):
    """The number of the step between two displacements, of a tile that moves to a cell beside its own."""
    return min(start, end) + DISPLACEMENTS * (abs(start - end) == 1)


def no_pairs(grid: Grid) -> PairTables:
    """The tables of a rank that is not learned."""
    firsts, numbers = np.zeros(grid.cells + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int16), np.zeros(0, dtype=np.int8)
    return PairTables(firsts, numbers.astype(np.uint8), numbers, displacements_of(grid).ravel(), *nothing, 0)


def pair_tables(weights: Weights, grid: Grid) -> PairTables:
    """The tables of integer weights for a grid."""
    offsets = _offsets(len(weights.pairs))
    pairs = np.stack([_of_offset(weights, offset) for offset in offsets], axis=1)
    steps = np.zeros((2, SPAN, SPAN, *pairs.shape[1:]), dtype=np.int16)
    lattice = pairs.reshape(SPAN, SPAN, *pairs.shape[1:])
    steps[0, :-1] = lattice[1:] - lattice[:-1]
    steps[1, :, :-1] = lattice[:, 1:] - lattice[:, :-1]
    if abs(steps).max() <= np.iinfo(np.int8).max:
        steps = steps.astype(np.int8)  # half the memory
    firsts, partners, places = [0], [], []
    for tile in range(grid.cells):
        for number, (down, across) in enumerate(offsets):
            row, col = tile // grid.cols + down, tile % grid.cols + across
            other = grid.cols * row + col if 0 <= row < grid.rows and 0 <= col < grid.cols else 0
            if tile and other:  # the blank is nobody's partner
                partners.append(other)
                places.append(number * DISPLACEMENTS)
        firsts.append(len(partners))
    numbers = np.array(firsts), np.array(partners, dtype=np.uint8), np.array(places)
    return PairTables(*numbers, displacements_of(grid).ravel(), pairs.ravel(), steps.ravel(), pairs[0].size)


def _offsets(classes: int) -> list[tuple[int, int]]:
    """The offsets of some classes, those of a class together."""
    images = [((a, b), (-a, -b), (b, a), (-b, -a)) for a, b in CLASSES[:classes]]
    return list(dict.fromkeys(offset for of_class in images for offset in of_class))


def _of_offset(weights: Weights, offset: tuple[int, int]) -> np.ndarray:
    """[displacement of the tile, of its partner] for partners at an offset from a tile."""
    down, across = offset
    if offset in CLASSES:
        return weights.pairs[CLASSES.index(offset)]
    if (-down, -across) in CLASSES:
        return weights.pairs[CLASSES.index((-down, -across))].T
    found = _of_offset(weights, (across, down))  # which is in a class, or its opposite is
    return found[np.ix_(reflected(), reflected())]


def rank_from_scratch(weights: Weights, grid: Grid, board: tuple[int, ...]) -> int:
    """What integer weights add to the rank of a board, in steps, as told above: slow, and without any table."""
    where = {tile: divmod(cell, grid.cols) for cell, tile in enumerate(board) if tile}
    home = {tile: divmod(tile, grid.cols) for tile in where}
    at_home = {place: tile for tile, place in home.items()}

    def displacement(tile: int, flip: bool = False) -> int:
        away = [max(-REACH, min(REACH, at - of)) + REACH for at, of in zip(where[tile], home[tile], strict=True)]
        return SPAN * away[flip] + away[not flip]

    total = sum(int(weights.single[displacement(tile)]) for tile in where)
    for offset, pairs in zip(CLASSES, weights.pairs, strict=False):
        for flip in (False, True) if reflection_of(offset) == AS_IT_IS else (False,):
            for tile, (row, col) in home.items():
                down, across = reversed(offset) if flip else offset
                if other := at_home.get((row + down, col + across)):
                    total += int(pairs[displacement(tile, flip), displacement(other, flip)])
    return total
