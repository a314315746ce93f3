"""A file of boards: one per line, or matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import isqrt

from pdb_builder.grid import MAX_CELLS, Grid

from .board import _BYTE_ORDER_MARK, _number, _rows

_MAX_SIDE = isqrt(MAX_CELLS)


def read_boards(lines: Iterable[str], grid: Grid | None = None) -> Iterator[tuple[int, str]]:
    """Split a file into boards: the number of each one's first line (from 1) and its text.

    The text is for ``parse_board``, which also finds its faults; nothing is raised here. Comments are
    as if they were not there. What a line is, follows from how many numbers it has:

    - A single number, 2 or more, is the size of a matrix: so many rows follow. An empty line, another
      single number, or a line too long for a row ends it early; its text then begins with the size, so
      that ``parse_board`` misses what is missing.
    - With a ``grid``, a line of ``grid.cols`` numbers is a row of a matrix of ``grid.rows`` lines.
    - Without one, 2 to 10 numbers are a row: no square board has so few, except 2x2 and 3x3, hence four
      numbers below 4 and nine below 9 are a board. (So a 9x9 matrix that begins with such a row needs its
      size before it, or the grid.) Lines of the same length make one matrix until it is as high as wide,
      and on for as long as nothing is repeated and a number is too large for so many rows. An empty line
      ends it sooner: a board wider than high needs one after it, or the grid.
    - Every other line, and every line with row separators in it, is a board of its own. It is yielded
      at once, and never becomes part of a matrix.

    So a bad line costs the good ones around it nothing, unless they are rows of one matrix.
    """
    matrix: _Matrix | None = None
    for number, line in enumerate(lines, 1):
        text, comment, _ = line.lstrip(_BYTE_ORDER_MARK).partition("#")
        rows = _rows(text)
        if not rows:
            if matrix and matrix.rows and not comment:
                yield matrix.line, matrix.text()
                matrix = None
            continue
        if matrix and not matrix.takes(rows):
            yield matrix.line, matrix.text()
            matrix = None
        if matrix is None:
            matrix = _opened(number, rows, grid)
            if matrix is None:
                yield number, text.strip()
                continue
            if matrix.size:
                continue
        matrix.rows.append(rows[0])
        if matrix.full():
            yield matrix.line, matrix.text()
            matrix = None
    if matrix:
        yield matrix.line, matrix.text()


def _opened(line: int, rows: list[list[str]], grid: Grid | None) -> _Matrix | None:
    """The matrix that a line begins, if it begins one."""
    numbers = [_number(word) for word in rows[0]]
    if len(rows) > 1 or None in numbers:
        return None
    if len(numbers) == 1:
        return _Matrix(line, grid, size=numbers[0]) if 2 <= numbers[0] < 1000 else None
    return _Matrix(line, grid) if _is_row(numbers, grid) else None


def _is_row(numbers: list[int | None], grid: Grid | None = None) -> bool:
    """Whether a line has as many numbers as a row, rather than as a board."""
    if grid:
        return len(numbers) == grid.cols
    count = len(numbers)
    board = count in (4, 9) and all(number is None or number < count for number in numbers)
    return 2 <= count <= _MAX_SIDE and not board


@dataclass
class _Matrix:
    """The rows read so far of a board that is written over several lines."""

    line: int
    grid: Grid | None
    size: int = 0  # from a size line, else 0
    rows: list[list[str]] = field(default_factory=list)

    def takes(self, rows: list[list[str]]) -> bool:
        """Whether the next line belongs to it."""
        if len(rows) > 1:
            return False
        numbers = [_number(word) for word in rows[0]]
        if self.size:
            return len(numbers) == self.size or _is_row(numbers)
        if len(numbers) != len(self.rows[0]):
            return False
        if self.grid or set(numbers).isdisjoint(self._numbers()):
            return True
        # Before it is as high as wide, a repeated number is rather a slip than another board.
        return len(self.rows) < len(self.rows[0]) and _is_row(numbers)

    def full(self) -> bool:
        if self.size or self.grid:
            return len(self.rows) == (self.size or self.grid.rows)
        numbers = self._numbers()
        if len(self.rows) < len(self.rows[0]):
            return False
        distinct = None not in numbers and len(set(numbers)) == len(numbers)
        return not (distinct and len(numbers) <= max(numbers) < MAX_CELLS)

    def text(self) -> str:
        rows = [" ".join(row) for row in self.rows]
        sound = len(rows) == self.size and all(len(row) == self.size for row in self.rows)
        if self.size and not sound:
            rows.insert(0, str(self.size))
        return " / ".join(rows)

    def _numbers(self) -> list[int | None]:
        return [_number(word) for row in self.rows for word in row]
