"""Where compiled kernels are kept: in one folder for each version of the sources they were compiled from.

Numba caches a kernel under the name of the file that defines it and recompiles it when that file changes. It does not
know which helpers and constants were inlined from other files: after a change there, it would go on running the old
machine code. So the cache is a folder whose name is a hash of everything that a kernel can depend on, and each version
of those sources starts with an empty one.

*What a kernel can depend on* follows from the import statements at the beginning of lines: the modules that import
numba, ``jit`` or the contract of heuristics, and every module of ours that these import, directly or indirectly.
Commands and pictures are not among them, so editing those recompiles nothing.

*Old folders* are removed when a new one is created: all but the most recent few, unless used in the last day.

``code_files`` knows the files in a folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .errors import WriteError
from .folders import cache_folder, make_folder

PACKAGES = ("pdb_builder", "solver")
COMPILERS = ("pdb_builder/base/jit.py", "solver/heuristics/contract.py")  # a module that imports one defines kernels
KEPT = 3  # folders of other versions, however old
RECENT = 24 * 3600  # seconds since its last use in which a folder is not removed

# Told in words about damage; None in a program that is not a command of ours.
notify: Callable[[str], object] | None = None

_IMPORT = re.compile(r"^from +(\.*)([\w.]*) +import +(\([^)]*\)|[^\n]*)", re.MULTILINE)
_NUMBA = re.compile(r"^(from|import) +(numba|llvmlite)\b", re.MULTILINE)


def kernel_sources(root: Path) -> dict[str, bytes]:
    """The source files below ``root`` that compiled code can depend on: path -> contents."""
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
    """The files among ``known`` that a source file imports."""
    here = path.split("/")[:-1]
    for dots, module, names in _IMPORT.findall(text):
        parts = (here[: len(here) - len(dots) + 1] if dots else []) + [part for part in module.split(".") if part]
        candidates = ["/".join(parts) + ".py", "/".join([*parts, "__init__.py"])]
        candidates += ["/".join([*parts, f"{name}.py"]) for name in re.findall(r"\w+", names)]
        yield from (candidate for candidate in candidates if candidate in known)


def prepare_cache(version: str) -> Path | None:
    """The folder for code that this version of numba compiles from these sources; None if there cannot be one."""
    digest = hashlib.sha256(version.encode())
    try:
        for path, text in kernel_sources(Path(__file__).parents[2]).items():
            digest.update(f"{path} {len(text)}\n".encode() + text)
        base = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_folder()).absolute()
        folder = base / f"kernels-{digest.hexdigest()[:16]}"
        if not folder.exists():
            make_folder(folder)
            _prune(base, folder)
        with contextlib.suppress(OSError):  # a folder that can only be read is a cache as well
            os.utime(folder)  # the time of its last use, for ``_prune``
    except (OSError, WriteError):
        return None
    return folder


def _prune(base: Path, current: Path) -> None:
    """Remove the folders of old versions. A program that still runs from one recompiles what it needs."""
    others: list[tuple[float, Path]] = []
    for folder in base.glob("kernels-" + "[0-9a-f]" * 16):
        with contextlib.suppress(OSError):
            if folder != current:
                others.append((folder.stat().st_mtime, folder))
    for last_use, folder in sorted(others, reverse=True)[KEPT:]:
        if last_use < time.time() - RECENT:
            shutil.rmtree(folder, ignore_errors=True)
