"""The board as a graph: neighbours, colours, distances, canonical goals, and shapes that are refused."""

import pytest

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid


def test_neighbours_of_a_plain_board():
    grid = Grid(2, 3)
    assert grid.neighbours == ((1, 3), (0, 2, 4), (1, 5), (0, 4), (1, 3, 5), (2, 4))


def test_shapes_in_words():
    words = [Grid(rows, 2).a_board for rows in (2, 8, 10, 11, 18, 28)]
    assert words == ["a 2x2 board", "an 8x2 board", "a 10x2 board", "an 11x2 board", "an 18x2 board", "a 28x2 board"]
    assert Grid(8, 8, wrap=True).a_board == "an 8x8 wrapped board"


def test_wrapped_edges_are_joined():
    grid = Grid(3, 4, wrap=True)
    assert grid.neighbours[0] == (1, 3, 4, 8)
    assert all(len(around) == 4 for around in grid.neighbours)


def test_a_wrapped_side_of_two_changes_nothing():
    assert Grid(2, 2, wrap=True).neighbours == Grid(2, 2).neighbours
    assert Grid(2, 4, wrap=True).neighbours[0] == (1, 3, 4)


@pytest.mark.parametrize(
    "rows, cols", [(2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (5, 3), (8, 8), (7, 9), (10, 10), (2, 50)]
)
@pytest.mark.parametrize("wrap", [False, True])
def test_neighbours_are_mutual_and_bipartite_is_right(rows, cols, wrap):
    grid = Grid(rows, cols, wrap)
    for cell, around in enumerate(grid.neighbours):
        assert cell not in around
        assert all(cell in grid.neighbours[other] for other in around)
        assert grid.near[cell] == sum(1 << other for other in around)
    mixed = any(
        (grid.odd_cells >> cell & 1) == (grid.odd_cells >> other & 1)
        for cell, around in enumerate(grid.neighbours)
        for other in around
    )
    assert grid.bipartite == (not mixed)


def test_distance_is_the_length_of_a_shortest_path():
    for grid in (Grid(3, 4), Grid(3, 4, wrap=True), Grid(2, 5, wrap=True)):
        for start in range(grid.cells):
            reached, layer, steps = {start}, {start}, 0
            while layer:
                assert all(grid.distance(start, cell) == steps for cell in layer)
                layer = {other for cell in layer for other in grid.neighbours[cell]} - reached
                reached |= layer
                steps += 1


def test_canonical_goals():
    grid = Grid(3, 3)
    assert grid.goal() == (0, 1, 2, 3, 4, 5, 6, 7, 8)
    assert grid.goal(8) == (1, 2, 3, 4, 5, 6, 7, 8, 0)
    assert grid.goal(4) == (1, 2, 3, 4, 0, 5, 6, 7, 8)
    for blank in range(9):
        assert all(grid.goal(blank)[grid.home(tile, blank)] == tile for tile in range(1, 9))


def test_shapes_are_parsed():
    assert Grid.parse("4x5") == Grid(4, 5)
    assert Grid.parse(" 3X3 ") == Grid(3, 3)
    assert str(Grid(3, 4, wrap=True)) == "3x4 wrapped"


@pytest.mark.parametrize(
    "text",
    ["", "4", "4x", "x4", "4x4x4", "-4x4", "fourxfour", "1x4", "4x1", "0x0", "9x12", "2x51", "99999x2", "4 x 4 "],
)
def test_bad_shapes_are_refused(text):
    with pytest.raises(InputError):
        Grid.parse(text)


@pytest.mark.parametrize("text", ["10x10", "8x10", "7x12", "2x50", "50x2"])
def test_shapes_of_up_to_100_cells(text):
    assert Grid.parse(text).shape == text


def test_larger_shapes_are_refused_with_the_limit():
    with pytest.raises(InputError, match="a board of 10x11 has 110 cells: at most 100 are possible"):
        Grid(10, 11)


def test_sides_that_are_not_integers_are_refused():
    with pytest.raises(InputError, match=r"rows and columns must be integers, got 3\.0 and 4"):
        Grid(3.0, 4)


def test_bad_blanks_are_refused():
    with pytest.raises(InputError, match="the blank cannot be on cell 9: a 3x3 board has cells 0 to 8"):
        Grid(3, 3).goal(9)


def test_draw_aligns_columns():
    assert Grid(2, 3).draw(lambda cell: cell * 3) == " 0  3  6\n 9 12 15"


@pytest.mark.parametrize(
    "grid", [Grid(2, 2), Grid(3, 4), Grid(4, 3), Grid(5, 5), Grid(3, 3, True), Grid(7, 12)], ids=str
)
def test_symmetries_carry_neighbours_to_neighbours_and_are_all_different(grid):
    symmetries = grid.symmetries()
    assert symmetries[0] == (grid, tuple(range(grid.cells)))
    assert symmetries[1] == (grid, tuple(reversed(range(grid.cells))))
    assert len(set(symmetries)) == 8
    for target, cells in symmetries:
        assert (target.rows, target.cols) in {(grid.rows, grid.cols), (grid.cols, grid.rows)}
        assert sorted(cells) == list(range(grid.cells))
        for cell, around in enumerate(grid.neighbours):
            assert {cells[other] for other in around} == set(target.neighbours[cells[cell]])
