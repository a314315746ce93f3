"""Files of boards: one board per line, or matrices, one row per line.

``read_boards`` tells the two apart line by line, and looks ahead no further than it must, so that it can sit at the end
of a pipe. What a line is follows from how many numbers it holds:

- A single number, 2 or more, is the size of a matrix, whose rows follow. An empty line, another single number, or a
  line too long for a row ends the matrix early.
- With a grid, a line of ``grid.cols`` numbers is a row of a matrix of ``grid.rows`` lines.
- Without a grid, 2 to 10 numbers are a row. Lines of the same length form one matrix until it is as high as it is wide,
  and on while no number is repeated and one is too large for the rows so far. An empty line ends it sooner: a board
  wider than it is high needs one after it, or the grid.
- What is a board already may still be the beginning of a larger one: four numbers below 4, or nine below 9, are a board
  of 2x2 or 3x3, or the first row of a matrix; and a square may have more rows below it. The next line decides: if the
  board goes on, that line has as many numbers as a row, and they are too large for the board so far. If the line is not
  on its way, whoever writes them waits for the answer to a board.
- Any other line, and any line with row separators in it, is a board by itself.

So a bad line costs the good ones around it nothing, unless they are rows of the same matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isqrt

from pdb_builder.grid import MAX_CELLS, Grid

from .board import BYTE_ORDER_MARK, number_of, split_rows

_MAX_SIDE = isqrt(MAX_CELLS)


def read_boards(
    lines: Iterable[str], grid: Grid | None = None, awaited: Callable[[], bool] = lambda: False
) -> Iterator[tuple[int, str]]:
    """Split a file into boards: the number of each board's first line (from 1) and its text.

    The text is for ``parse_board``, which also finds its faults; nothing is raised here. Comments are skipped. A line
    that is a board is yielded before the next line is read; one that may be, if ``awaited()`` says that the next line
    has yet to be written. The text of a matrix that does not have the size it announces starts with that size, so that
    ``parse_board`` can say what is missing.
    """
    matrix: _Matrix | None = None
    for number, line in enumerate(lines, 1):
        text, comment, _ = line.lstrip(BYTE_ORDER_MARK).partition("#")
        rows = split_rows(text)
        if not rows:
            if matrix and matrix.rows and not comment:
                yield matrix.line, matrix.text()
                matrix = None
            continue
        if matrix and not matrix.accepts(rows):
            yield matrix.line, matrix.text()
            matrix = None
        if matrix is None:
            matrix = _matrix_started_by(rows, number, grid)
            if matrix is None:
                yield number, text.strip()
                continue
            if matrix.size:
                continue
        matrix.rows.append(rows[0])
        if matrix.complete() or (matrix.may_be_whole() and awaited()):
            yield matrix.line, matrix.text()
            matrix = None
    if matrix:
        yield matrix.line, matrix.text()


def _matrix_started_by(rows: list[list[str]], line: int, grid: Grid | None) -> _Matrix | None:
    """The matrix whose size or first row a line is, if any."""
    numbers = [number for word in rows[0] if (number := number_of(word)) is not None]
    if len(rows) > 1 or len(numbers) < len(rows[0]):
        return None
    if len(numbers) == 1:
        return _Matrix(line, grid, size=numbers[0]) if 2 <= numbers[0] < 1000 else None
    return _Matrix(line, grid) if _is_row(numbers, grid) else None


def _is_row(numbers: Sequence[int | None], grid: Grid | None = None) -> bool:
    """Whether a line has as many numbers as a row."""
    return len(numbers) == grid.cols if grid else 2 <= len(numbers) <= _MAX_SIDE


def _is_small_board(numbers: Sequence[int | None]) -> bool:
    """Whether the numbers of a line could be a board of 2x2 or 3x3."""
    count = len(numbers)
    return count in (4, 9) and all(number is None or number < count for number in numbers)


@dataclass
class _Matrix:
    """The rows read so far of a board that is written on several lines."""

    line: int
    grid: Grid | None
    size: int = 0  # from a size line, else 0
    rows: list[list[str]] = field(default_factory=list)

    def accepts(self, rows: list[list[str]]) -> bool:
        """Whether the next line belongs to it."""
        if len(rows) > 1:
            return False
        numbers = [number_of(word) for word in rows[0]]
        if self.size:
            return len(numbers) == self.size or (_is_row(numbers) and not _is_small_board(numbers))
        width = len(self.rows[0])
        if len(numbers) != width:
            return False
        if self.grid:
            return True
        if self.may_be_whole():
            # Most of them, not all: the next row of a large board may hold a typo, and a typo does not make one.
            cells = width * len(self.rows)
            return 2 * sum(number is not None and number >= cells for number in numbers) > width
        if set(numbers).isdisjoint(self._numbers()):
            return True
        # Until it is as high as it is wide, a repeated number is more likely a typo than the start of another board.
        return len(self.rows) < width and not _is_small_board(numbers)

    def may_be_whole(self) -> bool:
        """Whether it is a board as it is, if no more rows follow."""
        numbers = self._numbers()
        if self.grid or self.size:
            return False
        if len(self.rows) == 1:
            return _is_small_board(numbers)
        return len(self.rows) >= len(self.rows[0]) and set(numbers) == set(range(len(numbers)))

    def complete(self) -> bool:
        if height := self.size or (self.grid.rows if self.grid else 0):
            return len(self.rows) == height
        if len(self.rows) < len(self.rows[0]) or self.may_be_whole():
            return False
        numbers = self._numbers()
        known = {number for number in numbers if number is not None}
        return not (len(known) == len(numbers) <= max(known) < MAX_CELLS)

    def text(self) -> str:
        rows = [" ".join(row) for row in self.rows]
        as_announced = len(rows) == self.size and all(len(row) == self.size for row in self.rows)
        if self.size and not as_announced:
            rows.insert(0, str(self.size))
        return " / ".join(rows)

    def _numbers(self) -> list[int | None]:
        return [number_of(word) for row in self.rows for word in row]
