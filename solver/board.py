"""Boards as text: reading, checking, drawing, drawing lots, and the sets of boards that are shipped.

A *board* says which tile stands on which cell: a tuple, cell -> tile, with 0 for the blank. On paper
it is the same numbers, row by row, in nearly any dress::

    1 2 3 4 5 6 7 8 0        1,2,3 / 4,5,6 / 7,8,_        [[1, 2, 3], [4, 5, 6], [7, 8, 0]]

Half of all boards cannot be solved. A move exchanges the blank with a tile, so it turns an even
rearrangement into an odd one and back; it also takes the blank to a cell of the other chessboard
colour. The two go in step, so a board and its goal must agree in both or differ in both. On every
board of at least 2x2 cells this is the *only* obstacle. A wrapped odd side breaks the colouring, and
then there is none: every board can be solved. ``solvability`` derives the rule of the textbooks from this.

A file holds one board a line, or matrices, one row a line. ``read_boards`` tells them apart line by
line, without looking ahead where a line is a board, so that it can sit at the end of a pipe.
"""

from __future__ import annotations

import csv
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from math import isqrt
from typing import NamedTuple

from pdb_builder.grid import MAX_CELLS, Grid, InputError

Board = tuple[int, ...]

GOALS = ("last", "first", "spiral")

_BLANKS = frozenset("0_.xX")
_ROW_ENDS = re.compile(r"[/;()\[\]{}]")
_MAX_SIDE = isqrt(MAX_CELLS)
_BYTE_ORDER_MARK = "\ufeff"  # some editors begin every file with it


# --- text to board ------------------------------------------------------------------------------


def parse_board(text: str, grid: Grid | None = None, wrap: bool = False) -> tuple[Grid, Board]:
    """The board written in ``text``, and its grid.

    Numbers are separated by spaces, tabs or commas; rows by ``/``, ``;``, brackets or new lines. The
    blank is 0, ``_``, ``.`` or ``x``. What follows ``#`` on a line is a comment. A single number before
    rows of several is the size of the square that they make.

    The shape is that of ``grid``, else that of the rows, else a square; without ``grid`` the edges are joined
    if ``wrap`` says so. Raises ``InputError``, with a message of one line, for everything that is not a board.
    """
    rows = _rows(text)
    if not rows:
        raise InputError("the board is empty: give its numbers row by row, as in '1 2 3 4 5 6 7 8 0'")
    numbers = [[_checked_number(word) for word in row] for row in rows]
    if len(numbers) > 1 and len(numbers[0]) == 1 < len(numbers[1]):
        numbers = _after_size(numbers)
    _check_rectangle(numbers)
    board = tuple(number for row in numbers for number in row)
    if grid is None:
        grid = Grid(len(numbers), len(numbers[0]), wrap) if len(numbers) > 1 else _square(len(board), wrap)
    elif len(numbers) > 1 and (len(numbers), len(numbers[0])) != (grid.rows, grid.cols):
        raise InputError(
            f"the board is written as {len(numbers)} rows of {len(numbers[0])}, but its shape is {grid.shape}: "
            f"write {grid.rows} rows of {grid.cols}, or all numbers in one row"
        )
    _check_numbers(board, grid)
    return grid, board


def _rows(text: str) -> list[list[str]]:
    """The words of every row that has any."""
    rows = []
    for line in text.lstrip(_BYTE_ORDER_MARK).splitlines():
        for part in _ROW_ENDS.split(line.partition("#")[0]):
            words = part.replace(",", " ").split()
            if words:
                rows.append(words)
    return rows


def _number(word: str) -> int | None:
    """The number a word stands for, or None if it is none that any board could hold."""
    if word in _BLANKS:
        return 0
    if not (word.isascii() and word.isdigit()):
        return None
    digits = word.lstrip("0") or "0"
    return int(digits) if len(digits) < 7 else None  # int() refuses thousands of digits


def _checked_number(word: str) -> int:
    number = _number(word)
    if number is not None:
        return number
    if re.fullmatch(r"-[0-9]+", word):
        raise InputError(f"the number {_short(word)} is negative: tiles are numbered from 1, the blank is 0")
    if word.isascii() and word.isdigit():
        raise InputError(f"the number {_short(word)} is too large: no board has more than {MAX_CELLS} cells")
    raise InputError(f"{_short(word)} is not a number: write tiles as numbers and the blank as 0, _, . or x")


def _after_size(numbers: list[list[int]]) -> list[list[int]]:
    """The rows after a size line, if they are as many and as wide as it says."""
    size, rows = numbers[0][0], numbers[1:]
    wrong = next((row for row in rows if len(row) != size), None)
    if len(rows) == size and wrong is None:
        return rows
    found = f"{_count(len(rows), 'row')} follow" if len(rows) != size else f"one has {_count(len(wrong), 'number')}"
    raise InputError(
        f"the first line promises {size} rows of {size} numbers, but {found}: "
        "complete the board or leave the first line out"
    )


def _check_rectangle(numbers: list[list[int]]) -> None:
    for at, row in enumerate(numbers, 1):
        if len(row) != len(numbers[0]):
            raise InputError(
                f"row {at} has {_count(len(row), 'number')}, but row 1 has {len(numbers[0])}: "
                "write rows of equal length"
            )


def _square(count: int, wrap: bool) -> Grid:
    """The square board of ``count`` cells."""
    if count < 4:
        raise InputError(f"{_count(count, 'number')} cannot be a board: the smallest, 2x2, has 4")
    if count > MAX_CELLS:
        raise InputError(f"{count} numbers cannot be a board: at most {MAX_CELLS} cells are possible")
    side = isqrt(count)
    if side * side == count:
        return Grid(side, side, wrap)
    sides = [rows for rows in range(2, count // 2 + 1) if count % rows == 0]
    if not sides:
        raise InputError(f"{count} numbers cannot be a board of any shape: see whether one is missing or too many")
    shapes = [f"{rows}x{count // rows}" for rows in sides]
    best = shapes[(len(shapes) - 1) // 2]  # the one nearest to a square
    others = ", ".join(shape for shape in shapes if shape != best)
    raise InputError(f"{count} numbers make no square board: give the shape, as in --shape {best} (or {others})")


def _check_numbers(board: Board, grid: Grid) -> None:
    """Raise unless the board holds every number from 0 to n-1 once."""
    cells, counts = grid.cells, Counter(board)
    faults = []
    if missing := [tile for tile in range(1, cells) if tile not in counts]:
        faults.append(f"missing {_some(missing)}")
    if repeated := sorted(tile for tile, times in counts.items() if 0 < tile < cells and times > 1):
        faults.append(f"repeated {_some(repeated)}")
    if foreign := sorted(tile for tile in counts if tile >= cells):
        faults.append(f"foreign {_some(foreign)}")
    if counts[0] != 1:
        faults.append(f"{counts[0]} blanks" if counts[0] else "no blank")
    if faults:
        fact = f"not a {grid.shape} board"
        if len(board) != cells:
            fact = f"{_count(len(board), 'number')} for the {cells} cells of a {grid.shape} board"
        raise InputError(f"{fact}: {'; '.join(faults)}: write each number from 0 (the blank) to {cells - 1} once")


def _short(word: str) -> str:
    """A word for a message: quoted, on one line, not too long."""
    return repr(word if len(word) <= 24 else word[:20] + "…")


def _some(numbers: list[int]) -> str:
    """A list for a message: the first few, and how many."""
    if len(numbers) <= 8:
        return ", ".join(map(str, numbers))
    return ", ".join(map(str, numbers[:6])) + f", … ({len(numbers)} in all)"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


# --- file to boards -----------------------------------------------------------------------------


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


# --- goals and parity ---------------------------------------------------------------------------


def goal_board(grid: Grid, text: str = "last") -> Board:
    """A goal by name, or written out as a board of the grid.

    ``last`` is 1 2 ... n-1 with the blank last, ``first`` the same with the blank first, ``spiral``
    winds clockwise inwards from the top left corner and ends with the blank.
    """
    name = text.strip().lower()
    if name == "last":
        return grid.goal(grid.cells - 1)
    if name == "first":
        return grid.goal(0)
    if name == "spiral":
        return _spiral(grid)
    try:
        return parse_board(text, grid)[1]
    except InputError as error:
        raise _no_goal(error) from None


def check_goal(text: str) -> None:
    """Raise ``InputError`` for what is the goal of no board, whatever its shape."""
    if text.strip().lower() not in GOALS:
        try:
            for words in _rows(text):
                for word in words:
                    _checked_number(word)
        except InputError as error:
            raise _no_goal(error) from None


def _no_goal(error: InputError) -> InputError:
    return InputError(f"the goal is neither {', '.join(GOALS)} nor a board: {error}")


def _spiral(grid: Grid) -> Board:
    board = [0] * grid.cells
    rows = [list(range(row * grid.cols, (row + 1) * grid.cols)) for row in range(grid.rows)]
    tile = 1
    while rows:
        for cell in rows.pop(0):
            board[cell] = tile % grid.cells  # the last cell is left to the blank
            tile += 1
        rows = [list(column) for column in zip(*rows, strict=True)][::-1]  # a quarter turn
    return tuple(board)


def why_unsolvable(grid: Grid, start: Sequence[int], goal: Sequence[int]) -> str | None:
    """None if moves lead from ``start`` to ``goal``, both boards of the grid; else the reason, in one line."""
    if not grid.bipartite:
        return None
    odd_order = exchanges(start, goal) % 2 == 1
    colours = [grid.odd_cells >> board.index(0) & 1 for board in (start, goal)]
    odd_way = colours[0] != colours[1]
    if odd_order == odd_way:
        return None
    order, way = ("odd", "even") if odd_order else ("even", "odd")
    return (
        f"the board cannot be solved: its order is an {order} number of exchanges from the goal, "
        f"but the way of the blank is an {way} number of moves: exchange any two tiles, as in 1 and 2"
    )


def exchanges(start: Sequence[int], goal: Sequence[int]) -> int:
    """The fewest exchanges of two numbers, blank included, that make ``goal`` of ``start``."""
    home = {tile: cell for cell, tile in enumerate(goal)}
    unseen = set(range(len(goal)))
    count = 0
    while unseen:
        first = cell = unseen.pop()
        while (cell := home[start[cell]]) != first:  # a cycle of k cells is k-1 exchanges
            unseen.remove(cell)
            count += 1
    return count


def random_board(grid: Grid, goal: Sequence[int], chance: random.Random) -> Board:
    """A board drawn evenly from all those that ``goal`` can be reached from."""
    board = list(range(grid.cells))
    chance.shuffle(board)
    if why_unsolvable(grid, board, goal):
        # Exchanging two fixed tiles pairs every unsolvable board with one solvable board, so each
        # solvable board is drawn in exactly two ways.
        a, b = board.index(1), board.index(2)
        board[a], board[b] = 2, 1
    return tuple(board)


# --- board to text ------------------------------------------------------------------------------


def format_board(grid: Grid, board: Sequence[int]) -> str:
    """The board on one line, its rows told apart if it is no square. ``parse_board`` reads it back."""
    if grid.rows == grid.cols:
        return " ".join(map(str, board))
    rows = (board[at : at + grid.cols] for at in range(0, grid.cells, grid.cols))
    return " / ".join(" ".join(map(str, row)) for row in rows)


def draw_board(grid: Grid, board: Sequence[int]) -> str:
    """The board as rows of aligned numbers, the blank as a dot. ``parse_board`` reads it back."""
    return grid.draw(lambda cell: board[cell] or ".")


def draw_way(grid: Grid, start: Sequence[int], goal: Sequence[int]) -> str:
    """Two boards side by side, with an arrow from the one to the other."""
    pairs = zip(draw_board(grid, start).splitlines(), draw_board(grid, goal).splitlines(), strict=True)
    middle = grid.rows // 2
    return "\n".join(
        f"    {left}  {'->' if row == middle else '  '}  {right}" for row, (left, right) in enumerate(pairs)
    )


# --- shipped sets -------------------------------------------------------------------------------

# The 100 boards of Korf (1985), the 50 of Korf & Felner (2002), and all 17 boards of 4x4 that need
# 80 moves, the most there is.
_SETS = {
    "korf100": (Grid(4, 4), "first"),
    "korf24": (Grid(5, 5), "first"),
    "farthest": (Grid(4, 4), "last"),
}
SETS = tuple(_SETS)


class Instance(NamedTuple):
    """A board of a published set."""

    id: int
    board: Board
    length: int | None  # moves of a shortest solution
    generated: int | None  # nodes generated by the search that was published with it


def load_set(name: str) -> tuple[Grid, Board, list[Instance]]:
    """A shipped set by name: its grid, its goal, its boards."""
    if name not in _SETS:
        raise InputError(f"there is no set of boards {_short(name)}: choose one of {', '.join(SETS)}")
    grid, goal = _SETS[name]
    text = (files(__package__) / "data" / f"{name}.csv").read_text(encoding="ascii")
    instances = [
        Instance(int(number), parse_board(tiles, grid)[1], _known(length), _known(generated))
        for number, tiles, length, generated in list(csv.reader(text.splitlines()))[1:]
    ]
    return grid, goal_board(grid, goal), instances


def _known(text: str) -> int | None:
    return int(text) if text else None
