"""The CSV file of a comparison: a line for each cell, written as soon as it is known.

Lines are only ever added, so whatever ends a comparison, what was done is there; a last line that was cut
short is dropped when the file is taken up again. A finished comparison puts the lines in order, in a new file
that takes the place of the old one. While one program writes to a file, others keep off it.
"""

from __future__ import annotations

import csv
import fcntl
import io
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pdb_builder.grid import InputError

from .comparing import Cell

LIMITS = ("time", "nodes", "memory")


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
        except BlockingIOError:
            self.file.close()
            raise InputError(f"another program is writing to {path}: wait for it, or give another file") from None
        try:
            self.cells = self._read()
        except BaseException:
            self.file.close()
            raise

    def _read(self) -> list[Cell]:
        """The cells of the file. If it is empty it gets its first line; a last line cut short is removed."""
        try:
            self.file.seek(0)
            text = self.file.read()
        except UnicodeDecodeError:
            raise self._foreign() from None
        whole = text[: text.rfind("\n") + 1]
        if not whole:
            if text and not _line(Cell._fields).startswith(text):
                raise self._foreign()
            self.file.truncate(0)
            self.file.write(_line(Cell._fields))
            self.file.flush()
            return []
        try:
            header, *lines = csv.reader(io.StringIO(whole))
        except csv.Error:
            raise self._foreign() from None
        if header != list(Cell._fields):
            raise self._foreign()
        cells = [self._cell(number, line) for number, line in enumerate(lines, 2)]
        if whole != text:
            self.file.truncate(len(whole.encode()))
        return cells

    def _foreign(self) -> InputError:
        return InputError(f"{self.path} is no file of results: its first line is not '{','.join(Cell._fields)}'")

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
            if min(counts) < 0 or not 0 <= cell.seconds < math.inf:
                raise ValueError
            if cell.limit_hit not in (None, *LIMITS) or (cell.length is None) != (cell.limit_hit is not None):
                raise ValueError
        except ValueError:
            raise InputError(
                f"{self.path}, line {number}: '{','.join(words)[:80]}' is no line of results: remove it"
            ) from None
        return cell

    def add(self, cell: Cell) -> None:
        self.file.write(_line(cell))
        self.file.flush()

    def close(self, order: Callable[[Cell], Any]) -> None:
        """Put the lines in order, without those that later ones replaced, and close the file."""
        with self.file:
            cells = self._read()
            last = {(cell.instance, cell.board, cell.algorithm, cell.heuristic): cell for cell in cells}
            in_order = sorted(last.values(), key=order)
            if in_order != cells:
                path = self.path.resolve()
                new = path.with_name(f".{path.name}.new")
                try:
                    with open(new, "w", encoding="utf-8", newline="") as file:
                        file.writelines(_line(words) for words in [Cell._fields, *in_order])
                    os.replace(new, path)
                finally:
                    new.unlink(missing_ok=True)


def _line(words: tuple) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(words)
    return line.getvalue()
