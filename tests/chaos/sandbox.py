"""Where a trial works: a folder of its own with everything in it that a command may find, and a picture of it.

A sandbox has a working folder, a home, a cache and a folder of databases, and the environment of its commands names
them, so that nothing outside is touched. A *snapshot* records every file of it, before and after each command.

The *stock* is what all trials of a run share: compiled kernels and sound databases. Compiling takes seconds, so it is
done once, in the user's own cache as any command does it; commands then work with a copy. A trial copies what it is
going to damage.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from pdb_builder.base import jit

from ..processes import ROOT, ended, environment, started
from .commands import DEADLINE, PROGRAMS

# What the trials find built: the name, and the arguments of ``pdb-builder build`` that make it.
DATABASES = {
    "3x3-8": ("3x3-8",),
    "3x3-4-4": ("3x3-4-4",),
    "4x4-5-5-5": ("4x4-5-5-5",),
    "2x3-5": ("2x3",),
    "3x3-4-4-bytes": ("3x3-4-4", "--encoding", "bytes"),
    "3x3-8-wrap-bytes": ("3x3", "--wrap"),
    "3x3-collection": ("3x3", "--collection", "1,2,5/3,4,6,7,8;3,6,7/1,2/4,5,8;1,2,5/3,6,7/4,8"),
}
# Folders that commands use if their environment misleads them. Nothing may change there.
FORBIDDEN = (ROOT / "databases", Path("/.cache"), Path("/.local"), Path("/.config"))

# What most trials need compiled, done by two processes.
WARM_UP = """
import sys
from pathlib import Path
from pdb_builder import Grid, Spec
from pdb_builder.pattern import NAMED
from solver import SEARCHES, compare, distribution, solve
folder, part = Path(sys.argv[1]), int(sys.argv[2])
easy = "1 2 3 4 5 6 0 7 8"
pairs = [(name, None if search.uninformed else "manhattan") for name, search in SEARCHES.items()]
pairs += [("ida-star", name) for name in ("linear-conflict", "walking-distance", "hamming", "pdb:3x3-4-4-bytes")]
pairs += [("ida-star", f"pdb:{name}") for name in ("3x3-8", "3x3-4-4")] + [("beam", "linear-conflict")]
for algorithm, heuristic in pairs[part::2]:
    solve(easy, heuristic=heuristic, algorithm=algorithm, folder=folder, width=10 if algorithm == "beam" else None)
if part:
    solve(easy, every=True, heuristic="manhattan")
    distribution("2x2")
else:
    solve("1 2 3 4 5 6 7 8 9 10 11 12 13 0 14 15", heuristic="pdb:4x4-5-5-5", folder=folder)
"""


# ---- snapshots ----------------------------------------------------------------------------------


class Entry(NamedTuple):
    """What is recorded of a path."""

    kind: str  # file, folder, link or other, or outside
    content: str = ""  # the hash of a file, where a link points
    size: int = 0
    changed: int = 0  # the time of a file's last change


Snapshot = dict[Path, Entry]
OUTSIDE = "outside"  # the kind of paths that belong to no sandbox


def snapshot(folder: Path, without: Sequence[Path] = ()) -> Snapshot:
    """Everything below a folder, apart from some folders."""
    found: Snapshot = {}
    todo = [folder]
    while todo:
        try:
            entries = sorted(todo.pop().iterdir())
        except OSError:  # it was made unreadable
            continue
        for path in entries:
            if path not in without:
                found[path] = _entry(path)
                if found[path].kind == "folder":
                    todo.append(path)
    return found


def _entry(path: Path) -> Entry:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return Entry("link", os.readlink(path))
    if stat.S_ISDIR(status.st_mode):
        return Entry("folder")
    if not stat.S_ISREG(status.st_mode):
        return Entry("other")
    try:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        content = "unreadable"
    return Entry("file", content, status.st_size, status.st_mtime_ns)


def listing() -> Snapshot:
    """What is in the folders that are forbidden: names, sizes and times."""
    found: Snapshot = {}
    for folder in FORBIDDEN:
        if folder.is_dir():
            found[folder] = Entry(OUTSIDE)
            for path in folder.iterdir():
                status = path.lstat()
                found[path] = Entry(OUTSIDE, size=status.st_size, changed=status.st_mtime_ns)
    return found


# ---- the stock ----------------------------------------------------------------------------------


class Stock:
    """What the trials of a run share and must not change."""

    def __init__(self, folder: Path, programs: Mapping[str, Sequence[str]] = PROGRAMS) -> None:
        self.folder, self.programs = folder, programs
        self.kernels, self.pictures, self.databases = (folder / name for name in ("kernels", "pictures", "databases"))
        for made in (self.kernels, self.pictures, self.databases):
            made.mkdir(parents=True)
        self._tables: dict[tuple[str, ...], list[dict]] = {}
        self._lock = Lock()

    def prepare(self, tell: Callable[[str], object]) -> None:
        """Build the databases and compile what most trials need."""
        tell("building databases and compiling kernels")
        for name, words in DATABASES.items():
            self._python("-m", "pdb_builder", "build", *words, "--output", str(self.databases / f"{name}.h5"))
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda part: self._python("-c", WARM_UP, str(self.databases), part), "01"))
        if jit._folder:
            shutil.copytree(jit._folder, self.kernels / jit._folder.name)

    def _python(self, *words: str) -> str:
        with started(*words, deadline=10 * DEADLINE, variables={"MPLCONFIGDIR": str(self.pictures)}) as process:
            code, output, errors = ended(process)
        if code:
            raise RuntimeError(f"{words} failed before any fault: {errors}")
        return output

    def tables_of(self, words: tuple[str, ...]) -> list[dict]:
        """What ``pdb-builder info`` says about the tables of a build without faults."""
        with self._lock:
            if words not in self._tables:
                path = str(self.folder / f"reference-{len(self._tables)}.h5")
                self._python("-m", "pdb_builder", "build", *words, "--output", path)
                self._tables[words] = tables_in(self._python("-m", "pdb_builder", "info", path, "--json"))
            return self._tables[words]


def tables_in(info: str) -> list[dict]:
    """The tables that ``info --json`` describes, apart from how long they took; and the partitions."""
    facts = json.loads(info)
    tables = [{key: one[key] for key in one if key not in ("seconds", "threads")} for one in facts["patterns"]]
    return [*tables, {"partitions": facts["partitions"]}]


# ---- the sandbox --------------------------------------------------------------------------------


class Sandbox:
    """The folder of a trial."""

    def __init__(self, folder: Path, stock: Stock) -> None:
        self.folder, self.stock = folder, stock
        self.work, self.home, self.cache, self.databases = (
            folder / name for name in ("work", "home", "cache", "databases")
        )
        for made in (self.work, self.home, self.cache, self.databases):
            made.mkdir(parents=True)

    def environment(self, variables: Mapping[str, str | None]) -> dict[str, str]:
        """The environment of a command: folders of the sandbox, unless the variables say otherwise."""
        ours = {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.cache),
            "SLIDEPDB_DATABASES": str(self.databases),
            "NUMBA_CACHE_DIR": str(self.stock.kernels),
            "MPLCONFIGDIR": str(self.stock.pictures),
        }
        chosen = environment(**ours) | variables
        return {name: value for name, value in chosen.items() if value is not None}

    def fetch(self, *names: str) -> list[Path]:
        """Copy databases of the stock into the folder of databases."""
        return [shutil.copy(self.stock.databases / f"{name}.h5", self.databases) for name in names]

    def own_kernels(self) -> dict[str, str]:
        """A copy of the compiled kernels, and the variable that has a command use it."""
        kernels = self.cache / "kernels"
        shutil.copytree(self.stock.kernels, kernels, dirs_exist_ok=True)
        return {"NUMBA_CACHE_DIR": str(kernels)}

    def snapshot(self, touched: Sequence[Path] = ()) -> Snapshot:
        """A picture of everything that commands must leave alone, apart from files that the trial itself touches."""
        return snapshot(self.folder, without=(self.cache, *touched)) | listing()

    def remove(self) -> None:
        for folder, _, _ in os.walk(self.folder):  # it may have been made unreadable
            os.chmod(folder, 0o700)
        shutil.rmtree(self.folder)
