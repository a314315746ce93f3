"""Atomic file replacement: a file appears under its name complete, or not at all.

The contents go into a temporary file, which is flushed to the disk and then renamed. Until that moment the name stands
for the previous file, if there was one, whatever happens: an error, a full disk, a killed process, a power cut.
Temporary names are random, so writers of the same file do not disturb each other; the last one to finish wins.

An error removes the temporary file, and so does ``remove_unfinished`` for a process that ends without one. Only a
process that is killed leaves one behind: hidden, with a name that ends in ``.tmp``.

A file that the user names as output may exist, and be something else: a slip of the finger must not cost a database.
So the ending of a name says what the file is to be, and what is there is replaced only if its first bytes say the same.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import InputError

LONGEST_STEM = 50  # characters of the target's name in a temporary one: file systems allow 255 bytes

DECLARATIONS = rb"(\xef\xbb\xbf)?(\s*<[?!][^>]*>)*?\s*"  # what may precede the first element of a page or a picture
PAGE = DECLARATIONS + rb"<(!doctype\s+)?html\b"
# The kinds of output, by the ending of the name: how such a file begins.
KINDS = {
    ".png": rb"\x89PNG\r\n\x1a\n",
    ".gif": rb"GIF8[79]a",
    ".svg": DECLARATIONS + rb"<svg\b",
    ".html": PAGE,
    ".htm": PAGE,
}
BEGINNING = 2000  # bytes of a file that are looked at

_unfinished: set[Path] = set()  # the temporary files that are being written


@contextlib.contextmanager
def replaced(path: Path, *, folder: Path | None = None) -> Iterator[BinaryIO]:
    """A temporary file, open for writing, that takes the place of ``path`` when the block ends without an error.

    It is created in ``folder``, which must be on the same disk; by default beside ``path``. The permissions of an
    existing file are kept. A symbolic link is replaced itself, not the file it points to. Raises ``OSError``.
    """
    if path.exists() and not path.is_file():  # renaming would remove a device or a pipe
        raise FileExistsError(errno.EEXIST, "not a regular file", str(path))
    temporary = (folder or path.parent) / f".{path.name[:LONGEST_STEM]}.{secrets.token_hex(8)}.tmp"
    _unfinished.add(temporary)
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            with contextlib.suppress(OSError):  # no previous file, or a file system without permissions
                shutil.copymode(path, temporary)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    finally:
        _unfinished.discard(temporary)
    _sync_folder(path.parent)


def remove_unfinished() -> None:
    """Remove all temporary files, before the process ends without unwinding what it does."""
    for temporary in tuple(_unfinished):
        with contextlib.suppress(OSError):
            temporary.unlink()


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, on file systems that can; the file itself is safe in any case."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """``replaced`` for a file that the user named: links are followed, and an ``OSError`` becomes an ``InputError``.

    A file of another kind than the name says is not replaced, even if it has appeared since ``check_output``.
    """
    try:
        _check_kind(path)
        with replaced(_target(path)) as file:
            yield file
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}; choose another file") from None


def _target(path: Path) -> Path:
    """Where links lead from ``path``; raises ``InputError`` if they lead round in a circle."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # nothing else remains a link
        raise InputError(f"{path} is a symbolic link that leads back to itself: choose another file")
    return target


def check_output(path: Path, *endings: str) -> None:
    """Raise ``InputError`` unless a file with one of these endings can be written, before hours are spent on it."""
    if path.suffix.lower() not in endings:
        raise InputError(f"{path} does not end in {' or '.join(endings)}: choose a name that does")
    check_writable(path)
    _check_kind(path)


def check_writable(path: Path) -> None:
    """Raise ``InputError`` for a file that cannot be written, before hours are spent on its contents."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder: choose the name of a file")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a regular file: choose another file")
        folder = _target(path).parent
        if not folder.is_dir():
            missing = folder if path.is_symlink() else path.parent
            raise InputError(f"there is no folder {missing} for {path.name}: create it, or choose another file")
        if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
            raise InputError(f"{path} cannot be written: choose another file")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}; choose another file") from None


def _check_kind(path: Path) -> None:
    """Raise ``InputError`` if there is a file, not an empty one, that is of another kind than its name says."""
    kind = path.suffix.lower()
    if kind not in KINDS or not path.is_file():
        return
    try:
        with open(path, "rb") as file:
            beginning = file.read(BEGINNING)
    except OSError as error:
        raise InputError(f"{path} cannot be replaced: {error.strerror or error}; choose another file") from None
    if beginning and not re.match(KINDS[kind], beginning, re.IGNORECASE):
        raise InputError(
            f"{path} is not replaced: it is not a {kind} file but begins with {str(beginning[:8])[1:]}; choose another "
            "name, or remove the file first"
        )
