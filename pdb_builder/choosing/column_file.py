"""A file of columns, so that a search for collections can be resumed, or done again with another budget.

Building tables takes nearly all of the time, and a column is all that remains of one. The file begins with one line
that says what it is for: the goal and the fingerprint of the sample. Records follow, each a line with the tiles of a
table's pattern and a SHA-256, and then its columns, one byte per node, those of all patterns of the orbit in ascending
order. Records are only ever appended. The checksum covers the first line, the tiles and the columns, so a record that
was cut short, changed or taken from another file is noticed: reading ends before it, with a remark, and the next one
takes its place.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.wording import counted
from ..pattern import Pattern
from .symmetry import Goal
from .tree_sample import TreeSample

LONGEST_LINE = 200  # bytes: the tiles of a pattern and a checksum


class ColumnFile:
    """The columns of a sample in a file, which is created if it does not exist. Raises ``InputError``.

    One process at a time can use it. ``notify`` is told of damage in one line.
    """

    def __init__(
        self, path: Path, goal: Goal, sample: TreeSample, notify: Callable[[str], object] = lambda remark: None
    ) -> None:
        self.path, self.goal, self.nodes, self.notify = path, goal, len(sample), notify
        facts = {"columns": 1, "board": str(goal.grid), "blank": goal.blank, "sample": sample.fingerprint}
        self.label = json.dumps(facts).encode() + b"\n"
        try:
            self._file = path.open("a+b")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._file.tell():  # a new one
                self._file.write(self.label)
                self._file.flush()
            self._file.seek(0)
            if self._file.read(len(self.label)) != self.label:
                raise InputError(f"{path} does not hold columns of this sample: choose another file")
        except BlockingIOError:
            raise InputError(f"{path} is being used by another process: choose another file") from None
        except OSError as error:
            raise InputError(f"{path} cannot be used: {error.strerror or error}; choose another file") from None
        self.end = len(self.label)  # of the last sound record

    def _checksum(self, tiles: bytes, columns: bytes) -> str:
        return hashlib.sha256(self.label + tiles + columns).hexdigest()

    def read(self) -> Iterator[tuple[Pattern, np.ndarray]]:
        """The sound records: the pattern of a table and the columns of its orbit."""
        self._file.seek(self.end)
        sound = 0
        while line := self._file.readline(LONGEST_LINE):
            record = self._record(line)
            if record is None:
                rest = self._file.seek(0, 2) - self.end
                self.notify(
                    f"{self.path} is damaged after {counted(sound, 'table')}: the other {counted(rest, 'byte')} are "
                    "dropped, and what was there is built again when it is needed"
                )
                return
            self.end, sound = self._file.tell(), sound + 1
            yield record

    def _record(self, line: bytes) -> tuple[Pattern, np.ndarray] | None:
        """The record that begins with a line, or None if it is not sound."""
        words = line.decode("ascii", "replace").split()
        try:
            pattern = tuple(map(int, words[0].split(",")))
            orbit = self.goal.orbit(pattern)
        except (ValueError, IndexError):
            return None
        columns = self._file.read(len(orbit) * self.nodes)
        if len(words) != 2 or self._checksum(words[0].encode(), columns) != words[1]:
            return None
        return pattern, np.frombuffer(columns, dtype=np.uint8).reshape(len(orbit), self.nodes)

    def append(self, pattern: Pattern, columns: np.ndarray) -> None:
        """Write a record after the last sound one."""
        tiles, data = ",".join(map(str, pattern)).encode(), columns.astype(np.uint8).tobytes()
        try:
            self._file.truncate(self.end)
            self._file.write(tiles + f" {self._checksum(tiles, data)}\n".encode() + data)
            self._file.flush()
            self.end = self._file.tell()
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror or error}; choose another file") from None
