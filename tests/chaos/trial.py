"""A trial: one fault with all its choices, the commands it disturbs, and the rules checked after each.

A kind of trial is a function ``fault(trial)``, registered with ``@kind(name, weight)``. It prepares the sandbox, draws
what goes wrong, and calls ``trial.run``, which judges what happened by the rules; ``trial.require`` adds what only this
fault can tell, such as that the same command then succeeds. It sets ``trial.effective`` if the fault had an effect, and
raises ``Impossible`` where it cannot be had.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from .commands import Command, Run, execute
from .rules import Breach, breaches_of
from .sandbox import Sandbox, Stock, tables_in


class Impossible(Exception):
    """A fault that cannot be brought about on this machine, and why."""


class Kind(NamedTuple):
    name: str
    weight: float
    fault: Callable[[Trial], object]


KINDS: dict[str, Kind] = {}
Paths = Sequence[Path]


def kind(name: str, weight: float) -> Callable:
    """Register a function as a kind of trial, drawn as often as its weight says."""

    def register(fault: Callable[[Trial], object]) -> Callable[[Trial], object]:
        KINDS[name] = Kind(name, weight, fault)
        return fault

    return register


def draw(seed: object, number: int) -> tuple[Kind, random.Random]:
    """The kind of a trial, and what the trial draws all its other choices from."""
    chance = random.Random(f"{seed}/{number}")
    (chosen,) = chance.choices(list(KINDS.values()), [one.weight for one in KINDS.values()])
    return chosen, chance


def _nothing() -> None:
    pass


class Trial:
    """What a fault works with: its own random choices, a sandbox, and the record of what happened."""

    def __init__(self, seed: object, number: int, stock: Stock) -> None:
        self.number = number
        self.kind, self.chance = draw(seed, number)
        self.sandbox = Sandbox(stock.folder / f"trial-{number}", stock)
        self.runs: list[Run] = []
        self.breaches: list[Breach] = []
        self.effective = False  # whether the fault had an effect

    # ---- commands

    def solver(self, *words: object, **details: object) -> Command:
        return Command("pdb-solver", tuple(map(str, words)), **details)

    def builder(self, *words: object, **details: object) -> Command:
        return Command("pdb-builder", tuple(map(str, words)), **details)

    def run(self, *commands: Command, meanwhile: Callable[[], object] = _nothing, touched: Paths = ()) -> list[Run]:
        """Run commands at the same time, and something else meanwhile, which may touch some files; check the rules."""
        before = self.sandbox.snapshot(touched)
        with ThreadPoolExecutor(len(commands)) as pool:
            running = [pool.submit(self._execute, command) for command in commands]
            meanwhile()
            runs = [one.result() for one in running]
        self.breaches += breaches_of(runs, len(self.runs) + 1, before, self.sandbox.snapshot(touched))
        self.runs += runs
        return runs

    def run_one(self, command: Command, meanwhile: Callable[[], object] = _nothing, touched: Paths = ()) -> Run:
        (run,) = self.run(command, meanwhile=meanwhile, touched=touched)
        return run

    def _execute(self, command: Command) -> Run:
        sandbox = self.sandbox
        return execute(command, sandbox.stock.programs, sandbox.work, sandbox.environment(command.variables))

    # ---- judgements of a fault

    def require(self, fact: bool, rule: str, what: str) -> None:
        """Note a breach by the last command unless a fact holds."""
        if not fact:
            self.breaches.append(Breach(rule, len(self.runs), what))

    def succeeds(self, command: Command) -> Run:
        """Run a command that must succeed."""
        run = self.run_one(command)
        self.require(run.code == 0, "exit code", f"it must succeed, but ends with {run.code}")
        return run

    def check_database(self, path: Path, words: tuple[str, ...]) -> None:
        """Make sure that a file is the database that a build without faults makes."""
        self.succeeds(self.builder("verify", path, "--quick"))
        info = self.succeeds(self.builder("info", path, "--json"))
        if info.code == 0:
            expected = self.sandbox.stock.tables_of(words)
            self.require(
                tables_in(info.output) == expected, "answers", f"the tables of {path} are not those of {words}"
            )

    def finishes(self, command: Command, path: Path, words: tuple[str, ...]) -> None:
        """Run a build that must succeed, whatever came before: it leaves the database, and nothing else beside it."""
        self.succeeds(command)
        self.check_database(path, words)
        left = sorted(one.name for one in path.parent.iterdir())
        self.require(left == [path.name], "files", f"the folder of the finished database holds {left}")
