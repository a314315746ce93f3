"""How trees are cut into bundles, how bundles become tasks, and what a simulation makes of them."""

import random

import numpy as np
import pytest

from pdb_builder import Grid
from solver.heuristics import manhattan
from solver.search import cutting, journal, sharing, simulating, tree
from solver.search.automaton import pack
from solver.search.cutting import Listed, cut_tree, key_of, sizes_of
from solver.search.outcome import Limits, Problem, unreported

from .helpers import korf_in_order

WANTED = 40


class Branch:
    """A tree of random shape whose leaves are at many depths, to be cut; its root is depth 0."""

    def __init__(self, chance, depth=0, path=()):
        self.path = (*path, chance.randrange(1, 100)) if depth else (1,)
        many = 0 if depth > 14 else chance.choice((0, 1, 2, 3)) if depth > 4 else 3
        self.branches, cells = [], set()
        for _ in range(many):
            branch = Branch(chance, depth + 1, self.path)
            if branch.path[-1] not in cells:  # a path tells where it leads
                cells.add(branch.path[-1])
                self.branches.append(branch)
        self.size = 1 + sum(branch.size for branch in self.branches)

    def at(self, path):
        return self if len(path) == len(self.path) else self._next(path).at(path)

    def _next(self, path):
        return next(one for one in self.branches if one.path[-1] == path[len(self.path)])

    def below(self, depth):
        """The branches at a depth below this one, in order, each with how many were passed above that depth before."""
        passed, found = [0], []

        def visit(branch, level):
            if level == depth:
                found.append((branch, passed[0]))
                return
            passed[0] += 1
            for one in branch.branches:
                visit(one, level + 1)

        visit(self, len(self.path) - 1)
        return found, passed[0]


def listing(root):
    def below(path, depth):
        found, passed = root.at([cell & 127 for cell in path.tolist()]).below(depth)
        paths = [np.array([pack(0, cell) for cell in one.path], dtype=np.uint32) for one, _ in found]
        counts = [(before, 2 * before) for _, before in found]
        return Listed(
            np.array(paths).reshape(len(paths), depth + 1), np.array(counts).reshape(-1, 2), passed, 2 * passed, 7
        )

    return below


@pytest.mark.parametrize("seed", range(10))
def test_every_board_is_in_one_bundle_or_above_the_cut(seed):
    root = Branch(random.Random(seed))
    below, start, sizes = listing(root), np.array([1], dtype=np.uint32), {}
    for _ in range(4):
        cut = cut_tree(start, below, 100, WANTED, sizes)
        trees = [root.at([cell & 127 for cell in path.tolist()]) for path in cut.paths]
        assert cut.above[0] + sum(one.size for one in trees) == root.size and cut.above[1] == 2 * cut.above[0]
        assert [one for bundle in cut.bundles for one in bundle] == list(range(len(cut.paths)))
        assert len(cut.weights) == len(cut.bundles) and cut.least == 7
        # Before a path all boards come that are above the cut and before it in the order of the search.
        keys = [key_of(path) for path in cut.paths]
        assert len(set(keys)) == len(keys)
        before = [int(counts[0]) for counts in cut.before]
        assert before == sorted(before) and before[-1] <= cut.above[0]
        assert not any(long.startswith(short) for short in keys for long in keys if long != short)
        sizes = sizes_of(cut.paths, [one.size for one in trees])


def test_large_subtrees_are_cut_again_and_small_ones_tied_together():
    """With the sizes of the iteration before, the largest bundle comes much nearer to the mean."""
    problem = Problem(Grid(4, 4), 0, korf_in_order()[20].board, manhattan.prepare(Grid(4, 4), 0))
    searched = tree.Tree(problem, 1, Limits(), unreported)
    largest = []
    for number in range(20):
        bound = searched.value + 2 * number
        searched.make_ready(bound)
        bundled = tree.Bundled(searched, bound, journal.Step())
        found = bundled.search()
        generated = [one.generated for one in bundled.results()]
        searched.sizes, searched.expected = bundled.sizes(), sum(generated)
        largest.append(max(generated, default=0) * len(generated) / max(1, sum(generated)))
        if sum(generated) > 3_000_000 or found.paths:
            break
    searched.close()
    assert number > 5 and largest[-1] < 8
    searched.sizes = {}
    uniform = searched.cut(bound)
    by_path = [
        searched.search_bundle(searched.workers[0], bound, [path], lambda: False).generated for path in uniform.paths
    ]
    assert max(by_path) / np.mean(by_path) > 12


def test_what_is_new_is_tied_to_its_neighbours():
    weights = [cutting.NEW] * 20 + [0.9, 0.9, 3.0, cutting.NEW]
    assert [len(one) for one in cutting._tied(weights)] == [16, 4, 1, 1, 1, 1]
    assert not list(cutting._tied([]))


# ---- tasks --------------------------------------------------------------------------------------


def test_small_bundles_go_together_and_large_tasks_first_if_there_are_few():
    sizes = [1, 1, 1, 5, 1, 4, 1]
    assert sharing.tasks_of(sizes, 3, 10) == [[3], [4, 5], [0, 1, 2], [6]]
    many = [1.0] * 30 + [9.0]
    assert sharing.tasks_of(many, 1, 1) == [[number] for number in range(31)]  # in the order of the search
    assert sharing.tasks_of([], 1, 1) == []


def one_by_one(tasks, workers, cost):
    """The end of list scheduling, found in small steps of time."""
    step, now, waiting, free, sent = 0.001, 0.0, list(tasks), [0.0] * workers, 0
    while waiting:
        now += step
        if now >= (sent + 1) * cost and min(free) <= now:
            free[free.index(min(free))] = now + waiting.pop(0)
            sent += 1
    return max(free)


@pytest.fixture
def unlimited(monkeypatch):
    """Tasks are never handed back."""
    monkeypatch.setattr(simulating, "time_limit", lambda left, workers: float("inf"))


@pytest.mark.parametrize("workers", [1, 3, 20])
def test_a_simulation_is_list_scheduling(workers, unlimited):
    chance = random.Random(workers)
    seconds = [chance.uniform(0.5, 3) for _ in range(60)]
    expected = [1.0] * 60  # each a task, in order
    found = simulating.simulate(seconds, expected, workers, 0.01)
    assert found.tasks == 60 and found.seconds == pytest.approx(one_by_one(seconds, workers, 0.01), rel=0.05)
    assert found.busy == pytest.approx(sum(seconds) / workers / found.seconds)


def test_what_limits_a_search_is_named(unlimited):
    assert simulating.simulate([1.0] * 100, [1.0] * 100, 2, 0.001).limit == "the work"
    assert simulating.simulate([50.0] + [0.5] * 50, [1.0] * 51, 20, 0.001).limit == "the longest task"
    assert simulating.simulate([1.0] * 100, [1.0] * 100, 100, 1.0).limit == "the client"


def test_what_is_handed_back_is_shared():
    """A bundle as long as all others together: its worker does not end long after them, and no work is lost."""
    seconds = [100.0] + [1.0] * 100
    found = simulating.simulate(seconds, [1.0] * 101, 10, 0.001)
    assert found.busy == pytest.approx(200 / 10 / found.seconds) and found.tasks > 101
    assert 20 < found.seconds < 35


def test_a_task_has_less_time_the_less_there_is_to_do():
    limits = [sharing.time_limit(left, 10) for left in (1e6, 100, 20, 10, 0.1, 0)]
    assert limits == sorted(limits, reverse=True) and limits[0] == sharing.LONGEST_TASK
    assert limits[-1] == sharing.LEAST_LIMIT and 0.4 < limits[3] < 1


def test_what_takes_longer_than_expected_is_not_cut_to_bits():
    """If all bundles take twice the time, tasks are not as short as if hardly anything were left."""
    seconds, tasks = [[10.0]] * 400, []
    for factor in (1, 0.5):
        tasks.append(simulating.play(seconds, [10.0 * factor] * 400, 100, simulating._search, 0.0).tasks)
    assert tasks[1] < 2 * tasks[0]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10])
@pytest.mark.parametrize("idle", [-5, 0, 1, 50])
def test_what_is_dealt_is_what_was_handed_back(count, idle):
    tasks = sharing.dealt(list(range(count)), idle)
    assert sorted(piece for task in tasks for piece in task) == list(range(count)) and all(tasks)
    assert all(task == sorted(task) for task in tasks)  # in the order of the search
    assert len(tasks) == min(count, {-5: 2, 0: 2, 1: 2, 50: sharing.MOST_DEALT}[idle])


def test_what_is_not_shared_out_takes_as_long_as_it_did(unlimited):
    def step(number, side, generated, seconds, bundles=(), threshold=None):
        one = journal.Step(number)
        one.what = {"bound": 10 + number, "side": side, "threshold": threshold}
        one.result = {"generated": generated, "seconds": seconds}
        one.bundles = {place: {"seconds": part, "weight": 1.0} for place, part in enumerate(bundles)}
        return one

    steps = [
        step(0, "forward", 10**6, 0.1, [0.1, 0.1]),  # the first
        step(1, "forward", 10**7, 4.9, [4.0, 4.0]),  # after a small one
        step(2, "backward", 10**7, 5.0, [5.0] * 4, threshold=30),  # a trial
        step(3, "beam", 10**7, 2.0),
        step(4, "forward", 10**8, 40.0, [10.0] * 8),
    ]
    found = simulating.simulate_search(steps, 4, 0.0)
    assert found.with_client == 12.0 and found.seconds == pytest.approx(32.0)
    assert found.last.seconds == pytest.approx(20.0) and found.last.busy == pytest.approx(1.0)
