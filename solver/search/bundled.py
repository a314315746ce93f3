"""An iteration cut into bundles of subtrees (``cutting``), which threads or the workers of a cluster share.

Bundles are searched in order, by as many threads as there are. If one holds a solution, those after it are abandoned,
but those before it are finished. So the solution and all counts are those of one thread searching alone. Bundles that
the journal has (``journal``) are not searched again; the others are noted there as they end.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from .cutting import Sizes, key_of, sizes_of
from .journal import Step
from .outcome import Cluster
from .pieces import Part
from .searched import Searched
from .sharing import is_worth_sharing

if TYPE_CHECKING:
    from .tree import Tree, Worker

PULSE = 0.05  # seconds between looks at the clock while threads search


class Bundled:
    """The bundles of an iteration, and what is known of them: those after a solution need not be searched."""

    def __init__(self, tree: Tree, bound: int, step: Step) -> None:
        """Raises ``InputError`` if the journal has other bundles."""
        self.tree, self.bound, self.step = tree, bound, step
        self.cut = tree.cut(bound)
        step.begin_bundles(len(self.cut.paths), len(self.cut.bundles))
        self.found: list[Searched | None] = [None] * len(self.cut.bundles)
        self.stop_at, self.lock = len(self.found), Lock()
        self.sharers = 1
        for number, record in step.bundles.items():
            self._recall(number, record)
        self._stop_if_too_many()

    def _recall(self, number: int, record: dict) -> None:
        """Take a bundle from the journal."""
        paths, sizes = len(self.cut.bundles[number]), record["sizes"]
        ended_early = bool(record["paths"]) or self.tree.most is not None
        if sum(sizes) != record["generated"] or not (len(sizes) == paths or (ended_early and 0 < len(sizes) < paths)):
            raise self.step.impossible(f"bundle {number}")
        self._add(number, self.tree.from_journal(record, self.step))

    # ---- what is known ----------------------------------------------------------------------------------

    def _wanted(self, number: int) -> bool:
        return self.found[number] is None and number < self.stop_at

    def _add(self, number: int, found: Searched) -> None:
        self.found[number] = found
        if found.paths and not self.tree.every:
            self._stop(number + 1)

    def _note(self, number: int, found: Searched) -> None:
        """Add a bundle that was searched now; whoever has searched it twice."""
        if self.found[number] is None:
            found = found._replace(weight=round(self.cut.weights[number], 3), shared_by=self.sharers)
            if self.tree.problem.journal.kept:
                self.step.end_bundle(number, found.as_record())
            self._add(number, found)

    def _stop(self, number: int) -> None:
        """Bundles from this number on are not searched."""
        with self.lock:
            self.stop_at = min(self.stop_at, number)

    def _stop_if_too_many(self) -> None:
        """Give an iteration up with the first bundle, in their order, with which it has too many boards."""
        if self.tree.most is not None:
            generated = int(self.cut.above[1])
            for number, found in enumerate(self.found[: self.stop_at]):
                if found is None:
                    return
                generated += found.generated
                if generated > self.tree.most:
                    self._stop(number + 1)

    def missing(self) -> int | None:
        """The first bundle that is still to be searched, if there is one."""
        return next((number for number in range(self.stop_at) if self._wanted(number)), None)

    def results(self) -> list[Searched]:
        """The bundles that count, in their order, once they are all there."""
        assert self.missing() is None, "a bundle was lost"
        return [found for found in self.found[: self.stop_at] if found]

    def sizes(self) -> Sizes:
        """Those of the subtrees, by which the next iteration is cut."""
        searched: list[np.ndarray] = []
        sizes: list[int] = []
        for bundle, found in zip(self.cut.bundles, self.results(), strict=False):
            searched += [self.cut.paths[number] for number in bundle][: len(found.sizes)]
            sizes += found.sizes
        return sizes_of(searched, sizes)

    # ---- searching --------------------------------------------------------------------------------------

    def search(self) -> Searched:
        """Search what is not known. The seconds of the result are those of what is."""
        tree, earlier = self.tree, 0.0
        known = tree.workers[0]  # what is done is counted as one worker's
        tree.reset(tree.workers[1:])
        known.done[:] = self.cut.above
        for found in filter(None, self.found):
            earlier += found.seconds / found.shared_by
            known.done[:] += found.expanded, found.generated
            for total, count in (found.visited or {}).items():
                assert known.opposite is not None
                known.opposite.histogram[int(total)] += count
        tree.outcome.earlier += earlier
        cluster = tree.problem.cluster
        if not (cluster and tree.meeting is None and is_worth_sharing(tree.took) and self._by_cluster(cluster)):
            self._by_threads()
        return self._added_up()._replace(seconds=earlier)

    def _by_threads(self) -> None:
        """Search the bundles that are wanted, by all threads of this process."""
        tree, cut = self.tree, self.cut
        self.sharers = tree.threads
        tree.workers += [tree.new_worker() for _ in range(tree.threads - len(tree.workers))]
        tree.executor = tree.executor or ThreadPoolExecutor(tree.threads)
        idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in tree.workers:
            idle.put(worker)

        def search(number: int) -> None:
            if self._wanted(number):
                worker = idle.get()
                try:
                    paths = [cut.paths[one] for one in cut.bundles[number]]
                    found = tree.search_bundle(worker, self.bound, paths, lambda: not self._wanted(number))
                    if found is not None:
                        self._note(number, found)
                finally:
                    idle.put(worker)

        futures = [tree.executor.submit(search, number) for number in range(len(cut.bundles))]
        all_of_it, done = sum(cut.weights), 0.0
        try:
            for number, future in enumerate(futures):
                while not _ended(future):
                    tree.pulse(self.bound, done / all_of_it)
                done += cut.weights[number]
                self._stop_if_too_many()
                if number + 1 < self.stop_at:  # bundles may be so small that none is waited for
                    tree.pulse(self.bound, done / all_of_it)
        except BaseException:
            self._stop(-1)
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def _by_cluster(self, cluster: Cluster) -> bool:
        """Search the bundles that are wanted, by the workers of a cluster; returns False if none of them can."""
        tree, cut = self.tree, self.cut
        all_of_it, known = sum(cut.weights), tree.workers[0].done
        done = sum(weight for weight, found in zip(cut.weights, self.found, strict=True) if found)
        self.sharers = cluster.threads()

        def add(number: int, parts: Sequence[Part]) -> None:
            nonlocal done
            done += cut.weights[number]
            found = tree.joined([cut.paths[one] for one in cut.bundles[number]], parts)
            self._note(number, found)
            known[:] += found.expanded, found.generated

        def pulse() -> None:
            tree.pulse(self.bound, done / all_of_it)

        work = {
            number: ([key_of(cut.paths[one]) for one in bundle], cut.weights[number])
            for number, bundle in enumerate(cut.bundles)
            if self._wanted(number)
        }
        return not work or cluster.search(tree, self.bound, work, tree.expected_seconds() / all_of_it, add, pulse)

    def _added_up(self) -> Searched:
        """The counts and solutions of an iteration from those of its bundles and of the tree above them."""
        cut, results = self.cut, self.results()
        (expanded, generated), paths = cut.above.tolist(), [path for found in results for path in found.paths]
        if paths and not self.tree.every:
            last = cut.bundles[len(results) - 1][len(results[-1].sizes) - 1]  # the path to the solution
            expanded, generated = cut.before[last].tolist()
            generated -= self.tree.not_yet(paths[0], 0, len(cut.paths[last]) - 1)
        return Searched(
            expanded + sum(found.expanded for found in results),
            generated + sum(found.generated for found in results),
            min([cut.least, *(found.least for found in results)]),
            paths,
        )


def _ended(future: Future) -> bool:
    """Wait a little; True once the future has ended."""
    try:
        future.result(timeout=PULSE)
    except TimeoutError:
        return False
    return True
