"""Heuristics: admissible, carried along moves without error, the same under symmetries of the board."""

import random
from itertools import pairwise, permutations

import pytest

from pdb_builder import NAMED, Grid, InputError, Spec, open_database
from solver.heuristics import (
    MOST_PARTS,
    check_name,
    hamming,
    inversions,
    linear_conflict,
    manhattan,
    maximum,
    pattern_database,
)
from solver.heuristics.databases import database_heuristic
from solver.heuristics.linear_conflict import fewest_removals
from solver.heuristics.preparing import prepare

from .helpers import check_along_a_walk, check_length, length, scrambled, searched
from .oracle import board_distances, solvable_boards

pytestmark = pytest.mark.jit


def pairs_of(grid):
    """A partition into pairs, which even large boards have room for."""
    return tuple(tuple(range(first, min(first + 2, grid.cells))) for first in range(1, grid.cells, 2))


def database_for(database_of, grid, blank, partition, encoding=None):
    return open_database(database_of(Spec(grid, partition, blank, encoding)))


CASES = [
    (Grid(3, 3), 0, NAMED["3x3-8"], "bits"),
    (Grid(3, 3), 4, NAMED["3x3-4-4"], "bits"),
    (Grid(3, 3), 1, ((1, 2, 3, 4, 5, 6), (7, 8)), "bytes"),
    (Grid(3, 3, True), 0, NAMED["3x3-4-4"], "bytes"),
    (Grid(2, 4), 0, ((1, 2, 3, 4, 5), (6,), (7,)), "bits"),
    (Grid(4, 4), 0, NAMED["4x4-5-5-5"], "bits"),
    (Grid(4, 4), 5, NAMED["4x4-5-5-5"], "bytes"),
    (Grid(5, 5), 12, tuple(tuple(range(first, first + 3)) for first in range(1, 25, 3)), "bits"),
    (Grid(6, 5, True), 7, pairs_of(Grid(6, 5)), "bytes"),  # footprints are not ranked by tables from here on
    (Grid(8, 8), 63, pairs_of(Grid(8, 8)), "bits"),  # the last cell is the sign bit of a set of cells
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("grid, blank, partition, encoding", CASES, ids=lambda case: str(case)[:20])
def test_databases_are_carried_along_moves_without_error(grid, blank, partition, encoding, database_of):
    pdb = pattern_database.prepare(grid, blank, database_for(database_of, grid, blank, partition, encoding))
    check_along_a_walk(grid, blank, pdb, 150 if grid.cells < 30 else 40, seed=blank)


@pytest.mark.exhaustive
@pytest.mark.parametrize("grid, blank", [(Grid(3, 3), 4), (Grid(4, 4), 0)], ids=str)
def test_a_maximum_is_carried_along_moves_without_error(grid, blank, database_of):
    partition = NAMED["3x3-4-4" if grid.rows == 3 else "4x4-5-5-5"]
    pdb = pattern_database.prepare(grid, blank, database_for(database_of, grid, blank, partition))
    check_along_a_walk(grid, blank, maximum.prepare(pdb, linear_conflict.prepare(grid, blank)), 150, seed=blank)


@pytest.mark.parametrize(
    "shape, wrap", [("3x3", False), ("3x3", True), ("10x10", False), ("7x12", True), ("2x50", False)]
)
def test_simple_heuristics_are_carried_along_moves_without_error(shape, wrap):
    grid = Grid.parse(shape, wrap)
    for number, kind in enumerate((manhattan, hamming, inversions)):
        check_along_a_walk(grid, number, kind.prepare(grid, number), 100, seed=number)


@pytest.mark.exhaustive
@pytest.mark.parametrize("grid, encoding", [(Grid(6, 5), "bytes"), (Grid(8, 8), "bits")], ids=str)
def test_databases_of_large_boards_lead_to_shortest_solutions(grid, encoding, database_of):
    pdb = pattern_database.prepare(grid, 0, database_for(database_of, grid, 0, pairs_of(grid), encoding))
    chance = random.Random(grid.cells)
    for _ in range(5):
        board = scrambled(grid, grid.goal(0), 20, chance)
        by_pdb, by_distance = (searched("ida-star", grid, 0, board, one) for one in (pdb, manhattan.prepare(grid, 0)))
        assert length(by_pdb) == length(by_distance)


@pytest.mark.exhaustive
@pytest.mark.parametrize("blank", [0, 1, 4])
def test_no_value_exceeds_the_distance_and_each_has_its_parity(blank, database_of):
    grid = Grid(3, 3)
    distances = board_distances(grid, blank)
    boards = random.Random(blank).sample(solvable_boards(grid, blank), 1500)
    pdb, exact = (
        pattern_database.prepare(grid, blank, database_for(database_of, grid, blank, NAMED[name]))
        for name in ("3x3-4-4", "3x3-8")
    )
    lines = linear_conflict.prepare(grid, blank)
    for heuristic in (manhattan.prepare(grid, blank), lines, pdb, maximum.prepare(pdb, lines)):
        values = {board: max(heuristic.measure(board)) for board in boards}
        assert all(value <= distances[board] for board, value in values.items())
        assert all((distances[board] - value) % 2 == 0 for board, value in values.items())
        assert max(heuristic.measure(grid.goal(blank))) == 0
    assert [exact.measure(board) for board in boards[:300]] == [[distances[board]] for board in boards[:300]]


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2), (2, 4)])
def test_on_small_boards_no_value_exceeds_the_distance_anywhere(shape):
    grid = Grid(*shape)
    for blank in range(grid.cells):
        distances = board_distances(grid, blank)
        boards = solvable_boards(grid, blank)[:: 1 if grid.cells < 8 else 41]
        for heuristic in (manhattan.prepare(grid, blank), linear_conflict.prepare(grid, blank)):
            assert all(max(heuristic.measure(board)) <= distances[board] for board in boards)


# ---- linear conflict ----------------------------------------------------------------------------


def test_not_all_of_three_tiles_in_the_wrong_order_must_leave():
    assert fewest_removals(0o213, 3) == 1  # 3 1 2, lowest digit first
    assert fewest_removals(0o123, 3) == 2  # 3 2 1
    assert fewest_removals(0o3002, 3) == 0


@pytest.mark.parametrize("width", [3, 4])
def test_fewest_removals_against_trying_all_subsets(width):
    for size in range(1, 6):
        for order in permutations(range(1, 6), size):
            kept = max(len(subset) for subset in subsequences(order) if all(a < b for a, b in pairwise(subset)))
            code = sum(digit << (width * place) for place, digit in enumerate(order))
            assert fewest_removals(code, width) == size - kept


def subsequences(order):
    for chosen in range(1 << len(order)):
        yield [digit for place, digit in enumerate(order) if chosen >> place & 1]


LINES = [(3, 3), (4, 4), (2, 8), (3, 9), (2, 16), (7, 7), (3, 20), (10, 10), (6, 15), (2, 50)]


@pytest.mark.parametrize("shape", LINES)
def test_conflicts_are_carried_along_moves_without_error(shape):
    """Looked up in a table on short lines, counted on long ones."""
    grid = Grid(*shape)
    check_along_a_walk(grid, 1, linear_conflict.prepare(grid, 1), 200, seed=1)


def test_a_reversed_line_counts_all_but_one():
    grid = Grid(3, 9)
    board = [0, *range(8, 0, -1), *range(9, 27)]
    extra = linear_conflict.prepare(grid, 0).measure(board)[0] - manhattan.prepare(grid, 0).measure(board)[0]
    assert extra == 2 * 7


def longest_increasing(numbers):
    """How many numbers a longest increasing subsequence has, by the textbook: the best that ends with each."""
    best = []
    for place, number in enumerate(numbers):
        best.append(1 + max((best[at] for at in range(place) if numbers[at] < number), default=0))
    return max(best, default=0)


def naive_conflicts(grid, blank, board):
    """Two moves for each tile that must leave its line, line by line."""
    homes = {tile: divmod(grid.home(tile, blank), grid.cols) for tile in range(1, grid.cells)}
    total = 0
    for axis, lines in enumerate((grid.rows, grid.cols)):
        for line in range(lines):
            cells = [cell for cell in range(grid.cells) if divmod(cell, grid.cols)[axis] == line]
            own = [homes[board[cell]] for cell in cells if board[cell] and homes[board[cell]][axis] == line]
            places = [home[1 - axis] for home in own]
            total += 2 * (len(places) - longest_increasing(places))
    return total


@pytest.mark.parametrize("rows, cols, blank", [(9, 9, 0), (10, 10, 0), (10, 10, 44), (7, 12, 5), (6, 15, 0), (2, 9, 1)])
def test_conflicts_in_long_lines_against_the_obvious_count(rows, cols, blank):
    grid, chance = Grid(rows, cols), random.Random(rows * cols + blank)
    goal = grid.goal(blank)
    lines, distance = linear_conflict.prepare(grid, blank), manhattan.prepare(grid, blank)
    for _ in range(40):
        board = list(goal)
        for row in chance.sample(range(rows), chance.randrange(1, rows)):  # rows in disorder, and a few tiles astray
            part = board[row * cols : (row + 1) * cols]
            chance.shuffle(part)
            board[row * cols : (row + 1) * cols] = part
        for _ in range(chance.randrange(6)):
            a, b = chance.sample(range(grid.cells), 2)
            board[a], board[b] = board[b], board[a]
        conflicts = naive_conflicts(grid, blank, board)
        assert lines.measure(board) == [distance.measure(board)[0] + conflicts]
    assert conflicts > 0
    columns = [goal[cell] for cell in range(grid.cells - cols, -1, -cols)]  # the first column upside down
    board = list(goal)
    board[::cols] = columns
    assert lines.measure(board)[0] - distance.measure(board)[0] == naive_conflicts(grid, blank, board) > 0


@pytest.mark.parametrize("name", ["linear-conflict", "walking-distance"])
def test_heuristics_that_are_inadmissible_on_wrapped_boards_are_refused_there(name, tmp_path):
    fact = f"^{name} is inadmissible on {{}} wrapped boards, where tiles slide across the edges: use {{}}$"
    for shape, others in (("3x3", "manhattan or pdb"), ("2x2", "manhattan or pdb"), ("10x10", "manhattan")):
        with pytest.raises(InputError, match=fact.format(shape, others)):
            prepare(name, Grid.parse(shape, wrap=True), 0, tmp_path)


# ---- Hamming distance and inversions ------------------------------------------------------------


PLAIN_AND_WRAPPED = [
    (Grid(3, 3), 0),
    (Grid(3, 3), 4),
    (Grid(2, 4), 5),
    (Grid(4, 2), 7),
    (Grid(3, 3, True), 1),
    (Grid(4, 5, True), 0),
    (Grid(8, 8), 63),
]


@pytest.mark.parametrize("grid, blank", PLAIN_AND_WRAPPED, ids=str)
def test_misplaced_tiles_and_inversions_are_counted(grid, blank):
    goal = grid.goal(blank)
    chance = random.Random(blank)
    for board in [goal, *(chance.sample(range(grid.cells), grid.cells) for _ in range(50))]:
        away = sum(tile not in (0, there) for tile, there in zip(board, goal, strict=True))
        tiles = [tile for tile in board if tile]
        pairs = sum(tiles[b] < tiles[a] for b in range(len(tiles)) for a in range(b))
        assert hamming.prepare(grid, blank).measure(board) == [away]
        assert inversions.prepare(grid, blank).measure(board) == [pairs + grid.distance(list(board).index(0), blank)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("grid", [Grid(2, 3), Grid(3, 2), Grid(2, 3, True), Grid(3, 3)], ids=str)
def test_hamming_never_exceeds_the_distance_and_is_zero_for_the_goal_alone(grid):
    for blank in (0, 1, 4):
        distances = board_distances(grid, blank)
        heuristic = hamming.prepare(grid, blank)
        boards = [grid.goal(blank), *solvable_boards(grid, blank)[:: 1 if grid.cells < 8 else 37]]
        values = {board: heuristic.measure(board)[0] for board in boards}
        assert all(value <= distances[board] for board, value in values.items())
        assert all((value == 0) == (distances[board] == 0) for board, value in values.items())
        assert any((value - distances[board]) % 2 for board, value in values.items())


def test_inversions_are_zero_for_the_goal_alone_and_inadmissible():
    grid = Grid(3, 3)
    for blank in (0, 4):
        heuristic = inversions.prepare(grid, blank)
        distances = board_distances(grid, blank)
        values = {
            board: heuristic.measure(board)[0] for board in [grid.goal(blank), *solvable_boards(grid, blank)[::37]]
        }
        assert all((value == 0) == (distances[board] == 0) for board, value in values.items())
        assert any(value > distances[board] for board, value in values.items())
    # One move, which mends two pairs and brings the blank home.
    assert inversions.prepare(grid, 0).measure([3, 1, 2, 0, 4, 5, 6, 7, 8]) == [3]


def test_a_maximum_is_admissible_only_if_all_its_parts_are(tmp_path):
    def admissible(spec):
        return prepare(spec, Grid(3, 3), 0, tmp_path).admissible

    assert admissible("hamming") and admissible("max:hamming+manhattan+linear-conflict")
    assert not admissible("inversions")
    for spec in ("max:inversions+manhattan", "max:manhattan+inversions", "max:manhattan+inversions+hamming"):
        assert not admissible(spec)


@pytest.mark.parametrize("name", ["ida-star", "a-star"])
def test_searches_with_hamming_find_shortest_solutions(name):
    grid = Grid(3, 3)
    for board in random.Random(2).sample(solvable_boards(grid, 0), 10):
        check_length(name, searched(name, grid, 0, board, hamming.prepare(grid, 0)), board_distances(grid, 0)[board])


# ---- sums and symmetries ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grid, blank, partition, sums",
    [
        (Grid(4, 4), 0, NAMED["4x4-5-5-5"], 2),
        (Grid(4, 4), 15, NAMED["4x4-5-5-5"], 2),
        (Grid(3, 3), 4, ((1, 2, 3, 4), (5, 6, 7, 8)), 4),  # eight symmetries, in pairs of the same partition
        (Grid(3, 3), 4, ((1, 2, 4), (3, 5, 6, 7, 8)), 4),
        (Grid(3, 3), 4, ((1, 2, 7), (3, 4, 5, 6, 8)), 8),
        (Grid(3, 3), 0, NAMED["3x3-8"], 1),  # one pattern of all tiles tells nothing new from another side
        (Grid(2, 3), 0, ((1, 2), (3, 4, 5)), 1),
    ],
)
def test_every_symmetry_that_maps_the_partition_elsewhere_adds_a_sum(grid, blank, partition, sums, database_of):
    database = database_for(database_of, grid, blank, partition)
    assert pattern_database.prepare(grid, blank, database).parts == sums
    assert pattern_database.prepare(grid, blank, database, reflection=False).parts == 1


def test_a_sum_is_the_value_of_the_reflected_board(database_of):
    grid = Grid(4, 4)
    database = database_for(database_of, grid, 0, NAMED["4x4-5-5-5"])
    heuristic = pattern_database.prepare(grid, 0, database)
    across = [4 * (cell % 4) + cell // 4 for cell in range(16)]
    chance = random.Random(5)
    for _ in range(50):
        board = chance.sample(range(16), 16)
        mirrored = [0] * 16
        for cell, tile in enumerate(board):
            mirrored[across[cell]] = across[tile]
        try:
            values = [database.distance(board), database.distance(mirrored)]
        except InputError:
            continue
        assert heuristic.measure(board) == values


@pytest.mark.parametrize(
    "grid, blank, there, home",
    [(Grid(3, 2), 0, Grid(2, 3), 0), (Grid(3, 2), 5, Grid(2, 3), 2), (Grid(3, 3), 8, Grid(3, 3), 2)],
)
def test_a_database_serves_all_symmetries_of_its_board(grid, blank, there, home, database_of):
    partition = ((1, 2), tuple(range(3, there.cells)))
    database = database_for(database_of, there, home, partition)
    heuristic = pattern_database.prepare(grid, blank, database)
    distances = board_distances(grid, blank)
    for board in solvable_boards(grid, blank)[:: 1 + len(distances) // 300]:
        assert max(heuristic.measure(board)) <= distances[board]
    assert max(heuristic.measure(grid.goal(blank))) == 0
    check_along_a_walk(grid, blank, heuristic, 100, seed=3)


def test_a_database_for_another_home_is_refused_with_the_command_for_the_right_one(small):
    with pytest.raises(
        InputError, match=r"is for 3x3 boards .* not for 3x3 .*: build one with 'pdb-builder build 3x3 --blank 4"
    ):
        database_heuristic(Grid(3, 3), 4, (open_database(small),))


def test_damaged_databases_are_named_if_no_other_is_found(small, tmp_path):
    (tmp_path / "3x3-4-4.h5").write_bytes(small.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"no database in .*pdb-builder build 3x3.*3x3-4-4.h5 is damaged"):
        prepare("pdb", Grid(3, 3), 0, tmp_path)


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    ["", "pdp", "max", "max:", "max:manhattan+", "manhattan:x", "linear-conflict:3", "walking-distance:4x4", "x" * 99],
)
def test_unknown_heuristics_are_refused_in_one_line(spec, tmp_path):
    with pytest.raises(InputError) as error:
        prepare(spec, Grid(3, 3), 0, tmp_path)
    assert "\n" not in str(error.value) and "manhattan" in str(error.value)


@pytest.mark.parametrize(
    "spec",
    ["max:" * 25_000, "max:" * 25_000 + "manhattan", "max:" + "+" * 100_000, "max:" + "max:a+" * 20_000, "x" * 100_000],
    ids=lambda spec: f"{spec[:4]}...{spec[-9:]}",
)
def test_no_name_is_too_long_to_be_refused(spec):
    with pytest.raises(InputError) as error:
        check_name(spec)
    assert len(str(error.value)) < 300


def test_a_maximum_has_a_reasonable_number_of_parts(tmp_path):
    """Each of them takes seconds to compile."""
    parts = [f"pdb:{number}" for number in range(MOST_PARTS + 1)]
    check_name("max:" + "+".join(parts[:-1] * 1000))
    with pytest.raises(InputError, match=r"has 7 heuristics: take the maximum of at most 6$"):
        check_name("max:" + "+".join(parts))
    with pytest.raises(InputError, match="unknown heuristic 'max:hamming'"):
        check_name("max:manhattan+max:hamming")


def test_the_parts_of_a_maximum_count_once(tmp_path):
    grid = Grid(3, 3)
    assert prepare("max:" + "+".join(["manhattan"] * 40), grid, 0, tmp_path).name == "manhattan"
    assert prepare("max:hamming+ manhattan+hamming", grid, 0, tmp_path).name == "max:hamming+manhattan"


def test_heuristics_know_their_names(small, tmp_path):
    grid = Grid(3, 3)
    assert prepare("max:manhattan+linear-conflict+hamming", grid, 0, tmp_path).name == (
        "max:manhattan+linear-conflict+hamming"
    )
    assert prepare("pdb", grid, 0, small.parent).name.startswith("pdb:3x3-")
    assert prepare("pdb:3x3-4-4", grid, 0, small.parent).name == "pdb:3x3-4-4"
    assert prepare(f"pdb-unreflected:{small}", grid, 0, tmp_path).name == "pdb-unreflected:3x3-4-4"
