"""Where compiled kernels are kept: a folder for each state of the sources that they are made of.

Numba caches a kernel under the file that defines it and compiles it again when that file changes. It knows
nothing of the helpers and constants that were inlined from other files: after a change there, the old machine
code would run on. So the cache is a folder named by a hash of everything that a kernel can depend on, and every
state of those sources starts with an empty one.

*What a kernel can depend on* is read off the import lines: the modules that import numba, ``jit`` or the contract
of heuristics, and every module of ours that these import, directly or through others. A command or a picture is
not among them: to edit it recompiles nothing.

*Old folders* are removed when a new one is made: of those not used for a day, all but the latest few.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from .folders import cache_folder

PACKAGES = ("pdb_builder", "solver")
COMPILERS = ("pdb_builder/base/jit.py", "solver/heuristics/contract.py")  # to import one is to define kernels
KEPT = 3  # folders of other states, however old
RECENT = 24 * 3600  # seconds since the last use in which no folder is removed
LEAST_FREE = 100_000_000  # bytes of disk without which nothing is cached

_IMPORT = re.compile(r"^from +(\.*)([\w.]*) +import +(\([^)]*\)|[^\n]*)", re.MULTILINE)
_NUMBA = re.compile(r"^(from|import) +(numba|llvmlite)\b", re.MULTILINE)


def kernel_sources(root: Path) -> dict[str, bytes]:
    """The source files below ``root`` that compiled code can depend on, by path, with their contents."""
    texts = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for package in PACKAGES
        for path in sorted((root / package).rglob("*.py"))
    }
    imported = {path: set(_imported(path, text.decode(), texts)) for path, text in texts.items()}
    reached: set[str] = set()
    todo = [
        path for path, text in texts.items() if _NUMBA.search(text.decode()) or not imported[path].isdisjoint(COMPILERS)
    ]
    while todo:
        path = todo.pop()
        if path not in reached:
            reached.add(path)
            todo += imported[path]
    return {path: text for path, text in texts.items() if path in reached}


def _imported(path: str, text: str, known: dict[str, bytes]) -> Iterator[str]:
    """The files of ours that a source imports when it is itself imported."""
    here = path.split("/")[:-1]
    for dots, module, names in _IMPORT.findall(text):
        parts = (here[: len(here) - len(dots) + 1] if dots else []) + [part for part in module.split(".") if part]
        candidates = ["/".join(parts) + ".py", "/".join([*parts, "__init__.py"])]
        candidates += ["/".join([*parts, f"{name}.py"]) for name in re.findall(r"\w+", names)]
        yield from (candidate for candidate in candidates if candidate in known)


def prepare_cache(version: str) -> Path | None:
    """The folder for code compiled by this version of numba from these sources; None where none can be written."""
    digest = hashlib.sha256(version.encode())
    try:
        for path, text in kernel_sources(Path(__file__).parents[2]).items():
            digest.update(f"{path} {len(text)}\n".encode() + text)
        base = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_folder())
        folder = base / f"kernels-{digest.hexdigest()[:16]}"
        if not folder.exists():
            folder.mkdir(parents=True)
            _prune(base, folder)
        if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < LEAST_FREE:
            return None
        os.utime(folder)  # used today
    except (OSError, RuntimeError):
        return None
    return folder


def _prune(base: Path, current: Path) -> None:
    """Remove the folders of old states. A program that still runs from one compiles again what it lacks."""
    used: list[tuple[float, Path]] = []
    for folder in base.glob("kernels-" + "[0-9a-f]" * 16):
        with contextlib.suppress(OSError):
            if folder != current:
                used.append((folder.stat().st_mtime, folder))
    for last, folder in sorted(used, reverse=True)[KEPT:]:
        if last < time.time() - RECENT:
            shutil.rmtree(folder, ignore_errors=True)
