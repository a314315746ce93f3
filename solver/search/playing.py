"""An iteration played through by one thread in the place of many workers, by the clock of a simulation.

What a journal cannot tell is how a bundle falls into pieces when it is handed back. Here each task is searched, with
its own stack, and stopped when it has generated as many boards as a worker does in its time. So tasks, pieces and
counts are those of a cluster; only the clock is not, which counts boards instead of seconds.
"""

from __future__ import annotations

from typing import NamedTuple

from .cutting import key_of
from .pieces import Assembly, Piece
from .piecework import search_pieces
from .sharing import TASK_SECONDS, tasks_of
from .simulating import CUT_COST, TASK_COST, Simulated, play
from .tree import MOST_BUNDLES, Tree

SLICES = 20  # per second, in which a worker looks at the clock


class Played(NamedTuple):
    """An iteration that was played through."""

    simulated: Simulated
    generated: int
    subtrees: int
    bundles: int
    longest: float  # bundle, as a multiple of the mean


def play_iteration(tree: Tree, bound: int, workers: int, rate: float, cost: float = TASK_COST) -> Played:
    """Play the next iteration of a tree through, with workers that generate boards at a rate per second.

    It is cut as a long one is, and must hold no solution.
    """
    tree.make_ready(bound)
    tree.wanted = MOST_BUNDLES
    cut, worker = tree.cut(bound), tree.workers[0]
    tree.slice = max(1, int(rate / SLICES / 2))  # some two boards are generated for each that is expanded
    paths = {number: [key_of(cut.paths[one]) for one in bundle] for number, bundle in enumerate(cut.bundles)}
    assembly, sizes = Assembly(paths, every=True), dict[int, int]()

    def search(pieces: list[Piece], limit: float) -> tuple[float, list[Piece]]:
        before = int(worker.done[1])

        def is_late() -> bool:
            return int(worker.done[1]) - before >= limit * rate

        returned = search_pieces(tree, worker, bound, pieces, is_late)
        done = sum(part.found["generated"] for part in returned.parts)
        for number, whole in assembly.take(returned):
            sizes[number] = tree.joined([cut.paths[one] for one in cut.bundles[number]], whole).generated
        return done / rate, returned.left

    seconds = tree.growth * tree.expected / rate / max(1e-9, sum(cut.weights))  # of a bundle of weight 1
    guessed = [weight * seconds for weight in cut.weights]
    tied = tasks_of(guessed, TASK_SECONDS, workers)
    tasks = [[piece for number in task for piece in assembly.bundles[number]] for task in tied]
    expected = [sum(guessed[number] for number in task) for task in tied]
    simulated = play(tasks, expected, workers, search, cost, CUT_COST * len(cut.paths))
    generated = int(cut.above[1]) + sum(sizes.values())
    assert len(sizes) == len(cut.bundles), "a bundle was lost"
    return Played(
        simulated, generated, len(cut.paths), len(sizes), max(sizes.values()) * len(sizes) / sum(sizes.values())
    )
