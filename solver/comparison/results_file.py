"""The CSV file of a comparison: one line per cell, written as soon as it is known.

Lines are only ever appended, so that finished searches survive whatever ends a comparison; an incomplete last line is
dropped when the file is resumed. At the end the lines are sorted, in a new file that replaces the old one. A file lock
keeps two programs from writing to the same file.

Saved results stand for hours of searching that nobody repeats, so every line carries a checksum of its other fields: a
count that was changed, by a slip in an editor or a bad disk, is noticed in whichever line it is.

Files of an earlier revision lack the columns that say where a line was measured. They are read as if these were empty,
and replaced by a file with all columns before the first line is added: lines of two kinds never share a file. Just to
read such a file, or to refuse to resume it, leaves it as it is.
"""

from __future__ import annotations

import contextlib
import csv
import fcntl
import hashlib
import io
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pdb_builder.base.errors import InputError
from pdb_builder.base.files import replaced

from ..board import BYTE_ORDER_MARK
from .cells import CUTS, FAILURES, Cell, furthest

HEADER = [*Cell._fields, "check"]
NO_ORIGIN = [name for name in HEADER if name not in ("machine", "revision")]  # the header of an earlier revision
NO_GOAL = "instance,board,algorithm,"  # the first columns of files that do not name the goal
CHECK_DIGITS = 8  # hexadecimal: one changed line in four billion goes unnoticed
MOST_COUNT = 2**63  # no count is as large


def _may_be_unproven(algorithm: str) -> bool:
    """Whether a search may have a solution, not yet proven shortest, when it hits a limit."""
    name, *parameters = algorithm.split(":")
    return name == "bidirectional" or any(
        word.replace("_", "-").startswith(("direction=", "both-ends=")) for word in parameters
    )


class ResultsFile:
    """A CSV file open for writing; ``cells`` are those it held when it was opened."""

    def __init__(self, path: Path, resume: bool) -> None:
        """Create the file; with ``resume``, continue it if it exists.

        Raises ``FileExistsError`` if it exists and is not to be resumed, and ``InputError`` if it cannot be used.
        """
        self.path = path
        if path.exists() and not path.is_file():  # reading a device or a pipe may never end
            raise InputError(f"{path} is not a regular file: choose another name")
        # Without a buffer, which would try to write again, and fail again, when the file is closed.
        self.file = open(path, "ab+" if resume else "xb+", buffering=0)  # noqa: SIM115
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
        self.file.seek(0)
        start = self.file.read(1000)
        # A large file of another kind is not read at all.
        self.header = self._header(start[: start.find(b"\n") + 1] or start)
        content = start + self.file.read()
        whole = content[: content.rfind(b"\n") + 1]
        cells = self._cells(whole.decode(errors="surrogateescape").removeprefix(BYTE_ORDER_MARK))
        if whole != content:
            self.file.truncate(len(whole))
        if not whole:
            self.header = HEADER
            self._write(header_line())
        return cells

    def _cells(self, text: str) -> list[Cell]:
        reader = csv.reader(io.StringIO(text))
        cells, number = [], 2
        try:
            next(reader, None)  # the header
            for words in reader:
                cells.append(self._cell(number, words))
                number = reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"{self.path}, line {number}: {error}: remove it") from None
        return cells

    def _header(self, line: bytes) -> list[str]:
        """The columns of a file that begins with this line. Raises ``InputError`` if it is not a file of results."""
        text = line.decode(errors="replace").removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")
        if text.startswith(NO_GOAL):
            raise InputError(f"{self.path} is from an earlier version, which saved no goals: choose another file")
        for header in (HEADER, NO_ORIGIN):
            if text == _line(header) or ("\n" not in text and _line(header).startswith(text)):
                return header
        raise InputError(
            f"{self.path} is not a results file: its first line is not '{header_line().strip()}'; choose another file"
        )

    def _cell(self, number: int, words: list[str]) -> Cell:
        line = f"{self.path}, line {number}: {','.join(words)[:80]!r}"
        if len(words) == len(self.header) and words[-1] != _check(words[:-1]):
            raise InputError(f"{line} does not match its checksum, so it was changed: remove it, to search again")
        try:
            if len(words) != len(self.header):
                raise ValueError
            instance, board, goal, algorithm, heuristic, *fields = words[:-1]
            length, h_start, expanded, generated, stored, seconds, limit, *origin = fields
            cell = Cell(
                int(instance),
                board,
                goal,
                algorithm,
                heuristic,
                int(length) if length else None,
                int(h_start),
                int(expanded),
                int(generated),
                int(stored) if stored else None,
                float(seconds),
                limit or None,
                *origin,
            )
            counts = (cell.h_start, cell.expanded, cell.generated - 1, cell.length or 0, cell.stored or 0)
            if min(counts) < 0 or max(counts) >= MOST_COUNT or not 0 <= cell.seconds < math.inf:
                raise ValueError
            if cell.limit_hit not in (None, *CUTS, *FAILURES) or (cell.length is None and cell.limit_hit is None):
                raise ValueError
            if cell.length is not None and cell.limit_hit is not None and not _may_be_unproven(cell.algorithm):
                raise ValueError
        except ValueError:
            raise InputError(f"{line} is not a line of results: remove it") from None
        return cell

    def add(self, cell: Cell) -> None:
        """Append a cell. Raises ``InputError`` if it cannot be written; the lines before it are kept."""
        self.complete_header()
        self._write(line_of(cell))

    def _write(self, line: str) -> None:
        rest = _bytes(line)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError as error:
            raise self._not_written(error) from None

    def _not_written(self, error: OSError) -> InputError:
        return InputError(
            f"{self.path}: {error.strerror or error}: make room, and continue with `resume` {self.path}; finished "
            "searches are kept"
        )

    def complete_header(self) -> None:
        """Let the file have all columns. Raises ``InputError`` if it cannot be replaced; its lines are kept."""
        if self.header == HEADER:
            return
        if not self._in_place():
            raise InputError(
                f"{self.path} was moved or removed while it was open: put it back, and continue with `resume` "
                f"{self.path}"
            )
        try:
            self._replace(self.cells)
        except OSError as error:
            raise self._not_written(error) from None

    def _replace(self, cells: Sequence[Cell]) -> None:
        """Put a file of these cells in the place of this one, and go on with that. Raises ``OSError``."""
        with contextlib.ExitStack() as undo:
            with replaced(self.path.resolve()) as file:
                file.writelines(map(_bytes, [header_line(), *map(line_of, cells)]))
                # Locked before it has its name, so that no other program can be faster.
                new = undo.enter_context(open(file.name, "ab+", buffering=0))
                fcntl.flock(new, fcntl.LOCK_EX | fcntl.LOCK_NB)
            undo.pop_all()
        self.file.close()
        self.file, self.header = new, HEADER

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *exception) -> None:
        self.file.close()

    def sort(self, order: Callable[[Cell], Any]) -> None:
        """Sort the lines, and of several for the same cell keep the one that got furthest."""
        with contextlib.suppress(OSError, InputError):  # the lines are kept, sorted or not
            cells = self._read()
            best: dict[tuple, Cell] = {}
            for cell in cells:
                key = (cell.instance, cell.board, cell.goal, cell.algorithm, cell.heuristic)
                best[key] = furthest(best.get(key), cell)
            in_order = sorted(best.values(), key=order)
            if (in_order != cells or self.header != HEADER) and self._in_place():
                self._replace(in_order)


def header_line() -> str:
    """The first line of a file."""
    return _line(HEADER)


def line_of(cell: Cell) -> str:
    """The line of a cell, with its checksum."""
    words = ["" if value is None else str(value) for value in cell]
    return _line([*words, _check(words)])


def _check(words: Sequence[str]) -> str:
    """The checksum of the other fields of a line, as they are written before it."""
    return hashlib.sha256(_bytes(_line(words).removesuffix("\n"))).hexdigest()[:CHECK_DIGITS]


def _line(words: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(words)
    return line.getvalue()


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")  # as in the name of a database that is not Unicode
