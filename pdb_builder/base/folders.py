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

VARIABLE = "SLIDEPDB_DATABASES"
APPLICATION = "slidepdb"


def databases_folder() -> Path:
    """The folder of databases, as an absolute path. It need not exist."""
    if folder := os.environ.get(VARIABLE):
        return Path(folder).absolute()
    home = checkout() or user_data_path(APPLICATION, appauthor=False).absolute()
    return home / "databases"


def database_path(name: str, folder: Path) -> Path:
    """The file of a database, given by its path, which exists or ends in .h5, or by its name in a folder."""
    given = name.endswith(".h5") or os.path.exists(name)  # which is False, not an error, for a name that is too long
    return Path(name) if given else folder / f"{name}.h5"


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
