"""Texts of boards, well written and not, together with what they mean.

The grammar follows the guide: numbers separated by spaces, tabs or commas, rows by separators or line breaks, a size
before a matrix, comments, the blank in four spellings, and the line ends and marks of other systems. So the boards that
a text holds are known without any parser. A *flaw* turns a board into something that is none; a text with a flaw must
be refused, or at least that board of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from pdb_builder.grid import Grid

from ..helpers import random_goal, scrambled
from .truth import NAMES, Board, Puzzle, named_goal

BLANKS = "0_.xX"
MOST_ROW = 10  # numbers of a line that is read as a row, where no shape says otherwise

SMALL = ((2, 2), (2, 3), (3, 2), (3, 3), (2, 4), (4, 2))  # searched as a whole, see ``truth``
SHAPES = (*SMALL, (3, 3), (3, 4), (4, 4), (4, 4), (5, 5), (2, 7))
LARGE = (*SHAPES, (6, 6), (9, 9), (10, 10), (2, 50), (3, 20))


class Text(NamedTuple):
    """A text of boards and its meaning."""

    content: bytes
    puzzles: tuple[Puzzle, ...]  # the boards that are well written, in order
    flawed: bool = False  # whether it holds anything else
    unclear: bool = False  # whether it may be refused, because it could be read in another way
    options: tuple[str, ...] = ()  # what must be on the command line for it


# ---- boards -------------------------------------------------------------------------------------


def draw_grid(chance: random.Random, shapes: tuple[tuple[int, int], ...] = SHAPES) -> Grid:
    return Grid(*chance.choice(shapes), wrap=chance.random() < 0.2)


def draw_goal(chance: random.Random, grid: Grid) -> tuple[Board, tuple[str, ...]]:
    """A goal, and the options that ask for it."""
    kind = chance.random()
    if kind < 0.5:
        return named_goal(grid, "last"), ()
    if kind < 0.85 or grid.cells > 16:
        name = chance.choice(NAMES)
        return named_goal(grid, name), ("--goal", name)
    goal = random_goal(grid, chance, blank=chance.choice((0, grid.cells // 2, grid.cells - 1)))
    return goal, ("--goal", line_of(chance, grid, goal))


def draw_board(chance: random.Random, grid: Grid, goal: Board, near: bool) -> Board:
    """A board: near the goal; or drawn from all of them, of which half cannot be solved."""
    if near or grid.cells > 16:
        return scrambled(grid, goal, chance.choice((0, 1, 2, 5, 10, 16)), chance)
    return tuple(chance.sample(range(grid.cells), grid.cells))


# ---- well written -------------------------------------------------------------------------------


def words_of(chance: random.Random, board: Board) -> list[str]:
    blank = chance.choice(BLANKS)
    return [str(tile) if tile else blank for tile in board]


def rows_of(grid: Grid, words: list[str]) -> list[list[str]]:
    return [words[at : at + grid.cols] for at in range(0, len(words), grid.cols)]


def line_of(chance: random.Random, grid: Grid, board: Board, *, separated: bool = True) -> str:
    """A board on one line, which says its shape unless it is a square or ``separated`` is False."""
    return _line(chance, grid, words_of(chance, board), separated)


def _line(chance: random.Random, grid: Grid, words: list[str], separated: bool) -> str:
    between = chance.choice((" ", " ", ",", ", ", "\t", "  "))
    square = grid.rows == grid.cols
    if not separated or (square and chance.random() < 0.5):
        return between.join(words)
    rows = [between.join(row) for row in rows_of(grid, words)]
    if chance.random() < 0.2:
        opening, closing = chance.choice(("[]", "()", "{}"))
        return opening + ", ".join(opening + row + closing for row in rows) + closing
    return chance.choice((" / ", "/", ";", " ; ")).join(rows)


def matrix_of(chance: random.Random, grid: Grid, board: Board) -> list[str]:
    """A board on several lines."""
    return _matrix(chance, grid, words_of(chance, board))


def _matrix(chance: random.Random, grid: Grid, words: list[str]) -> list[str]:
    lines = [chance.choice((" ", "\t", ",")).join(word.rjust(2) for word in row) for row in rows_of(grid, words)]
    if chance.random() < 0.2:
        lines.insert(chance.randrange(len(lines) + 1), f"# {chance.choice(('easy', '1 2 3 0', 'ünï ½ ✓'))}")
    return lines


def _unclear(grid: Grid, board: Board) -> bool:
    """Whether the first row of a matrix, or its first rows, are a board by themselves."""
    first = board[: grid.cols]
    beginnings = [board[: height * grid.cols] for height in range(grid.cols, grid.rows)]
    return (grid.cols in (4, 9) and max(first) < grid.cols) or any(max(rows) < len(rows) for rows in beginnings)


def draw_text(chance: random.Random, *, several: bool, near: bool = False, large: bool = False) -> Text:
    """A text of one board or several of the same shape, all of them well written."""
    grid = draw_grid(chance, LARGE if large else SHAPES)
    goal, options = draw_goal(chance, grid)
    options = (*options, *["--wrap"] * grid.wrap)
    boards = [draw_board(chance, grid, goal, near) for _ in range(chance.randint(2, 6) if several else 1)]
    puzzles = tuple(Puzzle(grid, board, goal) for board in boards)
    shaped = chance.random() < 0.3 or grid.cols > MOST_ROW
    if shaped:
        options += ("--shape", grid.shape)
    square = grid.rows == grid.cols
    lines: list[str] = []
    unclear = False
    for board in boards:
        if chance.random() < 0.4:
            sized = square and not shaped and chance.random() < 0.3
            lines += [str(grid.rows)] * sized + matrix_of(chance, grid, board) + [""]
            unclear |= _unclear(grid, board) and not shaped and not sized
        else:
            lines.append(line_of(chance, grid, board, separated=not shaped or chance.random() < 0.5))
            if chance.random() < 0.1:
                lines[-1] += chance.choice(("  ", "\t", "  # a comment", "#1 2 3"))
        if chance.random() < 0.1:
            lines.append(chance.choice(("", "# a comment", "   ")))
    return Text(_encoded(chance, lines), puzzles, unclear=unclear, options=options)


def _encoded(chance: random.Random, lines: list[str]) -> bytes:
    """Lines as they may come from any system."""
    end = chance.choice(("\n", "\n", "\n", "\r\n"))
    text = end.join(lines) + end * (chance.random() < 0.8)
    return text.encode(chance.choice(("utf-8",) * 18 + ("utf-8-sig", "utf-16")))  # both of the last with a mark


# ---- flawed -------------------------------------------------------------------------------------

NOT_NUMBERS = (
    *("seven", "1.5", "1e0", "0x1", "-3", "−3", "+3", "½", "²", "١", "１", "a", "__", "0.", "9" * 30, "1" * 5000),
    *("\x1b[31m1", "\ud83d", "\u200b1", "nan", "None", "*", "?", "%s", "{0}", "\\n", "1_0", "–", "∞"),
)


def _repeated(chance: random.Random, words: list[str]) -> None:
    one, other = chance.sample(range(len(words)), 2)
    words[one] = words[other]


def _missing(chance: random.Random, words: list[str]) -> None:
    del words[chance.randrange(len(words))]


def _extra(chance: random.Random, words: list[str]) -> None:
    words.insert(chance.randrange(len(words) + 1), str(chance.randrange(len(words))))


def _out_of_range(chance: random.Random, words: list[str]) -> None:
    words[chance.randrange(len(words))] = str(
        chance.choice((len(words), len(words) + 1, 10 * len(words), 10**6, 2**64))
    )


def _not_a_number(chance: random.Random, words: list[str]) -> None:
    words[chance.randrange(len(words))] = chance.choice(NOT_NUMBERS)


FLAWS: tuple[Callable[[random.Random, list[str]], None], ...] = (
    _repeated,
    _missing,
    _extra,
    _out_of_range,
    _not_a_number,
    _not_a_number,
)


def flawed_line(chance: random.Random, grid: Grid, board: Board) -> str:
    """A line that is not a board, although it was one before."""
    words = words_of(chance, board)
    chance.choice(FLAWS)(chance, words)
    return _line(chance, grid, words, separated=chance.random() < 0.5)


def draw_flawed(chance: random.Random, *, several: bool) -> Text:
    """A text that must be refused, at least in part."""
    grid = draw_grid(chance, LARGE)
    goal, options = draw_goal(chance, grid)
    options = (*options, *["--wrap"] * grid.wrap)
    board = draw_board(chance, grid, goal, near=True)
    if several and chance.random() < 0.6:
        return _flawed_among_good(chance, grid, goal, options)
    return Text(chance.choice(WRECKS)(chance, grid, board), (), flawed=True, options=options)


def _flawed_among_good(chance: random.Random, grid: Grid, goal: Board, options: tuple[str, ...]) -> Text:
    """Boards one per line, of which some are none: they must not cost the others their answers."""
    lines, puzzles = [], []
    for _ in range(chance.randint(1, 4)):
        board = draw_board(chance, grid, goal, near=True)
        puzzles.append(Puzzle(grid, board, goal))
        lines.append(line_of(chance, grid, board))
    for _ in range(chance.randint(1, 3)):
        board = draw_board(chance, grid, goal, near=True)
        lines.insert(chance.randrange(len(lines) + 1), flawed_line(chance, grid, board))
    return Text(_passable(lines), tuple(puzzles), flawed=True, options=options)


def _passable(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode(errors="surrogatepass")


def _line_wreck(chance: random.Random, grid: Grid, board: Board) -> bytes:
    return _passable([flawed_line(chance, grid, board)])


def _matrix_wreck(chance: random.Random, grid: Grid, board: Board) -> bytes:
    words = words_of(chance, board)
    chance.choice(FLAWS)(chance, words)
    return _passable(_matrix(chance, grid, words))


def _size_wreck(chance: random.Random, grid: Grid, board: Board) -> bytes:
    size = chance.choice((grid.rows + 1, grid.rows + 7, 999, 10**9))
    return _passable([str(size), *matrix_of(chance, grid, board)])


def _encoding_wreck(chance: random.Random, grid: Grid, board: Board) -> bytes:
    return line_of(chance, grid, board).encode(chance.choice(("utf-16-le", "utf-16-be", "utf-32")))


def _byte_wreck(chance: random.Random, grid: Grid, board: Board) -> bytes:
    content = bytearray(line_of(chance, grid, board).encode())
    content.insert(chance.randrange(len(content) + 1), chance.choice(b"\0\xff\x80\x01\x7f"))
    return bytes(content)


def _long_wreck(chance: random.Random, grid: Grid, board: Board) -> bytes:
    return line_of(chance, grid, board).encode() + b" 1" * chance.choice((100, 10**4, 10**5))


def _empty_wreck(chance: random.Random, grid: Grid, board: Board) -> bytes:
    return chance.choice((b"", b"\n", b"   \n\n", b"# nothing\n", b"\xef\xbb\xbf", b"/;[]\n", b",,,"))


def _noise_wreck(chance: random.Random, grid: Grid, board: Board) -> bytes:
    return b"?" + chance.randbytes(chance.choice((10, 1000, 100_000)))


WRECKS: tuple[Callable[[random.Random, Grid, Board], bytes], ...] = (
    _line_wreck,
    _line_wreck,
    _matrix_wreck,
    _size_wreck,
    _encoding_wreck,
    _byte_wreck,
    _long_wreck,
    _empty_wreck,
    _noise_wreck,
)
