"""A run of the harness: trials one after another, several at a time, until the time is up; and what came of them."""

from __future__ import annotations

import os
import shlex
import sys
import time
import traceback
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Lock

from .rules import Breach
from .sandbox import Stock
from .trial import KINDS, Impossible, Trial, draw

MOST_SHOWN = 1600  # characters of a command's output in a report
SHOWN_COMMANDS = 12
ENOUGH = 10  # trials of a kind, after which one of them should have had an effect


class Session:
    """Trials drawn from a seed."""

    def __init__(self, seed: object, stock: Stock, *, keep: bool = False) -> None:
        self.seed, self.stock, self.keep = seed, stock, keep
        self.trials: Counter[str] = Counter()
        self.commands: Counter[str] = Counter()
        self.effects: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.impossible: dict[str, str] = {}  # kinds that cannot be had on this machine, and why
        self._end = 0.0  # when to stop, on the clock of ``time.monotonic``
        self._lock = Lock()

    def run(self, seconds: float, jobs: int, kinds: Collection[str] = ()) -> None:
        """Run trials until the time is up, all of them or those of some kinds. An interrupt ends them early."""
        self._end = time.monotonic() + seconds
        numbers = count(1)

        def work() -> None:
            while time.monotonic() < self._end:
                with self._lock:
                    number = next(numbers)
                self.run_trial(number, kinds)

        with ThreadPoolExecutor(jobs) as pool:
            working = [pool.submit(work) for _ in range(jobs)]
            try:
                for one in working:
                    one.result()
            except KeyboardInterrupt:
                self._end = 0.0
                print("\ninterrupted: the trials that are running end first", file=sys.stderr)

    def run_trial(self, number: int, kinds: Collection[str] = ()) -> None:
        """Run one trial and report what it has broken, unless only other kinds are asked for."""
        if kinds and draw(self.seed, number)[0].name not in kinds:
            return
        trial = Trial(self.seed, number, self.stock)
        try:
            trial.kind.fault(trial)
        except Impossible as reason:
            self.impossible[trial.kind.name] = str(reason)
        except Exception:
            trial.breaches.append(Breach("harness", len(trial.runs), traceback.format_exc()))
        self._note(trial)
        if not trial.breaches and not self.keep:
            trial.sandbox.remove()

    def _note(self, trial: Trial) -> None:
        name = trial.kind.name
        with self._lock:
            self.trials[name] += 1
            self.commands[name] += len(trial.runs)
            self.effects[name] += trial.effective
            if trial.breaches:
                self.failures[name] += 1
                print("\n".join(self.report(trial)), flush=True)
            self._show_progress()

    def _show_progress(self) -> None:
        if sys.stderr.isatty():
            left = max(0.0, self._end - time.monotonic())
            total, failed = self.trials.total(), self.failures.total()
            print(f"\r{total} trials, {failed} failures, {left:.0f} s left ", end="", file=sys.stderr, flush=True)

    # ---- reports

    def report(self, trial: Trial) -> Iterator[str]:
        """What a trial has broken, how, and how to see it again."""
        yield f"\nFAILURE in trial {trial.number} of seed {self.seed}: {trial.kind.name}"
        for breach in trial.breaches:
            yield f"  {breach.rule}, command {breach.command}: {breach.what}".encode(errors="backslashreplace").decode()
        if len(trial.runs) > SHOWN_COMMANDS:
            yield f"  ({len(trial.runs) - SHOWN_COMMANDS} earlier commands are left out)"
        ours = trial.sandbox.environment({}).items()
        changed = [f"{name}={shlex.quote(value)}" for name, value in ours if os.environ.get(name) != value]
        yield f"     cd {trial.sandbox.work}; export {' '.join(changed)}"
        for number, run in list(enumerate(trial.runs, 1))[-SHOWN_COMMANDS:]:
            command, stdin = run.command, ""
            if command.stdin:
                path = trial.sandbox.folder / f"stdin-{number}"
                path.write_bytes(command.stdin)
                stdin = f" < {path}"
            yield f"  {number}: {command.line()}{stdin}".encode(errors="backslashreplace").decode()
            if command.signal:
                yield f"     signal {command.signal} after {command.delay:.3f} s, {'sent' if run.sent else 'too late'}"
            yield f"     exit code {run.code} after {run.seconds:.1f} s"
            for stream, text in ("stdout", run.output), ("stderr", run.errors):
                if text.strip():
                    yield f"     {stream}: {_shortened(text)}"
        yield f"  the sandbox is {trial.sandbox.folder}"
        yield f"  to repeat it: python -m tests.chaos --seed {self.seed} --only {trial.number}"

    def table(self) -> Iterator[str]:
        """The number of trials, commands, effects and failures, by kind; then the kinds that prove nothing."""
        columns = {"trials": self.trials, "commands": self.commands, "effects": self.effects, "failures": self.failures}
        yield f"{'kind':24}" + "".join(f"{title:>10}" for title in columns)
        for name in KINDS:
            if self.trials[name]:
                yield f"{name:24}" + "".join(f"{counts[name]:10}" for counts in columns.values())
        yield f"{'all':24}" + "".join(f"{counts.total():10}" for counts in columns.values())
        yield from (f"{name}: {reason}" for name, reason in self.impossible.items())
        for name in self.idle():
            yield f"FAILURE of the harness: {name} had no effect in any of {self.trials[name]} trials"

    def idle(self) -> list[str]:
        """The kinds of trials that prove nothing: their faults had no effect in as many trials as should be enough."""
        tried = [name for name in KINDS if self.trials[name] >= ENOUGH and name not in self.impossible]
        return [name for name in tried if not self.effects[name]]


def _shortened(text: str) -> str:
    if len(text) > MOST_SHOWN:
        text = f"{text[: MOST_SHOWN // 2]}\n... ({len(text)} characters)\n{text[-MOST_SHOWN // 2 :]}"
    return text.rstrip("\n").replace("\n", "\n       ").encode(errors="backslashreplace").decode()


def kept(folder: Path) -> list[Path]:
    """The sandboxes that are still there."""
    return sorted(folder.glob("trial-*"))
