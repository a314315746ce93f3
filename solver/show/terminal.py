"""A solution played in the terminal.

The board is drawn over itself, frame by frame, in the colours of ``colours`` or, without colours, in boxes that are
heavy for tiles at home. Meanwhile the cursor is hidden, and whatever ends the playback shows it again. A terminal that
cannot draw a board over itself plays nothing: ``obstacle`` says why.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid

from .colours import Colour, TileColours, corner_share, tile_colours
from .playback import SPEED, check_solved, check_speed

if TYPE_CHECKING:
    from ..board import Board
    from ..solution import Solution

FIRST = 1.0  # seconds to look at the start
HIDE, SHOW, PLAIN = "\x1b[?25l", "\x1b[?25h", "\x1b[0m"
CLEAR_LINE = "\x1b[K"
LEFT = "  "  # before every line
BELOW = 3  # lines below the board: an empty one, the number of moves, their letters
HOME_BOX, AWAY_BOX = "┏━┓┃┗┛", "┌─┐│└┘"
TOP, BELOW_TILE = "▆", "▂"  # the upper edge of a tile; and the ground below it, drawn with the colours exchanged
DOTS = "…"


def obstacle(grid: Grid, stream: TextIO) -> str | None:
    """Why solutions cannot be played on ``stream``, or None if they can."""
    if not stream.isatty():
        return "the output is not a terminal"
    if os.environ.get("TERM", "dumb") == "dumb":
        return "the terminal cannot move its cursor"
    try:
        (HOME_BOX + AWAY_BOX + TOP + BELOW_TILE + DOTS).encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return f"the terminal has no box characters in {stream.encoding}"
    if _fitting_style(grid) is None:
        columns, lines = shutil.get_terminal_size()
        return f"a board of {grid.shape} does not fit a terminal of {columns} columns and {lines} lines"
    return None


def animate(
    solution: Solution,
    stream: TextIO | None = None,
    speed: float = SPEED,
    *,
    of: str = "tile",
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Play a solution in a terminal, by default that of stdout, at ``speed`` moves per second.

    The letters below the board name the moves of the tile or, with ``of="blank"``, of the blank. ``pause`` waits for a
    number of seconds.

    Raises ``InputError`` where nothing can be played: no solution, no terminal, or one that is too small. Any other
    exception passes through once the cursor is shown again, above all ``KeyboardInterrupt``.
    """
    stream = sys.stdout if stream is None else stream
    check_speed(speed)
    check_solved(solution)
    if reason := obstacle(solution.grid, stream):
        raise InputError(f"the solution cannot be played: {reason}: print its boards instead")
    try:
        stream.write(HIDE)
        for number, frame in enumerate(_frames(solution, of)):
            if number:
                pause(FIRST if number == 1 else 1 / speed)
            up = f"\r\x1b[{len(frame)}A" if number else ""  # to draw over the frame before
            # In one piece, so that an interruption finds the cursor below the board.
            stream.write(up + "".join(f"{line}{CLEAR_LINE}\n" for line in frame))
            stream.flush()
        if solution.tiles:
            pause(1 / speed)
    finally:
        stream.write(f"{PLAIN}\r{CLEAR_LINE}{SHOW}")  # the line may start with the ^C of an interruption
        stream.flush()


def _frames(solution: Solution, of: str) -> Iterator[list[str]]:
    """The boards along the way, each as the same number of lines."""
    grid, goal = solution.grid, solution.goal
    style = _fitting_style(grid)
    assert style, "or there would be an obstacle"
    letters = solution.letters(solution.tiles, of)
    room = shutil.get_terminal_size().columns - 2 * len(LEFT)
    for number, board in enumerate(solution.boards()):
        done = letters[:number]
        done = done if len(done) <= room else f"{DOTS}{done[1 - room :]}"
        words = f"move {number} of {len(letters)}" if letters else "no moves: this is the goal"
        lines = _board_lines(grid, goal, board, style)
        yield [*(LEFT + line for line in lines), "", f"{LEFT}{words[:room]}", LEFT + done]


def _board_lines(grid: Grid, goal: Board, board: Sequence[int], style: TileStyle) -> Iterator[str]:
    homes = {tile: cell for cell, tile in enumerate(goal)}

    def tile_lines(cell: int) -> list[str]:
        home = homes[board[cell]]
        at_home = home == cell
        return style.draw(board[cell], tile_colours(corner_share(grid, home), at_home), at_home)

    for first in range(0, grid.cells, grid.cols):
        row = [tile_lines(cell) for cell in range(first, first + grid.cols)]
        yield from map("".join, zip(*row, strict=True))


class TileStyle(NamedTuple):
    """How tiles are drawn: their size, including the gaps between them, and with how many colours."""

    digits: int
    width: int
    height: int  # 3, or 1 where the terminal is too low
    colours: int  # 0 for none, 256, or all of them

    def draw(self, number: int, colours: TileColours, at_home: bool) -> list[str]:
        """The lines of one tile. The blank, 0, is nothing but space."""
        if number == 0:
            return [" " * self.width] * self.height
        inside = self.width - 1  # a gap on the right
        text = str(number).rjust(self.digits)
        if not self.colours:
            left_top, line, right_top, side, left_bottom, right_bottom = list(HOME_BOX if at_home else AWAY_BOX)
            middle = f"{side}{text.center(inside - 2)}{side} "
            if self.height == 1:
                return [middle]
            line *= inside - 2
            return [f"{left_top}{line}{right_top} ", middle, f"{left_bottom}{line}{right_bottom} "]
        weight = "1" if at_home else "22"
        fill, ink = self._code(48, colours.fill), self._code(38, colours.number)
        box = f"\x1b[{fill};{ink};{weight}m{text.center(inside)}{PLAIN} "
        if self.height == 1:
            return [box]
        # Tiles begin and end inside a line, so that the gaps between them are about as high as wide.
        edge = self._code(38, colours.fill)
        return [f"\x1b[{edge}m{TOP * inside}{PLAIN} ", box, f"\x1b[7;{edge}m{BELOW_TILE * inside}{PLAIN} "]

    def _code(self, ground: int, colour: Colour) -> str:
        """The escape code of a colour: ``ground`` 38 for text, 48 for the background."""
        if self.colours > 256:
            return f"{ground};2;{';'.join(map(str, colour))}"
        # The nearest in the cube of 0, 95, 135, 175, 215, 255; but 0 rather than 95, or dark tiles would all be grey.
        red, green, blue = (0 if part < 70 else max(1, (part - 35) // 40) for part in colour)
        return f"{ground};5;{16 + 36 * red + 6 * green + blue}"


def _fitting_style(grid: Grid) -> TileStyle | None:
    """The largest tiles with which the board fits the terminal; None if there are none."""
    columns, lines = shutil.get_terminal_size()
    digits = len(str(grid.cells - 1))
    for width, height in ((digits + 5, 3), (digits + 3, 3), (digits + 3, 1)):
        if len(LEFT) + grid.cols * width <= columns and grid.rows * height + BELOW + 1 <= lines:
            return TileStyle(digits, width, height, _colour_count())
    return None


def _colour_count() -> int:
    """How many colours the terminal has and the user wants."""
    if os.environ.get("NO_COLOR"):
        return 0
    return 1 << 24 if os.environ.get("COLORTERM") in ("truecolor", "24bit") else 256
