"""Distances of boards in both encodings: never too large, and exact where they must be."""

import random

import numpy as np
import pytest

from pdb_builder import NAMED, Grid, InputError, Spec, open_database

from .oracle import board_distances, pattern_distances

BOARDS = [
    (Grid(2, 3), ((1, 2, 3), (4, 5)), 0),
    (Grid(2, 3), ((1, 5), (2, 3), (4,)), 4),
    (Grid(2, 4, wrap=True), ((1, 2, 3), (4, 5, 6, 7)), 5),
    (Grid(3, 3, wrap=True), ((1, 2), (3, 4), (5, 6, 7, 8)), 0),
    (Grid(3, 3), ((1, 2, 3), (4, 5, 6), (7, 8)), 4),
]


def all_states(grid, tiles, blank):
    """Boards for every state of a pattern, with its distance; the other tiles are anywhere."""
    for (cells, hole), distance in pattern_distances(grid, tiles, blank).items():
        board = [None] * grid.cells
        board[hole] = 0
        for tile, cell in zip(tiles, cells, strict=True):
            board[cell] = tile
        others = iter(set(range(1, grid.cells)) - set(tiles))
        yield [next(others) if tile is None else tile for tile in board], distance


@pytest.mark.parametrize("grid, partition, blank", [case for case in BOARDS if case[0].bipartite], ids=str)
def test_bits_walk_downhill_to_the_exact_distance(grid, partition, blank, database_of):
    database = open_database(database_of(Spec(grid, partition, blank, "bits")))
    rng = random.Random(1)
    for table in database.tables:
        states = list(all_states(grid, table.tiles, blank))
        for board, distance in rng.sample(states, min(60, len(states))):
            assert table.distance(board) == distance
        boards, distances = zip(*states[:: 1 + len(states) // 3000], strict=True)
        np.testing.assert_array_equal(table.distances(boards), distances)


@pytest.mark.parametrize("grid, partition, blank", BOARDS, ids=str)
def test_bytes_are_the_minimum_over_zones(grid, partition, blank, database_of):
    database = open_database(database_of(Spec(grid, partition, blank, "bytes")))
    for table in database.tables:
        least = {}
        states = list(all_states(grid, table.tiles, blank))
        for board, distance in states:
            cells = tuple(board.index(tile) for tile in table.tiles)
            least[cells] = min(distance, least.get(cells, distance))
        for board, _ in states[:: 1 + len(states) // 200]:
            assert table.distance(board) == least[tuple(board.index(tile) for tile in table.tiles)]


@pytest.mark.exhaustive
@pytest.mark.jit
@pytest.mark.parametrize("encoding", ["bits", "bytes"])
def test_every_board_of_the_8_puzzle(encoding, database_of):
    """3x3-8 is exact on all 181,440 boards, and 3x3-4-4 never overestimates."""
    distances = board_distances(Grid(3, 3), 0)
    assert len(distances) == 181_440
    boards, exact = np.array(list(distances)), np.array(list(distances.values()))
    assert exact.max() == 31
    complete = open_database(database_of(Spec(Grid(3, 3), NAMED["3x3-8"], 0, encoding)))
    np.testing.assert_array_equal(complete.distances(boards), exact)
    split = open_database(database_of(Spec(Grid(3, 3), NAMED["3x3-4-4"], 0, encoding)))
    bounds = split.distances(boards)
    assert (bounds <= exact).all()
    assert ((exact - bounds) % 2 == 0).all() or encoding == "bytes"
    manhattan = sum(
        np.array([[Grid(3, 3).distance(cell, tile) for cell in range(9)] for tile in range(9)])[
            tile, np.argmax(boards == tile, axis=1)
        ]
        for tile in range(1, 9)
    )
    assert (bounds >= manhattan).all()


@pytest.mark.parametrize(
    "board", [[0, 1, 2], [0, 1, 2, 3, 4, 5, 6, 7, 7], [1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 1, 2, 3, 4, 5, 6, 7, -8]]
)
def test_what_is_not_a_board_is_refused(board, small):
    database = open_database(small)
    with pytest.raises(InputError, match="0 to 8"):
        database.distance(board)
    with pytest.raises(InputError, match="0 to 8"):
        database.distances([board])


def test_a_board_that_cannot_be_solved_is_refused(database_of):
    for encoding in ("bits", "bytes"):
        database = open_database(database_of(Spec(Grid(2, 3), ((1, 2, 3, 4, 5),), 0, encoding)))
        with pytest.raises(InputError, match="unsolvable"):
            database.distance([0, 2, 1, 3, 4, 5])
        with pytest.raises(InputError, match="unsolvable"):
            database.distances([[0, 2, 1, 3, 4, 5]])
