"""Where databases and compiled code are kept.

Databases are kept in the folder that ``$SLIDEPDB_DATABASES`` names; without it, in ``databases/`` of the checkout that
the package runs from, which is recognised by its ``pyproject.toml``; in an installed copy, in the user's data folder.
None of these depends on the current folder, so one command finds what another has built.

The user's folders are where the XDG Base Directory Specification puts them, or, on macOS, in ``~/Library``. As the
specification says, a variable that is empty or relative counts as unset, and so does such a ``$HOME``: a program that
took it literally would write to ``/.cache``, or to wherever it happens to be started. Whoever has no home folder gets
none: nothing is found there, and ``make_folder`` refuses to create it.
"""

from __future__ import annotations

import errno
import os
import pwd
import re
import sys
from pathlib import Path

from .errors import WriteError

VARIABLE = "SLIDEPDB_DATABASES"
APPLICATION = "slidepdb"
HOMELESS = "/nonexistent"  # the customary home of users without one


def databases_folder() -> Path:
    """The folder of databases, as an absolute path. It need not exist."""
    if folder := os.environ.get(VARIABLE):
        return Path(folder).absolute()
    return (checkout() or _user_folder("XDG_DATA_HOME", ".local/share", "Library/Application Support")) / "databases"


def database_path(name: str, folder: Path) -> Path:
    """The file of a database, given by a path that ends in .h5, or by its name in a folder."""
    return Path(name) if name.endswith(".h5") else folder / f"{name}.h5"


def checkout() -> Path | None:
    """The root of the checkout that this package runs from, or None in an installed copy."""
    root = Path(__file__).resolve().parents[2]
    try:
        text = (root / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return root if re.search(rf'^name = "{APPLICATION}"$', text, re.MULTILINE) else None


def cache_folder() -> Path:
    """The folder of what can be made again, such as compiled code, as an absolute path. It need not exist."""
    return _user_folder("XDG_CACHE_HOME", ".cache", "Library/Caches")


def make_folder(folder: Path) -> None:
    """Create a folder, with those above it, unless that would create the user's home.

    Raises ``WriteError`` where there is no home folder, and ``OSError`` for what else can be wrong.
    """
    if folder.is_relative_to(_home()) and not has_home():
        raise WriteError(f"there is no home folder {_home()} to keep files in: set ${VARIABLE} to another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None


def has_home() -> bool:
    """Whether the user's home folder exists."""
    return _home().is_dir()


def _user_folder(variable: str, usual: str, on_macos: str) -> Path:
    """A folder of ours among those of the user: below what the variable names, or in the usual place in their home."""
    stated = os.environ.get(variable, "")
    if os.path.isabs(stated):
        return Path(stated) / APPLICATION
    return _home() / (on_macos if sys.platform == "darwin" else usual) / APPLICATION


def _home() -> Path:
    """The user's home folder, which need not exist."""
    stated = os.environ.get("HOME", "")
    if not os.path.isabs(stated):
        try:
            stated = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:  # a user whom the machine does not know, as in some containers
            stated = ""
    return Path(stated if os.path.isabs(stated) else HOMELESS)
