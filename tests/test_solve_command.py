"""``pdb-solver solve`` and ``random``: forms of input and output, exit codes, one board and many."""

import json
import random
import re
import shutil
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

import solver
from pdb_builder import Grid, InputError
from solver import goal_board, load_set, parse_board, why_unsolvable
from solver.commands import solve as solve_command
from solver.search import SEARCHES
from solver.show import gif
from solver.show.terminal import HIDE, SHOW, animate

pytestmark = pytest.mark.jit

EASY = "1 2 3 4 5 6 0 7 8"  # LL
FARTHER = "1 2 3 0 4 6 7 5 8"  # LUL
FARTHEST = "8 0 6 5 4 7 2 3 1"  # 31 moves from the goal with the blank first
STUCK = "2 1 3 4 5 6 7 8 0"
LONG = "15 14 8 12 10 11 9 13 2 6 5 1 3 7 4 0"  # 80 moves from the goal with the blank first
HARD = "10 20 24 21 23 5 22 13 16 9 11 17 0 7 2 6 12 19 14 15 3 8 1 18 4"
KEYS = {
    *("board", "goal", "solved", "optimal", "length", "moves", "lower_bound"),
    *("algorithm", "heuristic", "h_start", "expanded", "generated", "seconds"),
}


@pytest.fixture(autouse=True)
def databases(tmp_path, monkeypatch):
    """An empty working folder, and in it an empty folder of databases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path / "databases"))
    (tmp_path / "databases").mkdir()
    return tmp_path / "databases"


@pytest.fixture
def solve(run):
    """``run("solve", ...)`` with a heuristic that needs no database."""
    return lambda *words, **options: run("solve", *words, "--heuristic", "manhattan", **options)


def timeless(record):
    """A record without what differs from run to run."""
    if isinstance(record, dict):
        return {key: timeless(value) for key, value in record.items() if key != "seconds"}
    return [timeless(value) for value in record] if isinstance(record, list) else record


def records(output):
    return [json.loads(line) for line in output.splitlines()]


# ---- where boards come from ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        [EASY],
        EASY.split(),
        ["1, 2, 3,", "4, 5, 6,", "0, 7, 8"],
        ["1 2 3", "/", "4 5 6", "/", "0 7 8"],
        ["# a comment\n3\n1 2 3 # another\n4 5 6\n0 7 8"],
        ["--shape", "3X3", EASY],
    ],
    ids=repr,
)
def test_a_board_is_all_words_of_the_command_line(words, solve):
    assert solve(*words, "--quiet") == (0, "LL\n", "")


@pytest.mark.parametrize("words", [[], ["-"], ["--file", "-"], ["--file", "a board.txt"]])
@pytest.mark.parametrize(
    "text", [EASY, "# n-puzzle\r\n3\r\n1 2 3\r\n4 5 6\r\n0 7 8", "\n\n1 2 3\n4 5 6 # centre\n_ 7 8\n"]
)
def test_a_board_can_come_from_stdin_or_a_file(words, text, solve):
    Path("a board.txt").write_text("\ufeff" * ("a board.txt" in words) + text, encoding="utf-8")
    assert solve(*words, "--quiet", stdin=text) == (0, "LL\n", "")


def test_the_shape_and_the_goal_of_a_rectangle(solve):
    assert solve("1 2 3 4 0 5", "--shape", "2x3", "--quiet") == (0, "L\n", "")
    assert solve("1 2 / 3 4 / 0 5", "--quiet") == (0, "L\n", "")
    assert solve("1 2 3 4 0 5", "--shape", "3x2", "--quiet", "--goal", "1 2 3 4 5 0")[:2] == (0, "L\n")
    assert json.loads(solve("1 0 2", "3 4 5", "--shape", "2x3", "--goal", "first", "--json")[1])["length"] == 1


@pytest.mark.parametrize(
    "words, message",
    [
        ([EASY, "--file", "x"], "a board, --scramble, --file and --set exclude each other"),
        (["-", "--set", "korf100"], "exclude each other"),
        (["--set", "korf100", "--goal", "first"], "leave out --goal"),
        (["--set", "korf100", "--shape", "4x4"], "leave out --goal"),
        (["--set", "korf100", "--wrap"], "the boards of the set korf100 are not wrapped: leave out --wrap"),
        ([EASY, "--goal", ""], "the goal is neither"),
        ([EASY, "--shape", ""], "is not a board shape"),
        (["--file", "no such file"], "no such file: No such file or directory: check the name"),
        (["--file", "."], "Is a directory: name a file"),
        (["--file", ""], "directory"),
        (["--file", "/dev/null"], "there is no board in the input"),
        ([], "there is no board in the input"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_boards_that_are_not_there_are_one_line_and_exit_code_2(words, message, solve):
    code, output, errors = solve(*words)
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert errors.startswith("pdb-solver: error: ") and message in errors


@pytest.mark.parametrize(
    "content",
    [b"", b"# nothing\n", b"\xef\xbb\xbf", b"\x00", bytes(range(256)) * 20, b"\xff\xfe1\x002\x00", b"1 2 3 " * 9999],
    ids=["empty", "comment", "mark", "nul", "bytes", "utf16", "long"],
)
def test_a_file_that_holds_no_board(content, solve):
    Path("boards").write_bytes(content)
    code, output, errors = solve("--file", "boards")
    assert (code, output) == (2, "") and errors
    assert all(len(line) < 300 and line.isprintable() for line in errors.splitlines())
    code, output, _ = solve("--file", "boards", "--json")
    assert code == 2 and all("error" in record for record in records(output))


# ---- the answer ---------------------------------------------------------------------------------


def test_the_answer_in_words(solve):
    code, output, errors = solve(FARTHEST, "--goal", "first")
    assert (code, errors) == (0, "")
    assert "31 moves, proven shortest (tiles move U D L R):" in output
    assert re.search(r"^[UDLR]{31}$", output, re.MULTILINE)
    assert "ida-star with manhattan, 21 at the start" in output
    assert re.search(r"^ +all +[\d,]+ +[\d,]+ +\d+\.\d+$", output, re.MULTILINE)
    assert "8 . 6      . 1 2" in output


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
def test_the_answer_as_json_is_one_complete_object(algorithm, solve):
    code, output, errors = solve(FARTHEST, "--goal", "first", "--json", "--algorithm", algorithm)
    assert (code, errors, output.count("\n")) == (0, "", 1)
    record = json.loads(output)
    assert set(record) >= KEYS
    assert (record["algorithm"], record["heuristic"], record["length"]) == (algorithm, "manhattan", 31)
    assert record["board"] == list(map(int, FARTHEST.split()))
    assert record["optimal"] is True and record["lower_bound"] == 31


def test_the_letters_name_moves_of_the_tile_or_the_blank(solve):
    assert solve(EASY, "--quiet", "--moves", "blank")[1] == "RR\n"
    assert solve(EASY, "--quiet", "--moves", "tile")[1] == "LL\n"
    assert "the blank moves" in solve(EASY, "--moves", "blank")[1]
    record = json.loads(solve(EASY, "--json", "--moves", "blank", "--all")[1])
    assert (record["moves"], record["solutions"]) == ("RR", ["RR"])


def test_the_goal_itself_needs_no_moves(solve):
    code, output, _ = solve("1 2 3 4 5 6 7 8 0")
    assert code == 0 and "0 moves" in output and "none: this is the goal" in output
    assert solve("1 2 3 4 5 6 7 8 0", "--quiet") == (0, "\n", "")
    record = json.loads(solve("1 2 3 4 5 6 7 8 0", "--json")[1])
    assert (record["solved"], record["length"], record["moves"]) == (True, 0, "")


def test_wrapped_boards_are_named(solve):
    code, output, _ = solve("3 1 2 / 4 5 6 / 7 8 0", "--wrap", "--goal", "1 2 3 / 4 5 6 / 7 8 0")
    assert code == 0 and "3x3 wrapped: tiles slide across the edges" in output


def test_the_boards_along_the_way_are_shown(solve):
    code, output, _ = solve(EASY, "--show")
    assert code == 0
    for board in ("1 2 3\n4 5 6\n. 7 8", "after 1 move:\n1 2 3\n4 5 6\n7 . 8", "after 2 moves:\n1 2 3\n4 5 6\n7 8 ."):
        assert board in output
    code, output, _ = solve("--show", stdin="3\n1 2 3\n4 0 5\n7 8 6\n\n1 2 3 4 5 6 7 0 8\n")
    assert [line for line in output.splitlines() if line.startswith("line")] == ["line 1:", "line 6:"]
    assert output.count("after 1 move:") == 2 and output.count("after 2 moves:") == 1


def test_all_shortest_solutions(solve):
    words = (FARTHEST, "--goal", "first", "--all")
    code, output, _ = solve(*words)
    count = int(re.search(r"^([\d,]+) shortest solutions in all$", output, re.MULTILINE)[1])
    record = json.loads(solve(*words, "--json")[1])
    assert code == 0 and record["solution_count"] == len(set(record["solutions"])) == count > 1
    assert {len(moves) for moves in record["solutions"]} == {31} and record["moves"] in record["solutions"]
    assert sorted(solve(*words, "--quiet")[1].splitlines()) == sorted(record["solutions"])


def test_without_a_database_a_notice_is_given_once(run, databases):
    Path("boards").write_text(f"{EASY}\n{EASY}\n")
    code, output, errors = run("solve", "--file", "boards", "--quiet")
    assert (code, output, len(errors.splitlines())) == (0, "LL\nLL\n", 1)
    assert "'pdb-builder build 3x3'" in errors and str(databases) in errors


def test_databases_by_name(run, small, databases):
    path = shutil.copy(small, databases)
    expanded = {}
    for name in ("manhattan", "pdb", "pdb:3x3-4-4", f"pdb:{path}"):
        code, output, errors = run("solve", FARTHEST, "--goal", "first", "--json", "--heuristic", name)
        record = json.loads(output)
        assert (code, errors, record["length"]) == (0, "", 31)
        assert record["heuristic"] == ("manhattan" if name == "manhattan" else "pdb:3x3-4-4")
        expanded[name] = record["expanded"]
    assert expanded["pdb"] == expanded["pdb:3x3-4-4"] == expanded[f"pdb:{path}"] < expanded["manhattan"]


def test_the_order_of_moves(solve):
    found = {}
    for order in ("fixed", "value", None):
        words = ["--order", order] if order else []
        found[order] = timeless(json.loads(solve(FARTHEST, "--goal", "first", "--json", "--pruning", "2", *words)[1]))
    assert found[None] == found["fixed"] != found["value"]
    assert found["fixed"]["length"] == found["value"]["length"] == 31


# ---- searches -----------------------------------------------------------------------------------

PROOFS = [
    (["ida-star"], "31 moves, proven shortest", "optimal"),
    (["a-star"], "31 moves, proven shortest", "optimal"),
    (["bidirectional"], "31 moves, proven shortest", "optimal"),
    (["bfs"], "31 moves, proven shortest", "optimal"),
    (["dijkstra"], "31 moves, proven shortest", "optimal"),
    (["dfs", "--depth", "45"], "43 moves, no guarantee, lower bound 21, ratio 2.048", "no guarantee, lower bound 21"),
    (["dfs", "--depth", "45", "--pruning", "2"], "45 moves, no guarantee, lower bound 21", "no guarantee, lower bound"),
    (["weighted-a-star"], "at most 1.5 × optimal, lower bound ", "at most 1.5 × optimal"),
    (["weighted-a-star", "--weight", "2"], "at most 2 × optimal", "at most 2 × optimal"),
    (["greedy"], "no guarantee, lower bound 21", "no guarantee, lower bound 21"),
    (["beam", "--width", "100"], "lower bound 21", "no guarantee, lower bound 21"),
]


@pytest.mark.parametrize(
    "words, said, proof", PROOFS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_every_search_says_what_it_proves(words, said, proof, run):
    heuristic = [] if SEARCHES[words[0]].uninformed else ["--heuristic", "manhattan"]
    command = ["solve", "--goal", "first", "--algorithm", *words, *heuristic]
    code, output, errors = run(*command, FARTHEST)
    assert (code, errors) == (0, "") and said in output
    record = json.loads(run(*command, FARTHEST, "--json")[1])
    assert record["proof"].startswith(proof) and record["optimal"] is (proof == "optimal")
    assert record["length"] == len(record["moves"]) >= 31 >= record["lower_bound"]
    assert record["ratio"] == record["length"] / record["lower_bound"]
    code, output, _ = run(*command, "0 1 2 3 4 5 6 7 8", "--node-limit", "1")
    assert code == 0 and "0 moves, proven shortest" in output, "no limit is too low for the goal itself"


def test_every_search_is_among_them():
    assert {words[0] for words, _, _ in PROOFS} == set(SEARCHES)


@pytest.mark.parametrize(
    "words, message",
    [
        (["--heuristic", "inversions"], "inversions is inadmissible, so ida-star cannot guarantee a shortest solution"),
        (
            ["--algorithm", "a-star", "--heuristic", "max:manhattan+inversions"],
            "use another heuristic, or greedy, weighted-a-star or beam",
        ),
        (["--algorithm", "bfs", "--heuristic", "manhattan"], "bfs is uninformed: leave out --heuristic"),
        (["--algorithm", "ida-star", "--width", "10"], "ida-star has no width: leave out --width, or use beam"),
        (["--algorithm", "a-star", "--weight", "2"], "a-star has no weight: leave out --weight"),
        (["--algorithm", "greedy", "--depth", "9"], "greedy has no depth limit: leave out --depth"),
        (["--algorithm", "a-star", "--order", "value"], "a-star has no choice of order: leave out --order"),
        (["--algorithm", "a-star", "--all"], "a-star finds a single solution: use ida-star to find all"),
        (["--depth", "99999"], "--depth must be an integer between 1 and 10,000, got 99999"),
        (["--wrap", "--heuristic", "walking-distance"], "walking-distance is inadmissible on 3x3 wrapped boards"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_do_not_go_with_a_search_are_refused(words, message, run):
    code, output, errors = run("solve", EASY, *words)
    assert (code, output, len(errors.splitlines())) == (2, "", 1) and message in errors


def test_an_option_of_one_search_selects_it(run):
    for option, name in (("--width", "beam"), ("--depth", "dfs"), ("--weight", "weighted-a-star")):
        heuristic = [] if name == "dfs" else ["--heuristic", "manhattan"]
        code, output, _ = run("solve", EASY, option, "40", *heuristic, "--json")
        assert code == 0 and json.loads(output)["algorithm"] == name


@pytest.mark.beam
def test_a_beam_reports_every_better_solution(run):
    board = "5 1 2 3 6 / 10 4 7 9 8 / 15 11 12 0 13 / 20 16 17 14 18 / 21 22 23 19 24 / 25 26 27 28 29"
    code, output, errors = run("solve", board, "--goal", "first", "--time-limit", "1")
    assert code == 0 and re.search(r"^beam with linear-conflict, \d+ at the start$", output, re.MULTILINE)
    assert re.search(r"^  width   moves        expanded       generated   seconds$", output, re.MULTILINE)
    for line in errors.splitlines():
        assert re.fullmatch(r"\d+ moves after \d+\.\d s", line)
    record = json.loads(run("solve", board, "--goal", "first", "--time-limit", "1", "--json")[1])
    lengths = [better["length"] for better in record["incumbents"]]
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] == record["length"]


# ---- exit codes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[STUCK], ["2 1 0 3"], ["0 2 1 3 4 5 6 7 8", "--goal", "first"]])
def test_a_board_without_a_solution_is_one_line_and_exit_code_1(words, solve):
    code, output, errors = solve(*words)
    assert (code, output, len(errors.splitlines())) == (1, "", 1)
    assert errors.startswith("pdb-solver: the board cannot be solved")
    assert "odd" in errors and "even" in errors and "exchange" in errors
    code, output, errors = solve(*words, "--json")
    record = json.loads(output)
    assert (code, errors, record["solved"], record["solvable"]) == (1, "", False, False)
    assert "cannot be solved" in record["error"]


@pytest.mark.parametrize(
    "text, message",
    {
        "": "the board is empty",
        "1 2 3 4 5 6 7 8 \x1b[31m": "is not a number",
        "1 2 3 4 5 6 7 8 \udcff": "is not a number",
        "9" * 5000 + " 1 2 0": "too large",
        " ".join(map(str, range(5000))): "at most 100",
    }.items(),
    ids=ascii,
)
def test_a_bad_board_is_one_line_and_exit_code_2(text, message, solve):
    code, output, errors = solve(text)
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert errors.startswith("pdb-solver: error: ") and message in errors
    assert len(errors) < 300 and "\x1b" not in errors
    code, output, errors = solve(text, "--json")
    assert (code, errors) == (2, "") and message in json.loads(output)["error"]


@pytest.mark.parametrize("heuristic", ["pdb", "pdb:none", "pdb:damaged", "pdb:" + "x" * 300, "zero"])
def test_an_unusable_heuristic_is_an_error_in_json_as_well(heuristic, run, databases):
    (databases / "damaged.h5").write_bytes(b"")
    code, output, errors = run("solve", EASY, "--heuristic", heuristic, "--json")
    assert (code, errors) == (2, "") and json.loads(output)["error"]
    code, output, errors = run("solve", EASY, "--heuristic", heuristic)
    assert (code, output, len(errors.splitlines())) == (2, "", 1)


@pytest.mark.parametrize(
    "words, stopped",
    [
        (["--node-limit", "1"], "nodes"),
        (["--all", "--node-limit", "1e3"], "nodes"),
        (["--time-limit", "0.2"], "time"),
        (["--algorithm", "a-star", "--node-limit", "1k"], "nodes"),
        (["--algorithm", "a-star", "--memory-limit", "1MB"], "memory"),
        (["--algorithm", "beam", "--width", "1e6", "--memory-limit", "1MB"], "memory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_limit_is_exit_code_3_and_a_lower_bound(words, stopped, solve):
    command = (LONG, "--goal", "first", *words)
    code, output, errors = solve(*command)
    assert (code, errors) == (3, "") and "generated" in output
    bound = int(re.search(r"no solution has fewer than (\d+) moves", output)[1])
    reason = {"nodes": "the node limit was reached", "time": "the time limit was reached"}.get(stopped, "memory")
    assert reason in output and ("use a smaller --width" in output) == ("beam" in words)
    code, output, errors = solve(*command, "--json")
    record = json.loads(output)
    assert (code, errors, record["solved"], record["stopped"]) == (3, "", False, stopped)
    assert (record["length"], record["moves"]) == (None, None)
    assert record["h_start"] <= record["lower_bound"] <= 80 and record["h_start"] <= bound <= 80
    code, output, errors = solve(*command, "--quiet")
    assert (code, output) == (3, "") and errors.startswith("pdb-solver: no solution has fewer than ")


def test_a_depth_that_is_too_small_is_a_limit(run):
    code, output, _ = run("solve", FARTHEST, "--goal", "first", "--algorithm", "dfs", "--depth", "12")
    assert code == 3 and "no solution has fewer than 21 moves, the depth limit was reached" in output


# ---- many boards --------------------------------------------------------------------------------

MIXED = f"""# good, bad, unsolvable, a matrix, text, good
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


def test_a_bad_board_costs_the_others_nothing(solve):
    code, output, errors = solve("--quiet", stdin=MIXED)
    assert (code, output) == (2, "LL\n-\n-\nL\n-\nL\n")
    assert [line.split(":")[0] for line in errors.splitlines()] == ["line 3", "line 4", "line 10"]
    code, output, errors = solve(stdin=MIXED)
    answers = [re.sub(r"(moves?) ([UDLR]+) \(.*\)", r"\2", line) for line in output.splitlines()]
    assert answers == ["line 2: 2 LL", "line 6: 1 L", "line 11: 1 L"]
    code, output, errors = solve("--json", stdin=MIXED)
    found = records(output)
    assert (code, errors) == (2, "")
    assert [record["line"] for record in found] == [2, 3, 4, 6, 10, 11]
    assert ["error" in record for record in found] == [False, True, True, False, True, False]
    assert [record.get("solvable", True) for record in found] == [True, None, False, True, None, True]
    assert [record["solved"] for record in found] == [True, False, False, True, False, True]


def test_boards_that_hit_a_limit_are_named_quietly(solve):
    code, output, errors = solve("--quiet", "--goal", "first", "--node-limit", "100", stdin=f"{FARTHEST}\n0 1 2 3\n")
    assert (code, output) == (3, "-\n\n")
    assert re.fullmatch(r"line 1: no solution has fewer than \d+ moves, the node limit was reached\n", errors)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--algorithm", "a-star", "--width", "10"], "a-star has no width"),
        (["--goal", "nonsense"], "the goal is neither last, first, spiral nor a board: 'nonsense' is not a number"),
        (["--heuristic", "zero"], "unknown heuristic 'zero'"),
    ],
)
def test_what_is_wrong_with_all_boards_is_said_once(words, said, run):
    code, output, errors = run("solve", *words, stdin=3 * f"{EASY}\n")
    assert (code, output) == (2, "") and len(errors.splitlines()) == 1 and said in errors


@pytest.mark.parametrize(
    "boards, code",
    [([EASY, EASY], 0), ([EASY, STUCK], 1), ([FARTHEST, EASY], 3), ([STUCK, FARTHEST], 3), ([FARTHEST, "x", STUCK], 2)],
)
def test_the_exit_code_is_the_most_severe(boards, code, solve):
    assert solve("--node-limit", "100", stdin="\n".join(boards))[0] == code


def test_jobs_change_nothing_but_the_time(solve, run):
    _, boards, _ = run("random", "3x3", "-n", "30", "--seed", "5")
    text = boards + "bad\n" + STUCK + "\n" + boards.splitlines()[0]
    one, two, more = (solve("--json", "--jobs", jobs, stdin=text) for jobs in ("1", "2", "7"))
    found = [[timeless(record) for record in records(output)] for _, output, _ in (one, two, more)]
    assert len(found[0]) == 33 and found[0] == found[1] == found[2]
    assert (one[0], two[0], more[0]) == (2, 2, 2)


def test_a_published_set_is_answered_board_by_board(solve):
    words = ["--set", "korf100", "--node-limit", "2000"]
    code, output, errors = solve(*words, "--json")
    found = records(output)
    assert (code, errors) == (3, "")
    assert [record["id"] for record in found] == list(range(1, 101))
    for record, instance in zip(found, load_set("korf100")[2], strict=True):
        assert record["board"] == list(instance.board) and record["goal"][0] == 0
        assert record["h_start"] <= record["lower_bound"] <= instance.length
        assert record["solved"] == (record["stopped"] is None)
    code, output, _ = solve(*words, "--jobs", "2")
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


def test_a_walk_leads_no_further_than_its_moves(solve, run):
    drawn = [
        run("random", "3x3", "-n", "40", "--seed", "2", "--goal", "spiral", "--walk", walk)[1] for walk in ("6", "0-9")
    ]
    for boards, most, parities in zip(drawn, (6, 9), ({0}, {0, 1}), strict=True):
        _, output, _ = solve("--json", "--goal", "spiral", "--heuristic", "manhattan", stdin=boards)
        lengths = [record["length"] for record in records(output)]
        assert len(lengths) == 40 and max(lengths) <= most and {length % 2 for length in lengths} == parities
        assert len(set(lengths)) > 2  # they go back and forth
    assert run("random", "4x4", "--walk", "0", "-n", "2", "--goal", "first")[1] == 2 * (
        "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
    )


def test_a_walk_is_a_number_of_moves_or_a_range(run):
    for walk in ("9-2", "many", "1e3", "-4", "10000000", "1-2-3", ""):
        code, output, errors = run("random", "4x4", f"--walk={walk}")
        assert (code, output) == (2, "") and "write it as 1000 or 1000-10000" in errors


def test_random_boards_can_be_piped_into_solve(solve, run):
    for shape in ("2x8", "4x2", "3x3", "2x4"):
        code, boards, _ = run("random", shape, "-n", "3", "--seed", "3", "--goal", "spiral")
        assert code == 0
        code, output, _ = solve("--json", "--goal", "spiral", "--node-limit", "1000", stdin=boards)
        assert code in (0, 3) and [record["shape"] for record in records(output)] == [shape] * 3


# ---- showing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([EASY, "--json", "--quiet"], "--json, --quiet, --show and --animate exclude each other"),
        ([EASY, "--animate", "--show"], "exclude each other"),
        ([EASY, "--speed", "3"], "--speed is for --animate, --gif and --svg: give one of them"),
        ([EASY, "--gif", "a.png"], "a.png does not end in .gif"),
        ([EASY, "--gif", "nowhere/a.gif"], "there is no folder nowhere for a.gif"),
        (["--set", "korf100", "--gif", "a.gif"], "--gif shows the solution of one board"),
        (["--gif", "a.gif"], "--gif shows the solution of one board"),
        ([EASY, "--svg", "a.gif"], "a.gif does not end in .svg"),
        ([EASY, "--svg", "nowhere/a.svg"], "there is no folder nowhere for a.svg"),
        (["--set", "korf100", "--svg", "a.svg"], "--svg shows the solution of one board"),
        ([EASY, "--gif", "a.gif", "--svg", "a.png"], "a.png does not end in .svg"),
    ],
    ids=lambda value: " ".join(value)[-30:] if isinstance(value, list) else "",
)
def test_what_cannot_be_shown_is_refused_before_the_search(words, message, run, monkeypatch):
    pytest.importorskip("PIL")
    monkeypatch.setattr(solve_command, "solve_board", lambda *args: pytest.fail("there was a search"))
    code, output, errors = run("solve", *words)
    assert (code, output, errors.count("\n")) == (2, "", 1) and message in errors
    assert not Path("a.gif").exists() and not Path("a.svg").exists()


def test_without_pillow_there_is_no_search(run, monkeypatch):
    monkeypatch.setattr(gif, "find_spec", lambda name: None)
    monkeypatch.setattr(solve_command, "solve_board", lambda *args: pytest.fail("there was a search"))
    code, output, errors = run("solve", EASY, "--gif", "a.gif")
    assert (code, output) == (2, "") and errors.endswith("run pip install 'slidepdb[gif]'\n")


def test_the_picture_is_written_beside_the_answer(solve):
    images = pytest.importorskip("PIL.Image")
    code, output, errors = solve(FARTHER, "--quiet", "--gif", "a.gif", "--speed", "10")
    assert (code, output) == (0, "LUL\n") and re.fullmatch(r"a\.gif is written: \d+ kB\n", errors)
    with images.open("a.gif") as picture:
        assert picture.n_frames == 7


def test_pictures_are_drawn_even_if_nobody_reads_the_answer(solve, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def full(*_):
        raise InputError("output: No space left on device")

    monkeypatch.setattr("solver.commands.solve._print_answer", full)
    assert solve(FARTHER, "--svg", "a.svg")[0] == 2
    assert Path("a.svg").read_text().startswith("<svg")


def test_a_small_picture_is_written_without_pillow(solve, monkeypatch):
    monkeypatch.setattr(gif, "find_spec", lambda name: None)
    code, output, errors = solve(FARTHER, "--quiet", "--svg", "a.svg", "--speed", "10")
    assert (code, output, errors) == (0, "LUL\n", "a.svg is written: 3 kB\n")
    assert Path("a.svg").read_text() == f"{solver.solve(FARTHER, heuristic='manhattan').svg(speed=10)}\n"


def test_without_a_solution_there_is_no_picture(solve):
    pytest.importorskip("PIL")
    both = ("--gif", "a.gif", "--svg", "a.svg")
    code, output, errors = solve(FARTHEST, "--goal", "first", "--node-limit", "10", *both)
    assert code == 3 and errors.endswith(
        "a.gif was not written: there is no solution to show\na.svg was not written: there is no solution to show\n"
    )
    code, output, errors = solve(STUCK, *both)
    assert (code, output, errors.count("\n")) == (1, "", 1)
    assert not Path("a.gif").exists() and not Path("a.svg").exists()


def without_times(text):
    return re.sub(r"\d+\.\d{3}|.*generated/s", "", text)


@pytest.mark.parametrize("stdin", ["", f"{EASY}\n{FARTHER}\n"])
def test_where_nothing_can_be_played_the_boards_are_printed(stdin, solve):
    board = [] if stdin else [FARTHER]
    code, output, errors = solve(*board, "--animate", stdin=stdin)
    assert (code, errors) == (0, "the boards are printed, not played: the output is not a terminal\n")
    assert without_times(output) == without_times(solve(*board, "--show", stdin=stdin)[1]) and "\x1b" not in output


def test_several_solutions_are_played_one_after_another(solve, monkeypatch):
    pauses = []
    monkeypatch.setattr("tests.conftest.Stream.isatty", lambda stream: True)
    monkeypatch.setattr(solve_command, "animate", partial(animate, pause=pauses.append))
    for name, value in {"TERM": "xterm", "COLUMNS": "80", "LINES": "24", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    code, output, _ = solve("--animate", "--speed", "5", stdin=f"{EASY}\n{FARTHER}\n")
    assert code == 0 and output.count(HIDE) == output.count(SHOW) == 2 and pauses.count(0.2) == 2 + 3
    order = ["line 1:", "move 2 of 2", "\nLL\n", "line 2:", "move 3 of 3", "\nLUL\n"]
    assert all(a < b for a, b in pairwise(output.index(words) for words in order))


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
    "--heuristic": ["manhattan", "linear-conflict", "pdb", "pdb:x", "pdb:", "max:", "max:+", "+", "", "pdb:../x.h5"],
    "--algorithm": ["ida-star", "a-star", "A-STAR", ""],
    "--order": ["fixed", "value", ""],
    "--threads": ["1", "2", "0", "257", "x", "", "1.5"],
    "--jobs": ["1", "2", "3", "-1", ""],
    "--time-limit": ["1", "0.5", "-1", "inf", ""],
    "--node-limit": ["1", "50", "1k", "1e3", "1e99x", "", "-3"],
    "--memory-limit": ["1", "1M", "1T", "-1", "", "1e9"],
    "--moves": ["tile", "blank", "both"],
    "--scramble": ["R2 D", "u", "", "R'", "\udcff", "9", "L0", "r" * 99],
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
