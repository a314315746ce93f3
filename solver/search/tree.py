"""The tree of a depth-first search, searched bound by bound.

A small iteration is searched in one piece. A large one is cut into bundles of subtrees (``cutting``): the loop itself,
run with a *floor*, lists the paths that reach a depth. ``bundled`` shares the bundles out.

*A journal* (``journal``), if one is kept, has the iterations that were finished before. They are not searched again.

*Counts.* Every board whose moves were evaluated is expanded; every move evaluated is a board generated, and the start
counts as one. A recursive search would not yet have generated the last moves of the boards on the way to the solution,
so these are not counted. In the fixed order and never undoing a move, the counts are those of Korf (1985).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from pdb_builder.base.errors import InputError

from ..frame import Frame
from ..heuristics.contract import Heuristic
from . import BEAM, FORWARD
from .automaton import MOVES, Automaton, cell_of, pack, state_of
from .bundled import Bundled
from .cutting import Cut, Listed, Sizes, cut_tree
from .depth_first import (
    BASE,
    DEPTH,
    EXPANDED,
    FINISHED,
    FOUND,
    FULL,
    GENERATED,
    LEAST,
    LISTED,
    SLICED,
    Stack,
    later_moves,
    new_stack,
    search_below,
    start_below,
)
from .journal import Step
from .outcome import Iteration, Limits, OnProgress, Outcome, Problem, Progress
from .packed_moves import MOVE_BITS, move_at, node_of, slot_of
from .pieces import Part
from .searched import Searched
from .sharing import GROWTH
from .thresholds import NOTHING, PUT_IN, Opposite
from .word_files import AUTOMATON, made_automaton

SLICE = 500_000  # expansions before the loop returns: some hundredths of a second
ROOM = 64  # how much deeper than the bound the stacks are made
UNCUT = 300_000  # if the iteration before generated fewer boards than this, the tree is not cut
UNCUT_ALONE = 10_000_000  # the same for a single thread, which cuts only to tell how far it is
LEAST_BUNDLES, MANY_BUNDLES, MOST_BUNDLES = 32, 2_000, 4_000
BUNDLE_SIZE, LARGE_BUNDLE = 50_000, 250_000  # boards of the iteration before per bundle, up to many and up to most
FEW, MOST_GROWTH = 10_000, 20.0  # boards of an iteration whose growth says nothing, and the most that is believed
FIRST_LISTED = 256  # room for paths to the floor, doubled when it is full
NO_FILTER = np.zeros(1, dtype=np.int64)


class TooMany(Exception):
    """An iteration has generated more boards than it may."""


class Meeting(NamedTuple):
    """The part of one side in a search from both ends (see ``thresholds``)."""

    threshold: int
    role: int = NOTHING
    filter_words: np.ndarray = NO_FILTER


class Worker(NamedTuple):
    """What one thread needs to search: its own heuristics and stack, and where it tells how far it is."""

    heuristic: Any
    stack: Stack
    done: np.ndarray  # boards expanded and generated in this iteration
    opposite: Opposite | None  # if the search is to meet another one


class _Floor:
    """A depth at which paths are listed instead of being followed, and those listed so far."""

    def __init__(self, depth: int, room: int = 0) -> None:
        self.depth = depth
        self.prefixes = np.zeros((room, depth + 1), dtype=np.uint32)
        self.counts = np.zeros((room, 2), dtype=np.int64)  # boards expanded and generated when each was listed

    def double(self) -> None:
        self.prefixes, self.counts = np.vstack([self.prefixes] * 2), np.vstack([self.counts] * 2)

    def trim(self, listed: int) -> None:
        self.prefixes, self.counts = self.prefixes[:listed], self.counts[:listed]


NO_FLOOR = _Floor(-1)


class Tree:
    """The search tree of one problem, to be searched bound by bound.

    ``outcome`` is that of a search that has another tree as well, of the way back. ``facing`` is what it takes to meet
    it: the heuristic whose goal is the start of this tree, the frame of that goal, and the words that key boards.
    """

    automaton: Automaton  # of the current iteration, how far it looks back, and the successor that is its start
    looks_back: int
    root: np.ndarray

    def __init__(
        self,
        problem: Problem,
        threads: int,
        limits: Limits,
        progress: OnProgress,
        every: bool = False,
        outcome: Outcome | None = None,
        side: str = FORWARD,
    ) -> None:
        self.problem, self.threads, self.limits, self.progress, self.every = problem, threads, limits, progress, every
        self.start = np.array(problem.start, dtype=np.uint8)
        self.parts = np.array(problem.heuristic.measure(problem.start), dtype=np.int64)
        self.value = int(self.parts.max())
        self.outcome = outcome or Outcome(self.value, problem.at_least(self.value))
        self.side = side
        self.facing: tuple[Heuristic, Frame, np.ndarray] | None = None
        self.expected = 0  # boards that the next iteration generates at least: those of the one before
        self.sizes: Sizes = {}  # of the subtrees in the last iteration that was cut
        self.took = 0.0  # seconds that the last iteration takes one thread
        self.growth: float = GROWTH  # of the last iteration beside the one before
        self.depth = 0
        self.slice = SLICE
        self.wanted: int | None = None  # bundles; None: by the size of the iteration before
        self.most: int | None = None
        self.meeting: Meeting | None = None
        self.workers: list[Worker] = []
        self.executor: Executor | None = None

    def close(self) -> None:
        if self.executor:
            self.executor.shutdown()

    def face(self, heuristic: Heuristic, frame: Frame, pair_words: np.ndarray) -> None:
        """Make ready to meet a search from the other end."""
        self.facing = heuristic.first_part() if heuristic.first_part else heuristic, frame, pair_words

    def compile_meeting(self, bound: int) -> None:
        """Have the code compiled that the first iteration of a meeting needs, without searching."""
        self._look_back(bound)
        self._prepare(bound, None, Meeting(-1))
        self._below(self.workers[0], bound, self.root, lambda: False)
        self.meeting = None

    def make_ready(self, bound: int) -> None:
        """Prepare to search bundles that were cut elsewhere."""
        self._look_back(bound)
        self._prepare(bound, None, None)

    def iterate(self, bound: int, early: bool = False, most: int | None = None, meeting: Meeting | None = None) -> int:
        """Search within a bound and return the next one. Solutions and counts go to the outcome.

        ``early`` is for a bound that was not reached step by step, so that there may be shorter solutions. Raises
        ``TooMany`` if more than ``most`` boards are generated.
        """
        outcome = self.outcome
        if not early:
            outcome.lower_bound = max(outcome.lower_bound, bound)
        pruning = self._look_back(bound)
        self._prepare(bound, most, meeting)
        step = self._step(bound, pruning, meeting)
        began, given_up = time.perf_counter(), False
        try:
            found = self._recalled(bound, step)
            if found is None:
                found = self._searched(bound, early, step)
                found = found._replace(seconds=found.seconds + time.perf_counter() - began)
                if meeting:
                    found = found._replace(least=bound + 1)  # moves beyond a threshold say nothing of the next bound
                if self.problem.journal.kept:
                    step.end(found.as_record() | self._told(found))
                    self.problem.journal.write()
            expanded, generated, seconds = found.expanded, found.generated, found.seconds
            given_up = self._too_many(found)
        except BaseException:
            expanded, generated = self._done()
            seconds = time.perf_counter() - began
            raise
        finally:
            outcome.expanded += expanded
            outcome.generated += generated
            done = Iteration(bound, expanded, generated, seconds, pruning, self.side, self._half(), given_up)
            outcome.iterations.append(done)
            if min(generated, self.expected) > FEW and not self._half():
                self.growth = min(max(generated / self.expected, 1.0), MOST_GROWTH)
            self.expected, self.meeting = generated, None
        outcome.paths = [cell_of(path).tolist() for path in found.paths]
        if given_up:
            raise TooMany
        return found.least

    def _too_many(self, found: Searched) -> bool:
        """Whether an iteration was given up, or would have been if that had been noticed on the way."""
        return self.most is not None and found.generated > self.most and not found.paths

    def _step(self, bound: int, pruning: int, meeting: Meeting | None) -> Step:
        """The step of the journal that this iteration is."""
        if not self.problem.journal.kept:
            return Step()
        heuristic = self.problem.heuristic
        what = {
            "bound": bound,
            "side": self.side,
            "heuristic": heuristic.name,
            "databases": [database.seal for database in heuristic.databases],
            "pruning": pruning,
            "threshold": meeting and meeting.threshold,
            "role": meeting and meeting.role,
        }
        # What was put into a filter is of use only to the iteration after it.
        return self.problem.journal.step(what, with_next=bool(meeting and meeting.role == PUT_IN))

    def _told(self, found: Searched) -> dict:
        """What a journal keeps of an iteration beside its counts: the sums of its boards, and what it has proven."""
        meeting = self.meeting
        partial_proof = self._too_many(found) or (meeting is not None and meeting.role == PUT_IN)
        visited = self.visited().tolist() if meeting else None
        return {"visited": visited, "refuted": not found.paths and not partial_proof}

    def _recalled(self, bound: int, step: Step) -> Searched | None:
        """What the journal has of this iteration, if it was finished."""
        if step.result is None:
            return None
        if step.cut:
            bundled = Bundled(self, bound, step)
            if (missing := bundled.missing()) is not None:
                raise step.impossible(f"a result without bundle {missing}")
            self.sizes = bundled.sizes()
        result = dict(step.result)
        visited, _ = result.pop("visited"), result.pop("refuted")
        if self.meeting:
            opposite = self.workers[0].opposite
            assert opposite is not None
            opposite.histogram[:] = (visited + [0] * opposite.histogram.size)[: opposite.histogram.size]
        whole = self.from_journal(result, step)
        self.took = sum(record["seconds"] for record in step.bundles.values()) or whole.seconds
        self.outcome.earlier += whole.seconds
        return whole

    def _half(self) -> bool:
        """Whether this iteration is half of a search from both ends."""
        return self.meeting is not None and self.meeting.role != NOTHING

    def from_journal(self, record: dict, step: Step) -> Searched:
        """What a journal has. Raises ``InputError`` if it is of another search."""
        try:
            return self._restored(record)
        except ValueError:
            raise step.impossible("a path") from None

    def _restored(self, record: dict) -> Searched:
        """What ``as_record`` was made of. Raises ``ValueError`` if a path is none of this tree."""
        return Searched(**record | {"paths": [self.path_through(cells) for cells in record["paths"]]})

    def joined(self, roots: Sequence[np.ndarray], parts: Sequence[Part]) -> Searched:
        """A bundle, given by the paths to its subtrees, from all its parts in their order."""
        sizes = [0] * len(roots)
        founds = [self._restored(part.found) for part in parts]
        for part, found in zip(parts, founds, strict=True):
            sizes[part.piece.place[0]] += found.generated
        paths = [path for found in founds for path in found.paths]
        if paths and not self.every:  # which the last part has found
            piece = parts[-1].piece
            last = piece.place[0]
            sizes[last] -= self.not_yet(paths[0], len(roots[last]) - 1, len(piece.cells) - 1)
            del sizes[last + 1 :]
        return Searched(
            sum(found.expanded for found in founds),
            sum(sizes),
            min(found.least for found in founds),
            paths,
            sum(found.seconds for found in founds),
            sizes,
        )

    def path_through(self, cells: Sequence[int]) -> np.ndarray:
        """The path through some cells of the blank, as successors. Raises ``ValueError`` if this tree has none."""
        path, successors = [int(self.root[0])], self.automaton.successors
        if len(cells) == 0 or cells[0] != cell_of(path[0]):
            raise ValueError
        for cell in cells[1:]:
            first = state_of(path[-1]) * MOVES
            ways = [way for way in successors[first : first + MOVES].tolist() if way and cell_of(way) == cell]
            if not ways:
                raise ValueError
            path += ways
        return np.array(path, dtype=np.uint32)

    def _searched(self, bound: int, early: bool, step: Step) -> Searched:
        alone = self.threads == 1 and not self.problem.journal.kept and self.problem.cluster is None
        uncut = UNCUT_ALONE if alone else UNCUT
        if self.expected >= uncut or self.most is not None:  # what may be given up is noted on the way
            return self._in_bundles(bound, step)
        return self._in_one_piece(bound, early)

    def _prepare(self, bound: int, most: int | None, meeting: Meeting | None) -> None:
        self.most, self.meeting = most, meeting
        facing = bool(self.workers) and all(worker.opposite for worker in self.workers)
        if bound + 2 > self.depth or (meeting and not facing):
            self.depth = bound + ROOM
            self.workers = [self.new_worker()]
        self.reset(self.workers)

    def visited(self) -> np.ndarray:
        """[b] -> how many boards with this sum the last iteration has visited, if it was part of a meeting."""
        return np.sum([worker.opposite.histogram for worker in self.workers if worker.opposite], axis=0)

    def _look_back(self, bound: int) -> int:
        """Choose the automaton of the next iteration; returns how many moves it looks back.

        It may have to be made, and does not outlast the limits while it is. If there is no memory for the later one,
        the search goes on with the first.
        """
        problem, outcome = self.problem, self.outcome
        # Those of this bound do not count, so that both ends look back as far, and neither do beams.
        before = [one for one in outcome.iterations if one.bound < bound and one.side != BEAM]
        moves, blank = problem.pruning.moves(before), problem.start.index(0)

        def report(share: float) -> None:
            self.progress(Progress(bound, outcome.expanded, outcome.generated, share, preparing=AUTOMATON))
            self.limits.check(0)

        try:
            self.automaton = made_automaton(problem, moves, self.every, self.threads, report)
        except InputError as error:
            pruning, fact = problem.pruning, str(error).rpartition(": ")[0]
            if moves == pruning.first:
                raise
            other = "; a journal that has looked back further needs that memory" if problem.journal.kept else ""
            pruning.notify(f"{fact}: the search goes on looking back {pruning.first} moves{other}")
            self.problem = problem._replace(pruning=pruning._replace(later=pruning.first))
            moves = pruning.first
            self.automaton = made_automaton(problem, moves, self.every, self.threads, report)
        self.looks_back = moves
        self.root = np.array([pack(self.automaton.starts[blank], blank)], dtype=np.uint32)
        return moves

    def new_worker(self) -> Worker:
        """What one more thread needs to search this tree."""
        slots, opposite = int(slot_of(node_of(self.depth, 0), 0)), None
        if self.meeting:
            assert self.facing is not None
            heuristic, frame, words = self.facing
            start = frame.enter(self.problem.start)
            opposite = Opposite(
                heuristic.workspace(slots),
                1 if self.problem.heuristic.first_part else -1,
                np.array(frame.cells),
                np.array(frame.tiles),
                np.array(start, dtype=np.uint8),
                np.array(heuristic.measure(start), dtype=np.int64),
                words,
                NO_FILTER,
                NOTHING,
                0,
                np.zeros(2 * self.depth, dtype=np.int64),
            )
        stack = new_stack(self.problem.grid.cells, self.depth)
        return Worker(self.problem.heuristic.workspace(slots), stack, np.zeros(2, dtype=np.int64), opposite)

    @staticmethod
    def reset(workers: list[Worker]) -> None:
        """Begin to count anew."""
        for worker in workers:
            worker.done[:] = 0
            if worker.opposite:
                worker.opposite.histogram[:] = 0

    def _done(self) -> tuple[int, int]:
        """The boards expanded and generated in this iteration."""
        return sum(int(worker.done[0]) for worker in self.workers), sum(int(worker.done[1]) for worker in self.workers)

    def pulse(self, bound: int, share: float | None = None) -> None:
        """Between slices: tell how far the search is, and stop it if it is time."""
        expanded, generated = self._done()
        generated += self.outcome.generated
        self.progress(Progress(bound, self.outcome.expanded + expanded, generated, share))
        self.limits.check(generated)
        self.problem.journal.write()

    def _slice(self) -> int:
        """How many boards to expand until the next pulse."""
        return self.limits.expansions(self.outcome.generated + self._done()[1], self.slice)

    def _below(
        self,
        worker: Worker,
        bound: int,
        prefix: np.ndarray,
        pulse: Callable[[], object],
        early: bool = False,
        floor: _Floor = NO_FLOOR,
        left: list[np.ndarray] | None = None,
        at_once: int | None = None,
    ) -> Searched | None:
        """Search below a path. ``pulse`` is called between slices; if it returns True the rest is abandoned.

        With a list of what is ``left``, the paths to the rest are added to it, and what was found is returned.
        ``at_once`` is how many boards to expand in a slice, if that is not for the limits to say.
        """
        heuristic, stack, done, opposite = worker
        state = stack.state
        bounded = True if self.problem.heuristic.bounded else None
        if self.meeting is None:
            opposite = None
        else:
            assert opposite is not None
            opposite = opposite._replace(**self.meeting._asdict())
        start_below(heuristic, stack, self.automaton, self.start, self.parts, prefix, bound, bounded, opposite)
        before, paths = done.copy(), []
        status, unexpanded = SLICED, True
        while status != FINISHED:
            listing = (floor.depth, floor.prefixes, floor.counts)
            # If it may be given up, then always at the same place.
            most = at_once or (self._slice() if self.most is None else SLICE)
            how = (self.problem.by_value, unexpanded, *listing, most, True if early else None)
            status = search_below(heuristic, stack, self.automaton, bound, *how, bounded, opposite)
            unexpanded = False
            done[:] = before + state[[EXPANDED, GENERATED]]
            if status == FULL:
                floor.double()
            if status == FOUND:
                paths.append(stack.path[: state[DEPTH] + 2] & 0xFFFFFFFF)
                if not self.every:
                    state[GENERATED] -= self.not_yet(paths[0], len(prefix) - 1, len(paths[0]) - 1)
                    break
            if status != FINISHED and pulse():
                if left is None:
                    return None
                left += self._left_to_do(stack)
                break
            if self.most is not None and floor is NO_FLOOR and state[GENERATED] > self.most:
                break  # too many even without the rest
        return Searched(int(state[EXPANDED]), int(state[GENERATED]), int(state[LEAST]), paths)

    def _left_to_do(self, stack: Stack) -> list[np.ndarray]:
        """The paths to all that a stack still has to search, in the order of the search."""
        depth, base = int(stack.state[DEPTH]), int(stack.state[BASE])
        here, paths = (stack.path[: depth + 1] & 0xFFFFFFFF).astype(np.uint32), []
        for above in range(depth, base - 1, -1):
            first, moves = int(state_of(here[above])) * MOVES, int(stack.todo[above])
            while moves:
                paths.append(np.append(here[: above + 1], self.automaton.successors[first + move_at(moves, 0)]))
                moves >>= MOVE_BITS
        return paths

    def not_yet(self, path: np.ndarray, first: int, last: int) -> int:
        """What a recursive search would not yet have generated between two depths of a path.

        In the order of values it would have: to order the moves it must evaluate all of them.
        """
        return 0 if self.problem.by_value else later_moves(path, first, last, self.automaton)

    def _in_one_piece(self, bound: int, early: bool) -> Searched:
        """An iteration by this thread alone."""
        began = time.perf_counter()
        found = self._below(self.workers[0], bound, self.root, lambda: self.pulse(bound), early)
        assert found is not None
        self.took = time.perf_counter() - began
        return found

    def _in_bundles(self, bound: int, step: Step) -> Searched:
        """An iteration cut into bundles, as far as they are not in the journal."""
        # Bundles of a half depend on the filter, which is lost when the search ends.
        bundled = Bundled(self, bound, Step() if self._half() else step)
        found = bundled.search()
        if not self._half():  # which is only a part of the tree
            self.sizes = bundled.sizes()
        self.took = sum(one.seconds for one in bundled.results())
        return found

    def expected_seconds(self) -> float:
        """About how long the next iteration takes one thread."""
        return self.growth * self.took

    def search_bundle(
        self, worker: Worker, bound: int, paths: list[np.ndarray], given_up: Callable[[], bool]
    ) -> Searched | None:
        """Search below some paths, one after another; None if that is given up. Others do this at the same time.

        The seconds are those of the processor, so that they tell how large a bundle is on a busy machine, too.
        """
        began, parts = time.thread_time(), []
        before = worker.opposite.histogram.copy() if self.meeting and worker.opposite else None
        for path in paths:
            found = self._below(worker, bound, path, given_up)
            if found is None:
                return None
            parts.append(found)
            if (found.paths and not self.every) or self._too_many(found):
                break
        visited = None
        if before is not None and worker.opposite:
            new = worker.opposite.histogram - before
            visited = {str(total): int(new[total]) for total in np.flatnonzero(new)}
        return Searched(
            sum(part.expanded for part in parts),
            sum(part.generated for part in parts),
            min(part.least for part in parts),
            [path for part in parts for path in part.paths],
            time.thread_time() - began,
            [part.generated for part in parts],
            visited,
        )

    def search_piece(
        self, worker: Worker, bound: int, path: np.ndarray, stop: Callable[[], bool], at_once: int | None = None
    ) -> tuple[Searched, list[np.ndarray]]:
        """Search below a path until that is to stop; returns what was found, and the paths to what is left."""
        began, left = time.thread_time(), list[np.ndarray]()
        found = self._below(worker, bound, path, stop, left=left, at_once=at_once)
        assert found is not None
        return found._replace(seconds=time.thread_time() - began), left

    def cut(self, bound: int) -> Cut:
        """The tree in bundles: about as many as are wanted, by default as many as the last iteration suggests."""
        worker = self.workers[0]

        def below(path: np.ndarray, depth: int) -> Listed:
            floor = _Floor(depth, FIRST_LISTED)
            if path is self.root:  # whatever was listed before is listed again
                self.reset([worker])
            top = self._below(worker, bound, path, lambda: False, floor=floor)
            assert top is not None and not top.paths
            floor.trim(int(worker.stack.state[LISTED]))
            return Listed(floor.prefixes, floor.counts, top.expanded, top.generated, top.least)

        many = min(MANY_BUNDLES, self.expected // BUNDLE_SIZE)
        by_size = min(MOST_BUNDLES, max(LEAST_BUNDLES, many, self.expected // LARGE_BUNDLE))
        return cut_tree(self.root, below, bound, self.wanted or by_size, self.sizes)
