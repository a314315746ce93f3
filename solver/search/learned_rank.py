"""The learned rank: what tiles, pairs of neighbouring tiles and the blank add to the rank of a board in a beam.

Whether two tiles that belong side by side are in each other's way depends on where *both* are, and no sum over single
tiles can tell. So a learned rank is the one of ``beam_level`` plus a weight for each tile, by where it is, and a weight
for each pair of tiles whose homes are at most two rows and two columns apart, by where both of them are. It is an
additive pattern database of pairs, but its entries are fitted, not searched (``solver.learning``): they have whatever
values make the beam keep the boards that lead to short solutions. They may be negative. They bound nothing and prove
nothing, and nothing but the order of a beam's boards depends on them.

What the next moves can do depends on the tiles *around the blank*. So there is a weight for each of the 24 places at
most two rows and two columns from the blank, by how far from home the tile is that is there, or for the edge, if the
place is beyond it.

*Weights are shared* by all tiles, wherever their homes are. A tile is described by its *displacement*, the rows and the
columns from its home to where it is, of which up to REACH in each direction are told apart. A pair is described by the
*offset* from one home to the other and the displacements of both. So there are a few hundred thousand weights, each
learned from many pairs, and they serve boards of any size.

*Symmetry.* On a square, with the blank's home in a corner, the reflection in the diagonal turns a board into one as far
from the goal, which must have the same rank. It turns rows into columns, so an offset and its reflection share their
weights, and so do a pair and the same pair seen from its other tile. Eight *classes* of offsets are left of the 24; the
weights of the four diagonal ones are equal in pairs. Places around the blank that are each other's reflection share
theirs.

*In the kernel* a move changes the displacement of one tile by one row or column. What such a *step* changes a weight by
is tabulated, for the smaller of the two displacements: down or to the right it is added, up or to the left taken off.
So a move reads an element for each partner. Steps mostly fit into a byte, and are read as they are shared: 1.4 MB with
24 partners, which stay in the cache even on 10x10, where tables of all tiles and cells would take 48 MB. All tiles have
as many partners and all cells as many places around them, some of which count nothing, so that the compiler can unroll
what is done for each: four instructions for a partner, five for a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import shared
from pdb_builder.grid import Grid

REACH = 6  # rows and columns from home that are told apart
SPAN = 2 * REACH + 1
DISPLACEMENTS = SPAN * SPAN  # numbered row by row
BEYOND = DISPLACEMENTS  # stands for no tile: a place beyond the edge, or a partner that there is not
ROW = BEYOND + 1  # weights in a row: one for each displacement, and one for BEYOND
STEPS = 64  # of a weight, per move
# Classes of offsets between two homes, rows and columns, by the first of each class. A rank has the first few.
CLASSES = ((0, 1), (1, 1), (1, -1), (0, 2), (1, 2), (1, -2), (2, 2), (2, -2))
PARTNERS = {4: 1, 8: 3, 24: 8}  # of a tile in the middle, and the number of classes that makes
# The places around the blank: rows and columns from it.
AROUND = tuple((down, across) for down in range(-2, 3) for across in range(-2, 3) if (down, across) != (0, 0))
AS_IT_IS, REFLECTED, EXCHANGED = 0, 1, 2  # what the reflection does to a pair of a class: see ``reflection_of``


class Weights(NamedTuple):
    """The weights of a learned rank, ``STEPS`` to a move if they are integers, else in moves."""

    single: np.ndarray  # [displacement]
    pairs: np.ndarray  # [class, displacement of the first, of the second]
    around: np.ndarray  # [place around the blank, displacement of the tile there or BEYOND]


class RankTables(NamedTuple):
    """What the kernels of a beam read. All arrays are flat. Without a learned rank there are no steps."""

    offsets: int  # how many there are to partners
    partners: np.ndarray  # [tile, offset] -> the partner there, or 0 for none, whose displacement is BEYOND
    displacements: np.ndarray  # [tile, cell]; the blank's is BEYOND
    pairs: np.ndarray  # [displacement of the tile, offset to the partner, displacement of the partner]
    steps: np.ndarray  # [step of the tile, offset to the partner, displacement of the partner] -> what it adds
    cells_around: np.ndarray  # [cell, place around it] -> the cell there; for a place beyond the edge the cell itself
    around: np.ndarray  # [place around the blank, displacement]


def serves(grid: Grid) -> bool:
    """Whether a learned rank is for boards of a grid. Where edges are joined, there are two ways home."""
    return not grid.wrap


def zero_weights(partners: int) -> Weights:
    """Weights that add nothing."""
    return Weights(
        np.zeros(DISPLACEMENTS, dtype=np.float32),
        np.zeros((PARTNERS[partners], DISPLACEMENTS, DISPLACEMENTS), dtype=np.float32),
        np.zeros((len(AROUND), ROW), dtype=np.float32),
    )


@cache
def reflected() -> np.ndarray:
    """[displacement] -> its reflection in the diagonal."""
    return np.arange(DISPLACEMENTS).reshape(SPAN, SPAN).T.ravel().copy()


@cache
def reflected_around() -> np.ndarray:
    """[place around the blank, displacement or BEYOND] -> the number of its reflection in the flat array."""
    places = np.array([AROUND.index((across, down)) for down, across in AROUND])
    return places[:, None] * ROW + np.append(reflected(), BEYOND)


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
    same = [weights.single == weights.single[reflected()], weights.around == weights.around.ravel()[reflected_around()]]
    for offset, pairs in zip(CLASSES, weights.pairs, strict=False):
        if kind := reflection_of(offset):
            same.append(pairs == reflect(pairs, kind))
    return all(map(np.all, same))


def homes_of(grid: Grid, blank: int) -> list[int]:
    """[tile] -> its home in the canonical goal with the blank on a cell; for the blank that cell."""
    return [blank, *(grid.home(tile, blank) for tile in range(1, grid.cells))]


def displacements_of(grid: Grid, blank: int) -> np.ndarray:
    """[tile, cell] -> the displacement, for the canonical goal with the blank on a cell."""
    homes, lines = homes_of(grid, blank), np.divmod(np.arange(grid.cells), grid.cols)
    down, across = (np.clip(line[None, :] - line[homes][:, None], -REACH, REACH) + REACH for line in lines)
    return (SPAN * down + across).astype(np.uint8)


@shared
def step_of(start, end):
    """The number of the step between two displacements, of a tile that moves to a cell beside its own."""
    return min(start, end) + DISPLACEMENTS * (abs(start - end) == 1)


def no_tables(grid: Grid) -> RankTables:
    """The tables of a rank that is not learned."""
    bytes_, steps, words = (np.zeros(0, dtype=kind) for kind in (np.uint8, np.int8, np.int16))
    return RankTables(0, bytes_, bytes_, words, steps, bytes_, words)


def rank_tables(weights: Weights, grid: Grid, blank: int) -> RankTables:
    """The tables of integer weights, for the canonical goal of a grid with the blank on a cell."""
    offsets = _offsets(len(weights.pairs))
    pairs = np.stack([_of_offset(weights, offset) for offset in offsets], axis=1)
    pairs = np.pad(pairs, ((0, 0), (0, 0), (0, ROW - DISPLACEMENTS)))  # BEYOND counts nothing
    lattice = pairs.reshape(SPAN, SPAN, *pairs.shape[1:]).astype(np.int32)
    steps = np.zeros((2, *lattice.shape), dtype=np.int32)
    steps[0, :-1] = lattice[1:] - lattice[:-1]
    steps[1, :, :-1] = lattice[:, 1:] - lattice[:, :-1]
    kind = np.int8 if abs(steps).max() <= np.iinfo(np.int8).max else np.int32
    homes = homes_of(grid, blank)
    tile_at = np.argsort(homes)
    partners = np.zeros((grid.cells, len(offsets)), dtype=np.uint8)
    cells_around = np.repeat(np.arange(grid.cells, dtype=np.uint8)[:, None], len(AROUND), axis=1)
    for cell in range(grid.cells):
        for number, there in near(grid, cell, offsets):
            partners[tile_at[cell], number] = tile_at[there]
        for number, there in near(grid, cell, AROUND):
            cells_around[cell, number] = there
    partners[0] = 0  # the blank has none
    displacements = displacements_of(grid, blank)
    displacements[0] = BEYOND
    return RankTables(
        len(offsets),
        partners.ravel(),
        displacements.ravel(),
        pairs.ravel(),
        steps.astype(kind).ravel(),
        cells_around.ravel(),
        weights.around.ravel(),
    )


def near(grid: Grid, cell: int, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of the cells at some offsets from one, those that there are, each with the number of its offset."""
    row, col = divmod(cell, grid.cols)
    return [
        (number, grid.cols * (row + down) + col + across)
        for number, (down, across) in enumerate(offsets)
        if 0 <= row + down < grid.rows and 0 <= col + across < grid.cols
    ]


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


def rank_from_scratch(weights: Weights, grid: Grid, blank: int, board: tuple[int, ...]) -> int:
    """What integer weights add to the rank of a board, in steps, as told above: slow, and without any table."""
    where = {tile: divmod(cell, grid.cols) for cell, tile in enumerate(board) if tile}
    home = {tile: divmod(grid.home(tile, blank), grid.cols) for tile in where}
    at_home = {place: tile for tile, place in home.items()}

    def displacement(tile: int, flip: bool = False) -> int:
        away = [max(-REACH, min(REACH, at - of)) + REACH for at, of in zip(where[tile], home[tile], strict=True)]
        return SPAN * away[flip] + away[not flip]

    total = sum(int(weights.single[displacement(tile)]) for tile in where)
    blank_row, blank_col = divmod(board.index(0), grid.cols)
    on = {place: tile for tile, place in where.items()}
    for (down, across), of_place in zip(AROUND, weights.around, strict=True):
        tile = on.get((blank_row + down, blank_col + across))
        total += int(of_place[displacement(tile) if tile else BEYOND])
    for offset, pairs in zip(CLASSES, weights.pairs, strict=False):
        for flip in (False, True) if reflection_of(offset) == AS_IT_IS else (False,):
            for tile, (row, col) in home.items():
                down, across = reversed(offset) if flip else offset
                if other := at_home.get((row + down, col + across)):
                    total += int(pairs[displacement(tile, flip), displacement(other, flip)])
    return total
