"""Solutions to look at: played in the terminal, and the colours of the tiles.

A tile has the colour of its home. Over the goal the colours run from the first corner to the last, so a board in
disorder is a patchwork, and order can be seen to come. Tiles away from home are dark with light numbers, tiles at home
bright with dark ones: that much is left of it in grey. Without colours, tiles at home have heavy borders.

The board is drawn over itself, frame by frame. Meanwhile the cursor is hidden, and whatever ends the showing shows it
again. What cannot be drawn over itself is not played at all: ``obstacle`` says why.
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

from .colours import Colour, Look, look, place

if TYPE_CHECKING:
    from ..board import Board
    from ..solution import Solution

SPEED = 4  # moves a second
SLOWEST, FASTEST = 0.1, 25  # a picture cannot be shown for less than 1/25 second everywhere
FIRST = 1.0  # seconds that the start is shown, to look at it


def check_speed(speed: object) -> float:
    """Moves a second, or an ``InputError`` if nobody would want to see it."""
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not SLOWEST <= speed <= FASTEST:
        raise InputError(f"{speed!r} moves a second cannot be shown: take {SLOWEST} to {FASTEST}")
    return speed


def check_solved(solution: Solution) -> None:
    if not solution.solved:
        raise InputError("the board was not solved, so there are no moves to show: search longer")


# ---- colours ------------------------------------------------------------------------------------


# ---- the terminal -------------------------------------------------------------------------------

HIDE, SHOW, PLAIN = "\x1b[?25l", "\x1b[?25h", "\x1b[0m"
CLEAR_LINE = "\x1b[K"
LEFT = "  "  # before every line
BELOW = 3  # an empty line, the number of moves, their letters
HOME_BOX, AWAY_BOX = "┏━┓┃┗┛", "┌─┐│└┘"
BLOCKS = "▆▂"  # the top of a tile; and what is below it, drawn in the colour of the ground

DOTS = "…"


class Tiles(NamedTuple):
    """How tiles are drawn: their size with the gaps between them, and with which colours."""

    digits: int
    width: int
    height: int  # 3, or 1 where the terminal is too low for it
    colours: int  # 0 for none, 256, or all of them

    def draw(self, number: int, tile: Look, at_home: bool) -> list[str]:
        """The lines of one tile. The blank, 0, is nothing but space."""
        if number == 0:
            return [" " * self.width] * self.height
        inside = self.width - 1  # a gap at the right
        text = str(number).rjust(self.digits)
        if not self.colours:
            left_top, line, right_top, side, left_bottom, right_bottom = HOME_BOX if at_home else AWAY_BOX
            middle = f"{side}{text.center(inside - 2)}{side} "
            if self.height == 1:
                return [middle]
            line *= inside - 2
            return [f"{left_top}{line}{right_top} ", middle, f"{left_bottom}{line}{right_bottom} "]
        weight = "1" if at_home else "22"
        box = f"\x1b[{self._ink(48, tile.fill)};{self._ink(38, tile.number)};{weight}m{text.center(inside)}{PLAIN} "
        if self.height == 1:
            return [box]
        # Tiles begin and end within a line: so the gaps between them are about as high as wide.
        ink = self._ink(38, tile.fill)
        top, bottom = BLOCKS
        return [f"\x1b[{ink}m{top * inside}{PLAIN} ", box, f"\x1b[7;{ink}m{bottom * inside}{PLAIN} "]

    def _ink(self, ground: int, colour: Colour) -> str:
        if self.colours > 256:
            return f"{ground};2;{';'.join(map(str, colour))}"
        # The nearest in the cube of 0, 95, 135, 175, 215, 255; but rather 0 than 95, or dark tiles would all be grey.
        red, green, blue = (0 if part < 70 else max(1, (part - 35) // 40) for part in colour)
        return f"{ground};5;{16 + 36 * red + 6 * green + blue}"


def _colours() -> int:
    """How many colours the terminal has, and the user wants."""
    if os.environ.get("NO_COLOR"):
        return 0
    return 1 << 24 if os.environ.get("COLORTERM") in ("truecolor", "24bit") else 256


def _tiles(grid: Grid) -> Tiles | None:
    """The largest tiles that let the board fit into the terminal; None if none do."""
    columns, lines = shutil.get_terminal_size()
    colours = _colours()
    digits = len(str(grid.cells - 1))
    for width, height in ((digits + 5, 3), (digits + 3, 3), (digits + 3, 1)):
        if len(LEFT) + grid.cols * width <= columns and grid.rows * height + BELOW + 1 <= lines:
            return Tiles(digits, width, height, colours)
    return None


def obstacle(grid: Grid, stream: TextIO) -> str | None:
    """Why solutions cannot be played there, or None if they can."""
    if not stream.isatty():
        return "the output is not a terminal"
    if os.environ.get("TERM", "dumb") == "dumb":
        return "the terminal cannot move its cursor"
    try:
        (HOME_BOX + AWAY_BOX + BLOCKS + DOTS).encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return f"the terminal has no boxes in {stream.encoding}"
    if _tiles(grid) is None:
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
    """Play a solution in a terminal, by default the one of stdout, with so many moves a second.

    The letters below the board speak of the tile or of the blank. ``pause`` waits for some seconds.

    Raises ``InputError`` where nothing can be played: no solution, no terminal, or too small a one. Whatever else
    is raised meanwhile passes through, ``KeyboardInterrupt`` above all, once the cursor is shown again.
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
        stream.write(f"{PLAIN}\r{CLEAR_LINE}{SHOW}")  # the line may begin with the ^C of an interruption
        stream.flush()


def _frames(solution: Solution, of: str) -> Iterator[list[str]]:
    """The boards along the way, each as the same number of lines."""
    grid, goal = solution.grid, solution.goal
    tiles = _tiles(grid)
    letters = solution.letters(solution.tiles, of)
    room = shutil.get_terminal_size().columns - 2 * len(LEFT)
    for number, board in enumerate(solution.boards()):
        told = letters[:number]
        told = told if len(told) <= room else f"{DOTS}{told[1 - room :]}"
        words = f"move {number} of {len(letters)}" if letters else "no moves: this is the goal"
        yield [*(LEFT + line for line in _drawn(grid, goal, board, tiles)), "", f"{LEFT}{words[:room]}", LEFT + told]


def _drawn(grid: Grid, goal: Board, board: Sequence[int], tiles: Tiles) -> Iterator[str]:
    homes = {tile: cell for cell, tile in enumerate(goal)}

    def drawn(cell: int) -> list[str]:
        home = homes[board[cell]]
        return tiles.draw(board[cell], look(place(grid, home), home == cell), home == cell)

    for first in range(0, grid.cells, grid.cols):
        row = [drawn(cell) for cell in range(first, first + grid.cols)]
        yield from map("".join, zip(*row, strict=True))
