"""The command line of the solver: forms of input and output, exit codes, interruptions."""

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pdb_builder import NAMED, Grid, Spec
from solver import goal_board, load_set, parse_board, why_unsolvable
from solver.cli import _parser
from solver.search import SEARCHES

ROOT = Path(__file__).parent.parent
COMMANDS = ["solve", "compare", "check", "distribution", "random", "bench"]
EASY = "1 2 3 4 5 6 0 7 8"  # LL
FARTHEST = "8 0 6 5 4 7 2 3 1"  # 31 moves from the goal with the blank first
STUCK = "2 1 3 4 5 6 7 8 0"
LONG = "15 14 8 12 10 11 9 13 2 6 5 1 3 7 4 0"  # 80 moves from the goal with the blank first
HARD = "10 20 24 21 23 5 22 13 16 9 11 17 0 7 2 6 12 19 14 15 3 8 1 18 4"
KEYS = {"board", "goal", "solved", "optimal", "length", "moves", "algorithm", "heuristic", "h_start"} | {
    "expanded",
    "generated",
    "seconds",
    "lower_bound",
}


@pytest.fixture(autouse=True)
def databases(tmp_path_factory, monkeypatch):
    """An empty default folder."""
    folder = tmp_path_factory.mktemp("default")
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(folder))
    return folder


@pytest.fixture
def solve(run):
    """``run("solve", ...)`` with a heuristic that needs no database."""
    return lambda *words, **options: run("solve", *words, "--heuristic", "manhattan", **options)


def timeless(record):
    """A record without what differs from run to run."""
    if isinstance(record, dict):
        return {key: timeless(value) for key, value in record.items() if key != "seconds"}
    return [timeless(value) for value in record] if isinstance(record, list) else record


# ---- help ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command, run):
    code, text, _ = run(command, "--help")
    assert code == 0
    assert f"example: pdb-solver {command}" in text and "exit codes: 0" in text
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("command", [*COMMANDS, None])
def test_the_examples_are_valid(command, run):
    _, text, _ = run(*([command] if command else []), "--help")
    example = re.search(r"example: pdb-solver (.*)", text)[1]
    assert _parser().parse_args(shlex.split(example)).module


@pytest.mark.jit
def test_the_example_of_solve_is_solved(run):
    _, text, _ = run("solve", "--help")
    code, output, _ = run(*shlex.split(re.search(r"example: pdb-solver (.*)", text)[1]))
    assert code == 0 and "2 moves, proven shortest" in output


def test_help_starts_without_the_heavy_libraries():
    code = (
        "import sys; from solver.cli import _parser; _parser().format_help(); "
        "print(*{'numba', 'numpy', 'h5py', 'tqdm'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_random_boards_need_no_heavy_libraries_either():
    code = "import sys; from solver.cli import main; main(['random', '2x2']); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.endswith("False\n")


def test_the_version(run):
    code, output, _ = run("--version")
    assert code == 0 and re.fullmatch(r"slidepdb \d+\.\d+.*\n", output)


# ---- one board ----------------------------------------------------------------------------------


@pytest.mark.jit
@pytest.mark.parametrize(
    "words",
    [
        [EASY],
        EASY.split(),
        ["1,2,3,4,5,6,0,7,8"],
        ["1, 2, 3,", "4, 5, 6,", "0, 7, 8"],
        ["1 2 3/4 5 6/0 7 8"],
        ["1 2 3", "/", "4 5 6", "/", "0 7 8"],
        ["1 2 3;4 5 6;_ 7 8"],
        ["1 2 3 4 5 6 . 7 8"],
        ["1 2 3 4 5 6 x 7 8"],
        ["1 2 3 4 5 6 X 7 8"],
        ["[[1, 2, 3], [4, 5, 6], [0, 7, 8]]"],
        ["(1,2,3),(4,5,6),(0,7,8)"],
        ["1 2 3\n4 5 6\n0 7 8\n"],
        ["3\n1 2 3\n4 5 6\n0 7 8"],
        ["# a comment\n3\n1 2 3 # another\n4 5 6\n0 7 8"],
        [EASY, "--shape", "3x3"],
        ["--shape", "3X3", EASY],
        ["01 02 03 04 05 06 00 07 08"],
        ["\t1\t2 3  4 5 6 0 7 8 "],
    ],
    ids=repr,
)
def test_a_board_can_be_written_in_many_ways(words, solve):
    assert solve(*words, "--quiet") == (0, "LL\n", "")


@pytest.mark.jit
@pytest.mark.parametrize("words", [[], ["-"], ["--file", "-"]])
@pytest.mark.parametrize(
    "text", [EASY, EASY + "\n", "1 2 3\n4 5 6\n0 7 8", "# n-puzzle\r\n3\r\n1 2 3\r\n4 5 6\r\n0 7 8"]
)
def test_a_board_can_come_from_stdin(words, text, solve):
    assert solve(*words, "--quiet", stdin=text) == (0, "LL\n", "")


@pytest.mark.jit
def test_a_board_can_come_from_a_file(solve, tmp_path):
    path = tmp_path / "a board.txt"
    for text in ("# made by hand\n3\n1 2 3\n4 5 6\n0 7 8\n", "\ufeff" + EASY, "\n\n1 2 3\n4 5 6 # centre\n0 7 8\n\n"):
        path.write_text(text, encoding="utf-8")
        assert solve("--file", str(path), "--quiet") == (0, "LL\n", "")


@pytest.mark.jit
def test_the_shape_of_a_rectangle(solve):
    assert solve("1 2 3 4 0 5", "--shape", "2x3", "--quiet") == (0, "L\n", "")
    assert solve("1 2 / 3 4 / 0 5", "--quiet") == (0, "L\n", "")
    assert solve("1 2 3 4 0 5", "--shape", "3x2", "--quiet", "--goal", "1 2 3 4 5 0")[:2] == (0, "L\n")
    code, output, errors = solve("1 2 3 4 0 5")
    assert (code, output) == (2, "") and "--shape 2x3" in errors


@pytest.mark.jit
@pytest.mark.parametrize("goal", ["last", "first", "spiral", "SPIRAL", "8 7 6 / 5 4 3 / 2 1 0", "1,2,3,4,0,5,6,7,8"])
def test_goals_are_names_or_boards(goal, solve):
    target = goal_board(Grid(3, 3), goal)
    start = list(target)
    hole = start.index(0)
    other = Grid(3, 3).neighbours[hole][0]
    start[hole], start[other] = start[other], 0
    code, output, _ = solve(" ".join(map(str, start)), "--goal", goal, "--json")
    record = json.loads(output)
    assert (code, record["length"], tuple(record["goal"])) == (0, 1, target)


@pytest.mark.jit
def test_the_letters_speak_of_the_tile_or_the_blank(solve):
    assert solve(EASY, "--quiet", "--moves", "blank")[1] == "RR\n"
    assert solve(EASY, "--quiet", "--moves", "tile")[1] == "LL\n"
    assert json.loads(solve(EASY, "--json", "--moves", "blank")[1])["moves"] == "RR"
    assert "the blank moves" in solve(EASY, "--moves", "blank")[1]
    _, output, _ = solve(EASY, "--json", "--moves", "blank", "--all")
    assert json.loads(output)["solutions"] == ["RR"]


@pytest.mark.jit
def test_the_answer_in_words(solve):
    code, output, errors = solve(FARTHEST, "--goal", "first")
    assert (code, errors) == (0, "")
    assert "31 moves, proven shortest (tiles move U D L R):" in output
    assert re.search(r"^[UDLR]{31}$", output, re.MULTILINE)
    assert "ida-star with manhattan, 21 at the start" in output
    assert re.search(r"^ +all +[\d,]+ +[\d,]+ +\d+\.\d+$", output, re.MULTILINE)
    assert "8 . 6      . 1 2" in output


@pytest.mark.jit
def test_one_move_is_not_one_moves(solve):
    assert re.search(r"^1 move,", solve("1 2 3 4 5 6 7 0 8")[1], re.MULTILINE)


@pytest.mark.jit
def test_the_goal_itself_needs_no_moves(solve):
    code, output, _ = solve("1 2 3 4 5 6 7 8 0")
    assert code == 0 and "0 moves" in output
    assert solve("1 2 3 4 5 6 7 8 0", "--quiet") == (0, "\n", "")
    record = json.loads(solve("1 2 3 4 5 6 7 8 0", "--json")[1])
    assert (record["solved"], record["length"], record["moves"]) == (True, 0, "")


@pytest.mark.jit
def test_show_prints_every_board_on_the_way(solve):
    code, output, _ = solve(EASY, "--show")
    assert code == 0
    for board in ("1 2 3\n4 5 6\n. 7 8", "after 1 moves:\n1 2 3\n4 5 6\n7 . 8", "after 2 moves:\n1 2 3\n4 5 6\n7 8 ."):
        assert board in output or board.replace("1 moves", "1 move") in output


@pytest.mark.jit
@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
def test_json_is_one_complete_object(algorithm, solve):
    code, output, errors = solve(FARTHEST, "--goal", "first", "--json", "--algorithm", algorithm)
    assert (code, errors, output.count("\n")) == (0, "", 1)
    record = json.loads(output)
    assert set(record) >= KEYS
    assert (record["algorithm"], record["heuristic"], record["length"]) == (algorithm, "manhattan", 31)
    assert record["board"] == list(map(int, FARTHEST.split()))
    assert record["optimal"] is True and record["lower_bound"] == 31


PROOFS = [
    (["a-star", "--heuristic", "manhattan"], "31 moves, proven shortest", "optimal"),
    (["bidirectional", "--heuristic", "hamming"], "31 moves, proven shortest", "optimal"),
    (["bfs"], "31 moves, proven shortest", "optimal"),
    (["dfs", "--depth", "45"], "45 moves, no guarantee, lower bound 21, ratio 2.143", "no guarantee, lower bound 21"),
    (["weighted-a-star", "--heuristic", "manhattan"], "at most 1.5 × optimal, lower bound ", "at most 1.5 × optimal"),
    (["weighted-a-star", "--weight", "2", "--heuristic", "manhattan"], "at most 2 × optimal", "at most 2 × optimal"),
    (["greedy", "--heuristic", "inversions"], "no guarantee, lower bound 21", "no guarantee, lower bound 21"),
    (["beam", "--width", "100", "--heuristic", "manhattan"], "lower bound 21", "no guarantee, lower bound 21"),
]


@pytest.mark.jit
@pytest.mark.parametrize("words, said, proof", PROOFS, ids=lambda value: value[0] if isinstance(value, list) else "")
def test_every_search_says_what_it_proves(words, said, proof, run):
    command = ["solve", FARTHEST, "--goal", "first", "--algorithm", *words]
    code, output, errors = run(*command)
    assert (code, errors) == (0, "") and said in output
    record = json.loads(run(*command, "--json")[1])
    assert record["proof"].startswith(proof) and record["optimal"] is (proof == "optimal")
    assert record["length"] == len(record["moves"]) >= 31 >= record["lower_bound"]
    assert record["ratio"] == record["length"] / record["lower_bound"]


REFUSALS = [
    (["--heuristic", "inversions"], "inversions is inadmissible, so ida-star cannot guarantee a shortest solution"),
    (
        ["--algorithm", "a-star", "--heuristic", "max:manhattan+inversions"],
        "use another heuristic, or greedy, weighted-a-star or beam",
    ),
    (["--algorithm", "bfs", "--heuristic", "manhattan"], "bfs is uninformed: leave out --heuristic"),
    (["--algorithm", "ida-star", "--width", "10"], "ida-star has no width: leave out --width, or use beam"),
    (["--algorithm", "a-star", "--weight", "2"], "a-star has no weight"),
    (["--algorithm", "greedy", "--depth", "9"], "greedy has no depth limit"),
    (["--weight", "0.5"], "'0.5' is not a number of 1 or more"),
    (["--weight", "5000"], "--weight must be between 1 and 1000, got 5000.0"),
    (["--width", "0"], "'0' is not a whole number above 0"),
    (["--depth", "99999"], "--depth must be an integer between 1 and 10,000, got 99999"),
    (["--wrap", "--heuristic", "walking-distance"], "walking-distance is inadmissible on 3x3 wrapped boards"),
]


@pytest.mark.jit
@pytest.mark.parametrize(
    "words, message", REFUSALS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_what_makes_no_sense_is_refused_with_a_reason(words, message, run):
    code, output, errors = run("solve", EASY, *words)
    assert (code, output, len(errors.splitlines())) == (2, "", 1) and message in errors


@pytest.mark.jit
def test_an_option_of_one_search_names_it(run):
    for option, name in (("--width", "beam"), ("--depth", "dfs"), ("--weight", "weighted-a-star")):
        heuristic = [] if name == "dfs" else ["--heuristic", "manhattan"]
        code, output, _ = run("solve", EASY, option, "40", *heuristic, "--json")
        assert code == 0 and json.loads(output)["algorithm"] == name


@pytest.mark.jit
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--algorithm", "a-star", "--width", "10"], "a-star has no width"),
        (["--goal", "nonsense"], "the goal is neither last, first, spiral nor a board: 'nonsense' is not a number"),
    ],
)
def test_what_is_wrong_with_all_boards_is_said_once(words, said, run, tmp_path):
    (tmp_path / "boards").write_text(3 * f"{EASY}\n")
    code, output, errors = run("solve", "--file", str(tmp_path / "boards"), *words)
    assert (code, output) == (2, "") and len(errors.splitlines()) == 1 and said in errors


@pytest.mark.jit
@pytest.mark.parametrize("algorithm", SEARCHES)
def test_no_limit_is_too_low_for_the_goal_itself(algorithm, run):
    code, output, _ = run("solve", "1 2 3 4 5 6 7 8 0", "--algorithm", algorithm, "--node-limit", "1")
    assert code == 0 and "0 moves, proven shortest" in output


@pytest.mark.jit
def test_a_beam_too_wide_for_the_memory(run):
    words = ("--algorithm", "beam", "--width", "1e6", "--memory-limit", "1M", "--heuristic", "manhattan")
    code, output, _ = run("solve", FARTHEST, "--goal", "first", *words)
    assert code == 3 and "use a smaller --width" in output


@pytest.mark.jit
def test_a_depth_that_is_too_small_is_a_limit(run):
    code, output, _ = run("solve", FARTHEST, "--goal", "first", "--algorithm", "dfs", "--depth", "12")
    assert code == 3 and "no solution has fewer than 21 moves, the depth limit was reached" in output


@pytest.mark.jit
def test_a_large_board_is_solved_better_and_better(run):
    board = "5 1 2 3 6 / 10 4 7 9 8 / 15 11 12 0 13 / 20 16 17 14 18 / 21 22 23 19 24 / 25 26 27 28 29"
    code, output, errors = run("solve", board, "--goal", "first", "--time-limit", "2")
    assert code == 0 and re.search(r"^beam with linear-conflict, \d+ at the start$", output, re.MULTILINE)
    assert re.search(r"^  width   moves        expanded       generated   seconds$", output, re.MULTILINE)
    for line in errors.splitlines():
        assert re.fullmatch(r"\d+ moves after \d+\.\d s", line)
    record = json.loads(run("solve", board, "--goal", "first", "--time-limit", "2", "--json")[1])
    lengths = [better["length"] for better in record["incumbents"]]
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] == record["length"]


@pytest.mark.jit
def test_all_shortest_solutions(solve):
    code, output, _ = solve(FARTHEST, "--goal", "first", "--all")
    assert code == 0
    count = int(re.search(r"^([\d,]+) shortest solutions in all$", output, re.MULTILINE)[1])
    record = json.loads(solve(FARTHEST, "--goal", "first", "--all", "--json")[1])
    assert record["solution_count"] == len(set(record["solutions"])) == count > 1
    assert {len(moves) for moves in record["solutions"]} == {31}
    assert record["moves"] in record["solutions"]
    code, output, errors = solve(FARTHEST, "--all", "--algorithm", "a-star")
    assert (code, output) == (2, "") and "use ida-star" in errors


@pytest.mark.jit
def test_heuristics_by_name(run, database_of, tmp_path):
    path = shutil.copy(database_of(Spec(Grid(3, 3), NAMED["3x3-4-4"])), tmp_path)
    words = ["solve", FARTHEST, "--goal", "first", "--json", "--folder", str(tmp_path)]
    expanded = {}
    for heuristic, name in (
        ("manhattan", "manhattan"),
        ("linear-conflict", "linear-conflict"),
        ("pdb", "pdb:3x3-4-4"),
        ("pdb:3x3-4-4", "pdb:3x3-4-4"),
        (f"pdb:{path}", "pdb:3x3-4-4"),
        ("max:manhattan+linear-conflict", "max:manhattan+linear-conflict"),
    ):
        code, output, errors = run(*words, "--heuristic", heuristic)
        record = json.loads(output)
        assert (code, errors, record["length"], record["heuristic"]) == (0, "", 31, name)
        expanded[heuristic] = record["expanded"]
    assert expanded["pdb"] == expanded["pdb:3x3-4-4"] < expanded["linear-conflict"] < expanded["manhattan"]
    assert expanded["max:manhattan+linear-conflict"] == expanded["linear-conflict"]
    plain = json.loads(run(*words, "--heuristic", "pdb-unreflected")[1])
    assert plain["heuristic"] == "pdb-unreflected:3x3-4-4" and plain["length"] == 31


@pytest.mark.jit
def test_the_order_of_moves(solve):
    found = {}
    for order in ("fixed", "value", None):
        words = ["--order", order] if order else []
        record = json.loads(solve(FARTHEST, "--goal", "first", "--json", *words)[1])
        assert record["length"] == 31
        found[order] = timeless(record)
    assert found[None] == found["fixed"] != found["value"]


@pytest.mark.jit
def test_without_a_database_a_notice_is_given_once(run, databases, tmp_path):
    (tmp_path / "boards").write_text(f"{EASY}\n{EASY}\n")
    code, output, errors = run("solve", "--file", str(tmp_path / "boards"), "--quiet")
    assert (code, output) == (0, "LL\nLL\n")
    assert len(errors.splitlines()) == 1
    assert "'pdb-builder build 3x3'" in errors and str(databases) in errors


# ---- exit codes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [[STUCK], ["1 2 3 4 5 6 8 7 0"], ["2 1 0 3"], ["0 2 1 3 4 5 6 7 8", "--goal", "first"]]
)
def test_a_board_without_solution_is_one_line_and_exit_code_1(words, solve):
    code, output, errors = solve(*words)
    assert (code, output, len(errors.splitlines())) == (1, "", 1)
    assert errors.startswith("pdb-solver: ") and "cannot be solved" in errors
    assert "odd" in errors and "even" in errors and "exchange" in errors
    code, output, errors = solve(*words, "--json")
    record = json.loads(output)
    assert (code, errors, record["solved"], record["solvable"]) == (1, "", False, False)
    assert "cannot be solved" in record["error"]


BAD_BOARDS = {
    "": "the board is empty",
    "   ": "the board is empty",
    "/ / /": "the board is empty",
    "# 1 2 3 0": "the board is empty",
    "0": "1 number cannot be a board",
    "1 0": "2 numbers cannot be a board",
    "1 2 3 4 5 6 7 8": "do not make a square board",
    "1 2 3 4 5 6 0": "7 numbers cannot be a board of any shape",
    "1 2 3 4 5 6 7 8 9": "no blank",
    "0 0 1 2": "2 blanks",
    "1 1 2 3 4 5 6 7 0": "repeated 1",
    "1 2 3 4 5 6 7 9 0": "out of range 9",
    "1 2 3 4 5 6 7 8 -1": "negative",
    "-1 2 3 0": "negative",
    "1 2 3 4 5 6 7 8 0.0": "is not a number",
    "1 2 3 4 5 6 7 eight 0": "'eight' is not a number",
    "1 2 3 4 5 6 7 8 ０": "is not a number",
    "1 2 3 4 5 6 7 8 ²": "is not a number",
    "hello": "is not a number",
    "🧩 2 3 0": "is not a number",
    "1 2 3 / 4 5 6 / 7 8": "row 3 has 2 numbers",
    "1 2 3 / 4 5 6 0": "row 2 has 4 numbers",
    "3 / 1 2 3 / 4 5 6": "announces 3 rows",
    "1 / 2 / 3 / 0": "too small",
    "9" * 5000 + " 1 2 0": "too large",
    "1e3 2 3 0": "is not a number",
    "0x1 2 3 0": "is not a number",
    " ".join(map(str, range(121))): "at most 100",
    " ".join(map(str, range(5000))): "at most 100",
    "1 2 3 4 5 6 7 8 \udcff": "is not a number",
    "1 2 3 4 5 6 7 8 \x1b[31m": "is not a number",
    "[[1, 2], [3, 4]": "no blank",
    "{'a': 1}": "is not a number",
}


@pytest.mark.parametrize("text, message", BAD_BOARDS.items(), ids=[repr(text)[:30] for text in BAD_BOARDS])
def test_a_bad_board_is_one_line_and_exit_code_2(text, message, solve):
    code, output, errors = solve(text)
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert errors.startswith("pdb-solver: error: ") and message in errors
    assert len(errors) < 300 and "\x1b" not in errors
    code, output, errors = solve(text, "--json")
    assert (code, errors) == (2, "") and message in json.loads(output)["error"]


@pytest.mark.parametrize(
    "words, message",
    [
        ([EASY, "--shape", "3"], "'3' is not a board shape"),
        ([EASY, "--shape", "1x9"], "too small"),
        ([EASY, "--shape", "9x12"], "has 108 cells"),
        ([EASY, "--shape", "2x5"], "2x5 board"),
        ([EASY, "--shape", ""], "is not a board shape"),
        (["1 2 / 3 4 / 5 0", "--shape", "2x3"], "3 rows of 2"),
        ([EASY, "--goal", "middle"], "the goal is neither last, first, spiral nor a board"),
        ([EASY, "--goal", "1 2 3 0"], "the goal is neither"),
        ([EASY, "--goal", ""], "the goal is neither"),
        ([EASY, "--heuristic", "zero"], "unknown heuristic 'zero'"),
        ([EASY, "--heuristic", ""], "unknown heuristic ''"),
        ([EASY, "--heuristic", "pdb"], "no database in"),
        ([EASY, "--heuristic", "pdb:none"], "there is no database"),
        ([EASY, "--heuristic", "pdb:" + "x" * 300], "name too long"),
        ([EASY, "--heuristic", "max:manhattan+"], "'max:manhattan+' lacks a heuristic beside a plus sign"),
        ([EASY, "--heuristic", "a\nb"], "unknown heuristic"),
        ([EASY, "--algorithm", "depth"], "invalid choice"),
        ([EASY, "--order", "random"], "invalid choice"),
        ([EASY, "--moves", "hand"], "invalid choice"),
        ([EASY, "--threads", "0"], "'0' is not a number from 1 to 256"),
        ([EASY, "--jobs", "0"], "'0' is not a number from 1 to 256"),
        ([EASY, "--node-limit", "0"], "is not a whole number above 0"),
        ([EASY, "--node-limit", "-5"], "--node-limit"),
        ([EASY, "--node-limit", "ten"], "is not a whole number above 0"),
        ([EASY, "--node-limit", "1.5"], "'1.5' is not a whole number above 0"),
        ([EASY, "--node-limit", "0.1"], "is not a whole number above 0"),
        ([EASY, "--time-limit", "0"], "is not a number of seconds above 0"),
        ([EASY, "--time-limit", "nan"], "is not a number of seconds above 0"),
        ([EASY, "--time-limit", "1e99"], "is not a number of seconds above 0"),
        ([EASY, "--memory-limit", "lots"], "'lots' is not a size"),
        ([EASY, "--memory-limit", "0"], "--memory-limit must be above 0, got 0"),
        ([EASY, "--json", "--quiet"], "exclude each other"),
        ([EASY, "--show", "--quiet"], "exclude each other"),
        ([EASY, "--file", "x"], "exclude each other"),
        ([EASY, "--set", "korf100"], "exclude each other"),
        (["-", "--set", "korf100"], "exclude each other"),
        (["--set", "korf100", "--goal", "first"], "leave out --goal"),
        (["--set", "korf100", "--shape", "4x4"], "leave out --goal"),
        (["--set", "korf1"], "invalid choice"),
        (["--file", "no such file"], "no such file: No such file or directory: check the name"),
        (["--file", "."], "Is a directory: name a file"),
        (["--file", ""], "directory"),
        (["--file", "/dev/null"], "there is no board in the input"),
        ([], "there is no board in the input"),
        (["--frob"], "unrecognized arguments: --frob"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
@pytest.mark.jit
def test_bad_arguments_are_one_line_and_exit_code_2(words, message, run):
    heuristic = [] if "--heuristic" in words else ["--heuristic", "manhattan"]
    code, output, errors = run("solve", *words, *heuristic)
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert re.match(r"pdb-solver( solve)?: error: ", errors) and message in errors


@pytest.mark.parametrize(
    "words, message", [([], "COMMAND"), (["frobnicate"], "invalid choice"), (["bench", "none"], "none")]
)
def test_commands_that_are_none(words, message, run):
    code, output, errors = run(*words)
    assert (code, output, len(errors.splitlines())) == (2, "", 1) and message in errors


@pytest.mark.jit
@pytest.mark.parametrize(
    "words, stopped",
    [
        (["--node-limit", "10"], "nodes"),
        (["--node-limit", "1"], "nodes"),
        (["--node-limit", "0.01M"], "nodes"),
        (["--time-limit", "0.3"], "time"),
        (["--algorithm", "a-star", "--node-limit", "1k"], "nodes"),
        (["--algorithm", "a-star", "--time-limit", "0.2"], "time"),
        (["--algorithm", "a-star", "--memory-limit", "1MB"], "memory"),
        (["--algorithm", "a-star", "--memory-limit", "1"], "memory"),
        (["--all", "--node-limit", "1e3"], "nodes"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_limit_is_exit_code_3_and_a_lower_bound(words, stopped, solve):
    code, output, errors = solve(LONG, "--goal", "first", *words)
    assert (code, errors) == (3, "")
    bound = int(re.search(r"no solution has fewer than (\d+) moves", output)[1])
    assert {"nodes": "node limit", "time": "time limit", "memory": "memory limit"}[stopped] in output
    assert "generated" in output
    code, output, errors = solve(LONG, "--goal", "first", *words, "--json")
    record = json.loads(output)
    assert (code, errors, record["solved"], record["stopped"]) == (3, "", False, stopped)
    assert (record["length"], record["moves"]) == (None, None)
    assert record["h_start"] <= record["lower_bound"] <= 80 and record["h_start"] <= bound <= 80
    if stopped == "nodes":
        assert record["generated"] < 20_000
    code, output, errors = solve(LONG, "--goal", "first", *words, "--quiet")
    assert (code, output) == (3, "")
    assert f"no solution has fewer than {bound if stopped != 'time' else ''}" in errors


@pytest.mark.jit
@pytest.mark.parametrize("heuristic", ["pdb", "pdb:none", "pdb:damaged", "zero"])
def test_with_json_an_unusable_heuristic_is_an_object_too(heuristic, run, databases):
    (databases / "damaged.h5").write_bytes(b"")
    code, output, errors = run("solve", EASY, "--heuristic", heuristic, "--json")
    assert (code, errors) == (2, "") and json.loads(output)["error"]


# ---- many boards --------------------------------------------------------------------------------

MIXED = f"""# good, bad, unsolvable, a matrix, too hard
{EASY}
1 2 3 4 5 6 7 8 8
{STUCK}

3
1 2 3
4 5 6
7 0 8
not a board
1 2 3 4 5 6 7 0 8   # the last one
"""


@pytest.mark.jit
def test_a_bad_board_costs_the_others_nothing(solve, tmp_path):
    (tmp_path / "boards").write_text(MIXED)
    for source, stdin in (["--file", str(tmp_path / "boards")], ""), (["-"], MIXED), ([], MIXED):
        code, output, errors = solve(*source, "--quiet", stdin=stdin)
        assert (code, output) == (2, "LL\n-\n-\nL\n-\nL\n")
        assert [line.split(":")[0] for line in errors.splitlines()] == ["line 3", "line 4", "line 10"]
        code, output, errors = solve(*source, stdin=stdin)
        answers = [re.sub(r"(moves?) ([UDLR]+) \(.*\)", r"\2", line) for line in output.splitlines()]
        assert answers == ["line 2: 2 LL", "line 6: 1 L", "line 11: 1 L"]
        code, output, errors = solve(*source, "--json", stdin=stdin)
        records = [json.loads(line) for line in output.splitlines()]
        assert (code, errors) == (2, "")
        assert [record["line"] for record in records] == [2, 3, 4, 6, 10, 11]
        assert ["error" in record for record in records] == [False, True, True, False, True, False]
        assert [record.get("solvable", True) for record in records] == [True, None, False, True, None, True]
        assert [record["solved"] for record in records] == [True, False, False, True, False, True]


@pytest.mark.jit
@pytest.mark.parametrize(
    "boards, code",
    [([EASY, EASY], 0), ([EASY, STUCK], 1), ([FARTHEST, EASY], 3), ([STUCK, FARTHEST], 3), ([FARTHEST, "x", STUCK], 2)],
)
def test_the_exit_code_is_the_gravest(boards, code, solve):
    assert solve("--node-limit", "100", stdin="\n".join(boards))[0] == code


@pytest.mark.jit
def test_jobs_change_nothing_but_the_time(solve, run):
    _, boards, _ = run("random", "3x3", "-n", "30", "--seed", "5")
    text = boards + "bad\n" + STUCK + "\n" + boards.splitlines()[0]
    one, two, more = (solve("--json", "--jobs", jobs, stdin=text) for jobs in ("1", "2", "7"))
    records = [[timeless(json.loads(line)) for line in output.splitlines()] for _, output, _ in (one, two, more)]
    assert len(records[0]) == 33
    assert records[0] == records[1] == records[2]
    assert (one[0], two[0], more[0]) == (2, 2, 2)


@pytest.mark.jit
def test_answers_come_while_the_input_is_still_open(databases):
    """A program that writes a board and waits for the answer before it writes the next."""
    with subprocess.Popen(
        [sys.executable, "-m", "solver", "solve", "-", "--heuristic", "manhattan", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=ROOT,
    ) as process:
        watchdog = subprocess.Popen(["sleep", "60"])
        for board, length in (EASY, 2), ("1 2 3 4 5 6 7 0 8", 1), ("1 2 3 4 5 6 7 8 0", 0):
            process.stdin.write(board + "\n")
            assert json.loads(process.stdout.readline())["length"] == length
        watchdog.kill()
        watchdog.wait()
        process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.jit
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"# nothing\n",
        b"\xef\xbb\xbf",
        b"\x00",
        bytes(range(256)) * 20,
        b"\xff\xfe1\x002\x00",
        b"1 2 3 " * 9999,
    ],
    ids=["empty", "lines", "comment", "mark", "nul", "bytes", "utf16", "long"],
)
def test_files_that_hold_no_board(content, solve, tmp_path):
    path = tmp_path / "boards"
    path.write_bytes(content)
    code, output, errors = solve("--file", str(path))
    assert (code, output) == (2, "")
    assert errors and "Traceback" not in errors
    assert all(len(line) < 300 and line.isprintable() for line in errors.splitlines())
    code, output, _ = solve("--file", str(path), "--json")
    assert code == 2 and all("error" in json.loads(line) for line in output.splitlines())


@pytest.mark.jit
def test_a_published_set_is_answered_board_by_board(run):
    words = ["solve", "--set", "korf100", "--heuristic", "linear-conflict", "--node-limit", "2000"]
    code, output, errors = run(*words, "--json")
    records = [json.loads(line) for line in output.splitlines()]
    assert (code, errors) == (3, "")
    assert [record["id"] for record in records] == list(range(1, 101))
    for record, instance in zip(records, load_set("korf100")[2], strict=True):
        assert record["board"] == list(instance.board) and record["goal"][0] == 0
        assert record["h_start"] <= record["lower_bound"] <= instance.length
        assert record["solved"] == (record["stopped"] is None)
    code, output, _ = run(*words, "--jobs", "2")
    assert code == 3
    assert [line.split(":")[0] for line in output.splitlines()] == [str(number) for number in range(1, 101)]
    assert all("no solution has fewer than" in line for line in output.splitlines())


# ---- random -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, goal", [("2x2", "last"), ("3x3", "spiral"), ("2x5", "first"), ("4x4", "last"), ("8x8", "last")]
)
def test_random_boards_can_be_solved(shape, goal, run):
    code, output, errors = run("random", shape, "-n", "50", "--seed", "3", "--goal", goal)
    grid = Grid.parse(shape)
    boards = [parse_board(line, grid)[1] for line in output.splitlines()]
    assert (code, errors, len(boards)) == (0, "", 50)
    assert not any(why_unsolvable(grid, board, goal_board(grid, goal)) for board in boards)
    assert len(set(boards)) > (30 if grid.cells > 4 else 5)


def test_a_seed_makes_random_boards_repeatable(run):
    one, again, other = (run("random", "4x4", "-n", "5", "--seed", seed) for seed in ("1", "1", "2"))
    assert one == again != other
    assert run("random", "4x4", "--number", "1", "--seed", "1")[1] == one[1].splitlines()[0] + "\n"
    assert run("random", "5x5")[1] != run("random", "5x5")[1]


@pytest.mark.parametrize(
    "words, message",
    [
        (["1x4"], "too small"),
        (["9x12"], "108 cells"),
        (["4"], "is not a board shape"),
        (["4x"], "is not a board shape"),
        (["4x-4"], "is not a board shape"),
        (["0x0"], "too small"),
        (["99999x2"], "is not a board shape"),
        (["4x4", "-n", "0"], "above 0"),
        (["4x4", "-n", "-1"], "-n"),
        (["4x4", "--seed", "one"], "--seed"),
        (["4x4", "--goal", "middle"], "the goal is neither"),
        ([], "RxC"),
    ],
)
def test_random_boards_of_no_shape(words, message, run):
    code, output, errors = run("random", *words)
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert re.match(r"pdb-solver( random)?: error: ", errors) and message in errors


@pytest.mark.jit
def test_random_boards_can_be_piped_into_solve(run, solve):
    _, boards, _ = run("random", "2x3", "-n", "5", "--seed", "1", "--goal", "spiral")
    code, output, _ = solve("-", "--shape", "2x3", "--goal", "spiral", "--quiet", stdin=boards)
    assert code == 0 and len(output.splitlines()) == 5


# ---- streams and signals ------------------------------------------------------------------------


def test_a_missing_file_does_not_close_the_output_of_the_caller(run):
    """Whoever calls ``main`` from Python wants to go on printing."""
    run("solve", "--file", "no such file")
    assert sys.stdout.closings == 0


def shell(command, **kwargs):
    command = command.replace("pdb-solver", f"{shlex.quote(sys.executable)} -m solver")
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, timeout=60, **kwargs)


def test_a_reader_who_has_seen_enough_is_no_error():
    done = shell("set -o pipefail; pdb-solver random 4x4 -n 100000 | head -1")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


@pytest.mark.jit
def test_a_reader_who_has_seen_enough_ends_many_boards(databases):
    done = shell("set -o pipefail; pdb-solver random 3x3 -n 20000 | pdb-solver solve - --heuristic manhattan | head -1")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


@pytest.mark.jit
def test_closed_and_narrow_streams():
    assert shell(f"pdb-solver solve {EASY} --heuristic manhattan <&- >&- 2>&-").returncode == 0
    done = shell("pdb-solver solve --heuristic manhattan <&-")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    done = shell("PYTHONIOENCODING=ascii pdb-solver solve '1 2 3 ü' --json")
    assert done.returncode == 2 and json.loads(done.stdout)["input"] == "1 2 3 ü"
    if Path("/dev/full").exists():
        done = shell(f"pdb-solver solve {EASY} --heuristic manhattan > /dev/full")
        assert (done.returncode, done.stderr) == (
            2,
            "pdb-solver: error: output: No space left on device: make room, or use another disk\n",
        )


def cpu_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(*words, after=2.5, how=signal.SIGINT, env=None):
    """Start a search, interrupt it after so many seconds of work, and return its code, output and errors."""
    process = subprocess.Popen(
        [sys.executable, "-m", "solver", "solve", *words, "--time-limit", "50"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | (env or {}),
        start_new_session=True,
    )
    try:
        while process.poll() is None and cpu_seconds(process) < after:
            time.sleep(0.05)
        process.send_signal(how)
        began = time.monotonic()
        output, errors = process.communicate(timeout=10)
        assert time.monotonic() - began < 3, "it ends at once"
    finally:
        process.kill()
    assert "Traceback" not in errors
    return process.returncode, output, errors


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture(scope="module")
def compiled():
    """The code of the searches below is in the cache, so that it is searched and not compiled that is interrupted."""
    for algorithm in ("ida-star", "a-star"):
        done = shell(f"pdb-solver solve {EASY} --heuristic manhattan --algorithm {algorithm}")
        assert done.returncode == 0


@needs_proc
@pytest.mark.jit
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_a_lower_bound(how, compiled):
    code, output, errors = interrupted(HARD, "--heuristic", "manhattan", how=how)
    assert (code, errors) == (130, "")
    assert int(re.search(r"no solution has fewer than (\d+) moves, interrupted", output)[1]) >= 82
    assert re.search(r"^ +all +[\d,]{5,} +[\d,]{5,}", output, re.MULTILINE)


@needs_proc
@pytest.mark.jit
@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
def test_an_interruption_in_json(algorithm, compiled):
    words = [HARD, "--heuristic", "manhattan", "--json", "--algorithm", algorithm, "--memory-limit", "8G"]
    code, output, errors = interrupted(*words)
    record = json.loads(output)
    assert (code, errors) == (130, "")
    assert (record["solved"], record["stopped"]) == (False, "interrupt")
    assert record["lower_bound"] >= record["h_start"] and record["generated"] > 10_000


@needs_proc
@pytest.mark.jit
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interruption_of_many_boards_tells_what_is_known(jobs, compiled, run, tmp_path):
    """The boards that are done, and those that were begun with their lower bounds."""
    _, boards, _ = run("random", "5x5", "-n", "3", "--seed", "1")
    (tmp_path / "boards").write_text("1 2 3 4 5 6 0 7 8\n" + boards)
    words = ["--file", str(tmp_path / "boards"), "--heuristic", "manhattan", "--jobs", jobs]
    code, output, errors = interrupted(*words, "--json")
    records = [json.loads(line) for line in output.splitlines()]
    assert code == 130 and len(errors.splitlines()) <= 1
    assert [record["line"] for record in records] == list(range(1, 2 + int(jobs)))
    assert [record["stopped"] for record in records] == [None] + ["interrupt"] * int(jobs)
    assert all(record["lower_bound"] >= record["h_start"] for record in records)
    if jobs == "1":
        code, output, errors = interrupted(*words)
        assert code == 130 and len(errors.splitlines()) <= 1
        assert [line.split(" moves")[0][:15] for line in output.splitlines()] == ["line 1: 2", "line 2: no solu"]


@needs_proc
@pytest.mark.jit
def test_an_interruption_while_code_is_compiled_is_heard(tmp_path):
    code, output, errors = interrupted(
        HARD, "--heuristic", "manhattan", after=1.0, env={"NUMBA_CACHE_DIR": str(tmp_path)}
    )
    assert code == 130
    assert "interrupted" in output + errors


@needs_proc
def test_an_interruption_while_waiting_for_input():
    with subprocess.Popen(
        [sys.executable, "-m", "solver", "solve", "-", "--heuristic", "manhattan"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    ) as process:
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 130
        assert "Traceback" not in process.stderr.read()


# ---- anything at all ----------------------------------------------------------------------------

WORDS = [
    *("0", "1", "2", "3", "8", "15", "_", "x", ".", "-", "-1", "/", ";", ",", "[", "]]", "#", "", " ", "\n", "\t"),
    *("1 2 3 0", "3 / 1 2 3 / 4 5 6 / 7 8 0", EASY, STUCK, HARD),
    *("ü", "🧩", "\udcff", "\u2028", "\x1b[0m", "٣", "1e9", "NaN", "9" * 30, "--", "-x"),
    *("--json", "--quiet", "--show", "--all"),
]
OPTIONS = {
    "--shape": ["2x2", "3x3", "2x3", "8x8", "4x4", "0x0", "３x３", "x", "1x1", "3x3x3", ""],
    "--goal": ["first", "last", "spiral", "1 2 3 4 5 6 7 8 0", "", "0 1 2 3", "goal", "\udcff"],
    "--heuristic": [
        "manhattan",
        "linear-conflict",
        "pdb",
        "pdb:x",
        "pdb:",
        "max:",
        "max:+",
        "+",
        "",
        "pdb:../x.h5",
        "\udcff",
    ],
    "--algorithm": ["ida-star", "a-star", "A-STAR", ""],
    "--order": ["fixed", "value", ""],
    "--threads": ["1", "2", "0", "257", "x", "", "1.5"],
    "--jobs": ["1", "2", "3", "-1", ""],
    "--time-limit": ["1", "0.5", "-1", "inf", ""],
    "--node-limit": ["1", "50", "1k", "1e3", "1e99x", "", "-3"],
    "--memory-limit": ["1", "1M", "1T", "-1", "", "1e9"],
    "--moves": ["tile", "blank", "both"],
    "--file": ["", "nowhere", ".", "\udcff", "\n", "-", "a\tb"],
    "--set": ["korf24", "korf", ""],
}


def random_words(chance):
    """Words that are sometimes a command, and whether they hold a single board."""
    single = chance.random() < 0.5
    if single:
        cells = chance.choice([4, 9, 16, 25])
        board = list(map(str, chance.sample(range(cells), cells)))
        if chance.random() < 0.3:
            board[chance.randrange(cells)] = chance.choice(WORDS)
        words = [chance.choice([" ", ",", "  ", "\t"]).join(board)] if chance.random() < 0.5 else board
    else:
        words = chance.choices(WORDS, k=chance.randrange(12))
    for option in chance.sample(sorted(OPTIONS), chance.choice([0, 0, 1, 2, 4])):
        at = chance.choice([0, len(words)])
        words[at:at] = [option, chance.choice(OPTIONS[option])]
    return words, single and not {"--file", "--set"} & set(words)


@pytest.mark.jit
@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_typed_there_is_an_answer_or_one_line(seed, run):
    chance = random.Random(seed)
    seen = set()
    for _ in range(80):
        words, single = random_words(chance)
        stdin = "".join(chance.choice(WORDS) + chance.choice([" ", "\n"]) for _ in range(chance.randrange(30)))
        limit = [] if "--node-limit" in words else ["--node-limit", "2000"]
        code, output, errors = run("solve", *limit, *words, stdin=stdin)
        seen.add(code)
        assert code in (0, 1, 2, 3), words
        assert "Traceback" not in errors, words
        if "--json" in words:
            assert all(json.loads(line) for line in output.splitlines()), words
        elif single and code in (1, 2):
            assert output == "", words
            breaks = any(mark in word for word in words for mark in "\n\u2028")
            assert breaks or len(errors.splitlines()) == 1, words
    assert {1, 2, 3} <= seen


@pytest.mark.parametrize("mark", ["\n", "\u2028"], ids=ascii)
@pytest.mark.parametrize("words", [["--frob{}x"], ["--threads", "1{}2"], ["--set", "{}"]], ids=str)
def test_complaints_stay_on_one_line_whatever_they_quote(words, mark, run):
    code, output, errors = run("solve", EASY, *(word.format(mark) for word in words))
    assert (code, output, len(errors.splitlines())) == (2, "", 1)


@pytest.mark.jit
def test_boards_along_the_way_are_shown_for_each_of_many(solve):
    code, output, _ = solve("--show", "--heuristic", "manhattan", stdin="3\n1 2 3\n4 0 5\n7 8 6\n\n1 2 3 4 5 6 7 0 8\n")
    assert code == 0
    assert [line for line in output.splitlines() if line.startswith("line")] == ["line 1:", "line 6:"]
    assert output.count("after 1 move:") == 2 and output.count("after 2 moves:") == 1


@pytest.mark.jit
def test_boards_of_any_shape_go_from_random_to_solve(solve, run):
    for shape in ("2x8", "4x2", "3x3", "2x4"):
        code, output, _ = run("random", shape, "-n", "3", "--seed", "3")
        assert code == 0
        code, output, _ = solve("--json", "--node-limit", "1000", stdin=output)
        assert [json.loads(line)["shape"] for line in output.splitlines()] == [shape] * 3


@pytest.mark.jit
def test_all_solutions_are_listed_quietly(solve):
    code, output, _ = solve("8 6 7 / 2 5 4 / 3 0 1", "--all", "--quiet", "--heuristic", "linear-conflict")
    lines = output.splitlines()
    assert code == 0 and len(set(lines)) == len(lines) > 1 and {len(line) for line in lines} == {31}
