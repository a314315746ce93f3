"""The first three rules: commands end, with a documented exit code, and change no other files.

They know nothing about the fault of a trial. What a fault allows, such as a temporary file after a kill, follows from
what happened to the command.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .answers import wrong_answers
from .commands import DEADLINE, PROMPT, Run
from .sandbox import OUTSIDE, Snapshot

CODES = {"pdb-solver": (0, 1, 2, 3), "pdb-builder": (0, 1, 2)}
CRASH = re.compile(
    r"Traceback \(most recent call last\)|Fatal Python error|Segmentation fault|Bus error|core dumped|^Aborted"
    r"|Exception ignored in|LLVM ERROR|terminate called|double free|^.+:\d+: \w*Warning: ",
    re.MULTILINE,
)
ERROR = re.compile(r"^pdb-(?:solver|builder)(?: [a-z]+)?: error: .*$", re.MULTILINE)
OF_A_BOARD = re.compile(r"^(?:line )?\d+: ", re.MULTILINE)  # how an error begins that costs only one board its answer
WORKSHOP = re.compile(r"\..+\.(building|learning)")
LEARNED = re.compile(r"rank-[0-9]+x[0-9]+\.h5")
TEMPORARY = re.compile(r"\..+\.tmp")
CACHED = re.compile(r"kernels-|slidepdb|matplotlib|fontlist|numba")  # what is put into a folder of caches
BUILT_ON_DEMAND = re.compile(r"(walking-distance|pruning)-.+\.h5")
# How files that are written at once begin and end.
ENDS = {
    ".gif": (b"GIF8", b";"),
    ".png": (b"\x89PNG", b"IEND\xaeB`\x82"),
    ".svg": (b"<", b"</svg>\n"),
    ".html": (b"<!doctype html>", b"</html>\n", b"</details>\n"),
}


class Breach(NamedTuple):
    """A rule that was broken."""

    rule: str  # ends, exit code, files or answers
    command: int  # the number of the command in its trial, or of the last of several at the same time
    what: str


def breaches_of(runs: Sequence[Run], first: int, before: Snapshot, after: Snapshot) -> Iterator[Breach]:
    """What commands that ran at the same time have broken. They are numbered from ``first`` on."""
    for number, run in enumerate(runs, first):
        yield from (Breach("ends", number, what) for what in wrong_end(run))
        yield from (Breach("exit code", number, what) for what in wrong_exit_code(run))
        yield from (Breach("answers", number, what) for what in wrong_answers(run))
    yield from (Breach("files", first + len(runs) - 1, what) for what in wrong_files(runs, before, after))


# ---- ends ---------------------------------------------------------------------------------------


def before_our_code(run: Run) -> bool:
    """Whether an interrupt came while Python itself was starting, where no program can catch it.

    Then the process had no handler yet, or its traceback does not lead into ``launch``, where the program begins.
    """
    if not run.interrupted or run.code not in (-run.sent, 1):
        return False
    begun = "launch.py" in run.errors or "Exception ignored" in run.errors
    if run.code == 1:
        return "Fatal Python error: init_import_site" in run.errors
    return not run.heard or (run.sent == signal.SIGINT and not begun)


def wrong_end(run: Run) -> Iterator[str]:
    if run.hung:
        yield f"it did not end within {DEADLINE} s"
    elif run.late:
        yield f"it still ran {PROMPT} s after {signal.Signals(run.sent).name}"
    elif not before_our_code(run):
        for stream, text in ("stderr", run.errors), ("stdout", run.output):
            if crash := CRASH.search(text):
                yield f"{crash[0]!r} is on {stream}"
        if run.code < 0 and not run.killed:
            yield f"it was ended by {signal.Signals(-run.code).name}"


# ---- exit codes ---------------------------------------------------------------------------------


def wrong_exit_code(run: Run) -> Iterator[str]:
    if run.code < 0:
        return  # a matter of how it ended
    if run.code not in (*CODES[run.command.program], *[130] * run.interrupted):
        yield f"the exit code {run.code} is not documented" + " for a command that was not interrupted" * (
            run.code == 130
        )
    errors = ERROR.findall(run.errors)
    if run.code == 2:
        if len(errors) > 1:
            yield f"exit code 2 with {len(errors)} lines of errors"
        elif errors and run.errors.rstrip("\n").split("\n")[-1] != errors[0]:
            yield "the error is not the last line on stderr"
        elif not errors and run.complete and not OF_A_BOARD.search(run.errors) and '"error": "' not in run.output:
            yield "exit code 2 without an error"
    elif errors:
        yield f"exit code {run.code} with an error"
    given = run.command.given
    if given and given.flawed and run.complete and run.code != 2:
        yield f"not everything in the input is a board, but the exit code is {run.code}"
    if given and run.complete and run.code == 2 and not (given.flawed or given.unclear) and not errors:
        yield "all of the input is boards, but the exit code is 2"


# ---- files --------------------------------------------------------------------------------------


def wrong_files(runs: Sequence[Run], before: Snapshot, after: Snapshot) -> Iterator[str]:
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    allowed = {path for path in changed if any(_may_change(path, before, after, run) for run in runs)}
    above = {folder for path in allowed for folder in path.parents}
    for path in sorted(changed - allowed):
        if not (path in above and path not in before):  # a folder made for a file
            yield f"{path} was {'created' if path not in before else 'changed' if path in after else 'removed'}"
    killed = any(run.killed for run in runs)
    for path in sorted(allowed & after.keys()):
        if after[path].kind == "file" and not TEMPORARY.fullmatch(path.name) and not is_whole(path, killed):
            yield f"{path} is incomplete"


def _may_change(path: Path, before: Snapshot, after: Snapshot, run: Run) -> bool:
    """Whether a command may have made a change."""
    was, now = before.get(path), after.get(path)
    if OUTSIDE in (was and was.kind, now and now.kind):
        return False
    if path in run.command.outputs or (run.command.program == "pdb-solver" and BUILT_ON_DEMAND.fullmatch(path.name)):
        return now is not None
    if any(folder in path.parents and CACHED.match(str(path.relative_to(folder))) for folder in run.caches):
        return True
    building = run.command.program == "pdb-builder" and run.command.name == "build"
    if building and str(path) in run.output.split("\n"):
        return was is None or "--overwrite" in run.command.words
    learning = run.command.program == "pdb-solver" and run.command.name == "learn"
    if learning and LEARNED.fullmatch(path.name):
        return now is not None and (was is None or "--overwrite" in run.command.words)
    if (building or learning) and any(WORKSHOP.fullmatch(part) for part in path.parts):
        return now is None or run.killed or run.interrupted
    return bool(TEMPORARY.fullmatch(path.name)) and was is None and run.killed


def is_whole(path: Path, killed: bool) -> bool:
    """Whether a file of a kind that we write is complete, as far as its ends tell."""
    content = path.read_bytes()
    if path.suffix == ".csv":  # written line by line
        return killed or content.endswith(b"\n")
    if path.suffix == ".h5":
        label = content[:4096].split(b"\n")
        return content.startswith(b"slidepdb ") and label[1] == b"size %d" % len(content)
    beginning, *ends = ENDS.get(path.suffix, (b"", b""))
    return content.startswith(beginning) and content.endswith(tuple(ends))
