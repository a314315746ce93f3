"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import InputError


def check_writable(path: Path) -> None:
    """Raise ``InputError`` for a file that cannot be written, before hours are spent on what goes into it."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"there is no folder {path.parent} for {path.name}: make it, or give another")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"{path} cannot be written: give another file")
