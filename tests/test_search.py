"""Searches: a solution as good as promised, counted as a plain recursive search would count."""

import random
import threading
import time
from collections import Counter
from itertools import pairwise

import pytest

from pdb_builder import NAMED, Grid, Spec, open_database
from solver.heuristics import hamming, linear_conflict, manhattan, maximum, pattern_database
from solver.heuristics import uninformed as blind
from solver.instances import load_set
from solver.search import SEARCHES, best_first, ida_star, search_named
from solver.search.outcome import Limits, Problem, unreported

from .oracle import board_distances, distances_to

pytestmark = pytest.mark.jit


def found(search, grid, blank, board, heuristic, **options):
    """The outcome of a search, its path followed from the board to the goal."""
    settings = {"threads": 1, "limits": Limits(), "progress": unreported} | options
    by_value, backward = settings.pop("by_value", False), settings.pop("backward", None)
    outcome = search(Problem(grid, blank, board, heuristic, by_value, backward), **settings)
    for path in outcome.paths:
        now = list(board)
        for hole, cell in pairwise(path):
            assert now[hole] == 0 and cell in grid.neighbours[hole]
            now[hole], now[cell] = now[cell], 0
        assert tuple(now) == grid.goal(blank)
    return outcome


SHORTEST = [name for name, search in SEARCHES.items() if search.optimal]


def searched(name, grid, blank, board, heuristic, **options):
    """The outcome of a search by name, after checking that it keeps what it promises as far as can be told."""
    back = {"manhattan": manhattan, "hamming": hamming}.get(heuristic.name, manhattan if grid.wrap else linear_conflict)
    if SEARCHES[name].uninformed:
        heuristic = blind.prepare(grid, blank)
    own = {"weighted-a-star": {"weight": 1.5}, "beam": {"width": 3000}}.get(name, {})
    outcome = found(search_named(name), grid, blank, board, heuristic, backward=back.prepare, **(own | options))
    if outcome.paths:
        assert outcome.lower_bound <= length(outcome)
        bound = outcome.suboptimality_bound
        assert bound is None or length(outcome) <= bound * outcome.lower_bound + 1e-9
        assert bound == 1 or not SEARCHES[name].optimal or "depth" in options
    return outcome


def kinds_for(name, heuristics):
    """The heuristics to try a search with: one that looks at none needs one, and a beam takes long to compile."""
    return heuristics[:1] if SEARCHES[name].uninformed else heuristics[:3] if name == "beam" else heuristics


# The searches that take long for a board are tried on fewer: one of so many.
FEWER = {name: 1 for name in SEARCHES} | {
    "bfs": 20,
    "dijkstra": 20,
    "dfs": 20,
    "a-star": 4,
    "weighted-a-star": 4,
    "greedy": 4,
    "bidirectional": 8,
    "beam": 40,
}


def check_length(name, outcome, distance):
    """A solution is as long as its search promises, going by the true distance."""
    assert outcome.lower_bound <= distance <= length(outcome)
    if SEARCHES[name].optimal:
        assert length(outcome) == outcome.lower_bound == distance
    elif outcome.suboptimality_bound is not None:
        assert length(outcome) <= outcome.suboptimality_bound * distance


def length(outcome):
    return len(outcome.paths[0]) - 1


def heuristics_of(grid, blank, database_of, *specs):
    """Heuristics of all kinds: the plain ones, and one for each (partition, encoding)."""
    kinds = [manhattan.prepare(grid, blank)]
    if not grid.wrap:
        kinds.append(linear_conflict.prepare(grid, blank))
    for partition, encoding in specs:
        database = open_database(database_of(Spec(grid, partition, blank, encoding)))
        kinds.append(pattern_database.prepare(grid, blank, database))
    if len(kinds) > 2:
        kinds.append(maximum.prepare(kinds[-1], kinds[1]))
    return kinds


SPECS_3X3 = [(NAMED["3x3-8"], "bits"), (NAMED["3x3-4-4"], "bits"), (((1, 2, 3, 4, 5), (6, 7, 8)), "bytes")]


# ---- lengths ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2)])
@pytest.mark.parametrize("name", SEARCHES)
def test_every_small_board_and_every_goal(name, shape, database_of):
    grid = Grid(*shape)
    for blank in range(grid.cells):
        distances = board_distances(grid, blank)
        tiles = tuple(range(1, grid.cells))
        specs = [((tiles,), "bits"), ((tiles[:2], tiles[2:]), "bytes")] if blank in (0, grid.cells - 1) else []
        for heuristic in kinds_for(name, heuristics_of(grid, blank, database_of, *specs)):
            for board, distance in list(distances.items())[:: 1 if SEARCHES[name].uninformed else FEWER[name]]:
                check_length(name, searched(name, grid, blank, board, heuristic), distance)


@pytest.mark.parametrize("blank", [0, 1, 4])
@pytest.mark.parametrize("name", SEARCHES)
def test_some_boards_of_3x3_with_every_heuristic(name, blank, database_of):
    check_3x3(name, blank, database_of, step=907 if blank == 0 else 2711)


@pytest.mark.slow
@pytest.mark.parametrize("blank", [0, 1, 4])
@pytest.mark.parametrize("name", SEARCHES)
def test_every_board_of_3x3_with_every_heuristic(name, blank, database_of):
    """All 181,440 boards, or one of FEWER, with the blank's home in a corner; every eleventh with the other homes."""
    check_3x3(name, blank, database_of, step=1 if blank == 0 else 11)


def check_3x3(name, blank, database_of, step):
    grid = Grid(3, 3)
    distances = board_distances(grid, blank)
    assert len(distances) == 181_440 and max(distances.values()) == (30 if blank == 4 else 31)
    for heuristic in kinds_for(name, heuristics_of(grid, blank, database_of, *SPECS_3X3)):
        for board in sorted(distances)[:: step * FEWER[name]]:
            check_length(name, searched(name, grid, blank, board, heuristic), distances[board])


@pytest.mark.parametrize("grid", [Grid(3, 3, True), Grid(2, 4, True), Grid(2, 3, True)], ids=str)
@pytest.mark.parametrize("name", SEARCHES)
def test_wrapped_boards(name, grid, database_of):
    """With an odd side the value may stay as it is, and bounds rise by one."""
    distances = board_distances(grid, 0)
    half = grid.cells // 2
    partition = (tuple(range(1, half)), tuple(range(half, grid.cells)))
    for heuristic in kinds_for(name, heuristics_of(grid, 0, database_of, (partition, "bytes"))):
        for board in sorted(distances)[:: FEWER[name] * (1 + len(distances) // 80)]:
            check_length(name, searched(name, grid, 0, board, heuristic), distances[board])


def test_searches_of_larger_boards_agree(database_of):
    chance = random.Random(4)
    for grid, blank, partition in [
        (Grid(4, 4), 0, NAMED["4x4-5-5-5"]),
        (Grid(4, 4), 5, NAMED["4x4-5-5-5"]),
        (Grid(3, 5), 0, ((1, 2, 3, 5, 6, 7), (4, 8, 9, 12, 13, 14), (10, 11))),
    ]:
        for encoding in ("bits", "bytes"):
            for heuristic in heuristics_of(grid, blank, database_of, (partition, encoding))[1:]:
                board = walked(grid, blank, 80, chance)
                outcomes = {
                    name: searched(name, grid, blank, board, heuristic)
                    for name, search in SEARCHES.items()
                    if not search.uninformed and (name != "beam" or heuristic.name == "linear-conflict")
                }
                for name, outcome in outcomes.items():
                    check_length(name, outcome, length(outcomes["ida-star"]))


def walked(grid, blank, steps, chance):
    """A board some random moves from the goal."""
    board, hole = list(grid.goal(blank)), blank
    for _ in range(steps):
        cell = chance.choice(grid.neighbours[hole])
        board[hole], board[cell], hole = board[cell], 0, cell
    return tuple(board)


# ---- counts -------------------------------------------------------------------------------------


def plain_ida_star(grid, blank, board, heuristic):
    """IDA* as it is taught: the counts of each iteration, [(bound, expanded, generated)]."""
    goal = grid.goal(blank)
    iterations = []
    bound = max(heuristic.measure(board))

    def visit(now, hole, last, depth):
        nonlocal expanded, generated, least
        if now == goal:
            return True
        expanded += 1
        for cell in grid.neighbours[hole]:
            if cell != last:
                generated += 1
                after = list(now)
                after[hole], after[cell] = after[cell], 0
                total = depth + 1 + max(heuristic.measure(after))
                if total > bound:
                    least = min(least, total)
                elif visit(tuple(after), cell, hole, depth + 1):
                    return True
        return False

    while True:
        expanded, generated, least = 0, 0, 10**9
        done = visit(board, board.index(0), None, 0)
        iterations.append((bound, expanded, generated))
        if done:
            return iterations
        bound = least


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_counts_are_those_of_a_plain_recursive_search(cut, threads, monkeypatch, database_of):
    if cut:
        cut_early(monkeypatch)
    grid = Grid(3, 3)
    boards = random.Random(8).sample(sorted(board_distances(grid, 0)), 4)
    for heuristic in heuristics_of(grid, 0, database_of, *SPECS_3X3[1:]):
        for board in boards:
            outcome = found(ida_star.search, grid, 0, board, heuristic, threads=threads)
            counted = [tuple(iteration[:3]) for iteration in outcome.iterations]
            assert counted == plain_ida_star(grid, 0, board, heuristic)
            assert outcome.generated == 1 + sum(generated for _, _, generated in counted)
            assert outcome.expanded == sum(expanded for _, expanded, _ in counted)


def cut_early(monkeypatch):
    """Make even small searches go through the subtrees."""
    monkeypatch.setattr(ida_star, "UNCUT", 0)
    monkeypatch.setattr(ida_star, "UNCUT_ALONE", 0)
    monkeypatch.setattr(ida_star, "FIRST_CUT", 2)
    monkeypatch.setattr(ida_star, "LEAST_SUBTREES", 20)
    monkeypatch.setattr(ida_star, "SLICE", 50)


@pytest.mark.parametrize("by_value", [False, True])
def test_threads_change_neither_the_solution_nor_the_counts(by_value, monkeypatch, database_of):
    cut_early(monkeypatch)
    grid = Grid(4, 4)
    chance = random.Random(2)
    for heuristic in heuristics_of(grid, 0, database_of, (NAMED["4x4-5-5-5"], "bits")):
        board = walked(grid, 0, 120, chance)
        alone, *others = (
            found(ida_star.search, grid, 0, board, heuristic, threads=threads, by_value=by_value)
            for threads in (1, 2, 5)
        )
        for other in others:
            assert other.paths == alone.paths
            assert [one[:3] for one in other.iterations] == [one[:3] for one in alone.iterations]


def test_the_order_of_moves_matters_in_the_last_iteration_only(database_of):
    grid = Grid(4, 4)
    _, _, instances = load_set("korf100")
    database = open_database(database_of(Spec(grid, NAMED["4x4-6-6-3"])))
    heuristic = pattern_database.prepare(grid, 0, database)
    for one in instances[:3]:
        fixed, ordered = (
            found(ida_star.search, grid, 0, one.board, heuristic, by_value=by_value, threads=2)
            for by_value in (False, True)
        )
        assert length(fixed) == length(ordered) == one.length
        assert [i[:3] for i in fixed.iterations[:-1]] == [i[:3] for i in ordered.iterations[:-1]]


def korf_in_order():
    _, _, instances = load_set("korf100")
    return sorted(instances, key=lambda one: one.generated)


def check_korf(one, threads):
    grid = Grid(4, 4)
    outcome = found(ida_star.search, grid, 0, one.board, manhattan.prepare(grid, 0), threads=threads)
    assert (length(outcome), outcome.generated) == (one.length, one.generated)


def test_manhattan_counts_of_korfs_twenty_cheapest_boards():
    for one in korf_in_order()[:20]:
        check_korf(one, threads=2)


@pytest.mark.slow
def test_manhattan_counts_of_all_of_korfs_boards():
    assert sum(one.generated for one in korf_in_order()) == 36_302_808_031
    for one in korf_in_order():
        check_korf(one, threads=2)


def test_lengths_of_all_of_korfs_boards(database_of):
    grid = Grid(4, 4)
    heuristic = pattern_database.prepare(grid, 0, open_database(database_of(Spec(grid, NAMED["4x4-7-8"]))))
    outcomes = [
        found(ida_star.search, grid, 0, one.board, heuristic, threads=2, by_value=True) for one in korf_in_order()
    ]
    assert [length(outcome) for outcome in outcomes] == [one.length for one in korf_in_order()]
    assert sum(outcome.generated for outcome in outcomes) / 100 < 20_300


@pytest.mark.slow
def test_the_farthest_boards_take_80_moves(database_of):
    grid, _, instances = load_set("farthest")
    database = open_database(database_of(Spec(grid, NAMED["4x4-7-8"])))
    heuristic = pattern_database.prepare(grid, 0, database)
    assert len(instances) == 17
    for one in instances:
        board = [0] * 16
        for cell, tile in enumerate(one.board):  # half a turn makes the blank's home the first cell
            board[15 - cell] = (16 - tile) % 16
        assert length(found(ida_star.search, grid, 0, tuple(board), heuristic, threads=2)) == 80


@pytest.mark.slow
@pytest.mark.parametrize("number, generated", [(38, 38_173_507), (40, 65_099_578)])
def test_published_counts_of_5x5_boards(number, generated, database_of):
    grid, _, instances = load_set("korf24")
    one = instances[number - 1]
    assert (one.id, one.generated) == (number, generated)
    database = open_database(database_of(Spec(grid, NAMED["5x5-6-6-6-6"], 0, "bytes")))
    outcome = found(ida_star.search, grid, 0, one.board, pattern_database.prepare(grid, 0, database), threads=2)
    # The published counts leave the start out.
    assert (length(outcome), outcome.generated - 1) == (one.length, generated)


# ---- all solutions ------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [False, True])
def test_all_shortest_solutions_are_found_once(cut, monkeypatch, database_of):
    if cut:
        cut_early(monkeypatch)
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    ways = Counter({grid.goal(0): 1})  # how many shortest paths lead to the goal, nearest boards first
    for board in sorted(distances, key=distances.get):
        hole = board.index(0)
        for cell in grid.neighbours[hole]:
            other = list(board)
            other[hole], other[cell] = other[cell], 0
            if distances[tuple(other)] == distances[board] + 1:
                ways[tuple(other)] += ways[board]
    boards = [*random.Random(3).sample(sorted(distances), 25), grid.goal(0)]
    for heuristic in heuristics_of(grid, 0, database_of, SPECS_3X3[1]):
        for board in boards:
            outcome = found(ida_star.search, grid, 0, board, heuristic, every=True, threads=2)
            assert len(outcome.paths) == len(set(map(tuple, outcome.paths))) == ways[board]
            assert {len(path) - 1 for path in outcome.paths} == {distances[board]}


# ---- limits -------------------------------------------------------------------------------------


HARD = load_set("korf24")[2][0].board  # beyond Manhattan distance for years


WIDE = {name: {} for name in SEARCHES} | {"weighted-a-star": {"weight": 1.01}, "beam": {"width": 3_000_000}}
HOPELESS = [name for name in SEARCHES if name != "greedy"]  # greedy search solves anything


@pytest.mark.parametrize("name", HOPELESS)
@pytest.mark.parametrize("nodes", [1, 2, 1000, 3_000_000])
def test_a_node_limit_is_kept_closely(name, nodes):
    grid = Grid(5, 5)
    outcome = searched(
        name, grid, 0, HARD, manhattan.prepare(grid, 0), limits=Limits(nodes=nodes), threads=2, **WIDE[name]
    )
    assert outcome.stopped == "nodes" and outcome.paths == []
    # Both sides of a bidirectional search do their slices, and a beam does all of a level.
    slack = {"bidirectional": 40_000, "beam": 200 + nodes}.get(name, 200)
    assert nodes <= outcome.generated < 1.2 * nodes + slack
    assert SEARCHES[name].uninformed or outcome.lower_bound >= max(manhattan.prepare(grid, 0).measure(HARD))


@pytest.mark.parametrize("name", HOPELESS)
def test_a_time_limit_is_kept(name):
    grid = Grid(5, 5)
    heuristic = manhattan.prepare(grid, 0)
    searched(name, grid, 0, HARD, heuristic, limits=Limits(nodes=1000), **WIDE[name])
    limits = Limits(deadline=time.monotonic() + 0.3)
    outcome = searched(name, grid, 0, HARD, heuristic, limits=limits, threads=2, **WIDE[name])
    assert outcome.stopped == "time" and outcome.generated > 1000
    starts = 2 if name == "bidirectional" else 1
    assert sum(iteration.generated for iteration in outcome.iterations) + starts == outcome.generated


@pytest.mark.parametrize("name", HOPELESS)
def test_a_search_can_be_interrupted_from_another_thread(name):
    grid = Grid(5, 5)
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    limits = Limits(interrupt=stop)
    outcome = searched(name, grid, 0, HARD, manhattan.prepare(grid, 0), limits=limits, threads=2, **WIDE[name])
    assert outcome.stopped == "interrupt"


def test_a_star_keeps_its_memory_limit():
    grid = Grid(5, 5)
    outcome = found(best_first.a_star, grid, 0, HARD, manhattan.prepare(grid, 0), limits=Limits(memory=20_000_000))
    assert outcome.stopped == "memory" and outcome.lower_bound >= 71
    row = 4 * best_first.layout_of(grid, 1).row + best_first.CHAIN_BYTES
    assert 0.9 * 20_000_000 < outcome.stored * row <= 20_000_000


def test_progress_is_reported(monkeypatch):
    cut_early(monkeypatch)
    grid = Grid(5, 5)
    for name in HOPELESS:
        seen = []
        limits = Limits(nodes=1_500_000)
        heuristic = manhattan.prepare(grid, 0)
        searched(name, grid, 0, HARD, heuristic, limits=limits, threads=2, progress=seen.append, **WIDE[name])
        assert seen
        generated = [progress.generated for progress in seen]
        assert generated == sorted(generated) and generated[-1] > 1_000_000


# ---- best first -------------------------------------------------------------------------------------


def test_a_star_expands_no_board_twice_if_the_heuristic_is_consistent():
    grid = Grid(3, 3)
    distances = board_distances(grid, 0)
    heuristic = manhattan.prepare(grid, 0)
    for board in random.Random(6).sample(sorted(distances), 3):
        outcome = found(best_first.a_star, grid, 0, board, heuristic)
        assert outcome.expanded <= outcome.stored
        # Everything with a smaller sum must be expanded, nothing with a larger one may be.
        within = sum(
            1
            for other, sum_ in (
                (o, moves + max(heuristic.measure(o))) for o, moves in distances_to(grid, board).items()
            )
            if sum_ <= distances[board]
        )
        assert outcome.expanded <= within


def test_the_table_of_chains_grows(monkeypatch):
    """A search of many more boards than the first table has chains."""
    one = korf_in_order()[5]
    grid = Grid(4, 4)
    outcome = found(best_first.a_star, grid, 0, one.board, manhattan.prepare(grid, 0))
    assert length(outcome) == one.length and outcome.stored > 4 * (1 << 16)


@pytest.mark.parametrize(
    "shape, words", [((2, 2), 1), ((3, 3), 2), ((4, 4), 2), ((5, 5), 5), ((6, 6), 8), ((8, 8), 13), ((10, 10), 25)]
)
def test_boards_are_packed_tightly(shape, words):
    assert best_first.layout_of(Grid(*shape), 1).key == words
