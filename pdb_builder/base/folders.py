"""Where databases and compiled code live.

Databases are in the folder that ``$SLIDEPDB_DATABASES`` names; else in ``databases/`` of the checkout that the
packages are run from, which is recognised by its ``pyproject.toml``; else in the user's data folder. So a command
finds what another has built, whatever folder either is called from.
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
    root = checkout()
    return root / "databases" if root else user_data_path(APPLICATION, appauthor=False) / "databases"


def checkout() -> Path | None:
    """The checkout that this package is run from; None if it is installed."""
    root = Path(__file__).resolve().parents[2]
    try:
        text = (root / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return root if re.search(rf'^name = "{APPLICATION}"$', text, re.MULTILINE) else None


def cache_folder() -> Path:
    """The folder of compiled code."""
    return user_cache_path(APPLICATION, appauthor=False)
