"""Moves as people write them: scrambles in, letters with run lengths out."""

import json
import random
from itertools import pairwise

import pytest

from pdb_builder import Grid, InputError
from solver import scramble, solve
from solver.board import format_board
from solver.goals import goal_board
from solver.notation import MOST_MOVES, OPPOSITES, compact

from .helpers import followed, random_goal
from .oracle import boards_after

GRIDS = [Grid(2, 2), Grid(3, 3), Grid(2, 5), Grid(4, 3), Grid(3, 3, True), Grid(2, 4, True), Grid(10, 10)]
OTHER = {"tile": "blank", "blank": "tile"}


def walked(grid, board, moves, chance, of):
    """Letters of random moves from a board, found by trying all four, and the board they lead to."""
    letters = ""
    for _ in range(moves):
        options = []
        for letter in "UDLR":
            try:
                options.append((letter, followed(grid, board, letter, of)))
            except AssertionError:
                continue
        letter, board = chance.choice(options)
        letters += letter
    return letters, board


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("of", OTHER)
def test_a_scramble_is_the_board_that_its_moves_lead_to(grid, of):
    chance = random.Random(f"{grid} {of}")
    for _ in range(20):
        goal = random_goal(grid, chance)
        letters, board = walked(grid, goal, chance.randrange(60), chance, of)
        for text in (
            letters,
            compact(letters),
            letters.lower(),
            " , ".join(letters),
            compact(letters).replace(" ", ""),
        ):
            assert scramble(text, grid, goal, of=of) == board
        mirrored = "".join(OPPOSITES[letter] for letter in letters)
        assert scramble(mirrored, grid, goal, of=OTHER[of]) == board
        assert scramble(compact(letters), grid.shape, list(goal), grid.wrap, of) == board


def test_run_lengths():
    assert scramble("R0000002 D01", "3x3") == scramble("R2 D", "3x3")
    assert compact("RRDLLLLLLLLLLLLU") == "R2 D L12 U"
    assert compact("") == ""
    chance = random.Random(1)
    for _ in range(100):
        letters = "".join(chance.choices("UDLR", k=chance.randrange(30)))
        runs = compact(letters).split()
        assert "".join(run[0] * int(run[1:] or 1) for run in runs) == letters
        assert all(first[0] != second[0] for first, second in pairwise(runs))
        assert not any(run.endswith("1") and len(run) == 2 for run in runs)


@pytest.mark.jit
@pytest.mark.parametrize("grid", [Grid(3, 3), Grid(2, 3, True)], ids=str)
def test_a_solution_backwards_is_a_scramble(grid):
    """Its moves in reverse order, each the other way round, lead from the goal to the board."""
    chance = random.Random(3)
    for goal in ("last", "first", "spiral"):
        _, board = walked(grid, goal_board(grid, goal), 30, chance, "tile")
        solution = solve(format_board(grid, board), goal, shape=grid.shape, wrap=grid.wrap, heuristic="manhattan")
        assert solution.compact_moves == compact(solution.moves)
        for of in OTHER:
            letters = solution.letters(solution.tiles, of)
            back = "".join(OPPOSITES[letter] for letter in reversed(letters))
            assert scramble(compact(back), grid, goal, of=of) == board
            assert solution.letters(solution.tiles, of, in_runs=True) == compact(letters)


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ("U", "move 1 of the scramble, U, is off the board: a tile cannot go up while the blank is in the last row"),
        (
            "R2 D L3",
            "move 6 of the scramble, L, is off the board: a tile cannot go left while the blank is in the last",
        ),
        ("R'", '"R\'" at character 1 of the scramble: sliding tiles have no primes: write L instead'),
        ("d R2\u2019", "at character 3 of the scramble: sliding tiles have no primes: write L instead"),
        ("R2 x", "'x' at character 4 of the scramble is not a move"),
        ("2R", "'2R' at character 1 of the scramble is not a move"),
        ("R-1", "'-1' at character 2 of the scramble is not a move"),
        ("R\u0662", "at character 2 of the scramble is not a move"),
        ("D0", "'D0' at character 1 of the scramble is no move at all"),
        ("D0000000", "'D0000000' at character 1 of the scramble is no move at all"),
        ("R" + "9" * 5000, f"more than {MOST_MOVES:,} moves"),
        ("DU" * MOST_MOVES, f"more than {MOST_MOVES:,} moves"),
        (None, "a scramble must be text, got None"),
        (["R"], "a scramble must be text"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_scramble_is_refused_in_one_line(moves, message):
    with pytest.raises(InputError) as error:
        scramble(moves, "3x3")
    assert message in str(error.value) and len(str(error.value).splitlines()) == 1


def test_a_blank_that_leaves_the_board_is_named():
    with pytest.raises(InputError, match=r"move 2 of the scramble, R, .*the blank cannot go right .*last column"):
        scramble("UR", "3x3", of="blank")
    with pytest.raises(InputError, match="tile or the blank, got 'hand'"):
        scramble("U", "3x3", of="hand")


def test_every_move_is_possible_where_edges_are_joined():
    board = goal_board(Grid(3, 3, True))
    for letter in "UDLR":
        after = scramble(letter, "3x3", wrap=True)
        assert after in boards_after(Grid(3, 3, True), board)
        assert scramble(letter + OPPOSITES[letter], "3x3", wrap=True) == board
    assert scramble("R3U3", "3x3", wrap=True) != board


# ---- the command --------------------------------------------------------------------------------


@pytest.mark.jit
def test_scrambles_of_a_command(run):
    quiet = ("--heuristic", "manhattan", "--quiet")
    assert run("solve", "--scramble", "R2 D", *quiet) == (0, "ULL\n", "")
    assert run("solve", "--scramble", "R2 D", "--compact", *quiet) == (0, "U L2\n", "")
    assert run("solve", "--scramble", "L2 U", "--moves", "blank", "--compact", *quiet) == (0, "D R2\n", "")
    assert run("solve", "--scramble", "", *quiet) == (0, "\n", "")
    record = json.loads(
        run("solve", "--scramble", "R2 D", "--compact", "--heuristic", "manhattan", "--all", "--json")[1]
    )
    assert (record["shape"], record["moves"], record["solutions"]) == ("4x4", "U L2", ["U L2"])
    output = run("solve", "--scramble", "R2 D", "--compact", "--heuristic", "manhattan")[1]
    assert "\nU L2\n" in output and "ULL" not in output
    written = run("solve", "--scramble", "d", "--goal", "1 2 3 / 4 5 0", *quiet)
    assert written == (0, "U\n", "")
    assert run("solve", "--scramble", "u", "--shape", "2x3", "--wrap", *quiet)[0] == 0


def test_scrambles_of_other_commands(run):
    code, output, _ = run("check", "--scramble", "R D", "--shape", "3x3")
    assert code == 0 and output.startswith("    1 2 3      1 2 3\n    4 . 6")
    for words in (["1 2 3 0"], ["--file", "x"], ["--set", "korf24"]):
        code, output, errors = run("check", "--scramble", "R", *words)
        assert (code, output) == (2, "") and "exclude each other" in errors
    code, _, errors = run("compare", "--scramble", "R", "--random", "3x3")
    assert code == 2 and "leave out boards, --scramble" in errors


def test_a_scramble_that_is_none_is_one_line_and_exit_code_2(run):
    for moves in ("U", "R'", "hello", "\udcff"):
        code, output, errors = run("solve", "--scramble", moves)
        assert (code, output, len(errors.splitlines())) == (2, "", 1)
