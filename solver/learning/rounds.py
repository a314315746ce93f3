"""Learning in rounds: each draws samples from beams that rank by what was learned so far, and then fits anew.

A beam that ranks differently keeps different boards, and makes new mistakes. So samples of the classic rank alone do
not suffice: in the second round the beam has the rank of the first, and so on. The first round begins with nothing, or
with the weights of a file, and each other one with those of the round before, which it fits to samples of its own.

A twentieth of the boards of a round is kept back, to see how the weights do on the solutions of boards that they were
not fitted to. In the end some more boards are solved with the rank that was learned and with the classic one.

*Repeatable.* The budget is a number of boards, not of seconds, boards are drawn from sequences of their own, and
neither beams nor fits depend on threads. So the same plan gives the same file to the byte, with as many threads as
there are, and however often it was stopped in between; on one machine, since libraries may round elsewhere differently.

*Resumable.* A workshop beside the file (``pdb_builder.base.workshop``) has a folder for each plan, with
``samples-R-N.h5``, the samples of some boards of a round, until there is ``round-R.h5``, what was learned in it.
Whatever is there and of the same plan is not done again. The folder is removed when the file is in place.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import NamedTuple

import numpy as np

from pdb_builder import __version__
from pdb_builder.base.errors import DatabaseError, InputError, NothingLearned, UnusableFile, WriteError
from pdb_builder.base.folders import make_folder
from pdb_builder.base.interrupts import compiling
from pdb_builder.base.workers import Workers
from pdb_builder.base.workshop import locked
from pdb_builder.grid import Grid
from pdb_builder.memory import require_memory

from ..heuristics import linear_conflict
from ..jobs import map_jobs
from ..search import beam
from ..search.learned_rank import PARTNERS, STEPS, Weights, serves, zero_weights
from ..search.outcome import Limits, Problem
from ..search.rank_files import LearnedRank, Lesson, read_rank, write_rank
from .fitting import Fit, Marks
from .sample_files import read_samples, write_samples
from .samples import RIVALS, SOLUTION, Samples, classic_ranks, draw_samples, sampled_board, samples_bytes, together

METHOD = 3  # greater whenever the same plan would give other bytes than before
SHARE = 5  # boards whose samples are in a file
KEPT_BACK = 20  # one board in so many is kept back
CHECKED = 40  # boards solved in the end, but no more than in a round
EPOCHS = 2
LEAST_SIDE = 3
BOARDS, ROUNDS, WIDTH = 400, 4, 2000
RANGES = {"seed": (0, 10**9), "boards": (2, 1_000_000), "rounds": (1, 20), "width": (2 * RIVALS, 100_000)}
FITTING = 5000  # the width of a beam that takes as long for a board as its part of a fit, with all partners
# Of a beam: this much, and more for each board of its width. A fixed amount, since it decides what a beam remembers.
MEMORY, MEMORY_EACH = 32_000_000, 10_000
PLANNED = ("by", "shape", "seed", "boards", "rounds", "width", "partners", "begun_with")  # the first of a lesson


class Plan(NamedTuple):
    """What is to be learned."""

    grid: Grid
    seed: int
    boards: int  # in each round
    rounds: int
    width: int
    partners: int
    start: LearnedRank | None

    def matches(self, lesson: Lesson) -> bool:
        """Whether a lesson is the outcome of this plan."""
        return lesson[: len(PLANNED)] == self.beginning()

    def beginning(self) -> tuple[str, str, int, int, int, int, int, str]:
        """The members of the lesson that are PLANNED."""
        begun_with = self.start.seal if self.start else ""
        by = f"slidepdb {__version__}, method {METHOD}"
        return by, self.grid.shape, self.seed, self.boards, self.rounds, self.width, self.partners, begun_with

    def key(self) -> str:
        """A name for what is to be learned in the first so many rounds, however many there are in the end."""
        return hashlib.sha256(repr(self._replace(rounds=0).beginning()).encode()).hexdigest()[:16]

    def weights_in_moves(self, rank: Weights | None) -> Weights:
        """What a fit begins with: a rank, or nothing."""
        if rank is None:
            return zero_weights(self.partners)
        return Weights(*(array.astype(np.float32) / STEPS for array in rank))


class Watcher:
    """What learning reports about itself. These methods do nothing; a user interface overrides them."""

    def waiting(self, path: Path) -> None:
        """Another process is learning the same rank."""

    def advanced(self, share: float, what: str) -> None:
        """So much of the work is done, and this is under way. Called from one thread."""

    def round_ended(self, number: int, taught: int, moves: float, learned: Marks, classic: Marks) -> None:
        """A round is over, in which so many boards taught something.

        Their solutions have so many moves on average. The marks are those of solutions that were kept back.
        """


def plan_of(
    grid: Grid,
    seed: int = 1,
    boards: int = BOARDS,
    rounds: int = ROUNDS,
    width: int = WIDTH,
    partners: int | None = None,
    start: LearnedRank | None = None,
) -> Plan:
    """A plan, or ``InputError`` if it makes no sense. By default there are as many partners as there were at first."""
    if grid.rows != grid.cols or not serves(grid):
        raise InputError(f"{grid.a_board} is nothing to learn from: use a square without joined edges, as 7x7")
    if grid.rows < LEAST_SIDE:
        raise InputError(f"boards of {grid} are too small to learn from: use {LEAST_SIDE}x{LEAST_SIDE} or larger ones")
    values = {"seed": seed, "boards": boards, "rounds": rounds, "width": width}
    for name, (least, most) in RANGES.items():
        if not least <= values[name] <= most:
            raise InputError(f"`{name}` must be between {least} and {most:,}, got {values[name]:,}")
    usual = start.lesson.partners if start else max(PARTNERS)
    if partners not in (None, *PARTNERS):
        raise InputError(f"`partners` must be {' or '.join(map(str, PARTNERS))}, got {partners}")
    if start and partners not in (None, usual):
        raise InputError(f"the weights to begin with have {usual} partners, not {partners}: leave out `partners`")
    return Plan(grid, seed, boards, rounds, width, partners or usual, start)


def learn(
    plan: Plan,
    path: Path,
    *,
    threads: int | None = None,
    overwrite: bool = False,
    watcher: Watcher | None = None,
    interrupt: Event | None = None,
) -> LearnedRank:
    """Learn a rank and write it to ``path``, or read it if it is there and of the same plan.

    Any other file at ``path`` is an error unless ``overwrite`` is set. When ``interrupt`` is set, or by an exception,
    a full disk for one, learning ends, and the next call with the same plan goes on from there.
    """
    watcher = watcher or Watcher()
    needed = 2 * samples_bytes(plan.grid, plan.boards)  # at the end of a round, when they are put together
    require_memory(f"a round of {plan.boards:,} boards of {plan.grid}", needed, "use fewer `boards`, and more `rounds`")
    with compiling():
        _compile()
    workshop = path.parent / f".{path.name}.learning"
    parts = workshop / plan.key()
    try:
        if not path.is_file() and (path.exists() or path.is_symlink()):
            raise WriteError(f"cannot write {path}: something else has this name: remove it, or choose another folder")
        make_folder(path.parent)
        with locked(workshop, lambda: watcher.waiting(path)), _tidied(workshop):
            if path.exists() and (found := _existing(path, plan, overwrite)):
                return found
            parts.mkdir(exist_ok=True)
            for leftover in parts.glob("*.tmp"):
                leftover.unlink()
            with Workers(threads) as workers:
                learning = _Learning(plan, parts, workers, watcher, interrupt or Event())
                weights, lesson = learning.run()
            write_rank(path, weights, lesson, folder=parts)
            shutil.rmtree(parts, ignore_errors=True)
    except OSError as error:
        raise WriteError(f"cannot write {path}: {error.strerror or error}: choose another folder") from error
    return read_rank(path)


@contextmanager
def _tidied(workshop: Path) -> Iterator[None]:
    """Remove the workshop in the end, unless there is anything left of this plan, or of another one."""
    try:
        yield
    finally:
        if not any(workshop.glob("*/*.h5")):
            shutil.rmtree(workshop, ignore_errors=True)


def _existing(path: Path, plan: Plan, overwrite: bool) -> LearnedRank | None:
    """The rank that is already in place, if it is the one to learn; if not, an error, or None if it may go."""
    remedy = "choose another folder, or replace it with `overwrite`"
    try:
        rank = read_rank(path)
    except UnusableFile as error:
        if overwrite:
            return None
        raise error.with_remedy(remedy) from None
    if plan.matches(rank.lesson):
        return rank
    if overwrite:
        return None
    found, wanted = rank.lesson._asdict(), Lesson(*plan.beginning())._asdict()
    name = next(name for name in PLANNED if found[name] != wanted[name])
    other = f"{name.replace('_', ' ')} {found[name]!r}, not {wanted[name]!r}"
    raise DatabaseError(f"{path} is another one, with {other}: {remedy}")


def _compile() -> None:
    """Have all code compiled before there is something to interrupt."""
    grid = Grid(LEAST_SIDE, LEAST_SIDE)
    board = sampled_board(grid, "to compile for", 0, 0)
    weights = Weights(*(array.astype(np.int16) for array in zero_weights(min(PARTNERS))))
    groups = np.array([[board, grid.goal()]], dtype=np.uint8)
    draw_samples(grid, board, weights, 2 * RIVALS, Limits(memory=MEMORY), (0,))
    with Workers(1) as workers:
        fit = Fit(grid, zero_weights(min(PARTNERS)), workers)
        fit.epochs(groups, classic_ranks(grid, groups), np.arange(1), 1, np.random.default_rng(0))


class _Learning:
    """One run."""

    def __init__(self, plan: Plan, workshop: Path, workers: Workers, watcher: Watcher, interrupt: Event) -> None:
        self.plan, self.workshop, self.workers, self.watcher = plan, workshop, workers, watcher
        self.interrupt = interrupt
        self.limits = Limits(memory=MEMORY + MEMORY_EACH * plan.width, interrupt=interrupt)
        self.fitting = FITTING * PARTNERS[plan.partners] / max(PARTNERS.values()) / plan.width * plan.boards
        self.checked = min(CHECKED, plan.boards)
        self.done, self.all = 0.0, plan.rounds * (plan.boards + self.fitting) + 2 * self.checked

    def run(self) -> tuple[Weights, Lesson]:
        """All rounds."""
        plan = self.plan
        rank, seal = (plan.start.weights, plan.start.seal) if plan.start else (None, "")
        lesson = Lesson(*plan.beginning())
        for number in range(1, plan.rounds + 1):
            learned = self._finished(number) or self._round(number, rank, seal, lesson.round_moves)
            rank, lesson, seal = learned
        assert rank is not None
        checked, learned_moves, classic_moves = self._check(rank)
        return rank, lesson._replace(checked=checked, moves=learned_moves, classic_moves=classic_moves)

    def _path(self, number: int) -> Path:
        return self.workshop / f"round-{number}.h5"

    def _finished(self, number: int) -> LearnedRank | None:
        """What was learned in a round, if its file is there."""
        with suppress(DatabaseError):
            found = read_rank(self._path(number))
            if self.plan._replace(rounds=number).matches(found.lesson):
                self._advance(self.plan.boards + self.fitting, "")
                return found
        return None

    def _round(self, number: int, rank: Weights | None, seal: str, moves: tuple[float, ...]) -> LearnedRank:
        """What is learned in a round that begins with a rank."""
        samples = self._draw(number, rank, seal)
        taught = samples.counts > 0
        if taught.sum() < 2:
            raise NothingLearned(
                f"{taught.sum()} of the {taught.size} boards of round {number} taught anything, since the others got "
                "lost: use more `boards`, a larger `width`, or a better rank to begin with"
            )
        learned = self._fit(number, rank, samples, (*moves, float(samples.lengths[taught].mean())))
        for file in self.workshop.glob(f"samples-{number}-*.h5"):
            file.unlink(missing_ok=True)
        lesson = learned.lesson
        marks = Marks(lesson.loss, lesson.behind), Marks(lesson.classic_loss, lesson.classic_behind)
        self.watcher.round_ended(number, int(taught.sum()), lesson.round_moves[-1], *marks)
        return learned

    def _advance(self, work: float, what: str) -> None:
        self.done += work
        self.watcher.advanced(min(1.0, self.done / self.all), what)
        if self.interrupt.is_set():
            raise KeyboardInterrupt

    def _draw(self, number: int, rank: Weights | None, seal: str) -> Samples:
        """The samples of a round, from files as far as there are any."""
        plan = self.plan

        def draw(low: int) -> Samples | None:
            high = min(low + SHARE, plan.boards)
            path = self.workshop / f"samples-{number}-{low // SHARE + 1}.h5"
            of = f"{plan._replace(rounds=number).beginning()} boards {low} to {high} rank {seal}"
            found = read_samples(path, plan.grid, of, high - low)
            if found is None:
                drawn = []
                for one in range(low, high):
                    board = sampled_board(plan.grid, f"round {number}", plan.seed, one)
                    seeds = (plan.seed, number, one)
                    drawn.append(draw_samples(plan.grid, board, rank, plan.width, self.limits, seeds))
                    if self.interrupt.is_set():
                        return None  # the last one may be cut short
                found = together(drawn)
                write_samples(path, found, of)
            return found

        parts = []
        what = f"round {number} of {plan.rounds}, boards"
        lows = list(range(0, plan.boards, SHARE))
        for part, low in zip(map_jobs(lows, draw, self.workers.threads, self.interrupt), lows, strict=True):
            if part is not None:
                parts.append(part)
                self._advance(min(SHARE, plan.boards - low), what)
        if len(parts) < len(lows):
            raise KeyboardInterrupt
        return together(parts)

    def _fit(self, number: int, rank: Weights | None, samples: Samples, moves: tuple[float, ...]) -> LearnedRank:
        """A rank fitted to the samples of a round, written to its file."""
        plan, groups = self.plan._replace(rounds=number), samples.groups
        classic = classic_ranks(plan.grid, groups)
        back = _kept_back(samples)
        kept_back, others = np.flatnonzero(back & (samples.lags == SOLUTION)), np.flatnonzero(~back)
        classic_marks = Fit(plan.grid, plan.weights_in_moves(None), self.workers).marks(groups, classic, kept_back)
        fit = Fit(plan.grid, plan.weights_in_moves(rank), self.workers)
        before = self.done

        def progress(share: float) -> None:
            self._advance(before + self.fitting * share - self.done, f"round {number} of {self.plan.rounds}, fitting")

        rng = np.random.default_rng((plan.seed, number, plan.boards))  # another one than those of boards
        fit.epochs(groups, classic, others, EPOCHS, rng, progress)
        marks = fit.marks(groups, classic, kept_back)
        losses, behind = zip(marks, classic_marks, strict=True)
        write_rank(self._path(number), fit.result(), Lesson(*plan.beginning(), moves, *losses, *behind))
        return read_rank(self._path(number))

    def _check(self, rank: Weights) -> tuple[int, float, float]:
        """How many boards were solved in both ways, and the mean lengths: as learned, and as classically."""
        grid = self.plan.grid

        def solve(number: int) -> list[int]:
            problem = Problem(grid, 0, sampled_board(grid, "check", self.plan.seed, number), heuristic)
            outcomes = [
                beam.observed(one, self.plan.width, lambda *_: None, limits=self.limits)
                for one in (problem._replace(weights=rank), problem)
            ]
            return [len(outcome.paths[0]) - 1 if outcome.paths else -1 for outcome in outcomes]

        heuristic = linear_conflict.prepare(grid, 0)
        found = []
        for lengths in map_jobs(list(range(self.checked)), solve, self.workers.threads, self.interrupt):
            self._advance(2, "check")
            if min(lengths) >= 0:
                found.append(lengths)
        learned, classic = np.array(found).reshape(-1, 2).mean(axis=0) if found else (0.0, 0.0)
        return len(found), float(learned), float(classic)


def _kept_back(samples: Samples) -> np.ndarray:
    """[group] -> whether it is of a board that is kept back: the first of those that taught anything, and so on."""
    counts = samples.counts[samples.counts > 0]
    return np.repeat(np.arange(counts.size) % KEPT_BACK == 0, counts)
