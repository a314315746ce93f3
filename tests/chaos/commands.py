"""A command of ours as a process: how it is started and disturbed, and what came of it.

A disturbance that belongs to one process is part of its command: a signal after some seconds, a limit set before it
starts, a reader who closes the output early. Everything else that can go wrong is a matter of the sandbox.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Timer
from typing import NamedTuple

from ..processes import started
from .grammar import Text

PROGRAMS = {"pdb-solver": ("-m", "solver"), "pdb-builder": ("-m", "pdb_builder")}
DEADLINE = 150  # seconds that a command may take: it may have to compile kernels, beside others that do the same
PROMPT = 15  # seconds in which a command ends after a signal
CACHES = ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR", "TMPDIR")  # variables that name folders for caches
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class Command(NamedTuple):
    """A command to run, and how to disturb it."""

    program: str
    words: tuple[str, ...]
    variables: Mapping[str, str | None] = {}  # of the environment; None removes one
    stdin: bytes = b""
    given: Text | None = None  # what its boards are, if that is known
    outputs: tuple[Path, ...] = ()  # the files that it may create or replace
    signal: int | None = None
    delay: float = 0  # seconds until the signal is sent
    reads: int | None = None  # bytes of the output that its reader waits for; None: all
    before: Callable[[], object] = lambda: None  # called in the new process

    @property
    def name(self) -> str:
        """The name of the command, if it comes first."""
        return self.words[0] if self.words else ""

    def line(self) -> str:
        """The command as a line for a shell, apart from its disturbances."""
        removed = [f"-u {name}" for name, value in self.variables.items() if value is None]
        changed = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items() if value is not None]
        words = [sys.executable, *PROGRAMS[self.program], *self.words]
        return " ".join([*["env"] * bool(self.variables), *removed, *changed, *map(shlex.quote, words)])


class Run(NamedTuple):
    """A command that has ended."""

    command: Command
    code: int
    output: str
    errors: str
    seconds: float
    sent: int | None = None  # the signal that reached it, if any
    heard: bool = True  # whether it had a handler for the signal by then
    late: bool = False  # whether it had to be killed after the signal
    caches: tuple[Path, ...] = ()  # the folders that its environment names for caches

    @property
    def killed(self) -> bool:
        return self.sent == signal.SIGKILL

    @property
    def interrupted(self) -> bool:
        return self.sent in INTERRUPTS

    @property
    def stopped(self) -> bool:
        """Whether a signal ended it, before it had ended by itself."""
        return self.sent is not None and self.code in (-self.sent, 130)

    @property
    def hung(self) -> bool:
        """Whether it was killed because it did not end."""
        return self.code == -signal.SIGKILL and not self.killed and not self.late

    @property
    def complete(self) -> bool:
        """Whether all of its output was printed and read."""
        return self.sent is None and self.command.reads is None


def execute(command: Command, programs: Mapping[str, Sequence[str]], folder: Path, environment: dict[str, str]) -> Run:
    """Run a command in a folder until it ends."""
    messenger = _Messenger(command)
    begun = time.monotonic()
    with started(
        *programs[command.program],
        *command.words,
        before=command.before,
        deadline=DEADLINE,
        env=environment,
        cwd=folder,
        stdin=subprocess.PIPE,
        text=False,
        bufsize=-1,
    ) as process:
        messenger.follow(process)
        first = b"" if command.reads is None else _read_first(process, command)
        output, errors = process.communicate(command.stdin if process.stdin else None)
        messenger.stop()
    printed = (first + (output or b"")).decode(errors="surrogateescape"), errors.decode(errors="surrogateescape")
    seconds = time.monotonic() - begun
    caches = tuple(folder / environment[name] for name in CACHES if name in environment)
    return Run(command, process.returncode, *printed, seconds, messenger.sent, messenger.heard, messenger.late, caches)


def _read_first(process: subprocess.Popen, command: Command) -> bytes:
    """What a reader sees who closes the output after some bytes."""
    process.stdin.write(command.stdin)
    process.stdin.close()
    first = process.stdout.read(command.reads)
    process.stdout.close()
    process.stdin = process.stdout = None
    return first


class _Messenger:
    """Sends a process the signal of its command, and kills it if it does not obey."""

    def __init__(self, command: Command) -> None:
        self.number, self.delay = command.signal, command.delay
        self.sent: int | None = None
        self.heard, self.late = True, False
        self.timer: Timer | None = None

    def follow(self, process: subprocess.Popen) -> None:
        self.process = process
        if self.number is not None:
            self._after(self.delay, self._send)

    def stop(self) -> None:
        if self.timer:
            self.timer.cancel()

    def _after(self, seconds: float, action: Callable[[], None]) -> None:
        self.timer = Timer(seconds, action)
        self.timer.daemon = True
        self.timer.start()

    def _send(self) -> None:
        if self.process.poll() is not None:
            return
        self.heard = _handles(self.process.pid, self.number)
        self.sent = self.number
        self.process.send_signal(self.number)
        self._after(PROMPT, self._insist)

    def _insist(self) -> None:
        if self.process.poll() is None:
            self.late = True
            self.process.kill()


def _handles(process: int, number: int) -> bool:
    """Whether a process has a handler for a signal; True where that cannot be told."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True
    caught = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(caught >> (number - 1) & 1)
