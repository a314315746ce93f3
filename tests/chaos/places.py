"""Trials of places: disks that are full or read-only, folders that are closed, surroundings that mislead.

A disk of a given size is a file system in memory with a file that fills it up to the drawn rest; where mounting is not
allowed, a limit on the size of files. Permissions do not bind the superuser, so for him a command starts without that
privilege; where it cannot be given up, there are no trials of closed folders.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ..processes import ended, started
from .commands import Command, Run
from .kills import BUILDS
from .sandbox import DATABASES
from .trial import Impossible, Trial, kind

DISK = 40_000_000  # bytes
PR_CAPBSET_DROP, DAC_OVERRIDE, DAC_READ_SEARCH = 24, 1, 2  # of Linux
HARDEST = "8 6 7 2 5 4 3 0 1"


# ---- means --------------------------------------------------------------------------------------


def _mount(*words: object) -> bool:
    try:
        return subprocess.run(list(map(str, words)), capture_output=True).returncode == 0
    except OSError:
        return False


@cache
def can_mount() -> bool:
    """Whether file systems can be mounted here."""
    with TemporaryDirectory() as folder:
        return _mount("mount", "-t", "tmpfs", "none", folder) and _mount("umount", folder)


@contextlib.contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """A file system of its own in a folder."""
    _mount("mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", folder)
    try:
        yield
    finally:
        _mount("umount", "-l", folder)


def obey_permissions() -> None:
    """Give up what lets the superuser ignore permissions, in a new process that is about to start a program."""
    if not os.geteuid():
        libc = ctypes.CDLL(None)
        for capability in (DAC_OVERRIDE, DAC_READ_SEARCH):
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@cache
def permissions_count() -> bool:
    """Whether permissions bind programs that are started that way."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "closed"
        path.touch(mode=0o000)
        with started("-c", f"open({str(path)!r})", before=obey_permissions) as process:
            return ended(process, traceback=True)[0] == 1


# ---- disks --------------------------------------------------------------------------------------


@kind("small disk", 4)
def small_disk(trial: Trial) -> None:
    """A disk that becomes full leaves what was there; when there is room, the same command succeeds."""
    chance, disk = trial.chance, trial.sandbox.work / "disk"
    disk.mkdir()
    room = int(2 ** chance.uniform(0, 23))
    action = chance.choice((_build, _compare, _gif, _walk, _cache))
    again = chance.random() < 0.5
    if can_mount() and chance.random() < 0.7:
        with mounted(disk):
            command = action(trial, disk)
            if again:
                trial.succeeds(command)
                if action is _build:
                    command = command._replace(words=(*command.words, "--overwrite"))
            filler = disk / "filler"
            _fill(filler, shutil.disk_usage(disk).free - room)
            _in_little_room(trial, command)
            filler.unlink()
            trial.succeeds(command)
    else:
        command = action(trial, disk)
        if again:
            trial.succeeds(command)
            if action is _build:
                command = command._replace(words=(*command.words, "--overwrite"))
        _in_little_room(trial, command._replace(before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))))
        trial.succeeds(command)


def _fill(path: Path, size: int) -> None:
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        for _ in range(size // 4096):
            file.write(bytes(4096))


def _in_little_room(trial: Trial, command: Command) -> Run:
    run = trial.run_one(command)
    trial.require(run.code in (0, 2), "exit code", f"a full disk cannot lead to {run.code}")
    trial.effective = run.code == 2
    if "NUMBA_CACHE_DIR" in command.variables:
        trial.require(run.code == 0, "exit code", "a full cache must not stop a search")
    return run


def _build(trial: Trial, disk: Path) -> Command:
    path = disk / "x.h5"
    return trial.builder("build", *trial.chance.choice(BUILDS[:-1]), "--output", path, outputs=(path,))


def _compare(trial: Trial, disk: Path) -> Command:
    words = ["compare", "--random", "3x3", "-n", "60", "--heuristics", "manhattan", "--json"]
    options = trial.chance.choice((("--resume", ".csv"), ("--plot", ".png"), ("--plot", ".svg"), ("--report", ".html")))
    path = disk / f"x{options[1]}"
    return trial.solver(*words, options[0], path, outputs=(path,))


def _gif(trial: Trial, disk: Path) -> Command:
    return trial.solver(
        "solve", HARDEST, "--heuristic", "manhattan", "--gif", disk / "x.gif", outputs=(disk / "x.gif",)
    )


def _walk(trial: Trial, disk: Path) -> Command:
    return trial.solver("solve", HARDEST, "--heuristic", "walking-distance", "--json", "--folder", disk)


def _cache(trial: Trial, disk: Path) -> Command:
    """Only the cache is on the disk, half full of kernels."""
    kernels = disk / "kernels"
    shutil.copytree(trial.sandbox.stock.kernels, kernels)
    heuristic = trial.chance.choice(("manhattan", "hamming"))
    files = tuple(kernels.rglob("*"))
    variables = {"NUMBA_CACHE_DIR": str(kernels)}
    return trial.solver("solve", HARDEST, "--heuristic", heuristic, "--json", variables=variables, outputs=files)


# ---- closed folders -----------------------------------------------------------------------------


@kind("closed folder", 4)
def closed_folder(trial: Trial) -> None:
    """Files and folders that cannot be written or read are reported in one line, and a cache is done without."""
    chance, sandbox = trial.chance, trial.sandbox
    sandbox.fetch("3x3-8", "3x3-4-4")
    (sandbox.work / "boards.txt").write_text(f"{HARDEST}\n")
    variables = sandbox.own_kernels()
    for name in ("x.csv", "x.gif"):
        (sandbox.work / name).touch()
    if not permissions_count():
        raise Impossible("permissions bind nobody here")
    details = {"variables": variables, "before": obey_permissions}
    closed, mode = chance.choice(
        (
            (sandbox.databases, 0o555),
            (sandbox.databases, 0o000),
            (sandbox.databases, 0o444),
            (sandbox.databases / "3x3-8.h5", 0o000),
            (sandbox.work, 0o555),
            (sandbox.work / "boards.txt", 0o000),
            (sandbox.work / "x.csv", 0o444),
            (sandbox.work / "x.gif", 0o000),
            (Path(variables["NUMBA_CACHE_DIR"]), 0o555),
            (Path(variables["NUMBA_CACHE_DIR"]), 0o000),
            (sandbox.cache, 0o555),
            (sandbox.cache, 0o000),
            (sandbox.home, 0o000),
        )
    )
    opened = closed.stat().st_mode
    closed.chmod(mode)
    try:
        for command in chance.sample(_visits(trial, details), 2):
            run = trial.run_one(command)
            needless = closed == sandbox.home or sandbox.cache in (closed, *closed.parents)
            trial.require(
                run.code == 0 or not needless, "exit code", f"{closed} is not needed, but the code is {run.code}"
            )
            trial.effective |= run.code == 2
            trial.require(run.code in (0, 2), "exit code", f"a closed folder cannot lead to {run.code}")
    finally:
        closed.chmod(opened)


def _visits(trial: Trial, details: dict) -> list[Command]:
    work, databases = trial.sandbox.work, trial.sandbox.databases
    solve = ("solve", "--file", "boards.txt", "--json")
    compare = ("compare", "--file", "boards.txt", "--heuristics", "manhattan", "--json")
    return [
        trial.solver(*solve, **details),
        trial.solver(*solve, "--heuristic", "walking-distance", **details),
        trial.solver(*solve, "--heuristic", "pdb:3x3-8", **details),
        trial.solver(
            "solve", HARDEST, "--heuristic", "manhattan", "--gif", "x.gif", outputs=(work / "x.gif",), **details
        ),
        trial.solver(*compare, "--resume", "x.csv", outputs=(work / "x.csv",), **details),
        trial.solver(*compare, "--report", "new.html", outputs=(work / "new.html",), **details),
        trial.builder("build", "2x3", outputs=(databases / "2x3-5.h5",), **details),
        trial.builder("build", "3x3-8", **details),
        trial.builder("list", **details),
        trial.builder("info", "3x3-8", **details),
        trial.builder("verify", "3x3-8", "--quick", **details),
    ]


@kind("read-only disk", 1)
def read_only_disk(trial: Trial) -> None:
    """A file system that is read-only: databases on it can be used, nothing on it can be written."""
    disk = trial.sandbox.work / "disk"
    disk.mkdir()
    if not can_mount():
        raise Impossible("no file system can be mounted here")
    with mounted(disk):
        for name in DATABASES:
            shutil.copy(trial.sandbox.stock.databases / f"{name}.h5", disk)
        _mount("mount", "-o", "remount,ro", disk)
        variables = {"SLIDEPDB_DATABASES": str(disk)}
        for heuristic in ("pdb", "walking-distance"):
            trial.succeeds(trial.solver("solve", HARDEST, "--heuristic", heuristic, "--json", variables=variables))
        for command in (
            trial.builder("build", "2x4", variables=variables),
            trial.builder("build", "3x3-8", "--overwrite", variables=variables),
            trial.solver("solve", HARDEST, "--heuristic", "manhattan", "--gif", disk / "x.gif"),
            trial.solver("compare", HARDEST, "--heuristics", "manhattan", "--csv", disk / "x.csv"),
        ):
            run = trial.run_one(command)
            trial.require(run.code == 2, "exit code", f"nothing can be written there, but the code is {run.code}")
            trial.effective |= run.code == 2


# ---- surroundings -------------------------------------------------------------------------------


def _somewhere(trial: Trial) -> str:
    """The value of a variable that should name a folder."""
    strange = ("", "relative", ".", "~", "/dev/null", "/dev/null/x", "/proc/x", "n" * 300)
    ours = ("no/such", "notes.txt", "loop", "dangling", "büro ☃\n")
    return trial.chance.choice((*strange, *(str(trial.sandbox.work / name) for name in ours)))


VARIABLES: dict[str, Callable[[Trial], str | None]] = {
    "HOME": lambda trial: trial.chance.choice((None, _somewhere(trial))),
    "XDG_CACHE_HOME": _somewhere,
    "NUMBA_CACHE_DIR": _somewhere,
    "MPLCONFIGDIR": _somewhere,
    "TMPDIR": _somewhere,
    "LC_ALL": lambda trial: trial.chance.choice(("C", "POSIX", "C.UTF-8", "xx_YY.ZZ", "")),
    "PYTHONIOENCODING": lambda trial: trial.chance.choice(("ascii", "latin-1", "utf-8:strict")),
    "PYTHONUTF8": lambda trial: trial.chance.choice("01"),
    "PYTHONWARNINGS": lambda trial: "error::DeprecationWarning",
    "TERM": lambda trial: trial.chance.choice(("dumb", "", "xterm", None)),
    "COLUMNS": lambda trial: trial.chance.choice(("0", "-1", "1", "x", "99999")),
    "LINES": lambda trial: trial.chance.choice(("0", "-1", "x")),
    "PATH": lambda trial: trial.chance.choice(("", None)),
    "TZ": lambda trial: "nowhere",
    "NUMBA_DISABLE_JIT": lambda trial: "1",
    "NUMBA_NUM_THREADS": lambda trial: trial.chance.choice(("1", "64")),
    "OMP_NUM_THREADS": lambda trial: "1",
}


@kind("surroundings", 8)
def surroundings(trial: Trial) -> None:
    """Environment variables with any value, a working folder that is gone, few open files, streams closed or full."""
    chance, sandbox = trial.chance, trial.sandbox
    sandbox.fetch("3x3-8")
    (sandbox.work / "notes.txt").write_text("precious\n")
    (sandbox.work / "loop").symlink_to("loop")
    (sandbox.work / "dangling").symlink_to("nowhere")
    variables = {name: VARIABLES[name](trial) for name in chance.sample(list(VARIABLES), chance.choice((1, 1, 2, 3)))}
    if "HOME" in variables and chance.random() < 0.7:
        variables |= dict.fromkeys(("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"))  # so that the home counts
    command = chance.choice(_errands(trial))
    strange = (_leave_the_folder(sandbox.work), _few_files(chance), _close_input, _close_output, _fill_output)
    before = _nothing if chance.random() < 0.6 else chance.choice(strange)
    run = trial.run_one(command._replace(variables=variables, before=before))
    trial.effective = run.code != 2 or before is not _nothing
    if before is _fill_output:
        trial.require(run.code == 2, "exit code", f"its output cannot be written, but it ends with {run.code}")
    elif before not in strange[:2] and "NUMBA_DISABLE_JIT" not in variables:
        trial.require(run.code == 0, "exit code", f"nothing that it needs is missing, but it ends with {run.code}")


def _nothing() -> None:
    pass


def _close_input() -> None:
    os.close(0)


def _close_output() -> None:
    os.close(1)


def _fill_output() -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def _leave_the_folder(work: Path) -> Callable[[], None]:
    def leave() -> None:
        gone = work / "gone"
        gone.mkdir()
        os.chdir(gone)
        gone.rmdir()

    return leave


def _few_files(chance: random.Random) -> Callable[[], None]:
    most = chance.choice((16, 32, 64))
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _errands(trial: Trial) -> list[Command]:
    """Commands that succeed in usual surroundings, whichever folder they start in."""
    work = trial.sandbox.work
    return [
        trial.solver("check", HARDEST),
        trial.solver("random", "3x3", "-n", "3"),
        trial.solver("solve", HARDEST, "--heuristic", "manhattan", "--json"),
        trial.solver("solve", HARDEST, "--json"),
        trial.solver("solve", HARDEST, "--heuristic", "manhattan", "--show"),
        trial.solver("solve", HARDEST, "--heuristic", "manhattan", "--animate"),
        trial.solver("solve", HARDEST, "--heuristic", "manhattan", "--gif", work / "x.gif", outputs=(work / "x.gif",)),
        trial.solver(
            *("compare", "--random", "3x3", "-n", "3", "--heuristics", "manhattan", "--report", work / "x.html"),
            outputs=(work / "x.html",),
        ),
        trial.solver("distribution", "2x3"),
        trial.builder("info", "3x3-8"),
        trial.builder("verify", "3x3-8"),
        trial.builder("build", "2x3", "--output", work / "x.h5", outputs=(work / "x.h5",)),
    ]
