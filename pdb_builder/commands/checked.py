"""Opening a database and comparing it with its checksums, with a progress bar, for commands that say what it is."""

from __future__ import annotations

from pathlib import Path

from tqdm import tqdm

from ..checking import check_of
from ..database import Database
from ..store import open_database

PULSE = 0.1  # seconds between updates of the bar


def checked_database(path: Path) -> Database:
    """The database at a path, all of it sound; raises ``DatabaseError``."""
    check = check_of(open_database(path))
    with tqdm(total=1, desc=f"comparing {path.name} with its checksums", disable=None, leave=False) as bar:
        while not check.over(PULSE):
            bar.update(check.share - bar.n)
    check.look()
    return check.database
