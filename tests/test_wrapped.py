"""Wrapped boards: shortest solutions across the edges, and ``--wrap`` in all commands."""

import json
import random
import re
import shutil

import pytest

from pdb_builder import NAMED, Grid, InputError, Spec
from solver import compare, goal_board, parse_board, random_board, solve

from .helpers import check_solution, followed
from .oracle import count_shortest_solutions, distances_to

ROUND = "3 1 2 4 5 6 7 8 0"  # its first row is turned by one
ACROSS = "0 1 2 3 4 5 6 7 8"  # from the goal with the blank last, tiles must go round
PAIRS_4X4 = ((1, 2, 3, 4, 5), (6, 7, 8, 9, 10), (11, 12, 13, 14, 15))

pytestmark = [pytest.mark.jit, pytest.mark.usefixtures("databases")]


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


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape, goal, partition", WHOLE)
def test_small_boards_against_breadth_first_search(shape, goal, partition, database_of):
    grid = Grid.parse(shape, wrap=True)
    target = goal_board(grid, goal)
    distances = distances_to(grid, target)
    boards = random.Random(shape + goal).sample(sorted(distances), min(len(distances), 40))
    boards.append(max(distances, key=distances.get))
    pdb = f"pdb:{database_of(Spec(grid, partition, blank_in_frame(grid, target)))}"
    # Hamming distance is too weak for IDA* on 3x3. The loop of A* does the same with a database as with the others.
    weak = ["hamming"] * (grid.cells < 9)
    for algorithm, heuristics in (("ida-star", ["manhattan", pdb, *weak]), ("a-star", ["manhattan", "hamming"])):
        for heuristic in heuristics:
            for board in boards:
                found = solve(board, goal, shape=shape, wrap=True, heuristic=heuristic, algorithm=algorithm, threads=1)
                check_solution(found, grid, board, target, distances[board])


def blank_in_frame(grid, goal):
    """Where the blank's home comes, turned to as low a cell as it can."""
    return min(cells[goal.index(0)] for target, cells in grid.symmetries() if target == grid)


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
def test_scrambles_of_larger_boards(shape, goal, partition, database_of):
    grid, chance = Grid.parse(shape, wrap=True), random.Random(shape + goal)
    target = goal_board(grid, goal)
    distances = distances_to(grid, target, 9)
    spec = Spec(grid, partition, blank_in_frame(grid, target))
    assert spec.encoding == ("bits" if grid.bipartite else "bytes")
    far = [board for board, moves in distances.items() if moves > 6]
    for board in chance.sample(far, 12):
        for heuristic, algorithm in (
            ("manhattan", "a-star"),
            ("hamming", "ida-star"),
            (f"pdb:{database_of(spec)}", None),
        ):
            found = solve(board, goal, shape=shape, wrap=True, heuristic=heuristic, algorithm=algorithm, threads=1)
            check_solution(found, grid, board, target, distances[board])


def test_random_boards_of_4x4_by_all_methods(database_of):
    grid = Grid(4, 4, wrap=True)
    pdb = f"pdb:{database_of(Spec(grid, PAIRS_4X4))}"
    boards = [random_board(grid, goal_board(grid), random.Random(seed)) for seed in range(3)]
    comparison = compare(boards, ["manhattan", pdb], ["ida-star", "ida-star:fixed"], wrap=True)
    assert comparison.grid == grid and len(comparison.cells) == 12 and not comparison.missing()


def test_with_an_odd_side_lengths_have_no_parity():
    """The same board of 3x3 can be left and entered again by ways of odd length: three moves round a row."""
    grid = Grid(3, 3, wrap=True)
    goal = goal_board(grid)
    distances = distances_to(grid, goal)
    at_home = {moves % 2 for board, moves in distances.items() if board[8] == 0}
    assert at_home == {0, 1}
    odd = next(board for board, moves in distances.items() if board[8] == 0 and moves % 2)
    for heuristic in ("manhattan", "hamming"):
        check_solution(solve(odd, wrap=True, heuristic=heuristic), grid, odd, goal, distances[odd])


def test_all_shortest_solutions():
    grid = Grid(2, 3, wrap=True)
    goal = goal_board(grid)
    for board in random.Random(1).sample(sorted(distances_to(grid, goal)), 30):
        found = solve(board, shape="2x3", wrap=True, heuristic="manhattan", every=True)
        assert len(set(found.solutions)) == len(found.solutions) == count_shortest_solutions(grid, board, goal)
        for tiles in found.solutions:
            assert followed(grid, board, found.letters(tiles)) == goal


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


# ---- the commands -------------------------------------------------------------------------------


def test_solve(run):
    code, output, errors = run("solve", ACROSS, "--wrap", "--heuristic", "manhattan", "--show")
    assert (code, errors) == (0, "")
    length = distances_to(Grid(3, 3, wrap=True), goal_board(Grid(3, 3)))[tuple(map(int, ACROSS.split()))]
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
def test_a_board_that_can_be_solved_only_across_the_edges(words, run):
    board = "2 1 3 / 4 5 0"
    assert run("solve", board, *words, "--heuristic", "manhattan")[0] == 1
    code, output, _ = run("solve", board, *words, "--heuristic", "manhattan", "--wrap", "--quiet")
    grid, start = parse_board(board)
    wrapped = Grid(2, 3, wrap=True)
    assert code == 0
    assert followed(wrapped, start, output.strip()) == goal_board(grid)
    assert len(output.strip()) == distances_to(wrapped, goal_board(wrapped))[start]


def test_from_random_to_solve(run, tmp_path):
    code, output, _ = run("random", "2x3", "--wrap", "-n", "60", "--seed", "1")
    lines = output.splitlines()
    assert code == 0 and len(lines) == 60
    plain = set(run("random", "2x3", "-n", "60", "--seed", "1")[1].splitlines())
    assert not set(lines) <= plain  # half of the boards need the edges
    (tmp_path / "boards.txt").write_text(output)
    words = ("solve", "--wrap", "--file", str(tmp_path / "boards.txt"), "--heuristic", "manhattan", "--json")
    code, output, _ = run(*words)
    distances = distances_to(Grid(2, 3, wrap=True), goal_board(Grid(2, 3)))
    assert code == 0
    for line, record in zip(lines, map(json.loads, output.splitlines()), strict=True):
        assert record["length"] == distances[parse_board(line)[1]]


@pytest.mark.parametrize(
    "words, said",
    [
        (["solve", ROUND, "--heuristic", "linear-conflict"], "linear-conflict is inadmissible on 3x3 wrapped boards"),
        (["compare", ROUND, "--heuristics", "manhattan,walking-distance"], "walking-distance is inadmissible"),
        (["solve", "--set", "korf100"], "the boards of the set korf100 are not wrapped: leave out --wrap"),
        (["compare", "--set", "korf100"], "the boards of the set korf100 are not wrapped: leave out --wrap"),
    ],
)
def test_what_wrapped_boards_do_not_allow_is_refused_in_one_line(words, said, run):
    code, output, errors = run(*words, "--wrap")
    assert (code, output) == (2, "") and said in errors and len(errors.splitlines()) == 1


def test_sets_are_never_wrapped():
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
    distances = distances_to(Grid(3, 3, wrap=True), goal_board(Grid(3, 3)))
    for cell in record["cells"]:
        assert cell["length"] == distances[parse_board(cell["board"])[1]]
    _, output, _ = run("compare", ACROSS, "--goal", "first", "--heuristics", "manhattan", "--json")
    assert json.loads(output)["wrap"] is False


def test_what_is_compared_by_default(run, databases, database_of):
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
@pytest.mark.parametrize("first, then", [((), ("--wrap",)), (("--wrap",), ())], ids=["plain", "wrapped"])
def test_results_are_for_plain_boards_or_for_wrapped_ones(first, then, limits, run, tmp_path):
    """Hamming distance is the same with and without joined edges, so it would not give the other run away."""
    file = tmp_path / "a.csv"
    words = ("compare", "--random", "2x4", "-n", "5", "--heuristics", "hamming", *limits, "--resume", str(file))
    code, output, errors = run(*words, *first)
    assert (code, errors) == (3 if limits else 0, "")
    before = file.read_bytes()
    assert before.count(b"# wrapped") == (5 if first else 0)
    refused = run(*words, *then)
    assert refused[:2] == (2, "") and refused[2].count("\n") == 1 and file.read_bytes() == before
    assert re.search(r"a.csv holds boards of 2x4( wrapped)?, not of 2x4( wrapped)?: start a new file", refused[2])
    assert run(*words, *first) == (code, output, "") and file.read_bytes() == before, "nothing was done again"
