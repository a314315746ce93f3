"""What a worker must have to take part: the client's version of this package, to the letter, and its databases.

Between two releases a version stands for hundreds of commits, so sources are compared, by a digest: that of a checkout
is the same as that of the package built from it, and what is not committed counts as well.

Databases are too large to send. A worker opens its own, by name, in its own folder, and compares the seals, which are
checksums of all that a database says. A worker whose are others would count, and perhaps prove, something else: it is
*unfit*. The client asks all workers before a search begins. Those that join later find out by their first task.
"""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections import OrderedDict
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from pdb_builder import __version__
from pdb_builder.base.compile_cache import PACKAGES
from pdb_builder.base.errors import InputError, SlidepdbError
from pdb_builder.base.folders import databases_folder
from pdb_builder.checking import check_of
from pdb_builder.grid import Grid

from ..heuristics.contract import Heuristic
from ..heuristics.preparing import prepare

ROOT = Path(__file__).parents[2]  # where the packages are
MOST_KEPT = 8  # heuristics

_kept: OrderedDict[Wanted, Heuristic] = OrderedDict()  # in the order of their last use
_preparing = Lock()


class Wanted(NamedTuple):
    """A heuristic as the client has it."""

    version: str  # of this package
    source: str  # a digest of it
    shape: str
    wrap: bool
    blank: int
    heuristic: str  # its name
    seals: tuple[str, ...]  # of its databases
    folder: str | None  # of databases; None: the worker's own

    @property
    def grid(self) -> Grid:
        return Grid.parse(self.shape, self.wrap)

    @property
    def where(self) -> Path:
        """The folder of databases, for a worker."""
        return databases_folder() if self.folder is None else Path(self.folder)


def wanted_for(grid: Grid, blank: int, heuristic: Heuristic, folder: str | None) -> Wanted:
    """What workers must have if they are to search with a heuristic."""
    if heuristic.fingerprint:
        raise InputError(f"{heuristic.name} is a function that workers do not have: leave out `cluster`")
    seals = tuple(database.seal for database in heuristic.databases)
    return Wanted(__version__, source_digest(), grid.shape, grid.wrap, blank, heuristic.name, seals, folder)


@cache
def source_digest() -> str:
    """A short digest of the modules of this program, as they are when somebody first asks."""
    digest = hashlib.sha256()
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


class Unfit(Exception):
    """A worker cannot take part: the arguments are its address, the name of its machine, and the reason."""

    def __str__(self) -> str:
        address, host, reason = self.args
        return f"the worker {address} on {host} cannot take part: {reason}"


def fitting(wanted: Wanted) -> Heuristic:
    """The heuristic that is wanted, on a worker; raises ``Unfit`` if it has another one, or none."""
    if wanted.version != __version__:
        raise unfit(f"it has slidepdb {__version__}, not {wanted.version}: install the same version")
    if wanted.source != source_digest():
        raise unfit(
            f"its slidepdb {__version__} has another source, with the digest {source_digest()}, not {wanted.source}: "
            "install the client's"
        )
    with _preparing:
        if wanted in _kept and not _intact(_kept[wanted]):
            del _kept[wanted]
        if wanted not in _kept:
            _kept[wanted] = _prepared(wanted)
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(wanted)
        return _kept[wanted]


def _intact(heuristic: Heuristic) -> bool:
    """Whether its databases are those that were opened: a file may have been replaced since."""
    try:
        for database in heuristic.databases:
            check_of(database).look()
    except SlidepdbError:
        return False
    return True


def _prepared(wanted: Wanted) -> Heuristic:
    try:
        heuristic = prepare(wanted.heuristic, wanted.grid, wanted.blank, wanted.where)
    except (SlidepdbError, OSError) as error:
        raise unfit(str(error)) from None
    seals = [database.seal for database in heuristic.databases]
    for database, seal in zip(heuristic.databases, wanted.seals, strict=False):
        if database.seal != seal:
            raise unfit(
                f"its {database.path} has the checksum {database.seal[:12]}, that of the client {seal[:12]}: copy the "
                "client's file there"
            )
    if len(seals) != len(wanted.seals):
        raise unfit(f"its {heuristic.name} has {len(seals)} databases, that of the client {len(wanted.seals)}")
    return heuristic


def unfit(reason: str) -> Unfit:
    """That this worker, as a task finds out, cannot take part."""
    from distributed import get_worker

    try:
        address = get_worker().address
    except ValueError:  # not in a task, but asked by the client, who knows the address
        address = ""
    return Unfit(address, socket.gethostname(), reason)


async def examine(wanted: Wanted) -> tuple[Any, ...] | None:
    """On a worker that the client asks: its machine and why it is unfit, or None if it is not.

    Dask calls this in the thread that receives messages, which must not be kept from that.
    """
    try:
        await asyncio.get_running_loop().run_in_executor(None, fitting, wanted)
    except Unfit as error:
        return error.args[1:]
    return None
