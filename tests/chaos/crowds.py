"""Trials of crowds: commands that work on the same files at the same time."""

from __future__ import annotations

import signal
import time

from pdb_builder.grid import Grid

from .answers import wrong_results
from .kills import BUILDS
from .trial import Trial, kind
from .truth import named_goal

HARDEST = "8 6 7 2 5 4 3 0 1"


@kind("several builders", 2)
def builders(trial: Trial) -> None:
    """Builders of one file wait for each other; if one is killed, another goes on."""
    chance, path = trial.chance, trial.sandbox.work / "x.h5"
    words = chance.choice(BUILDS[:-1])
    command = trial.builder("build", *words, "--output", path, outputs=(path,))
    several = [command] * chance.choice((2, 3))
    if chance.random() < 0.5:
        number = chance.choice((signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
        several[0] = command._replace(signal=number, delay=chance.uniform(0.5, 3))
    for run in trial.run(*several):
        trial.effective |= "is being built by another process" in run.errors
        if not run.sent:
            trial.require(run.code == 0, "exit code", f"every builder must succeed, but one ends with {run.code}")
            printed = run.output.strip()
            trial.require(printed == str(path), "answers", f"a builder prints {printed!r}, not {path}")
    trial.finishes(command, path, words)


@kind("several comparisons", 2)
def comparisons(trial: Trial) -> None:
    """Comparisons that continue the same file: one at a time, the others are refused, and nothing is lost."""
    chance, path = trial.chance, trial.sandbox.work / "results.csv"
    grid, count = Grid(3, 3), 500  # enough for one to be at work when the next begins
    words = ["compare", "--random", "3x3", "-n", count, "--heuristics", "manhattan,linear-conflict", "--json"]
    command = trial.solver(*words, "--resume", path, outputs=(path,))
    several = [command] * chance.choice((2, 3))
    if chance.random() < 0.5:
        several[0] = command._replace(signal=signal.SIGKILL, delay=chance.uniform(0.5, 4))
    for run in trial.run(*several):
        trial.effective |= run.code == 2
        if not run.sent:
            trial.require(run.code in (0, 2), "exit code", f"a comparison beside another cannot end with {run.code}")
    trial.succeeds(command)
    for what in wrong_results(path, grid, named_goal(grid, "last")):
        trial.require(False, "answers", what)
    lines = len(path.read_text().split("\n")) - 2
    trial.require(lines == 2 * count, "files", f"there are {lines} lines of results, not {2 * count}")


@kind("readers of a new file", 2)
def readers(trial: Trial) -> None:
    """A database is built anew again and again while others use it."""
    chance = trial.chance
    name = chance.choice(("3x3-8", "3x3-4-4"))
    trial.sandbox.fetch(name)
    path = trial.sandbox.databases / f"{name}.h5"
    readers = [
        trial.builder("list"),
        trial.builder("info", name),
        trial.builder("verify", name),
        trial.solver("solve", HARDEST, "--heuristic", f"pdb:{name}", "--json"),
        trial.solver("solve", HARDEST, "--json"),
        trial.solver("compare", "--random", "3x3", "-n", "30", "--heuristics", f"pdb:{name}", "--json"),
    ]
    writers = [trial.builder("build", name, "--overwrite", outputs=(path,))] * chance.choice((1, 2))
    runs = trial.run(*chance.sample(readers, 2), *writers)
    trial.effective = min(run.seconds for run in runs[2:]) < max(run.seconds for run in runs[:2])
    for run in runs:
        trial.require(run.code == 0, "exit code", f"a file that is replaced cannot lead to {run.code}")
    trial.check_database(path, (name,))


@kind("several searches", 2)
def searches(trial: Trial) -> None:
    """Searches that all find a table missing, or all find the cache empty."""
    chance = trial.chance
    words = ("solve", HARDEST, "--json", "--heuristic")
    if chance.random() < 0.8:
        missing = trial.sandbox.databases
        command = trial.solver(*words, "walking-distance")
    else:
        missing = trial.sandbox.cache / "empty"
        command = trial.solver(*words, "manhattan", variables={"NUMBA_CACHE_DIR": str(missing)})
    wait = chance.uniform(0, 1)
    runs = trial.run(command, command, command, meanwhile=lambda: time.sleep(wait))
    trial.effective = any(path.is_file() for path in missing.rglob("*"))
    for run in runs:
        trial.require(run.code == 0, "exit code", f"a search beside another cannot end with {run.code}")
    trial.succeeds(command)
