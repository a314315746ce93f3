"""The CSV file of a comparison: a line for each cell, written as soon as it is known.

Lines are only ever added, so whatever ends a comparison, what was done is there; a last line that was cut
short is dropped when the file is taken up again. In the end the lines are put in order, in a new file that
takes the place of the old one. While one program writes to a file, others keep off it.
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

from .comparison import CUTS, FAILURES, Cell, furthest

# Searches that may have a solution when they hit a limit, one that they have not proven shortest.
UNPROVEN = ("bidirectional",)
MOST = 2**63  # no count is larger


class ResultsFile:
    """A CSV file that is open for writing; ``cells`` is what it held to begin with."""

    def __init__(self, path: Path, resume: bool) -> None:
        """Make the file, or take up the one that is there if ``resume``."""
        self.path = path
        if path.exists() and not path.is_file():  # reading a device or a pipe may never end
            raise InputError(f"{path} is no file: give another name")
        try:
            self.file = open(path, "a+" if resume else "x+", encoding="utf-8", newline="")  # noqa: SIM115
        except FileExistsError:
            raise InputError(f"{path} exists: continue it with --resume {path}, or give another file") from None
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._in_place():  # its writer has just put another file in its place
                raise BlockingIOError
            self.cells = self._read()
        except BlockingIOError:
            self.file.close()
            raise InputError(f"another program is writing to {path}: wait for it, or give another file") from None
        except BaseException:
            self.file.close()
            raise

    def _in_place(self) -> bool:
        """Whether the open file is still the one that has the name."""
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(self.file.fileno()), os.stat(self.path))
        return False

    def _read(self) -> list[Cell]:
        """The cells of the file. If it is empty it gets its first line; a last line cut short is removed."""
        try:
            self.file.seek(0)
            text = self.file.read()
        except UnicodeDecodeError:
            raise self._foreign() from None
        whole = text[: text.rfind("\n") + 1]
        if not whole:
            if not _line(Cell._fields).startswith(text):
                raise self._foreign()
            self.file.truncate(0)
            self._write(Cell._fields)
            return []
        try:
            header, *lines = csv.reader(io.StringIO(whole.removeprefix("\ufeff")))  # some programs put a mark first
        except csv.Error:
            raise self._foreign() from None
        if header != list(Cell._fields):
            raise self._foreign()
        cells = [self._cell(number, line) for number, line in enumerate(lines, 2)]
        if whole != text:
            self.file.truncate(len(whole.encode()))
        return cells

    def _foreign(self) -> InputError:
        names = ",".join(Cell._fields)
        return InputError(f"{self.path} is no file of results: its first line is not '{names}'; give another file")

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
                f"{self.path}, line {number}: '{','.join(words)[:80]}' is no line of results: remove it"
            ) from None
        return cell

    def add(self, cell: Cell) -> None:
        self._write(cell)

    def _write(self, words: tuple) -> None:
        try:
            self.file.write(_line(words))
            self.file.flush()
        except OSError as error:
            raise InputError(
                f"{self.path}: {error.strerror}: make room, and go on with --resume {self.path}; what is done is kept"
            ) from None

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *exception) -> None:
        self.file.close()

    def put_in_order(self, order: Callable[[Cell], Any]) -> None:
        """Put the lines in order, of those of one cell only the one that got furthest. The last thing to do."""
        with contextlib.suppress(OSError):  # a nicety: without it nothing is lost
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
