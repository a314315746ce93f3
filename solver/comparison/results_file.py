"""The CSV file of a comparison: one line per cell, written as soon as it is known.

Lines are only ever appended, so that finished searches survive whatever ends a comparison; an incomplete last line is
dropped when the file is resumed. At the end the lines are sorted, in a new file that replaces the old one. A file lock
keeps two programs from writing to the same file.
"""

from __future__ import annotations

import contextlib
import csv
import fcntl
import io
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pdb_builder.base.errors import InputError
from pdb_builder.base.files import replaced

from .cells import CUTS, FAILURES, Cell, furthest

# Searches that may have a solution, not yet proven shortest, when they hit a limit.
UNPROVEN = ("bidirectional",)
MOST = 2**63  # no count is larger


class ResultsFile:
    """A CSV file open for writing; ``cells`` are those it held when it was opened."""

    def __init__(self, path: Path, resume: bool) -> None:
        """Create the file; with ``resume``, continue it if it exists.

        Raises ``FileExistsError`` if it exists and is not to be resumed, and ``InputError`` if it cannot be used.
        """
        self.path = path
        if path.exists() and not path.is_file():  # reading a device or a pipe may never end
            raise InputError(f"{path} is not a regular file: choose another name")
        self.file = open(path, "a+" if resume else "x+", encoding="utf-8", newline="")  # noqa: SIM115
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._in_place():  # its writer has just replaced it
                raise BlockingIOError
            self.cells = self._read()
        except BlockingIOError:
            self.file.close()
            raise InputError(f"another program is writing to {path}: wait for it, or choose another file") from None
        except BaseException:
            self.file.close()
            raise

    def _in_place(self) -> bool:
        """Whether the open file is still the one at the path."""
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(self.file.fileno()), os.stat(self.path))
        return False

    def _read(self) -> list[Cell]:
        """The cells of the file. An empty file gets its header, and an incomplete last line is removed."""
        try:
            self.file.seek(0)
            text = self.file.read()
        except UnicodeDecodeError:
            raise self._not_ours() from None
        whole = text[: text.rfind("\n") + 1]
        if not whole:
            if not _line(Cell._fields).startswith(text):
                raise self._not_ours()
            self.file.truncate(0)
            self._write(Cell._fields)
            return []
        try:
            header, *lines = csv.reader(
                io.StringIO(whole.removeprefix("\ufeff"))
            )  # some programs put a byte order mark first
        except csv.Error:
            raise self._not_ours() from None
        if header != list(Cell._fields):
            raise self._not_ours()
        cells = [self._cell(number, line) for number, line in enumerate(lines, 2)]
        if whole != text:
            self.file.truncate(len(whole.encode()))
        return cells

    def _not_ours(self) -> InputError:
        header = ",".join(Cell._fields)
        return InputError(f"{self.path} is not a results file: its first line is not '{header}'; choose another file")

    def _cell(self, number: int, words: list[str]) -> Cell:
        try:
            instance, board, algorithm, heuristic, length, h_start, expanded, generated, stored, seconds, limit = words
            cell = Cell(
                int(instance),
                board,
                algorithm,
                heuristic,
                int(length) if length else None,
                int(h_start),
                int(expanded),
                int(generated),
                int(stored) if stored else None,
                float(seconds),
                limit or None,
            )
            counts = (cell.h_start, cell.expanded, cell.generated - 1, cell.length or 0, cell.stored or 0)
            if min(counts) < 0 or max(counts) >= MOST or not 0 <= cell.seconds < math.inf:
                raise ValueError
            if cell.limit_hit not in (None, *CUTS, *FAILURES) or (cell.length is None and cell.limit_hit is None):
                raise ValueError
            if cell.length is not None and cell.limit_hit is not None and cell.algorithm not in UNPROVEN:
                raise ValueError
        except ValueError:
            raise InputError(
                f"{self.path}, line {number}: '{','.join(words)[:80]}' is not a line of results: remove it"
            ) from None
        return cell

    def add(self, cell: Cell) -> None:
        """Append a cell. Raises ``OSError`` if it cannot be written; the lines before it are kept."""
        self._write(cell)

    def _write(self, words: tuple) -> None:
        try:
            self.file.write(_line(words))
            self.file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *exception) -> None:
        self.file.close()

    def sort(self, order: Callable[[Cell], Any]) -> None:
        """Sort the lines, and of several for the same cell keep the one that got furthest. The last thing to do."""
        with contextlib.suppress(OSError):  # the lines are kept, sorted or not
            cells = self._read()
            best: dict[tuple, Cell] = {}
            for cell in cells:
                key = (cell.instance, cell.board, cell.algorithm, cell.heuristic)
                best[key] = furthest(best.get(key), cell)
            in_order = sorted(best.values(), key=order)
            if in_order != cells and self._in_place():
                with replaced(self.path.resolve()) as file:
                    file.writelines(_line(words).encode() for words in [Cell._fields, *in_order])


def _line(words: tuple) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(words)
    return line.getvalue()
