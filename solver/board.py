"""Boards as text: parsing, checking, printing.

A *board* says which tile is on which cell: a tuple, cell -> tile, with 0 for the blank. Written down it is the same
numbers, row by row, in nearly any notation::

    1 2 3 4 5 6 7 8 0        1,2,3 / 4,5,6 / 7,8,_        [[1, 2, 3], [4, 5, 6], [7, 8, 0]]

``parse_board`` is the only way in: whatever passes it holds every number once and fits its grid, so nothing behind it
checks a board again. Everything else is refused with one line that says what is wrong and how to repair it, however
strange the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import islice
from math import isqrt

from pdb_builder.base.errors import InputError
from pdb_builder.base.numeric import as_flag, as_integer
from pdb_builder.base.wording import counted
from pdb_builder.grid import MAX_CELLS, Grid

Board = tuple[int, ...]

BYTE_ORDER_MARK = "\ufeff"  # some programs start every file with it
MOST_NESTED = 4  # lists in lists that may make a board
TOO_LARGE = 10**9  # for a tile of any board
_BLANKS = frozenset("0_.xX")
_ROW_ENDS = re.compile(r"[/;()\[\]{}]")


# ---- text to board ------------------------------------------------------------------------------


def parse_board(text: str, grid: Grid | None = None, wrap: bool = False) -> tuple[Grid, Board]:
    """The board written in ``text``, and its grid.

    Numbers are separated by spaces, tabs or commas; rows by ``/``, ``;``, brackets or line breaks. The blank is 0,
    ``_``, ``.`` or ``x``. Text after ``#`` on a line is a comment. A single number before rows of several numbers is
    the size of the square that they form.

    The shape is that of ``grid``, else that of the rows, else a square; without ``grid``, ``wrap`` says whether the
    edges are joined. Raises ``InputError``, with a message of one line, for anything that is not a board.
    """
    rows = split_rows(text)
    if not rows:
        raise InputError("the board is empty: give its numbers row by row, as in '1 2 3 4 5 6 7 8 0'")
    numbers = [[_checked_number(word) for word in row] for row in rows]
    if len(numbers) > 1 and len(numbers[0]) == 1 < len(numbers[1]):
        numbers = _rows_after_size(numbers)
    _check_rectangle(numbers)
    board = tuple(number for row in numbers for number in row)
    if grid is None:
        grid = Grid(len(numbers), len(numbers[0]), wrap) if len(numbers) > 1 else _square(len(board), wrap)
    elif len(numbers) > 1 and (len(numbers), len(numbers[0])) != (grid.rows, grid.cols):
        raise InputError(
            f"the board is written as {len(numbers)} rows of {len(numbers[0])}, but its shape is {grid.shape}: "
            f"write {grid.rows} rows of {grid.cols}, or all numbers in one row"
        )
    _check_complete(board, grid)
    return grid, board


def split_rows(text: str) -> list[list[str]]:
    """The words of every row that has any, without comments."""
    rows = []
    for line in text.lstrip(BYTE_ORDER_MARK).splitlines():
        for part in _ROW_ENDS.split(line.partition("#")[0]):
            words = part.replace(",", " ").split()
            if words:
                rows.append(words)
    return rows


def number_of(word: str) -> int | None:
    """The number a word stands for; None if no board can hold it."""
    if word in _BLANKS:
        return 0
    if not (word.isascii() and word.isdigit()):
        return None
    digits = word.lstrip("0") or "0"
    return int(digits) if len(digits) < 7 else None  # int() refuses thousands of digits


def check_words(text: str) -> None:
    """Raise ``InputError`` if ``text`` holds a word that is not a number of any board."""
    for row in split_rows(text):
        for word in row:
            _checked_number(word)


def _checked_number(word: str) -> int:
    number = number_of(word)
    if number is not None:
        return number
    if re.fullmatch(r"-[0-9]+", word):
        raise InputError(f"the number {_quoted(word)} is negative: tiles are numbered from 1, the blank is 0")
    if word.isascii() and word.isdigit():
        raise InputError(f"the number {_quoted(word)} is too large: no board has more than {MAX_CELLS} cells")
    if "\0" in word:
        raise InputError(
            f"{_quoted(word)} is not a number: it has NUL characters, as UTF-16 has: save the text as UTF-8"
        )
    raise InputError(f"{_quoted(word)} is not a number: write tiles as numbers and the blank as 0, _, . or x")


def _rows_after_size(numbers: list[list[int]]) -> list[list[int]]:
    """The rows after a size line, if there are as many as it says, each with as many numbers."""
    size, rows = numbers[0][0], numbers[1:]
    if len(rows) != size:
        found = "1 row follows" if len(rows) == 1 else f"{len(rows)} rows follow"
    elif wrong := [row for row in rows if len(row) != size]:
        found = f"one has {counted(len(wrong[0]), 'number')}"
    else:
        return rows
    raise InputError(
        f"the first line announces {size} rows of {size} numbers, but {found}: "
        "complete the board, or leave out the first line"
    )


def _check_rectangle(numbers: list[list[int]]) -> None:
    for at, row in enumerate(numbers, 1):
        if len(row) != len(numbers[0]):
            raise InputError(
                f"row {at} has {counted(len(row), 'number')}, but row 1 has {len(numbers[0])}: "
                "write rows of equal length"
            )


def _square(count: int, wrap: bool) -> Grid:
    """The square grid of ``count`` cells."""
    if count < 4:
        raise InputError(f"{counted(count, 'number')} cannot be a board: the smallest board, 2x2, has 4")
    if count > MAX_CELLS:
        raise InputError(f"{count} numbers cannot be a board: at most {MAX_CELLS} cells are possible")
    side = isqrt(count)
    if side * side == count:
        return Grid(side, side, wrap)
    sides = [rows for rows in range(2, count // 2 + 1) if count % rows == 0]
    if not sides:
        raise InputError(f"{count} numbers cannot be a board of any shape: look for a missing or an extra number")
    shapes = [f"{rows}x{count // rows}" for rows in sides]
    best = shapes[(len(shapes) - 1) // 2]  # the one nearest to a square
    others = ", ".join(shape for shape in shapes if shape != best)
    raise InputError(f"{count} numbers do not make a square board: give `shape` {best} (or {others})")


def _check_complete(board: Board, grid: Grid) -> None:
    """Raise ``InputError`` unless the board holds every number from 0 to n-1 once."""
    cells, counts = grid.cells, Counter(board)
    faults = []
    if missing := [tile for tile in range(1, cells) if tile not in counts]:
        faults.append(f"missing {_some(missing)}")
    if repeated := sorted(tile for tile, times in counts.items() if 0 < tile < cells and times > 1):
        faults.append(f"repeated {_some(repeated)}")
    if foreign := sorted(tile for tile in counts if tile >= cells):
        faults.append(f"out of range {_some(foreign)}")
    if counts[0] != 1:
        faults.append(f"{counts[0]} blanks" if counts[0] else "no blank")
    if faults:
        fact = f"not {grid.a_board}"
        if len(board) != cells:
            fact = f"{counted(len(board), 'number')} for the {cells} cells of {grid.a_board}"
        raise InputError(f"{fact}: {'; '.join(faults)}: write each number from 0 (the blank) to {cells - 1} once")


def _quoted(word: str) -> str:
    """A word for a message: quoted, on one line, and not too long."""
    return repr(word if len(word) <= 24 else word[:20] + "…")


def _some(numbers: list[int]) -> str:
    """A list for a message: all numbers, or the first few and how many there are."""
    if len(numbers) <= 8:
        return ", ".join(map(str, numbers))
    return ", ".join(map(str, numbers[:6])) + f", … ({len(numbers)} in all)"


# ---- board to text ------------------------------------------------------------------------------


def format_board(grid: Grid, board: Sequence[int]) -> str:
    """The board on one line, with its rows separated unless it is a square. ``parse_board`` reads it back."""
    if grid.rows == grid.cols:
        return " ".join(map(str, board))
    rows = (board[at : at + grid.cols] for at in range(0, grid.cells, grid.cols))
    return " / ".join(" ".join(map(str, row)) for row in rows)


def draw_board(grid: Grid, board: Sequence[int]) -> str:
    """The board as rows of aligned numbers, the blank as a dot. ``parse_board`` reads it back."""
    return grid.draw(lambda cell: board[cell] or ".")


def draw_start_and_goal(grid: Grid, start: Sequence[int], goal: Sequence[int]) -> str:
    """Two boards side by side, with an arrow from the first to the second."""
    pairs = zip(draw_board(grid, start).splitlines(), draw_board(grid, goal).splitlines(), strict=True)
    middle = grid.rows // 2
    return "\n".join(
        f"    {left}  {'->' if row == middle else '  '}  {right}" for row, (left, right) in enumerate(pairs)
    )


# ---- arguments of Python callers ----------------------------------------------------------------


def grid_of(shape: str | tuple[int, int] | Grid, wrap: bool = False) -> Grid:
    """The grid of a shape, given as text, as rows and columns, or as a grid, whose edges ``wrap`` joins."""
    if isinstance(shape, Grid):
        return Grid(shape.rows, shape.cols, True) if as_flag("wrap", wrap) else shape
    if isinstance(shape, str):
        return Grid.parse(shape, wrap)
    try:
        rows, cols = shape
    except (TypeError, ValueError):
        raise InputError(f"{shape!r} is not a board shape: give rows and columns, as in '3x4' or (3, 4)") from None
    return Grid(rows, cols, wrap)


def board_text(board: object) -> str:
    """A board, or the name of a goal, as text for the parser.

    Text stays as it is. Numbers, and rows of them, may come from any sequence or array, the blank as in text.
    """
    return _text_of(board, nested=0)


def _text_of(value: object, nested: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Set | Mapping | bytes | bytearray):
        kind = type(value).__name__
        raise InputError(f"a board cannot be given as a {kind}: give text, or a list of numbers or rows")
    if (number := as_integer(value)) is not None:
        return str(max(-1, min(number, TOO_LARGE)))  # whatever is beyond is refused alike
    try:
        parts = iter(value)  # type: ignore[call-overload]  # which is what is to be found out
    except TypeError:
        return str(value)
    if nested > MOST_NESTED:
        raise InputError(f"the board has lists in lists in lists, {nested} deep: give a list of numbers or rows")
    some = islice(parts, MAX_CELLS + 1)  # more can only be refused, and there may be no end of them
    return f"[{' '.join(_text_of(one, nested + 1) for one in some)}]"
