"""Which boards can be solved: the textbook rule and parity against exhaustive search, and ``pdb-solver check``."""

import json
import random
import re
from itertools import combinations, permutations

import pytest

from pdb_builder.grid import Grid
from solver.goals import goal_board
from solver.instances import random_board
from solver.solvability import KEYS, exchanges, explanation, facts_of, short_explanation, verdict, why_unsolvable

from .helpers import scrambled
from .oracle import distances_to

SOLVABLE, STUCK = "1 2 3 4 5 6 0 7 8", "1 2 3 4 5 6 8 7 0"
SMALL = [Grid(rows, cols, wrap) for rows, cols in ((2, 2), (2, 3), (3, 2), (2, 4), (4, 2)) for wrap in (False, True)]
GOALS = ["last", "first", "spiral", "arbitrary"]


def goal_of(grid, name):
    """A goal by name; the arbitrary one has the blank inside, if there is an inside, and an odd order."""
    if name != "arbitrary":
        return goal_board(grid, name)
    board = [*range(grid.cells - 1, 0, -1)]
    board.insert(grid.cols + 1 if grid.rows > 2 < grid.cols else 1, 0)
    return tuple(board)


def inversions(board, goal):
    """Pairs of tiles in another order than in the goal, counted by looking each of them up."""
    return sum(
        (board.index(a) < board.index(b)) != (goal.index(a) < goal.index(b))
        for a, b in combinations(range(1, len(board)), 2)
    )


def printed_rule_holds(lines):
    """Whether a board is as the printed rule asks, judged by nothing but what is printed."""
    rule = next(line for line in lines if line.startswith("rule"))
    if "none" in rule:
        return True
    asked = re.search(r"stay (even|odd), as in the goal", rule)[1]
    here = re.search(r"(and|but) here they are (?:(\d+) \+ (\d+) = )?(\d+)$", rule)
    if here[2]:
        assert int(here[2]) + int(here[3]) == int(here[4])
    holds = int(here[4]) % 2 == (asked == "odd")
    assert here[1] == ("and" if holds else "but")
    return holds


# ---- the rule ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOALS)
@pytest.mark.parametrize("grid", SMALL, ids=str)
def test_the_rule_is_true_of_every_board(grid, name):
    goal = goal_of(grid, name)
    solvable = distances_to(grid, goal)
    for number, board in enumerate(permutations(range(grid.cells))):
        facts = facts_of(grid, board, goal)
        assert facts.solvable == facts.keeps_rule == (board in solvable)
        if name == "arbitrary" or number % 11 == 0:
            assert (why_unsolvable(grid, board, goal) is None) == facts.solvable
        if number % 11 == 0:
            assert facts.inversions == inversions(board, goal)
            assert printed_rule_holds([*explanation(facts)]) == facts.solvable


def check_3x3(grid, goal, step):
    solvable = distances_to(grid, goal)
    assert len(solvable) == 362880 // (1 if grid.wrap else 2)
    for board in [*permutations(range(9))][::step]:
        facts = facts_of(grid, board, goal)
        assert facts.solvable == facts.keeps_rule == (board in solvable)
        assert (why_unsolvable(grid, board, goal) is None) == facts.solvable


@pytest.mark.parametrize("wrap", [False, True])
def test_the_rule_is_true_of_3x3(wrap):
    grid = Grid(3, 3, wrap)
    check_3x3(grid, goal_of(grid, "arbitrary"), 37)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("wrap", [False, True])
def test_the_rule_is_true_of_every_board_of_3x3(wrap, goal):
    grid = Grid(3, 3, wrap)
    check_3x3(grid, goal_of(grid, goal), 1)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("rows, cols", [(4, 4), (4, 6), (6, 2), (3, 5), (5, 4), (4, 5), (2, 7), (8, 8)])
def test_the_rule_and_parity_agree_on_larger_boards(rows, cols, wrap):
    grid, chance = Grid(rows, cols, wrap), random.Random(rows * cols)
    for goal in [goal_board(grid, "last"), goal_board(grid, "spiral"), random_board(grid, grid.goal(0), chance)]:
        verdicts = set()
        for _ in range(50):
            board = tuple(chance.sample(range(grid.cells), grid.cells))
            facts, lines = facts_of(grid, board, goal), [*explanation(facts_of(grid, board, goal))]
            assert facts.solvable == facts.keeps_rule == printed_rule_holds(lines)
            assert facts.solvable == (why_unsolvable(grid, board, goal) is None)
            assert max(map(len, [*lines, verdict(facts), short_explanation(facts)])) <= 120
            if grid.bipartite:
                assert facts.solvable == (facts.exchanges % 2 == facts.blank_moves % 2)
            verdicts.add(facts.solvable)
        assert verdicts == ({True, False} if grid.bipartite else {True})


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("rows, cols", [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3), (4, 4), (4, 5), (5, 4), (5, 5)])
def test_a_move_changes_as_many_inversions_as_the_module_says(rows, cols, wrap):
    """The table at the head of the module."""
    grid, chance = Grid(rows, cols, wrap), random.Random(7)
    goal = grid.goal(0)
    for hole in range(grid.cells):
        for cell in grid.neighbours[hole]:
            board = [*chance.sample(range(1, grid.cells), grid.cells - 1)]
            board.insert(hole, 0)
            moved = list(board)
            moved[hole], moved[cell] = moved[cell], 0
            before, after = facts_of(grid, board, goal), facts_of(grid, moved, goal)
            down, across = abs(hole // cols - cell // cols), abs(hole % cols - cell % cols)
            passed = {
                (0, 1): 0,
                (1, 0): cols - 1,
                (0, cols - 1): cols - 2,
                (rows - 1, 0): (rows - 1) * cols - 1,
            }[down, across]
            assert (after.inversions - before.inversions) % 2 == passed % 2
            assert abs(after.inversions - before.inversions) <= passed
            assert abs(after.blank_row - before.blank_row) == down


def test_the_reason_names_the_parities_and_the_remedy():
    grid, goal = Grid(4, 4), (*range(1, 16), 0)
    sam_loyd = (*range(1, 14), 15, 14, 0)
    reason = why_unsolvable(grid, sam_loyd, goal)
    assert "an odd number of exchanges" in reason and "an even number of moves" in reason
    assert "exchange any two tiles" in reason and reason.isprintable()
    moved_once = (*range(1, 15), 0, 15)
    assert why_unsolvable(grid, moved_once, goal) is None
    reason = why_unsolvable(grid, (*range(1, 13), 14, 13, 0, 15), goal)
    assert "an even number of exchanges" in reason and "an odd number of moves" in reason


@pytest.mark.parametrize("wrap", [False, True])
def test_moves_keep_a_board_solvable(wrap):
    grid, chance = Grid(4, 6, wrap), random.Random(46)
    goal = goal_board(grid, "spiral")
    for moves in range(0, 300, 7):
        board = scrambled(grid, goal, moves, chance)
        assert why_unsolvable(grid, board, goal) is None
        assert why_unsolvable(grid, [{1: 2, 2: 1}.get(tile, tile) for tile in board], goal)


def test_exchanges():
    assert exchanges((1, 2, 3, 0), (1, 2, 3, 0)) == 0
    assert exchanges((2, 1, 3, 0), (1, 2, 3, 0)) == 1
    assert exchanges((0, 1, 2, 3), (1, 2, 3, 0)) == 3
    assert exchanges((2, 1, 0, 3), (1, 2, 3, 0)) == 2


def test_rules_in_words():
    def rule(grid, goal="last"):
        goal = goal_board(grid, goal)
        return facts_of(grid, goal, goal).rule

    assert rule(Grid(3, 3)) == rule(Grid(4, 5), "spiral") == "inversions even"
    assert rule(Grid(4, 4)) == rule(Grid(3, 4)) == rule(Grid(4, 4, wrap=True)) == "inversions + row odd"
    assert rule(Grid(4, 4), "first") == "inversions + row even"
    assert rule(Grid(3, 4), "first") == "inversions + row odd"
    assert rule(Grid(3, 4, wrap=True)) is rule(Grid(4, 3, wrap=True)) is rule(Grid(5, 5, wrap=True)) is None


# ---- the command ------------------------------------------------------------------------------------


def test_a_board_that_can_be_solved(run):
    code, output, errors = run("check", SOLVABLE)
    assert (code, errors) == (0, "")
    assert output == (
        "    1 2 3      1 2 3\n"
        "    4 5 6  ->  4 5 6\n"
        "    . 7 8      7 8 .\n"
        "can be solved\n"
        "inversions  0 (pairs of tiles, read row by row, a larger number before a smaller one)\n"
        "width       3, odd: a vertical move passes 2 tiles, an even number; a horizontal move passes none\n"
        "rule        inversions stay even, as in the goal, which has 0; and here they are 0\n"
        "or          exchanges to the goal: 2, even; blank's moves to its home: 2, even: they must agree, and do\n"
    )


def test_a_board_that_cannot_be_solved(run):
    code, output, errors = run("check", "1 2 3 4 5 6 7 8 9 10 11 12 13 15 14 0")
    assert (code, errors) == (1, "")
    assert "\ncannot be solved: exchange any two tiles, such as 1 and 2, and it can be\n" in output
    assert "\ninversions  1 (pairs" in output and "\nblank       in row 1 from the bottom" in output
    assert "inversions + row stay odd, as in the goal, 0 + 1; but here they are 1 + 1 = 2\n" in output
    assert "they must agree, but do not" in output


@pytest.mark.parametrize("board", [STUCK, "2 1 0 3", "1 2 3 5 4 0 --shape 2x3", "3 1 2 0 --goal first"])
def test_the_remedy_works(board, run):
    words, *options = board.split(" --")
    options = [word for option in options for word in f"--{option}".split()]
    assert run("check", words, *options)[0] == 1
    exchanged = " ".join({"1": "2", "2": "1"}.get(word, word) for word in words.split())
    assert run("check", exchanged, *options)[0] == 0


def test_inversions_are_counted_in_the_order_of_the_goal(run):
    code, output, _ = run("check", "1 2 3 / 8 0 4 / 7 6 5", "--goal", "spiral")
    assert (
        code == 0 and "inversions  0 (pairs of tiles, read row by row, in a different order than in the goal)" in output
    )
    assert run("check", "1 2 3 / 8 0 4 / 7 6 5")[0] == 1
    code, output, _ = run("check", "1 2 3 0", "--goal", "3 2 1 0")
    assert code == 1 and "inversions  3" in output


def test_joined_edges(run):
    code, output, _ = run("check", STUCK, "--wrap")
    assert code == 0 and "can be solved, like every board with joined edges and an odd side" in output
    assert "around a row of 3 the blank is back after 3 moves" in output and "inversions" not in output
    code, output, _ = run("check", "1 2 3 5 4 0", "--shape", "3x2", "--wrap")
    assert code == 0 and "around a column of 3" in output
    code, output, _ = run("check", "1 2 3 4 5 7 6 0", "--shape", "2x4", "--wrap")
    assert code == 1 and "edges       joined: crossing a side passes 2 tiles" in output


def test_of_many_boards_each_has_a_line_and_the_most_severe_code_counts(run, tmp_path):
    code, output, errors = run("check", stdin=f"{SOLVABLE}\n{STUCK}\n\n1 2 3 / 4 5 0\n")
    assert (code, errors) == (1, "")
    assert output.splitlines() == [
        "line 1: can be solved: 0 inversions, which must be even",
        "line 2: cannot be solved: 1 inversion, which must be even",
        "line 4: can be solved: 0 inversions, which must be even",
    ]
    file = tmp_path / "boards.txt"
    file.write_text(f"1 2 3 4\n{STUCK}\n{SOLVABLE}\n")
    code, output, errors = run("check", "--file", str(file))
    assert code == 2 and len(output.splitlines()) == 2
    assert errors.startswith("line 1: ") and len(errors.splitlines()) == 1
    code, output, _ = run("check", "--file", str(file), "--wrap")
    assert output.count("can be solved, like every board with joined edges and an odd side") == 2
    code, output, _ = run("check", "--set", "korf100")
    assert code == 0 and len(output.splitlines()) == 100
    assert all(
        re.search(r"can be solved: \d+ inversions \+ row \d, which must be even", s) for s in output.splitlines()
    )


def test_json(run):
    code, output, _ = run("check", STUCK, "--json")
    assert code == 1
    assert json.loads(output) == {
        "shape": "3x3",
        "wrap": False,
        "board": [1, 2, 3, 4, 5, 6, 8, 7, 0],
        "goal": [1, 2, 3, 4, 5, 6, 7, 8, 0],
        "solvable": False,
        "rule": "inversions even",
        "inversions": 1,
        "blank_row": 1,
        "goal_blank_row": 1,
        "exchanges": 1,
        "blank_moves": 0,
    }
    code, output, errors = run("check", "--json", "--wrap", stdin=f"{STUCK}\n1 2 3 4 5 6 7 8 8\n")
    good, bad = map(json.loads, output.splitlines())
    assert (code, errors) == (2, "")
    assert (good["line"], good["solvable"], good["wrap"], good["rule"]) == (1, True, True, None)
    assert {key: bad[key] for key in KEYS} == dict.fromkeys(KEYS)
    assert bad["line"] == 2 and "repeated 8" in bad["error"] and bad["input"] == "1 2 3 4 5 6 7 8 8"


@pytest.mark.parametrize(
    "words, fact",
    [
        (["1 2 3"], "3 numbers cannot be a board"),
        (["1 2 3 4 5 0"], "give --shape 2x3"),
        ([SOLVABLE, "--goal", "snail"], "the goal is neither"),
        ([SOLVABLE, "--shape", "three"], "is not a board shape"),
        ([SOLVABLE, "--file", "x"], "exclude each other"),
        (["--set", "korf100", "--wrap"], "the boards of the set korf100 are not wrapped: leave out --wrap"),
        ([], "there is no board in the input"),
    ],
)
def test_bad_input_is_one_line(words, fact, run):
    code, output, errors = run("check", *words)
    assert (code, output) == (2, "") and len(errors.splitlines()) == 1
    assert errors.startswith("pdb-solver: error: ") and fact in errors
