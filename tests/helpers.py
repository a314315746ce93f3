"""What many tests need: scrambled boards, moves followed one by one, searches and heuristics checked as they run."""

import random
from itertools import pairwise

import numpy as np

from pdb_builder import Spec, open_database
from pdb_builder.base.jit import kernel
from solver.heuristics import manhattan, pattern_database, uninformed
from solver.heuristics.contract import apply, evaluate, load, prefetch, restore, save, write_parts
from solver.instances import load_set
from solver.search import SEARCHES, cutting, search_named, tree
from solver.search.outcome import Limits, Problem, Pruning, unreported

from .oracle import boards_after

# ---- boards -------------------------------------------------------------------------------------

HARD = load_set("korf24")[2][0].board  # of 5x5, beyond Manhattan distance for years
DIRECTIONS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def scrambled(grid, goal, moves, chance):
    """A board some random moves from a goal. No move undoes the one before."""
    board, before = goal, None
    for _ in range(moves):
        options = [after for after in boards_after(grid, board) if after != before]
        board, before = chance.choice(options), board
    return board


def boards_along(grid, board, path):
    """The boards on the way of the blank, whose first cell is where it is. Every step must be a move."""
    assert board.index(0) == path[0]
    boards = [board]
    for cell in path[1:]:
        boards += [after for after in boards_after(grid, boards[-1]) if after[cell] == 0]
    assert len(boards) == len(path), "not every step is a move"
    return boards


def followed(grid, board, letters, of="tile"):
    """The board that letters lead to: each says where a tile goes, or the blank. Every one must be a move."""
    for letter in letters:
        down, right = DIRECTIONS[letter]
        sign = -1 if of == "tile" else 1  # a tile that goes up comes from below the blank
        row, col = divmod(board.index(0), grid.cols)
        row, col = row + sign * down, col + sign * right
        if grid.wrap:
            row, col = row % grid.rows, col % grid.cols
        assert 0 <= row < grid.rows and 0 <= col < grid.cols, "there is no such cell"
        (board,) = (after for after in boards_after(grid, board) if after[row * grid.cols + col] == 0)
    return board


def random_goal(grid, chance, blank=None):
    """A goal with its tiles in any order, and its blank on any cell or a given one."""
    goal = chance.sample(range(grid.cells), grid.cells)
    if blank is not None:
        at = goal.index(0)
        goal[at], goal[blank] = goal[blank], 0
    return tuple(goal)


def korf_in_order():
    """Korf's boards, the cheapest first."""
    _, _, instances = load_set("korf100")
    return sorted(instances, key=lambda one: one.generated)


# ---- searches -----------------------------------------------------------------------------------

OPTIONS = {"weighted-a-star": {"weight": 1.5}, "beam": {"width": 3000}}


def searched(name, grid, blank, board, heuristic, **options):
    """The outcome of a search. All paths are followed to the goal, and what it claims of their length is checked."""
    if SEARCHES[name].uninformed:
        heuristic = uninformed.prepare(grid, blank)
    settings = {"threads": 1, "limits": Limits(), "progress": unreported} | OPTIONS.get(name, {}) | options
    by_value, backward = settings.pop("by_value", False), settings.pop("backward", manhattan.prepare)
    pruning, weights = settings.pop("pruning", Pruning()), settings.pop("weights", None)
    problem = Problem(grid, blank, board, heuristic, by_value, lambda grid, blank, *_: backward(grid, blank), pruning)
    problem = problem._replace(weights=weights)
    outcome = search_named(name)(problem, **settings)
    for path in outcome.paths:
        assert boards_along(grid, board, path)[-1] == grid.goal(blank)
    if outcome.paths:
        assert outcome.lower_bound <= length(outcome)
        bound = outcome.suboptimality_bound
        assert bound is None or length(outcome) <= bound * outcome.lower_bound + 1e-9
        assert bound == 1 or not SEARCHES[name].optimal or "depth" in options or outcome.stopped
    return outcome


def length(outcome):
    return len(outcome.paths[0]) - 1


def check_length(name, outcome, distance):
    """A solution is as long as its search guarantees, judged by the true distance."""
    assert outcome.lower_bound <= distance <= length(outcome)
    if SEARCHES[name].optimal:
        assert length(outcome) == outcome.lower_bound == distance
    elif outcome.suboptimality_bound is not None:
        assert length(outcome) <= outcome.suboptimality_bound * distance


def check_threads_change_nothing(name, grid, board, kind):
    """One, two and three threads find the same, with the same counts."""
    outcomes = [searched(name, grid, 0, board, kind.prepare(grid, 0), threads=threads) for threads in (1, 2, 3)]
    assert len({(length(one), one.expanded, one.generated, one.lower_bound) for one in outcomes}) == 1


def check_solution(solution, grid, board, goal, distance):
    """A solution that is proven shortest and made of moves, whichever way it is told."""
    assert (solution.grid, solution.board, solution.goal) == (grid, board, goal)
    assert solution.solved and solution.optimal and solution.stopped is None
    assert solution.length == solution.lower_bound == len(solution.tiles) == distance >= solution.h_start
    boards = list(solution.boards())
    assert (boards[0], boards[-1], len(boards)) == (board, goal, distance + 1)
    assert all(after in boards_after(grid, before) for before, after in pairwise(boards))
    for of in ("tile", "blank"):
        letters = solution.letters(solution.tiles, of)
        assert len(letters) == distance and followed(grid, board, letters, of) == goal
    assert 0 <= solution.expanded <= solution.generated and solution.seconds >= 0
    assert solution.expanded == sum(iteration.expanded for iteration in solution.iterations)


# ---- heuristics ---------------------------------------------------------------------------------


@kernel
def visit(heuristic, fresh, slot, board, parts, source, target, noted, words, values):
    """Evaluate and make a move four times: as it is, after taking it back, after restoring the board that was saved,
    and after loading the board. ``fresh`` says that no board was loaded yet. The parts go to ``noted``.
    """
    tile = board[source]
    for time in range(4):
        at = slot + time % 2
        if time == 2:
            restore(heuristic, words, 1)
        if time == 3 or fresh:
            load(heuristic, board, parts, 0)
            fresh = False
        prefetch(heuristic, at, tile, source, target, 0, 0)
        values[time] = evaluate(heuristic, at, tile, source, target)
        if time == 0:
            write_parts(heuristic, at, values[time], noted, 1)
            save(heuristic, words, 1)
        start, end = source, target
        for _ in range(1 + (time == 0)):
            apply(heuristic, at, tile, start, end)
            start, end = end, start
    board[target] = tile
    board[source] = 0


def check_along_a_walk(grid, blank, heuristic, steps, seed):
    """Carry a heuristic along a random walk from the goal, and compare every value with one measured afresh."""
    chance = random.Random(seed)
    board = np.array(grid.goal(blank), dtype=np.uint8)
    working = heuristic.workspace(4)
    parts = heuristic.measure(board.tolist())
    noted, words = (np.full(count + 2, -7, dtype=np.int64) for count in (heuristic.parts, heuristic.saved_words))
    values = np.zeros(4, dtype=np.int64)
    for step in range(steps):
        hole = board.tolist().index(0)
        source = chance.choice(grid.neighbours[hole])
        move = (chance.randrange(3), board, np.array(parts), source, hole)
        visit(working, step == 0, *move, noted, words, values)
        parts = heuristic.measure(board.tolist())
        assert values.tolist() == [max(parts)] * 4
        assert noted.tolist() == [-7, *parts, -7]
        assert words[0] == words[-1] == -7, "no more words are saved than announced"


def images_of(goal, partition):
    """The distinct partitions that the symmetries which keep a goal turn a partition into."""
    symmetries = range(len(goal.tile_images))
    return {tuple(sorted(goal.image(tiles, symmetry) for tiles in partition)) for symmetry in symmetries}


def remark_on_a_foreign_file(path, change, use):
    """The one remark if a kept file was changed into something else: that stays as it is, and answers are the same.

    ``use()`` gives an answer that the file helps to find, and ``use(notify)`` the same, with remarks.
    """
    answer = use()
    change(path)
    before, remarks = path.lstat(), []
    assert use(remarks.append) == answer
    assert (path.lstat().st_mtime_ns, path.lstat().st_ino) == (before.st_mtime_ns, before.st_ino)
    (remark,) = remarks
    return remark


def cut_small_trees(monkeypatch):
    """Have trees cut into subtrees even in small searches."""
    monkeypatch.setattr(cutting, "FIRST_CUT", 2)
    for name, value in {"UNCUT": 0, "UNCUT_ALONE": 0, "LEAST_BUNDLES": 20, "SLICE": 50}.items():
        monkeypatch.setattr(tree, name, value)


def of_homes(database_of, grid, partitions, homes=(0, 1, 4)):
    """What prepares a heuristic for goals with the blank in several places, from ``bits`` databases."""
    databases = {home: open_database(database_of(Spec(grid, partitions, home, "bits"))) for home in homes}
    return lambda grid, blank: pattern_database.prepare(grid, blank, databases[blank])
