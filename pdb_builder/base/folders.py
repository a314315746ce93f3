"""Where databases and compiled code are kept.

Databases are kept in the folder that ``$SLIDEPDB_DATABASES`` names; without it, in ``databases/`` of the checkout that
the package runs from, which is recognised by its ``pyproject.toml``; in an installed copy, in the user's data folder.
None of these depends on the current folder, so one command finds what another has built.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

from .errors import InputError

VARIABLE = "SLIDEPDB_DATABASES"
APPLICATION = "slidepdb"


def databases_folder() -> Path:
    """The folder of databases, as an absolute path. It need not exist."""
    if folder := os.environ.get(VARIABLE):
        return Path(folder).absolute()
    try:
        home = checkout() or user_data_path(APPLICATION, appauthor=False).absolute()
    except RuntimeError:
        raise InputError(f"there is no home folder for databases: set ${VARIABLE} to a folder") from None
    return home / "databases"


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
    """The folder of compiled code, as an absolute path. It need not exist."""
    return user_cache_path(APPLICATION, appauthor=False).absolute()
