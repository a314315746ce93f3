"""What one search relies on, watched: nothing is proven by a database that is damaged, unchecked or changed.

A search may start before its databases are compared with their checksums (``pdb_builder.checking``), so that large
files cost no time at the start. It is stopped as soon as one of them turns out to be damaged. What it found is believed
when all of them have passed. Nor is anything proven by a heuristic of one's own that went wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import NamedTuple

from pdb_builder.base.errors import DatabaseError, InputError
from pdb_builder.checking import Check, check_of

from .heuristics.contract import Heuristic
from .jobs import PULSE


class UsedDatabase(NamedTuple):
    """A database that a search has used."""

    path: str
    seal: str  # identifies its contents
    checked: bool  # whether its tables were compared with their checksums


class Watch:
    """The databases of the heuristics that one search uses, and those of one's own."""

    def __init__(self) -> None:
        self._looks: list[Callable[[], object]] = []
        self._checks: dict[Check, None] = {}  # in the order in which they were added

    def over(self, heuristic: Heuristic) -> Heuristic:
        """The heuristic, which is watched from now on, and so are its databases."""
        if heuristic.look is not None:
            self._looks.append(heuristic.look)
        self._checks |= {check_of(database): None for database in heuristic.databases}
        return heuristic

    def look(self) -> None:
        """Raise ``DatabaseError`` if a database is known to be damaged, or was changed since it was opened.

        Raises ``InputError`` if a heuristic of one's own went wrong.
        """
        for check in self._checks:
            check.look()
        for look in self._looks:
            look()

    def passed(self) -> bool:
        """Whether every database was compared with its checksums."""
        return all(check.passed for check in self._checks)

    def trusted(self) -> bool:
        """Whether what was found so far may be believed: every database has passed, and is as it was."""
        try:
            self.look()
        except (DatabaseError, InputError):
            return False
        return self.passed()

    def finish(self, interrupt: Event | None, progress: Callable[[str, float], object]) -> bool:
        """Wait until every database is checked; False if that is interrupted. Raises ``DatabaseError`` as ``look``."""
        try:
            while not self.passed():
                for check in self._checks:
                    while not check.over(PULSE):
                        self.look()
                        if interrupt is not None and interrupt.is_set():
                            return False
                        progress(f"comparing {check.database.path.name} with its checksums", check.share)
                self.look()
        except KeyboardInterrupt:
            return False
        self.look()
        return True

    def databases(self) -> tuple[UsedDatabase, ...]:
        return tuple(
            UsedDatabase(str(check.database.path), check.database.seal, check.passed) for check in self._checks
        )
