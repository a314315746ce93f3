"""Bundles searched in pieces, which are handed back at random: the counts are those of one thread."""

import functools
import random

import pytest

from pdb_builder import Grid
from solver.heuristics import manhattan
from solver.search import playing, tree
from solver.search.cutting import key_of
from solver.search.journal import Step
from solver.search.outcome import Limits, Problem, unreported
from solver.search.pieces import Assembly, Part, Piece, Returned
from solver.search.piecework import search_pieces

from .helpers import cut_small_trees, korf_in_order

pytestmark = pytest.mark.jit


def tree_of(by_value=False, every=False):
    problem = Problem(Grid(4, 4), 0, korf_in_order()[3].board, manhattan.prepare(Grid(4, 4), 0), by_value)
    return tree.Tree(problem, 1, Limits(), unreported, every)


def in_pieces(searched, bound, chance):
    """A bundle at a time, some of its pieces in a task, which hands back what is left after some looks at the clock.

    Some tasks are run twice, and stop elsewhere then. What they return comes in any order.
    """
    bundled = tree.Bundled(searched, bound, Step())
    cut, stop_at, counts, followed = bundled.cut, len(bundled.found), [], 0
    for number, bundle in enumerate(cut.bundles):
        if number >= stop_at:
            break
        assembly = Assembly({number: [key_of(cut.paths[one]) for one in bundle]}, searched.every)
        waiting, coming, whole = list(assembly.bundles[number]), [], []
        while not whole:
            chance.shuffle(waiting)
            task, waiting = sorted(set(filter(assembly.wanted, waiting[:3]))), waiting[3:]
            for _ in range(chance.choice((1, 1, 2)) if task else 0):
                looks = iter(range(chance.choice((1, 3, 50))))
                late = functools.partial(lambda looks: next(looks, None) is None, looks)
                coming.append((task, search_pieces(searched, searched.workers[0], bound, task, late)))
            if waiting and (not coming or chance.random() < 0.5):
                continue
            task, returned = coming.pop(chance.randrange(len(coming)))
            counts.append(len(returned.left))
            followed += len({part.piece for part in returned.parts} - set(task))
            whole = assembly.take(returned)
            assert not assembly.take(returned)  # it counts once
            waiting += filter(assembly.wanted, returned.left)
        ((_, parts),) = whole
        bundled._note(number, searched.joined([cut.paths[one] for one in bundle], parts))
        stop_at = min(stop_at, assembly.stop_at)
    return bundled._added_up(), bundled.sizes(), max(counts, default=0), followed


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("by_value", [False, True])
def test_counts_are_those_of_one_thread(by_value, every, monkeypatch):
    cut_small_trees(monkeypatch)
    chance, searched = random.Random(by_value + 2 * every), tree_of(by_value, every)
    bound, paths = searched.value, []
    while not paths:
        searched.make_ready(bound)
        pieces, sizes, left, followed = in_pieces(searched, bound, chance)
        following = searched.iterate(bound)
        whole, paths = searched.outcome.iterations[-1], searched.outcome.paths
        assert (pieces.expanded, pieces.generated) == (whole.expanded, whole.generated)
        assert pieces.least == following and sizes == searched.sizes
        assert [[int(cell) & 127 for cell in path] for path in pieces.paths] == paths
        bound = following
    assert whole.generated > 10_000 and left > 2 and followed > 2


def test_an_iteration_that_is_played_through_has_all_its_boards(monkeypatch):
    cut_small_trees(monkeypatch)
    searched = tree_of()
    bound = searched.value
    for _ in range(4):
        bound = searched.iterate(bound)
    played = playing.play_iteration(searched, bound, 50, 100.0)
    searched.iterate(bound)
    assert played.generated == searched.outcome.iterations[-1].generated
    assert played.simulated.tasks > 50 and 0.1 < played.simulated.busy < 1


def part_of(bundle, place, cells, *paths):
    return Part(Piece(bundle, place, cells), {"paths": list(paths)})


def test_what_comes_late_for_a_bundle_does_not_keep_others_from_theirs():
    """Bundle 1 is complete, by its solution, before a task comes back that has a piece of it and one of bundle 0."""
    assembly = Assembly({0: [b"a", b"b"], 1: [b"c", b"d"]}, every=False)
    (first,) = assembly.take(Returned([part_of(1, (0,), b"c", [1, 2])], []))
    assert first[0] == 1 and assembly.stop_at == 2
    assert not assembly.wanted(assembly.bundles[1][1]) and assembly.wanted(assembly.bundles[0][1])
    left = [Piece(0, (1, 0), b"be"), Piece(1, (1, 0), b"de")]
    assert not assembly.take(Returned([part_of(0, (1,), b"b"), part_of(1, (1,), b"d")], left))
    assert assembly.wanted(left[0]) and not assembly.wanted(left[1])
    assert not assembly.take(Returned([part_of(0, (0,), b"a")], []))
    ((number, parts),) = assembly.take(Returned([part_of(0, (1, 0), b"be")], []))
    assert number == 0 and [part.piece.place for part in parts] == [(0,), (1,), (1, 0)]
    assert not assembly.take(Returned([part_of(0, (0,), b"a")], []))


def test_a_solution_ends_the_parts_that_count():
    assembly = Assembly({4: [b"a", b"b", b"c"]}, every=False)
    assert not assembly.take(Returned([part_of(4, (2,), b"c", [1])], []))
    assert not assembly.take(Returned([part_of(4, (1,), b"b", [2])], [Piece(4, (1, 0), b"bb")]))
    ((_, parts),) = assembly.take(Returned([part_of(4, (0,), b"a")], []))
    assert [part.piece.place for part in parts] == [(0,), (1,)]  # the solution at (1,) comes before that at (2,)
