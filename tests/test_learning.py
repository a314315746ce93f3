"""Learning a rank: what is sampled, how weights are fitted, and that a plan always leads to the same bytes."""

import json
import math
import os
import signal
import time
from threading import Event

import numpy as np
import pytest

from pdb_builder import Grid
from pdb_builder.base.errors import DatabaseError, InputError, NothingLearned, WriteError
from pdb_builder.base.workers import Workers
from solver.cli import main
from solver.heuristics import linear_conflict
from solver.learning import fitting, rounds, samples
from solver.learning.fitting import Fit
from solver.learning.rounds import Watcher, learn, plan_of
from solver.learning.sample_files import KIND, read_samples, write_samples
from solver.learning.samples import (
    LAGS,
    RIVALS,
    SOLUTION,
    SURVIVORS,
    Samples,
    classic_ranks,
    draw_samples,
    levels_between,
    sampled_board,
)
from solver.search import beam
from solver.search.beam_level import BORDER, STRETCH
from solver.search.learned_rank import (
    AROUND,
    CLASSES,
    REACH,
    SPAN,
    STEPS,
    is_symmetric,
    rank_from_scratch,
    zero_weights,
)
from solver.search.outcome import Limits, Problem
from solver.search.rank_files import packaged_rank, rank_path, read_rank

from .oracle import boards_after
from .processes import ended, started

pytestmark = [pytest.mark.jit, pytest.mark.beam]

GRID = Grid(4, 4)
LIMITS = Limits(memory=10**7)


# ---- samples ------------------------------------------------------------------------------------


def drawn(grid, number=0, width=100, weights=None):
    board = sampled_board(grid, "test", 1, number)
    return board, draw_samples(grid, board, weights, width, LIMITS, (1, number))


def test_samples_of_a_solution_are_boards_of_the_same_level_and_the_first_leads_to_the_goal():
    """All boards of a group are as many moves away from the start, up to detours, so they have the blank alike."""
    grid = Grid(3, 3)
    board, found = drawn(grid)
    (length,), (count,) = found.lengths, found.counts
    assert count == len(found.groups) == len(found.lags) and found.groups.shape[1:] == (1 + RIVALS, grid.cells)
    of_solution = found.groups[found.lags == SOLUTION]
    assert len(of_solution) > 5
    level, levels = {board}, []
    for _ in range(length):
        level = {after for before in level for after in boards_after(grid, before)}
        levels.append(level)
    first = next(moves for moves, level in enumerate(levels, start=1) if len(level) > RIVALS)
    for moves, group in enumerate(of_solution, start=first):
        assert {tuple(one) for one in group.tolist()} <= levels[moves - 1]
        level = {tuple(group[0].tolist())}
        for _ in range(length - moves):
            level = {after for before in level for after in boards_after(grid, before)}
        assert grid.goal() in level


def test_survivors_have_descendants_in_the_beam_after_their_lag():
    """As far as boards of the same beam, looked at level by level, are each other's children."""
    grid, levels = Grid(5, 5), {}
    board, found = drawn(grid, width=400)

    def observe(moves, level, origins):
        boards = level.boards[: origins.size * grid.cells].reshape(-1, grid.cells)
        levels[moves] = {tuple(one) for one in boards.tolist()}

    problem = Problem(grid, 0, board, linear_conflict.prepare(grid, 0))
    beam.observed(problem, 400, observe, limits=LIMITS)

    def survives(of_group, lag):
        level = {of_group}
        (moves,) = (one for one in levels if of_group in levels[one])
        assert moves % levels_between(grid) == 0
        for later in range(moves + 1, moves + lag + 1):
            level = {after for before in level for after in boards_after(grid, before)} & levels[later]
        return bool(level)

    rivals = []
    for group, lag in zip(found.groups.tolist(), found.lags.tolist(), strict=True):
        if lag != SOLUTION:
            assert survives(tuple(group[0]), lag)
            rivals.append(survives(tuple(group[1]), lag))
    assert 0.05 < np.mean(rivals) < 0.5
    counts = [int((found.lags == lag).sum()) for lag in (SOLUTION, *LAGS)]
    for lag, count in zip(LAGS, counts[1:], strict=True):  # none of the last levels
        left_out = SURVIVORS * lag / levels_between(grid)
        assert left_out - SURVIVORS <= SURVIVORS * counts[0] - count <= left_out + SURVIVORS


def test_sampled_levels_have_the_blank_on_cells_of_either_colour():
    distances = [levels_between(Grid(side, side)) for side in range(3, 11)]
    assert all(one % 2 for one in distances) and distances == sorted(distances) and max(distances) == 11


def test_a_beam_that_gets_lost_or_finds_nothing_teaches_nothing(monkeypatch):
    _, found = drawn(Grid(5, 5), width=2)
    assert found.lengths.tolist() == found.counts.tolist() == [0] and not found.groups.size and not found.lags.size
    monkeypatch.setattr(samples.beam, "PATIENCE", 0)
    assert drawn(Grid(6, 6), width=20)[1].counts.tolist() == [0]


def test_boards_are_drawn_from_sequences_of_their_own():
    boards = {
        sampled_board(grid, purpose, seed, number)
        for grid in (Grid(4, 4), Grid(5, 5))
        for purpose in ("round 1", "round 2", "check")
        for seed in range(3)
        for number in range(3)
    }
    assert len(boards) == 54


def test_classic_ranks_are_those_of_a_beam():
    grid = Grid(5, 5)
    _, found = drawn(grid, width=50)
    ranks = classic_ranks(grid, found.groups)
    heuristic = linear_conflict.prepare(grid, 0)
    for group, of_group in zip(found.groups.tolist()[:5], ranks, strict=False):
        for board, rank in zip(group, of_group, strict=True):
            away = [grid.distance(cell, tile) for cell, tile in enumerate(board) if tile]
            home = [tile == cell != 0 for cell, tile in enumerate(board)]
            border = sum(home[cell] != home[other] for cell in range(25) for other in grid.neighbours[cell]) / 2
            stretch = sum(round(STEPS * STRETCH * d * (d / 5) ** 3) / STEPS for d in away)
            assert rank == pytest.approx(heuristic.measure(board)[0] + stretch + BORDER * border)


# ---- the fit ------------------------------------------------------------------------------------


def naive_keys(grid, board):
    """What the weights of a board are of, by class and then by pair, each under the least of its equivalents."""
    home = {tile: divmod(tile, grid.cols) for tile in range(1, grid.cells)}
    away = {
        tile: tuple(max(-REACH, min(REACH, a - b)) for a, b in zip(divmod(cell, grid.cols), home[tile], strict=True))
        for cell, tile in enumerate(board)
        if tile
    }
    keys = [[] for _ in range(len(CLASSES) + 2)]
    for number, offset in enumerate(CLASSES):
        for turned in (False, True):
            for one in home:
                for other in home:
                    between = tuple(b - a for a, b in zip(home[one], home[other], strict=True))
                    if between != (offset[::-1] if turned else offset) or (turned and abs(offset[0]) == abs(offset[1])):
                        continue
                    first, second = away[one], away[other]
                    images = [(between, first, second), (tuple(-x for x in between), second, first)]
                    images += [(a[::-1], b[::-1], c[::-1]) for a, b, c in images]
                    keys[number].append(min(images))
    blank, at = divmod(board.index(0), grid.cols), {divmod(cell, grid.cols): tile for cell, tile in enumerate(board)}
    for place in AROUND:
        tile = at.get((blank[0] + place[0], blank[1] + place[1]))
        there = away[tile] if tile else (99, 99)  # beyond the edge
        keys[-2].append(min((place, there), (place[::-1], there[::-1])))
    keys[-1] = [min(away[tile], away[tile][::-1]) for tile in home]
    return keys


def naive_fit(grid, groups, classic, order):
    """One pass in an order, batch by batch, with dictionaries."""
    weights, squares, done, losses = {}, {}, 0, []
    for first in range(0, len(order), fitting.BATCH):
        batch = order[first : first + fitting.BATCH]
        keys = [[naive_keys(grid, board) for board in groups[group].tolist()] for group in batch]
        pulls = []
        for group, of_group in zip(batch, keys, strict=True):
            ranks = [
                rank + sum(weights.get((number, key), 0) for number, row in enumerate(of_board) for key in row)
                for rank, of_board in zip(classic[group], of_group, strict=True)
            ]
            chances = np.exp(-(np.array(ranks) - min(ranks)) / fitting.TEMPERATURE)
            chances /= chances.sum()
            losses.append(-math.log(chances[0]))
            pulls.append((np.eye(len(ranks))[0] - chances) / fitting.TEMPERATURE)
        rate = fitting.RATE * (1 - done / len(order))
        for number in range(len(CLASSES) + 2):
            for of_group, pull in zip(keys, pulls, strict=True):
                for together in zip(*(of_board[number] for of_board in of_group), strict=True):
                    for key in dict.fromkeys(together):
                        gradient = sum(p for p, other in zip(pull, together, strict=True) if other == key)
                        if len(set(together)) > 1:
                            squares[number, key] = squares.get((number, key), 1.0) + gradient**2
                            change = rate * gradient / math.sqrt(squares[number, key])
                            weights[number, key] = weights.get((number, key), 0.0) - change
        done += len(batch)
    return weights, losses


def some_groups(grid, count=20):
    parts = [drawn(grid, number, width=60)[1] for number in range(12)]
    return samples.together(parts).groups[:count]


def test_a_fit_is_that_of_the_textbook(monkeypatch):
    """The same weights as with dictionaries, under symmetries that are looked for one by one."""
    monkeypatch.setattr(fitting, "BATCH", 7)
    grid = Grid(4, 4)
    groups = some_groups(grid)
    classic, order = classic_ranks(grid, groups), np.random.default_rng(3).permutation(len(groups))
    expected, losses = naive_fit(grid, groups, classic, order)
    with Workers(2) as workers:
        fit = Fit(grid, zero_weights(24), workers)
        before = fit.marks(groups, classic, order[:7])
        fit.epochs(groups, classic, np.arange(len(groups)), 1, np.random.default_rng(3))
    assert before.loss == pytest.approx(sum(losses[:7]) / 7)
    found = sorted(round(float(value), 4) for value in fit.weights.ravel() if abs(value) > 1e-4)
    wanted = sorted(round(value, 4) for value in expected.values() if abs(value) > 1e-4)
    assert len(wanted) > 1000 and found == pytest.approx(wanted, abs=3e-4)
    single = {key: value for (number, key), value in expected.items() if number == len(CLASSES) + 1}
    for (down, across), value in single.items():  # whose places are easily told
        assert fit.weights[-1, SPAN * (down + REACH) + across + REACH] == pytest.approx(value, abs=3e-4)


def test_what_is_fitted_ranks_boards_as_the_fit_does():
    """The marks of integer weights, worked out board by board, are those of the fit up to rounding."""
    grid = Grid(4, 4)
    groups = some_groups(grid)
    classic = classic_ranks(grid, groups)
    with Workers(1) as workers:
        fit = Fit(grid, zero_weights(24), workers)
        everything = np.arange(len(groups))
        zero = fit.marks(groups, classic, everything)
        fit.epochs(groups, classic, everything, 4, np.random.default_rng(1))
        marks = fit.marks(groups, classic, everything)
    weights = fit.result()
    assert is_symmetric(weights) and marks.loss < zero.loss and marks.behind > zero.behind
    ranks = np.array(
        [[rank_from_scratch(weights, grid, 0, tuple(board)) / 64 for board in group] for group in groups.tolist()]
    )
    behind = (ranks + classic)[:, :1] < (ranks + classic)[:, 1:]
    assert behind.mean() == pytest.approx(marks.behind, abs=0.02)


# ---- rounds -------------------------------------------------------------------------------------

SMALL = {"boards": 24, "rounds": 2, "width": 60}


@pytest.fixture
def quick(monkeypatch):
    """Little to check in the end."""
    monkeypatch.setattr(rounds, "CHECKED", 4)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """What one thread learns without a break, as bytes."""
    folder, checked = tmp_path_factory.mktemp("learned"), rounds.CHECKED
    rounds.CHECKED = 4
    try:
        path = rank_path(folder, GRID)
        learn(plan_of(GRID, **SMALL), path, threads=1)
    finally:
        rounds.CHECKED = checked
    assert [one.name for one in folder.iterdir()] == [path.name]
    return path


def test_what_is_learned_says_what_from(reference):
    rank = read_rank(reference)
    lesson = rank.lesson
    assert lesson[1:8] == ("4x4", 1, 24, 2, 60, 24, "")
    assert len(lesson.round_moves) == 2 and min(lesson.round_moves) > 30
    assert 0 < lesson.behind < 1 and 0 < lesson.classic_behind < 1 and lesson.loss > 0 < lesson.classic_loss
    assert lesson.checked <= 4 and lesson.moves > 30 < lesson.classic_moves
    assert np.count_nonzero(rank.weights.pairs) > 1000


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_byte(threads, reference, quick, tmp_path):
    path = tmp_path / reference.name
    learn(plan_of(GRID, **SMALL), path, threads=threads)
    assert path.read_bytes() == reference.read_bytes()


@pytest.mark.parametrize("other", [{"seed": 2}, {"boards": 25}, {"rounds": 1}, {"width": 61}, {"partners": 8}])
def test_another_plan_gives_another_rank(other, reference, quick, tmp_path):
    path = tmp_path / reference.name
    learned = learn(plan_of(GRID, **SMALL | other), path)
    assert not np.array_equal(learned.weights.single, read_rank(reference).weights.single)


class Stopping(Watcher):
    """Interrupts learning after some reports."""

    def __init__(self, reports):
        self.left = reports

    def advanced(self, share, what):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def test_learning_that_is_interrupted_goes_on_to_the_same_bytes(reference, quick, tmp_path):
    path = tmp_path / reference.name
    kept = []
    for reports in (1, 2, 8, 100, 420):  # the last ones while the first fit, and the second round, are under way
        with pytest.raises(KeyboardInterrupt):
            learn(plan_of(GRID, **SMALL), path, threads=2, watcher=Stopping(reports))
        assert not path.exists()
        kept.append({one.name for one in (tmp_path / f".{path.name}.learning").rglob("*.h5")})
    samples_of = [{"1": set(), "2": set()} for _ in kept]
    for files, of_round in zip(kept, samples_of, strict=True):
        for name in files:
            if name.startswith("samples-"):
                of_round[name.split("-")[1]].add(name)
    assert 0 < len(samples_of[0]["1"]) <= len(samples_of[1]["1"]) <= len(samples_of[2]["1"]) == 5
    assert "round-1.h5" in kept[-1] and samples_of[-1]["2"] and not samples_of[-1]["1"]
    interrupt = Event()
    interrupt.set()
    with pytest.raises(KeyboardInterrupt):
        learn(plan_of(GRID, **SMALL), path, interrupt=interrupt)
    learn(plan_of(GRID, **SMALL), path)
    assert path.read_bytes() == reference.read_bytes()
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_what_is_left_of_another_plan_or_damaged_is_made_again(reference, quick, tmp_path):
    path = tmp_path / reference.name
    workshop, other = tmp_path / f".{path.name}.learning", plan_of(GRID, **SMALL | {"seed": 2})
    with pytest.raises(KeyboardInterrupt):
        learn(other, path, watcher=Stopping(8))
    with pytest.raises(KeyboardInterrupt):
        learn(plan_of(GRID, **SMALL), path, watcher=Stopping(8))
    parts, of_other = (workshop / plan.key() for plan in (plan_of(GRID, **SMALL), other))
    first, second, third, fourth = (parts / f"samples-1-{number}.h5" for number in (1, 2, 3, 4))
    first.write_bytes(first.read_bytes()[:-1])
    second.write_bytes(third.read_bytes())
    fourth.write_bytes((of_other / fourth.name).read_bytes())
    (parts / "round-1.h5").write_bytes(b"")
    kept = sorted(of_other.iterdir())
    learn(plan_of(GRID, **SMALL), path)
    assert path.read_bytes() == reference.read_bytes()
    assert sorted(of_other.iterdir()) == kept != [] and not parts.exists()  # the other plan can go on


def test_rounds_that_are_done_are_not_drawn_again(reference, quick, tmp_path, monkeypatch):
    """Their samples are gone by then. And a round begins with the weights of the round before."""
    path = tmp_path / reference.name
    workshop = tmp_path / f".{path.name}.learning"
    with pytest.raises(KeyboardInterrupt):
        learn(plan_of(GRID, **SMALL), path, watcher=Stopping(420))
    (done,) = workshop.rglob("round-1.h5")
    first = read_rank(done)
    assert not list(workshop.rglob("samples-1-*"))
    told, starts = [], []

    class Telling(Watcher):
        def round_ended(self, number, *rest):
            told.append(number)

    class Spy(Fit):
        def __init__(self, grid, start, workers):
            starts.append(start.pairs)
            super().__init__(grid, start, workers)

    monkeypatch.setattr(rounds, "Fit", Spy)
    learn(plan_of(GRID, **SMALL | {"rounds": 3}), path, watcher=Telling())
    assert told == [2, 3]
    assert any((STEPS * start == first.weights.pairs).all() for start in starts) and first.weights.pairs.any()


def test_boards_that_are_kept_back_are_not_fitted_to(monkeypatch, quick, tmp_path):
    used = {}

    class Spy(Fit):
        def epochs(self, groups, classic, chosen, *rest):
            used["fitted"] = chosen
            super().epochs(groups, classic, chosen, *rest)

        def marks(self, groups, classic, chosen):
            used["marked"] = chosen
            return super().marks(groups, classic, chosen)

    drawn_here = []
    monkeypatch.setattr(rounds, "Fit", Spy)
    monkeypatch.setattr(
        rounds, "draw_samples", lambda *words: drawn_here.append(draw_samples(*words)) or drawn_here[-1]
    )
    monkeypatch.setattr(rounds, "KEPT_BACK", 3)
    learn(plan_of(GRID, boards=7, rounds=1, width=60), tmp_path / "rank.h5", threads=1)
    whole = samples.together(drawn_here[-7:])
    board_of = np.repeat(np.arange(7), whole.counts)
    taught = np.flatnonzero(whole.counts)
    kept_back = set(taught[::3].tolist())
    assert set(board_of[used["marked"]].tolist()) == kept_back and (whole.lags[used["marked"]] == SOLUTION).all()
    assert set(board_of[used["fitted"]].tolist()) == set(taught.tolist()) - kept_back


def test_a_round_that_does_not_fit_into_memory_is_refused(tmp_path):
    count = int(drawn(Grid(5, 5), width=400)[1].groups.nbytes)
    assert 0.5 < samples.samples_bytes(Grid(5, 5), 1) / count < 2
    with pytest.raises(InputError, match=r"1,000,000 boards of 10x10 needs .* of memory, .*: use fewer `boards`"):
        learn(plan_of(Grid(10, 10), boards=1_000_000), tmp_path / "rank.h5")


def test_beams_that_all_get_lost_are_told_of(monkeypatch, tmp_path):
    monkeypatch.setattr(samples.beam, "PATIENCE", 0)
    with pytest.raises(NothingLearned, match="0 of the 3 boards of round 1 taught anything, since the others got lost"):
        learn(plan_of(Grid(6, 6), boards=3, width=60), tmp_path / "rank.h5")


def test_files_of_samples_are_believed_only_if_they_are_whole(tmp_path):
    path, found = tmp_path / "samples.h5", drawn(GRID)[1]
    write_samples(path, found, "these")
    again = read_samples(path, GRID, "these", 1)
    assert all((one == other).all() for one, other in zip(found, again, strict=True))
    assert read_samples(path, GRID, "those", 1) is None and read_samples(path, Grid(5, 5), "these", 1) is None
    assert read_samples(path, GRID, "these", 2) is None
    assert read_samples(tmp_path / "none.h5", GRID, "these", 1) is None and KIND.version == 2
    twice = found.groups.copy()
    twice[0, 0, 0] = twice[0, 0, 1]
    wrap = np.array([2**62] * 4 + [len(found.groups)])  # adds up to the right number in 64 bits
    for bad in (
        Samples(twice, *found[1:]),
        found._replace(counts=found.counts + 1),
        found._replace(counts=wrap, lengths=wrap),
        found._replace(counts=found.counts[None], lengths=found.lengths[None]),
        found._replace(lengths=-found.lengths),
        found._replace(lags=found.lags[1:]),
        found._replace(lags=found.lags + 1),
    ):
        write_samples(path, bad, "these")
        assert read_samples(path, GRID, "these", bad.counts.size) is None


def test_learning_can_begin_with_what_was_learned_elsewhere(reference, quick, tmp_path):
    start = read_rank(reference)
    path = rank_path(tmp_path, Grid(5, 5))
    learned = learn(plan_of(Grid(5, 5), boards=6, rounds=1, width=60, start=start), path)
    assert learned.lesson.begun_with == start.seal and learned.lesson.shape == "5x5"
    kept = np.count_nonzero(learned.weights.pairs == start.weights.pairs) / start.weights.pairs.size
    assert 0.5 < kept < 1
    with pytest.raises(InputError, match="begin with have 24 partners, not 8"):
        plan_of(GRID, start=start, partners=8)


def test_a_rank_that_is_there_is_not_learned_again(reference, quick, tmp_path):
    path = tmp_path / reference.name
    path.write_bytes(reference.read_bytes())
    assert learn(plan_of(GRID, **SMALL), path, watcher=Stopping(0)).seal == read_rank(reference).seal
    with pytest.raises(
        DatabaseError, match=r"another one, with seed 1, not 3: choose another folder, or .*`overwrite`"
    ):
        learn(plan_of(GRID, **SMALL | {"seed": 3}), path)
    path.write_bytes(b"something else")
    with pytest.raises(DatabaseError, match="`overwrite`"):
        learn(plan_of(GRID, **SMALL), path)
    assert path.read_bytes() == b"something else"
    learn(plan_of(GRID, **SMALL), path, overwrite=True)
    assert path.read_bytes() == reference.read_bytes()
    learn(plan_of(GRID, **SMALL), path, overwrite=True, watcher=Stopping(0))  # it is there
    (tmp_path / "folder.h5").mkdir()
    os.mkfifo(tmp_path / "pipe.h5")
    (tmp_path / "link.h5").symlink_to("/dev/null")
    for name in ("folder.h5", "pipe.h5", "link.h5"):
        with pytest.raises(WriteError, match="something else has this name"):
            learn(plan_of(GRID, **SMALL), tmp_path / name, overwrite=True)


def test_what_is_done_is_kept_when_the_disk_is_full(reference, quick, tmp_path, monkeypatch):
    path = tmp_path / reference.name

    def full(*words):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(rounds, "write_rank", full)
        with pytest.raises(WriteError, match="No space left"):
            learn(plan_of(GRID, **SMALL), path)
    assert len(list(tmp_path.rglob("samples-1-*.h5"))) == 5
    monkeypatch.setattr(rounds, "write_samples", full)
    with pytest.raises(WriteError):  # in the second round: the samples of the first are there
        learn(plan_of(GRID, **SMALL), path)
    assert list(tmp_path.rglob("round-1.h5"))


@pytest.mark.parametrize(
    "grid, options, message",
    [
        (Grid(4, 5), {}, "a 4x5 board is nothing to learn from"),
        (Grid(4, 4, True), {}, "a 4x4 wrapped board is nothing to learn from"),
        (Grid(2, 2), {}, "too small to learn from"),
        (GRID, {"seed": -1}, "`seed` must be between 0 and"),
        (GRID, {"boards": 10**7}, "`boards` must be between 2 and 1,000,000, got 10,000,000"),
        (GRID, {"rounds": 21}, "`rounds` must be"),
        (GRID, {"width": 10}, "`width` must be"),
        (GRID, {"partners": 5}, "`partners` must be 4 or 8 or 24, got 5"),
    ],
)
def test_plans_that_make_no_sense_are_refused(grid, options, message):
    with pytest.raises(InputError, match=message):
        plan_of(grid, **options)


# ---- the command --------------------------------------------------------------------------------

WORDS = ("-m", "solver", "learn", "4x4", "--boards", "40", "--rounds", "1", "--width", "60")


@pytest.mark.subprocess
def test_a_killed_command_goes_on_to_the_same_bytes(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with started(*WORDS, "--folder", whole) as process:
        code, output, errors = ended(process)
    assert code == 0 and "40 boards of 4x4 in each of 1 rounds, seed 1" in output
    assert errors.startswith("round 1 of 1: ") and "min left" in errors
    workshop = killed / ".rank-4x4.h5.learning"
    with started(*WORDS, "--folder", killed) as process:
        for _ in range(600):
            if list(workshop.rglob("samples-1-1.h5")):
                break
            time.sleep(0.05)
        ended(process, signal.SIGKILL)
    assert not (killed / "rank-4x4.h5").exists() and list(workshop.rglob("samples-1-1.h5"))
    with started(*WORDS, "--folder", killed, "--json") as process:
        code, output, _ = ended(process)
    assert code == 0 and json.loads(output)["checked"] <= rounds.CHECKED
    (path,) = killed.iterdir()
    assert path.read_bytes() == (whole / path.name).read_bytes()


def test_learning_begins_with_the_rank_of_the_package_unless_told_otherwise(tmp_path, capsys, quick):
    def begun_with(*options):
        words = ["learn", "3x3", "--boards", "4", "--rounds", "1", "--width", "60", "--overwrite", "--json"]
        assert main([*words, "--folder", str(tmp_path), *options]) == 0
        lesson = json.loads(capsys.readouterr().out)
        return lesson["begun_with"], lesson["seal"]

    package, seal = begun_with()
    assert package == packaged_rank().seal == begun_with("--from", "package")[0]
    other = tmp_path / "other.h5"
    (tmp_path / "rank-3x3.h5").rename(other)
    assert begun_with("--from", str(other))[0] == seal
    assert begun_with("--from", "nothing")[0] == begun_with("--partners", "8")[0] == ""
    assert main(["learn", "3x3", "--from", "nowhere", "--folder", str(tmp_path)]) == 2
    assert "there is no learned rank nowhere: " in capsys.readouterr().err
