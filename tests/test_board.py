"""Boards as text: what is read, what is refused and why; goals, random boards and the sets."""

import random
from collections import Counter
from itertools import pairwise

import pytest

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid
from solver.board import draw_board, format_board, parse_board
from solver.board_files import read_boards
from solver.goals import GOALS, goal_board, goal_text
from solver.instances import SETS, load_set, random_board
from solver.solvability import why_unsolvable

EIGHT = (1, 2, 3, 4, 5, 6, 7, 8, 0)
FIFTEEN = (*range(1, 16), 0)


def texts(*lines, grid=None):
    return [text for _, text in read_boards(lines, grid)]


def refusal(text, grid=None):
    with pytest.raises(InputError) as caught:
        parse_board(text, grid)
    message = str(caught.value)
    assert message.isprintable() and len(message) < 250
    return message


# --- parse_board --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3 4 5 6 7 8 0",
        "1,2,3,4,5,6,7,8,0",
        " 1, 2 ,3\t4,\t5  6 7 8,_ ",
        "1 2 3 / 4 5 6 / 7 8 .",
        "1 2 3;4 5 6;7 8 x;",
        "1 2 3\n4 5 6\n7 8 X\n",
        "1 2 3\r\n4 5 6\r\n7 8 0\r\n",
        "[1, 2, 3, 4, 5, 6, 7, 8, 0]",
        "(1, 2, 3, 4, 5, 6, 7, 8, 0)",
        "[[1, 2, 3], [4, 5, 6], [7, 8, 0]]",
        "[[1, 2, 3],\n [4, 5, 6],\n [7, 8, 0]]\n",
        "01 02 03 04 05 06 07 08 00",
        "# easy\n1 2 3 # top\n\n4 5 6\n7 8 0 #",
        "3\n1 2 3\n4 5 6\n7 8 0",
        "\ufeff1 2 3 4 5 6 7 8 0",
        "0" * 5000 + "1 2 3 4 5 6 7 8 0",
    ],
)
def test_one_board_in_many_notations(text):
    assert parse_board(text) == (Grid(3, 3), EIGHT)
    wrapped = Grid(3, 3, wrap=True)
    assert parse_board(text, wrapped) == (wrapped, EIGHT)


def test_the_shape_comes_from_the_grid_or_from_the_rows():
    assert parse_board("1 2 3 / 4 5 0") == (Grid(2, 3), (1, 2, 3, 4, 5, 0))
    assert parse_board("1 2 / 3 4 / 5 0") == (Grid(3, 2), (1, 2, 3, 4, 5, 0))
    assert parse_board("1 2 3 4 5 0", Grid(3, 2)) == (Grid(3, 2), (1, 2, 3, 4, 5, 0))


def test_boards_are_wrapped_if_asked_for():
    assert parse_board("1 2 3 0", None, True)[0] == Grid(2, 2, wrap=True)
    assert parse_board("1 2 3 / 4 5 0", wrap=True)[0] == Grid(2, 3, wrap=True)
    assert parse_board("1 2 3 / 4 5 0", Grid(2, 3), True)[0] == Grid(2, 3), "a grid that is given counts"
    with pytest.raises(InputError, match="give `shape` 2x3"):
        parse_board("1 2 3 4 5 0", wrap=True)


SQUARES = [Grid(side, side) for side in range(2, 11)]
LARGE = [Grid(7, 12), Grid(12, 7), Grid(8, 10), Grid(2, 50), Grid(50, 2)]


@pytest.mark.parametrize("grid", [*SQUARES, Grid(3, 4), Grid(2, 7), *LARGE], ids=str)
def test_round_trips(grid):
    chance = random.Random(grid.cells)
    for _ in range(20):
        board = random_board(grid, grid.goal(), chance)
        assert parse_board(format_board(grid, board), grid) == (grid, board)
        assert parse_board(draw_board(grid, board)) == (grid, board)
        if grid.rows == grid.cols:
            assert parse_board(format_board(grid, board)) == (grid, board)


def test_how_a_board_is_drawn():
    assert format_board(Grid(2, 2), (3, 1, 0, 2)) == "3 1 0 2"
    assert draw_board(Grid(3, 4), (*range(1, 12), 0)) == " 1  2  3  4\n 5  6  7  8\n 9 10 11  ."


@pytest.mark.parametrize(
    "text, parts",
    [
        ("", ["empty", "1 2 3"]),
        (" \n\t\n", ["empty"]),
        ("# only a comment", ["empty"]),
        ("[[], []]", ["empty"]),
        ("1 2 three 0", ["'three' is not a number", "blank as 0"]),
        ("1 2 3.5 0", ["'3.5'"]),
        ("1 2 +3 0", ["'+3'"]),
        ("1 2 ² 0", ["'²' is not a number"]),
        ("1 2 ٣ 0", ["'٣' is not a number"]),
        ("1 2 3\0 0", ["'3\\x00' is not a number"]),
        ("1 2 \ud800 0", ["'\\ud800'"]),
        ("q" * 10**5, ["'qqqqqqqqqqqqqqqqqqqq…'"]),
        ("1 2 -3 0", ["'-3' is negative"]),
        ("1 2 " + "9" * 5000 + " 0", ["'99999999999999999999…' is too large", "100 cells"]),
        ("1 2 3 4 5 6 7 8 9", ["not a 3x3 board", "out of range 9; no blank", "0 (the blank) to 8"]),
        ("0 2 3 4 5 6 7 8 0", ["missing 1; 2 blanks"]),
        ("_ 2 3 4 x 6 7 8 0", ["missing 1, 5; 3 blanks"]),
        ("1 1 2 2 5 6 7 8 0", ["missing 3, 4; repeated 1, 2: write"]),
        ("0 " * 64, ["missing 1, 2, 3, 4, 5, 6, … (63 in all); 64 blanks"]),
        ("1 2 3 99 5 6 7 8 0", ["missing 4; out of range 99: write"]),
        ("0", ["1 number cannot be a board", "2x2"]),
        ("0 1 2", ["3 numbers cannot be a board"]),
        ("0 1 2 3 4 5 6", ["7 numbers cannot be a board of any shape"]),
        ("0 1 2 3 4 5", ["6 numbers do not make a square", "`shape` 2x3 (or 3x2)"]),
        (" ".join(map(str, range(12))), ["12 numbers do not make a square", "`shape` 3x4 (or 2x6, 4x3, 6x2)"]),
        (" ".join(map(str, range(121))), ["121 numbers cannot be a board", "at most 100"]),
        (
            " ".join(map(str, range(84))),
            ["84 numbers do not make a square", "`shape` 7x12 (or 2x42, 3x28, 4x21, 6x14, 12x7,"],
        ),
        (" ".join(map(str, range(1, 101))), ["not a 10x10 board", "out of range 100; no blank"]),
        ("1 2 3 / 4 5 / 6 7 0", ["row 2 has 2 numbers, but row 1 has 3"]),
        ("1 2 3 / 4 5 6 / 0", ["row 3 has 1 number, but row 1 has 3"]),
        ("1 / 2 / 3 / 0", ["4x1 is too small"]),
        ("\n".join([" ".join("1" * 11)] * 11), ["11x11 has 121 cells"]),
        ("3\n1 2 3\n4 5 0", ["announces 3 rows of 3 numbers, but 2 rows follow"]),
        ("3\n0 1 2\n3 4 5\n6 7", ["announces 3 rows of 3 numbers, but one has 2 numbers"]),
    ],
)
def test_what_is_not_a_board_is_refused_with_the_reason(text, parts):
    message = refusal(text)
    for part in parts:
        assert part in message


def test_a_board_that_does_not_fit_the_grid_is_refused():
    assert "15 numbers for the 16 cells of a 4x4 board: no blank" in refusal(
        " ".join(map(str, range(1, 16))), Grid(4, 4)
    )
    assert "3 numbers for the 9 cells of a 3x3 board: missing 3, 4, 5, 6, 7, 8:" in refusal("0 1 2", Grid(3, 3))
    assert "10 numbers for the 9 cells of a 3x3 board: out of range 9" in refusal("0 1 2 3 4 5 6 7 8 9", Grid(3, 3))
    message = refusal("0 1 2 / 3 4 5", Grid(3, 2))
    assert "2 rows of 3" in message and "shape is 3x2" in message and "3 rows of 2" in message
    assert "3 rows of 3" in refusal("3\n0 1 2\n3 4 5\n6 7 8", Grid(4, 4))


def garbage(chance):
    """Text at random, from noise to nearly a board."""
    kind = chance.randrange(4)
    if kind == 0:
        return "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randrange(12)))
    if kind == 1:
        return "".join(
            chance.choice("0123456789 ,/;\n\t\r#-_.xX[](){}²٣\0\u2028\x85") for _ in range(chance.randrange(60))
        )
    side = chance.randrange(1, 6)
    words = list(map(str, chance.sample(range(side * side), side * side)))
    if kind == 2 or chance.random() < 0.5:
        words[chance.randrange(len(words))] = chance.choice(["", "-1", "16", "9" * 5000, "?", "x", "3", "/", "#", "\n"])
    breaks = chance.choice([" ", ",", "\n", " / "])
    return breaks.join(" ".join(words[at : at + side]) for at in range(0, len(words), side))


def test_garbage_is_a_board_or_an_input_error():
    chance = random.Random(15)
    boards = 0
    for _ in range(4000):
        grid = chance.choice([None, None, Grid(2, 3), Grid(3, 3), Grid(4, 4, wrap=True)])
        text = garbage(chance)
        try:
            found, board = parse_board(text, grid)
        except InputError as error:
            assert str(error).isprintable()
        else:
            boards += 1
            assert sorted(board) == list(range(found.cells)) and grid in (None, found)
    assert 100 < boards < 3900  # or the garbage is all of one kind


# --- read_boards --------------------------------------------------------------------------------


def test_one_board_per_line():
    lines = ["# two boards", "1 2 3 4 5 6 7 8 0\n", "", "  1,2,3/4,5,6/7,8,_  # solved", "[[1, 2], [3, 0]]"]
    assert list(read_boards(lines)) == [
        (2, "1 2 3 4 5 6 7 8 0"),
        (4, "1,2,3/4,5,6/7,8,_"),
        (5, "[[1, 2], [3, 0]]"),
    ]
    assert list(read_boards([])) == []


def lines_read(lines, grid=None):
    """How many lines were read when each board was yielded."""
    read = []

    def noted():
        for line in lines:
            read.append(line)
            yield line

    return [len(read) for _ in read_boards(noted(), grid)]


def test_a_board_is_yielded_before_the_next_line_is_read():
    small = ["1 2 3 4 5 6 7 8 0", "what is this", "1 2 3 4 5 6 7 8 8", "8 7 6 5 4 3 2 1 0"]
    assert lines_read(small, Grid(3, 3)) == [1, 2, 3, 4]
    large = format_board(Grid(4, 4), FIFTEEN)
    assert lines_read([large, "what is this", large, "1 2 / 3 0", large]) == [1, 2, 3, 4, 5]


def test_a_board_that_could_be_a_row_waits_for_the_next_line_alone():
    assert lines_read(["1 2 3 0", "3 2 1 0", "", "2 1 3 0"]) == [2, 3, 4]
    assert lines_read(["1 2 3 4 5 6 7 8 0", "# a comment", "8 7 6 5 4 3 2 1 0"]) == [3, 3]


@pytest.mark.parametrize("bad", ["7", "1 2 3", "1 2 3 4", "0 1 2 3", "a b", "-1", "1 2 3 4 5 6 7 8", "/", "9" * 5000])
@pytest.mark.parametrize("grid", [None, Grid(4, 4)])
def test_a_bad_line_does_not_affect_the_good_ones(bad, grid):
    good = format_board(Grid(4, 4), FIFTEEN)
    found = texts(good, bad, good, good, bad, bad, good, grid=grid)
    assert found.count(good) == 4


def test_a_bad_line_among_boards_of_2x2():
    assert texts("1 2 3 0", "1 2 3 4", "0 1 2 3", "1 2 3 3", "3 2 1 0") == [
        "1 2 3 0",
        "1 2 3 4",
        "0 1 2 3",
        "1 2 3 3",
        "3 2 1 0",
    ]


def test_a_matrix_after_its_size():
    lines = [
        "# solvable",
        "3 # size",
        "1 2 3",
        "# a remark",
        "4 5 6",
        "7 8 0",
        "2",
        "",
        "0 1",
        "2 3",
        "4",
        *["0 1 2 3"],
    ]
    assert list(read_boards(lines)) == [(2, "1 2 3 / 4 5 6 / 7 8 0"), (7, "0 1 / 2 3"), (11, "4 / 0 1 2 3")]


@pytest.mark.parametrize("grid", [None, Grid(3, 3)])
@pytest.mark.parametrize(
    "rows",
    [["0 1 2", "3 4 5"], ["0 1 2", "3 4", "5 6 7"], ["0 1", "2 3", "4 5"], ["1 2 3 4", "5 6 7 8", "9 10 11 0"], []],
)
def test_a_matrix_that_belies_its_size_is_one_bad_board(rows, grid):
    good = "1 2 3 4 5 6 7 8 0"
    *bad, last = texts("3", *rows, "", good, grid=grid)
    assert last == good
    for text in bad:
        refusal(text, grid)
    if grid is None:
        assert bad == [" / ".join(["3", *rows])]


def test_a_size_ends_the_previous_matrix():
    assert texts("3", "1 2 3", "4 5 6", "3", "1 2 3", "4 5 6", "7 8 0") == [
        "3 / 1 2 3 / 4 5 6",
        "1 2 3 / 4 5 6 / 7 8 0",
    ]


def test_a_size_that_is_too_large_makes_one_bad_board():
    (text,) = texts("11", *[" ".join(map(str, range(at, at + 11))) for at in range(0, 121, 11)])
    assert "11x11 has 121 cells" in refusal(text)


NARROW = [Grid(2, 3), Grid(4, 3), Grid(3, 5), Grid(5, 3), Grid(10, 7), Grid(7, 10), Grid(11, 9)]


@pytest.mark.parametrize("grid", [*SQUARES, *NARROW], ids=str)
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("between", [[], [""], ["# next"]])
def test_bare_matrices(grid, known, between):
    if grid.cols > grid.rows and not known:
        between = [""]
    chance = random.Random(0)
    boards = [random_board(grid, grid.goal(), chance) for _ in range(8)]
    lines = [line for board in boards for line in (*draw_board(grid, board).splitlines(), *between)]
    found = list(read_boards(lines, grid if known else None))
    assert [parse_board(text) for _, text in found] == [(grid, board) for board in boards]
    assert [at for at, _ in found] == [1 + (grid.rows + len(between)) * count for count in range(8)]


@pytest.mark.parametrize("grid", LARGE, ids=str)
def test_wide_matrices_need_the_grid(grid):
    chance = random.Random(1)
    boards = [random_board(grid, grid.goal(), chance) for _ in range(3)]
    lines = [line for board in boards for line in draw_board(grid, board).splitlines()]
    assert [parse_board(text, grid)[1] for _, text in read_boards(lines, grid)] == boards
    if grid.cols > 10:
        assert list(read_boards(lines)) == [(at, line.strip()) for at, line in enumerate(lines, 1)]


def test_nine_numbers_are_a_board_of_3x3_or_a_row_of_9x9():
    good, slip, row = "1 2 3 4 5 6 7 8 0", "1 2 3 4 5 6 7 9 0", "10 11 12 13 14 15 16 17 18"
    assert texts(good, good) == [good, good]
    assert texts(good, slip, good, "1 2 3 4 5 6 7 8 ?", "1 2 3 4 5 6 7 8 8", slip) == [
        *(good, slip, good, "1 2 3 4 5 6 7 8 ?", "1 2 3 4 5 6 7 8 8", slip),
    ]
    assert texts(row, good) == [f"{row} / {good}"]  # nothing is repeated: the matrix goes on
    for goal in ("last", "spiral"):
        grid = Grid(9, 9)
        board = goal_board(grid, goal)
        (text,) = texts(*draw_board(grid, board).splitlines())
        assert parse_board(text) == (grid, board)


@pytest.mark.parametrize("grid", [Grid(4, 4), Grid(9, 9), Grid(5, 4), Grid(2, 4)], ids=str)
def test_a_matrix_whose_first_row_is_a_board(grid):
    chance = random.Random(14)
    small = list(range(grid.cols))
    for _ in range(20):
        first = chance.sample(small, grid.cols)
        others = chance.sample(range(grid.cols, grid.cells), grid.cells - grid.cols)
        board = (*first, *others)
        lines = draw_board(grid, board).splitlines()
        for before in ([], ["", " ".join(map(str, first)), ""], [*lines, ""]):
            *_, text = texts(*before, *lines)
            assert parse_board(text) == (grid, board)
            assert len(texts(*before, *lines)) == 1 + any(before)


@pytest.mark.parametrize("grid", [Grid(3, 2), Grid(4, 2), Grid(5, 3), Grid(8, 3), Grid(6, 4), Grid(11, 9)], ids=str)
def test_a_tall_matrix_whose_first_rows_are_a_board(grid):
    chance = random.Random(15)
    for _ in range(20):
        square = range(grid.cols * grid.cols)
        board = (
            *chance.sample(square, len(square)),
            *chance.sample(range(len(square), grid.cells), grid.cells - len(square)),
        )
        lines = draw_board(grid, board).splitlines()
        assert [parse_board(text) for text in texts(*lines)] == [(grid, board)]
        first = lines[: grid.cols]
        assert [parse_board(text)[1] for text in texts(*first, "", *lines)] == [board[: len(square)], board]
        assert [parse_board(text)[1] for text in texts(*first, *first)] == [board[: len(square)]] * 2


def test_a_matrix_whose_first_row_is_a_board_may_hold_a_typo():
    for second in ("5 6 7 3", "5 6 ? 4", "5 6 7 99"):
        (text,) = texts("1 2 3 0", second, "9 10 11 8", "13 14 15 12")
        refusal(text)


def test_ten_numbers_are_a_row():
    grid = Grid(10, 10)
    for goal in GOALS:
        (text,) = texts(*draw_board(grid, goal_board(grid, goal)).splitlines())
        assert parse_board(text) == (grid, goal_board(grid, goal))
    good, ten = "1 2 3 4 5 6 7 8 0", "1 2 3 4 5 6 7 8 9 0"
    assert texts(good, ten, good) == [good, ten, good]
    assert "10 numbers do not make a square board: give `shape` 2x5" in refusal(ten)


def test_bare_matrices_whose_first_rows_are_a_board():
    assert texts("0 1 2", "3 4 5", "6 7 8") == ["0 1 2 / 3 4 5 / 6 7 8"]
    assert texts("0 1 2", "3 4 5", "", "6 7 8") == ["0 1 2 / 3 4 5", "6 7 8"]
    rows = ["0 1 2 3", "4 5 6 7", "8 9 10 11", "12 13 14 15"]
    for lines in (rows, rows[::-1]):
        assert texts(*lines, grid=Grid(4, 4)) == texts(*lines) == [" / ".join(lines)]


def test_a_bare_matrix_with_a_slip_is_one_bad_board():
    (text,) = texts("1 2 3 4", "5 6 7 8", "9 10 11 12", "13 14 12 0")
    assert "missing 15; repeated 12" in refusal(text)
    assert texts("1 2 3", "4 ? 6", "7 8 0", "1 2 3", "4 5 6", "7 8 0") == [
        "1 2 3 / 4 ? 6 / 7 8 0",
        "1 2 3 / 4 5 6 / 7 8 0",
    ]
    assert texts("[", "[1, 2, 3],", "[4, 5, 6],", "[7, 8, 0]", "]") == ["1 2 3 / 4 5 6 / 7 8 0"]


def test_garbage_is_split_without_an_error():
    chance = random.Random(16)
    for _ in range(1500):
        grid = chance.choice([None, Grid(3, 3), Grid(4, 4)])
        lines = "\n".join(garbage(chance) for _ in range(chance.randrange(4))).split("\n")
        last = 0
        for number, text in read_boards(lines, grid):
            assert last < number <= len(lines)
            last = number
            try:
                parse_board(text, grid)
            except InputError as error:
                assert str(error).isprintable()


# --- goals --------------------------------------------------------------------------------------


def test_goals_by_name():
    assert GOALS == ("last", "first", "spiral")
    assert goal_board(Grid(3, 3)) == EIGHT
    assert goal_board(Grid(2, 3), "first") == (0, 1, 2, 3, 4, 5)
    assert goal_board(Grid(2, 3), " Last ") == (1, 2, 3, 4, 5, 0)


@pytest.mark.parametrize(
    "text",
    [
        "1 2 / 0 3",
        "1 2 3 / 8 0 4 / 7 6 5",
        "1 2 3 4 / 12 13 14 5 / 11 0 15 6 / 10 9 8 7",
        "1 2 3 / 0 5 4",
        "1 2 / 0 3 / 5 4",
        "1 2 3 4 / 10 11 0 5 / 9 8 7 6",
        "1 2 3 / 10 11 4 / 9 0 5 / 8 7 6",
    ],
)
def test_spiral_goals(text):
    grid, board = parse_board(text)
    assert goal_board(grid, "spiral") == board


@pytest.mark.parametrize("grid", [Grid(9, 9), Grid(10, 10), *LARGE], ids=str)
def test_goals_of_large_boards(grid):
    for goal in GOALS:
        assert sorted(goal_board(grid, goal)) == list(range(grid.cells))
    spiral = goal_board(grid, "spiral")
    path = [spiral.index(tile % grid.cells) for tile in range(1, grid.cells + 1)]
    assert path[: grid.cols] == list(range(grid.cols))
    assert all(after in grid.neighbours[before] for before, after in pairwise(path))


def test_goals_that_are_written_out():
    assert goal_board(Grid(3, 3), "8 7 6 5 4 3 2 1 0") == (8, 7, 6, 5, 4, 3, 2, 1, 0)
    for text in ("snail", "1 2 3 0", "", "\0"):
        with pytest.raises(InputError, match="neither last, first, spiral nor a board: ") as caught:
            goal_board(Grid(3, 3), text)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("grid", [Grid(2, 2), Grid(2, 3), Grid(3, 2), Grid(3, 3, True), Grid(5, 4), *LARGE], ids=str)
def test_goals_as_text_are_read_back(grid):
    assert [goal_text(grid, goal_board(grid, name)) for name in GOALS] == list(GOALS)
    for goal in (grid.goal(1), tuple(range(grid.cells))[::-1]):
        text = goal_text(grid, goal)
        assert text == format_board(grid, goal) and goal_board(grid, text) == goal


# --- random boards ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grid, boards", [(Grid(2, 2), 12), (Grid(2, 2, wrap=True), 12), (Grid(2, 3), 360), (Grid(2, 3, wrap=True), 720)]
)
def test_random_boards_are_solvable_and_uniform(grid, boards):
    chance, goal, share = random.Random(22), goal_board(grid, "spiral"), 100
    drawn = Counter(random_board(grid, goal, chance) for _ in range(boards * share))
    assert len(drawn) == boards
    assert all(why_unsolvable(grid, board, goal) is None for board in drawn)
    assert 50 < min(drawn.values()) <= max(drawn.values()) < 150  # five standard deviations
    surprise = sum((count - share) ** 2 / share for count in drawn.values())
    assert abs(surprise - boards) < 5 * (2 * boards) ** 0.5


def test_random_boards_follow_the_seed():
    grid = Grid(5, 5)
    a, b = (random_board(grid, grid.goal(), random.Random(5)) for _ in range(2))
    assert a == b != random_board(grid, grid.goal(), random.Random(6))


# --- sets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, grid, goal, boards, moves",
    [
        ("korf100", Grid(4, 4), "first", 100, 5305),
        ("korf24", Grid(5, 5), "first", 50, 5039),
        ("farthest", Grid(4, 4), "last", 17, 17 * 80),
    ],
)
def test_shipped_sets(name, grid, goal, boards, moves):
    assert name in SETS
    found, end, instances = load_set(name)
    assert found == grid and end == goal_board(grid, goal)
    assert [instance.id for instance in instances] == list(range(1, boards + 1))
    assert len({instance.board for instance in instances}) == boards
    assert sum(instance.length for instance in instances) == moves
    for instance in instances:
        assert why_unsolvable(grid, instance.board, end) is None
        blanks = grid.distance(instance.board.index(0), end.index(0))
        assert instance.length % 2 == blanks % 2
        assert (instance.generated is None) == (name == "farthest")


def test_first_boards_of_the_sets():
    assert load_set("korf100")[2][0] == (1, (14, 13, 15, 7, 11, 12, 9, 5, 6, 0, 2, 1, 4, 8, 10, 3), 57, 276361933)
    assert load_set("korf24")[2][0].length == 95


def test_the_farthest_boards_come_in_mirror_images():
    grid, _, instances = load_set("farthest")
    boards = {instance.board for instance in instances}

    def mirrored(board):
        def across(cell):
            return cell % 4 * 4 + cell // 4

        tiles = [board[across(cell)] for cell in range(grid.cells)]
        return tuple(tile and across(tile - 1) + 1 for tile in tiles)

    assert {mirrored(board) for board in boards} == boards


def test_an_unknown_set_is_refused():
    with pytest.raises(InputError, match=r"unknown set of boards 'korf99': use korf100, korf24, farthest"):
        load_set("korf99")
