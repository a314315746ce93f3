"""Trials of kills: a command is stopped at any moment, and the next one must find everything in order.

``SIGKILL`` stands for a power cut, ``SIGINT`` for Ctrl-C and ``SIGTERM`` for a machine that is shut down. Moments are
drawn from the time that a command usually takes, start-up included.
"""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

from pdb_builder.grid import Grid

from .answers import wrong_results
from .commands import Command
from .rules import is_whole
from .trial import Trial, kind
from .truth import named_goal

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
USUAL = 2.5  # seconds that a command takes on a busy machine

# What is built: several tables each, some of them large enough to be caught in the act.
SIXES = "1,2,3,4,5,6/7,8,9,10,11,12/13,14,15,16,17,18/19,20,21,22,23,24"
FOURS = "1,2,3,4/5,6,7,8/9,10,11,12/13,14,15,16/17,18,19,20/21,22,23,24"
SHARED = "1,2,4,5,8,9/3,6,7,10,11,15/12,13,14; 9,10,12,13,14,15/1,2,4,5,8/3,6,7,11; 1,2,4,5,8,9/3,6,7,11/10,15/12,13,14"
BUILDS = (
    ("4x4-6-6-3",),
    ("4x4", "--collection", SHARED),
    ("3x4-6-5",),
    ("4x4-5-5-5", "--encoding", "bytes"),
    ("3x3-4-4",),
    ("5x5", "--patterns", FOURS),
    ("5x5", "--patterns", SIXES),
)


def stop(trial: Trial, command: Command, usual: float = USUAL) -> None:
    """Run a command and stop it by some signal at some moment."""
    number, delay = trial.chance.choice(SIGNALS), trial.chance.uniform(0, usual)
    trial.effective |= trial.run_one(command._replace(signal=number, delay=delay)).stopped


@kind("killed build", 4)
def build(trial: Trial) -> None:
    """A build that is stopped once or more continues, and makes the same tables."""
    chance, path = trial.chance, trial.sandbox.work / "x.h5"
    words = chance.choice(BUILDS)
    overwrite = chance.random() < 0.3
    if overwrite:
        shutil.copy(trial.sandbox.stock.databases / "3x3-8.h5", path)
    command = trial.builder("build", *words, "--output", path, *["--overwrite"] * overwrite, outputs=(path,))
    for _ in range(chance.randint(1, 4)):
        stop(trial, command)
    trial.finishes(command, path, words)


@kind("killed search", 3)
def search(trial: Trial) -> None:
    """A search that is interrupted reports what it has proven, and leaves nothing broken."""
    chance = trial.chance
    words = ["solve", "--set", chance.choice(("korf100", "korf24", "farthest")), "--json", "--memory-limit", "500M"]
    words += chance.choice((["--heuristic", "manhattan"], ["--heuristic", "linear-conflict"], ["--algorithm", "bfs"]))
    words += chance.choice(([], ["--jobs", "2"], ["--node-limit", "1M"]))
    stop(trial, trial.solver(*words), usual=2 * USUAL)
    easy = trial.succeeds(trial.solver("solve", "8 6 7 2 5 4 3 0 1", "--heuristic", "manhattan", "--json"))
    trial.require('"length": 31' in easy.output, "answers", "a search after one that was stopped must find 31 moves")


@kind("killed comparison", 4)
def comparison(trial: Trial) -> None:
    """A comparison that is stopped loses no line, and is resumed to the same results."""
    chance, path = trial.chance, trial.sandbox.work / "results.csv"
    grid = Grid.parse(chance.choice(("3x3", "2x4")))
    count, methods = 40, ["manhattan", "linear-conflict"][: chance.choice((1, 2))]
    words = ["compare", "--random", grid.shape, "-n", count, "--seed", chance.randrange(100), "--heuristics"]
    words += [",".join(methods), "--algorithms", "ida-star,a-star", "--json", "--resume", path]
    command, saved = trial.solver(*words, outputs=(path,)), set()
    for _ in range(chance.randint(1, 3)):
        stop(trial, command, usual=1.5 * USUAL)
        if path.exists():
            now = _lines(path)
            trial.require(saved <= now, "files", f"these lines were lost: {saved - now}")
            saved = now
            for what in wrong_results(path, grid, named_goal(grid, "last"), complete=False):
                trial.require(False, "answers", what)
    done = trial.succeeds(command)
    trial.require(saved <= _lines(path), "files", f"these lines were lost: {saved - _lines(path)}")
    cells = len(json.loads(done.output)["cells"]) if done.code == 0 else 0
    trial.require(cells == len(_lines(path)) == 2 * count * len(methods), "answers", f"there are {cells} cells")


def _lines(path: Path) -> set[str]:
    """The complete lines of a results file, without the header."""
    return set(path.read_text().split("\n")[1:-1])


@kind("killed pictures", 2)
def pictures(trial: Trial) -> None:
    """A page, a plot or an animation is complete, or still the previous one."""
    chance, work = trial.chance, trial.sandbox.work
    words, names = chance.choice(
        (
            (("compare", "--random", "3x3", "-n", "3", "--heuristics", "manhattan"), ("--report", "x.html")),
            (("compare", "--random", "3x3", "-n", "3", "--heuristics", "manhattan"), ("--plot", "x.png")),
            (("compare", "--random", "3x3", "-n", "3", "--heuristics", "manhattan"), ("--plot", "x.svg")),
            (("solve", "8 6 7 2 5 4 3 0 1", "--heuristic", "manhattan"), ("--gif", "x.gif")),
        )
    )
    path = work / names[1]
    command = trial.solver(*words, *names, outputs=(path,))
    if chance.random() < 0.5:
        trial.succeeds(command)
    for _ in range(2):
        stop(trial, command, usual=1.5 * USUAL)
    trial.succeeds(command)
    trial.require(path.exists() and is_whole(path, killed=False), "files", f"{path.name} is not complete in the end")


@kind("killed distribution", 1)
def distribution(trial: Trial) -> None:
    """Counting all boards leaves nothing behind."""
    chance = trial.chance
    words = ["distribution", chance.choice(("3x3", "2x4", "2x5", "3x4")), *["--wrap"] * chance.choice((0, 1)), "--json"]
    stop(trial, trial.solver(*words))
    trial.succeeds(trial.solver("distribution", chance.choice(("3x3", "2x4", "2x3")), "--json"))


@kind("killed walking distance", 1)
def walking_distance(trial: Trial) -> None:
    """A table that is built on demand is complete, or is built again."""
    board = trial.chance.choice(("8 6 7 2 5 4 3 0 1", "1 2 3 4 5 6 7 8 9 10 11 12 13 0 14 15"))
    command = trial.solver("solve", board, "--heuristic", "walking-distance", "--json")
    stop(trial, command)
    trial.succeeds(command)


@kind("killed compiler", 0.3)
def compiler(trial: Trial) -> None:
    """Kernels that are compiled into an empty cache: whatever stops that, they are compiled again."""
    variables = {"NUMBA_CACHE_DIR": str(trial.sandbox.cache / "empty")}
    command = trial.solver("solve", "8 6 7 2 5 4 3 0 1", "--heuristic", "manhattan", "--json", variables=variables)
    stop(trial, command, usual=3 * USUAL)
    trial.succeeds(command)
