"""A file of columns, so that a search for collections can be resumed, or done again with another budget.

Building tables takes nearly all of the time, and a column is all that remains of one. The file begins with one line
that says what it is for: the goal and the fingerprint of the sample. Records follow, each a line with the tiles of a
table's pattern and a SHA-256, and then its columns, one byte per node, those of all patterns of the orbit in ascending
order. Records are only ever appended. The checksum covers the first line, the tiles and the columns, so a record that
was cut short, changed or taken from another file is noticed: reading ends before it, and the next one takes its place.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..pattern import Pattern
from .symmetry import Goal
from .tree_sample import TreeSample

LONGEST_LINE = 200  # bytes: the tiles of a pattern and a checksum


class ColumnFile:
    """The columns of a sample in a file, which is created if it does not exist. Raises ``InputError``.

    One process at a time can use it.
    """

    def __init__(self, path: Path, goal: Goal, sample: TreeSample) -> None:
        self.path, self.goal, self.nodes = path, goal, len(sample)
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
        file = self._file
        file.seek(self.end)
        while line := file.readline(LONGEST_LINE):
            words = line.decode("ascii", "replace").split()
            try:
                pattern = tuple(map(int, words[0].split(",")))
                orbit = self.goal.orbit(pattern)
            except (ValueError, IndexError):
                return
            columns = file.read(len(orbit) * self.nodes)
            if len(words) != 2 or self._checksum(words[0].encode(), columns) != words[1]:
                return
            self.end = file.tell()
            yield pattern, np.frombuffer(columns, dtype=np.uint8).reshape(len(orbit), self.nodes)

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
