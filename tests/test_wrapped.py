"""Boards with joined edges: shortest solutions, what holds on them and what does not, and the commands' ``--wrap``."""

import csv
import json
import random
import shutil
from functools import cache
from itertools import pairwise

import pytest

from pdb_builder import NAMED, Grid, InputError, Spec
from solver import compare, goal_board, parse_board, random_board, solve
from solver.heuristics.databases import best_database, how_to_build

from .oracle import distances_to

ROUND = "3 1 2 4 5 6 7 8 0"  # its first row is turned by one
ACROSS = "0 1 2 3 4 5 6 7 8"  # from the goal with the blank last, tiles must go round
PAIRS_4X4 = ((1, 2, 3, 4, 5), (6, 7, 8, 9, 10), (11, 12, 13, 14, 15))
MOVES = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}

pytestmark = pytest.mark.jit


@pytest.fixture(autouse=True)
def databases(tmp_path, monkeypatch):
    """An empty default folder, and a process that has said nothing yet."""
    folder = tmp_path / "databases"
    folder.mkdir()
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(folder))
    return folder


@cache
def distances_of(grid, goal):
    return distances_to(grid, goal)


def followed(grid, board, letters, of):
    """The board that letters lead to: each names where a tile goes, or the blank, round the edges if need be."""
    now = list(board)
    for letter in letters:
        down, right = MOVES[letter]
        if of == "tile":
            down, right = -down, -right
        row, col = divmod(now.index(0), grid.cols)
        cell = (row + down) % grid.rows * grid.cols + (col + right) % grid.cols
        now[row * grid.cols + col], now[cell] = now[cell], 0
    return tuple(now)


def check(found, grid, board, goal, length):
    """A solution of the length known, made of moves, whichever way it is told."""
    assert (found.grid, found.board, found.goal) == (grid, board, goal)
    assert (found.solved, found.length, found.lower_bound) == (True, length, length)
    boards = list(found.boards())
    assert (boards[0], boards[-1], len(boards)) == (board, goal, length + 1)
    for one, other in pairwise(boards):
        assert other.index(0) in grid.neighbours[one.index(0)]
        assert sum(a != b for a, b in zip(one, other, strict=True)) == 2
    for of in ("tile", "blank"):
        assert followed(grid, board, found.letters(found.tiles, of), of) == goal


# ---- shortest solutions -------------------------------------------------------------------------

# Shape, goal, and a partition: of an odd side the tables are bytes, else bits.
WHOLE = [
    ("2x2", "last", ((1, 2, 3),)),
    ("2x3", "last", ((1, 2), (3, 4, 5))),
    ("2x3", "spiral", ((1, 2), (3, 4, 5))),
    ("3x2", "3 0 / 5 1 / 2 4", ((1, 2), (3, 4, 5))),
    ("2x4", "first", ((1, 2, 3), (4, 5, 6, 7))),
    ("2x4", "7 2 0 4 / 1 6 5 3", ((1, 2, 3), (4, 5, 6, 7))),
    ("3x3", "last", NAMED["3x3-4-4"]),
    ("3x3", "spiral", NAMED["3x3-4-4"]),
]


@pytest.mark.parametrize("shape, goal, partition", WHOLE)
@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
def test_small_boards_against_breadth_first_search(shape, goal, partition, algorithm, database_of):
    grid = Grid.parse(shape, wrap=True)
    target = goal_board(grid, goal)
    distances = distances_of(grid, target)
    boards = random.Random(shape + goal).sample(sorted(distances), min(len(distances), 40))
    boards.append(max(distances, key=distances.get))
    pdb = f"pdb:{database_of(Spec(grid, partition, blank_in_frame(grid, target)))}"
    # Hamming distance says too little for hundreds of searches of 3x3 with ida-star.
    for heuristic in ("manhattan", pdb, *["hamming"] * (grid.cells < 9 or algorithm == "a-star")):
        for board in boards:
            found = solve(board, goal, shape=shape, wrap=True, heuristic=heuristic, algorithm=algorithm, threads=1)
            check(found, grid, board, target, distances[board])


def blank_in_frame(grid, goal):
    """Where the blank's home comes, turned to as low a cell as it can."""
    return min(cells[goal.index(0)] for target, cells in grid.symmetries() if target == grid)


@pytest.mark.parametrize("algorithm", ["ida-star", "a-star"])
@pytest.mark.parametrize(
    "shape, goal, partition",
    [
        ("3x4", "last", ((1, 2, 4, 5, 6), (3, 7, 8, 9, 10, 11))),
        ("3x4", "spiral", ((1, 2, 4, 5, 6), (3, 7, 8, 9, 10, 11))),
        ("4x4", "last", PAIRS_4X4),
        ("4x4", "5 4 3 2 / 1 0 15 14 / 13 12 11 10 / 6 7 8 9", PAIRS_4X4),
        ("5x3", "first", ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11), (12, 13, 14))),
    ],
)
def test_scrambles_of_larger_boards(shape, goal, partition, algorithm, database_of):
    grid, chance = Grid.parse(shape, wrap=True), random.Random(shape + goal)
    target = goal_board(grid, goal)
    distances = distances_to(grid, target, 9)
    spec = Spec(grid, partition, blank_in_frame(grid, target))
    assert spec.encoding == ("bits" if grid.bipartite else "bytes")
    far = [board for board, moves in distances.items() if moves > 6]
    for board in chance.sample(far, 12):
        for heuristic in ("manhattan", "hamming", f"pdb:{database_of(spec)}"):
            found = solve(board, goal, shape=shape, wrap=True, heuristic=heuristic, algorithm=algorithm, threads=1)
            check(found, grid, board, target, distances[board])


def test_random_boards_of_4x4_by_all_methods(database_of):
    grid = Grid(4, 4, wrap=True)
    pdb = f"pdb:{database_of(Spec(grid, PAIRS_4X4))}"
    boards = [random_board(grid, goal_board(grid), random.Random(seed)) for seed in range(3)]
    comparison = compare(boards, ["manhattan", pdb, f"max:{pdb}+hamming"], ["ida-star", "ida-star:fixed"], wrap=True)
    assert comparison.grid == grid and len(comparison.cells) == 18 and not comparison.missing()


def test_lengths_have_no_parity_with_an_odd_side():
    """The same board of 3x3 can be left and entered again by ways of odd length: three moves round a row."""
    grid = Grid(3, 3, wrap=True)
    goal = goal_board(grid)
    distances = distances_of(grid, goal)
    at_home = {moves % 2 for board, moves in distances.items() if board[8] == 0}
    assert at_home == {0, 1}
    odd = next(board for board, moves in distances.items() if board[8] == 0 and moves % 2)
    for heuristic in ("manhattan", "hamming"):
        check(solve(odd, wrap=True, heuristic=heuristic), grid, odd, goal, distances[odd])


def test_all_shortest_solutions():
    grid = Grid(2, 3, wrap=True)
    goal = goal_board(grid)
    distances = distances_of(grid, goal)

    def ways(board):
        hole, count = board.index(0), 0
        for cell in grid.neighbours[hole]:
            other = list(board)
            other[hole], other[cell] = other[cell], 0
            if distances[tuple(other)] == distances[board] - 1:
                count += ways(tuple(other))
        return count if distances[board] else 1

    for board in random.Random(1).sample(sorted(distances), 30):
        found = solve(board, shape="2x3", wrap=True, heuristic="manhattan", every=True)
        assert len(set(found.solutions)) == len(found.solutions) == ways(board)
        for tiles in found.solutions:
            assert followed(grid, board, found.letters(tiles), "tile") == goal


def test_letters_across_every_edge():
    """The blank's home is a corner: of the tiles that stand there, two leave it over an edge."""
    grid = Grid(3, 4, wrap=True)
    goal = goal_board(grid)
    letters = {}
    for cell in grid.neighbours[11]:
        board = list(goal)
        board[11], board[cell] = board[cell], 0
        found = solve(board, shape=(3, 4), wrap=True, heuristic="hamming")
        letters[cell] = (found.moves, found.letters(found.tiles, "blank"))
    assert letters == {10: ("L", "R"), 8: ("R", "L"), 7: ("U", "D"), 3: ("D", "U")}


# ---- databases ----------------------------------------------------------------------------------


def test_only_wrapped_databases_are_for_wrapped_boards(databases, database_of):
    plain, wrapped = Grid(3, 3), Grid(3, 3, wrap=True)
    shutil.copy(database_of(Spec(plain, NAMED["3x3-8"])), databases / "3x3-8.h5")
    assert best_database(wrapped, 0, databases) == (None, ())
    assert solve(ROUND, wrap=True).heuristic == "manhattan"
    with pytest.raises(
        InputError, match=r"for 3x3 wrapped boards with this goal: build one with 'pdb-builder .* --wrap'"
    ):
        solve(ROUND, wrap=True, heuristic="pdb")
    with pytest.raises(InputError, match=r"is for 3x3 boards .* not for 3x3 wrapped boards .* --wrap'"):
        solve(ROUND, wrap=True, heuristic="pdb:3x3-8")
    path = databases / "3x3-4-4-wrap-bytes.h5"
    shutil.copy(database_of(Spec(wrapped, NAMED["3x3-4-4"])), path)
    assert best_database(wrapped, 0, databases)[0].path == path
    assert best_database(plain, 0, databases)[0].path.name == "3x3-8.h5"
    assert solve(ROUND, wrap=True).heuristic == "pdb:3x3-4-4-wrap-bytes"
    assert solve(ACROSS, goal="first").heuristic == "pdb:3x3-8"
    assert how_to_build(wrapped, 1, databases) == "build one with 'pdb-builder build 3x3 --wrap --blank 1'"


# ---- the commands -------------------------------------------------------------------------------


def test_solve(run):
    code, output, errors = run("solve", ACROSS, "--wrap", "--heuristic", "manhattan", "--show")
    assert (code, errors) == (0, "")
    length = distances_of(Grid(3, 3, wrap=True), goal_board(Grid(3, 3)))[tuple(map(int, ACROSS.split()))]
    assert "\n3x3 wrapped: tiles slide across the edges\n" in output and f"\n{length} moves, proven" in output
    assert "wrapped" not in run("solve", ROUND[::-1], "--goal", ROUND[::-1], "--heuristic", "manhattan")[1]


def test_solve_as_json(run):
    stdin = f"{ROUND}\n1 2 / 3 0\n1 2 3 4 5 6 7 8 8\n2 1 / 3 0\n"
    code, output, _ = run("solve", "--wrap", "--heuristic", "manhattan", "--json", stdin=stdin)
    assert code == 2
    records = [json.loads(line) for line in output.splitlines()]
    assert [record["wrap"] for record in records] == [True, True, None, True]
    assert [record["shape"] for record in records] == ["3x3", "2x2", None, "2x2"]
    assert [record["solved"] for record in records] == [True, True, False, False]
    assert records[3]["solvable"] is False
    _, output, _ = run("solve", ROUND[::-1], "--goal", ROUND[::-1], "--heuristic", "manhattan", "--json")
    assert json.loads(output)["wrap"] is False


@pytest.mark.parametrize("words", [[], ["--shape", "2x3"]])
def test_a_board_that_only_joined_edges_can_solve(words, run):
    board = "2 1 3 / 4 5 0"
    assert run("solve", board, *words, "--heuristic", "manhattan")[0] == 1
    code, output, _ = run("solve", board, *words, "--heuristic", "manhattan", "--wrap", "--quiet")
    grid, start = parse_board(board)
    wrapped = Grid(2, 3, wrap=True)
    assert code == 0
    assert followed(wrapped, start, output.strip(), "tile") == goal_board(grid)
    assert len(output.strip()) == distances_of(wrapped, goal_board(wrapped))[start]


def test_from_random_to_solve(run, tmp_path):
    code, output, _ = run("random", "2x3", "--wrap", "-n", "60", "--seed", "1")
    lines = output.splitlines()
    assert code == 0 and len(lines) == 60
    plain = set(run("random", "2x3", "-n", "60", "--seed", "1")[1].splitlines())
    assert not set(lines) <= plain  # half of the boards need the edges
    (tmp_path / "boards.txt").write_text(output)
    words = ("solve", "--wrap", "--file", str(tmp_path / "boards.txt"), "--heuristic", "manhattan", "--json")
    code, output, _ = run(*words)
    distances = distances_of(Grid(2, 3, wrap=True), goal_board(Grid(2, 3)))
    assert code == 0
    for line, record in zip(lines, map(json.loads, output.splitlines()), strict=True):
        assert record["length"] == distances[parse_board(line)[1]]


@pytest.mark.parametrize(
    "words, said",
    [
        (["solve", ROUND, "--heuristic", "linear-conflict"], "linear-conflict is inadmissible on 3x3 wrapped boards"),
        (["solve", ROUND, "--heuristic", "walking-distance"], "walking-distance is inadmissible on 3x3 wrapped boards"),
        (
            ["solve", ROUND, "--heuristic", "max:manhattan+linear-conflict"],
            "where tiles slide across the edges: use manhattan",
        ),
        (["solve", ROUND, "--heuristic", "pdb"], "build one with 'pdb-builder build 3x3 --wrap'"),
        (["solve", "--set", "korf100"], "the boards of the set korf100 are not wrapped: leave out --wrap"),
        (["compare", "--set", "korf100"], "the boards of the set korf100 are not wrapped: leave out --wrap"),
        (["compare", ROUND, "--heuristics", "manhattan,linear-conflict"], "linear-conflict is inadmissible"),
        (["compare", "--random", "3x3", "--heuristics", "walking-distance"], "walking-distance is inadmissible"),
        (["random", "1x3"], "too small"),
    ],
)
def test_what_does_not_go_with_it_is_refused_in_one_line(words, said, run):
    code, output, errors = run(*words, "--wrap")
    assert (code, output) == (2, "") and said in errors and len(errors.splitlines()) == 1


def test_sets_are_not_wrapped_in_python_either():
    with pytest.raises(InputError, match="the boards of the set korf100 are not wrapped: leave out `wrap`"):
        compare("korf100", ["manhattan"], wrap=True)


def test_compare(run):
    words = ("compare", "--wrap", "--random", "3x3", "-n", "4", "--heuristics", "manhattan,hamming", "--seed", "2")
    code, output, errors = run(*words, "--algorithms", "a-star")
    assert (code, errors) == (0, "")
    assert output.startswith("4 boards of 3x3 wrapped (random boards, seed 2), means per board\n")
    code, output, _ = run(*words, "--algorithms", "a-star", "--json")
    record = json.loads(output)
    assert (record["shape"], record["wrap"]) == ("3x3", True)
    distances = distances_of(Grid(3, 3, wrap=True), goal_board(Grid(3, 3)))
    for cell in record["cells"]:
        assert cell["length"] == distances[parse_board(cell["board"])[1]]
    _, output, _ = run("compare", ACROSS, "--goal", "first", "--heuristics", "manhattan", "--json")
    assert json.loads(output)["wrap"] is False


def test_what_is_compared_if_nothing_is_said(run, databases, database_of):
    shutil.copy(database_of(Spec(Grid(3, 3, wrap=True), NAMED["3x3-4-4"])), databases / "3x3-wrap.h5")
    for words, names in [
        (("--random", "3x3", "-n", "2", "--wrap"), ["manhattan", "pdb:3x3-wrap"]),
        (("--random", "9x9", "-n", "2", "--wrap"), ["manhattan"]),
        (("--random", "9x9", "-n", "2"), ["manhattan", "linear-conflict"]),
    ]:
        code, output, errors = run("compare", *words, "--node-limit", "100000", "--json")
        assert code in (0, 3) and errors == ""
        assert [one["heuristic"] for one in json.loads(output)["methods"]] == names


@pytest.mark.parametrize("limits", [(), ("--node-limit", "50")])
def test_a_saved_run_with_other_edges_is_not_taken_for_this_one(limits, run, tmp_path):
    """Hamming distance is the same with and without joined edges, so it would not give the other run away."""
    file = tmp_path / "a.csv"
    words = ("compare", "--random", "2x4", "-n", "5", "--heuristics", "hamming", "--json", *limits)

    def lines():
        with open(file, newline="") as text:
            return sorted(tuple(row[key] for key in row if key != "seconds") for row in csv.DictReader(text))

    def found(*more):
        code, output, errors = run(*words, *more)
        assert (code, errors) == (3 if limits else 0, "")
        return [(one["board"], one["length"], one["expanded"]) for one in json.loads(output)["cells"]]

    resumed = ("--resume", str(file))
    plain = found(*resumed)
    before = lines()
    wrapped = found(*resumed, "--wrap")
    after = lines()
    assert len(before) == 5 and len(after) == 10 and set(before) < set(after)
    assert wrapped == found("--wrap") != plain == found()
    assert [board for board, *_ in wrapped] == [f"{board} # wrapped" for board, *_ in plain]
    assert [parse_board(board) for board, *_ in wrapped] == [parse_board(board) for board, *_ in plain]
    assert (found(*resumed, "--wrap"), found(*resumed)) == (wrapped, plain)
    assert lines() == after  # nothing was done again
