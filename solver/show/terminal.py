"""A solution played in the terminal.

The board is drawn over itself, frame by frame, in the colours of ``colours`` or, without colours, in boxes that are
heavy for tiles at home. A terminal that cannot draw a board over itself plays nothing: ``obstacle`` says why.

Meanwhile the cursor is hidden, and keys are not echoed, because they would shift the picture. Both concern whoever uses
the terminal next, so ``Stage`` undoes them whatever ends the playback, and also when it is suspended (Ctrl-Z). When it
is continued, the next frame is drawn below whatever was printed meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from pdb_builder.base.errors import InputError
from pdb_builder.drawing import Colour
from pdb_builder.grid import Grid

from .colours import TileColours, corner_share, tile_colours
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
LOCAL_MODES = 3  # their place in what ``termios`` knows of a terminal


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
    keep_input: bool = False,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Play a solution in a terminal, by default that of stdout, at ``speed`` moves per second.

    The letters below the board name the moves of the tile or, with ``of="blank"``, of the blank. Keys that are pressed
    meanwhile are forgotten, unless ``keep_input`` leaves them to whoever reads from the terminal. ``pause`` waits for a
    number of seconds.

    Raises ``InputError`` where nothing can be played: no solution, no terminal, or one that is too small. Any other
    exception passes through once the terminal is as before, above all ``KeyboardInterrupt``.
    """
    stream = sys.stdout if stream is None else stream
    check_speed(speed)
    check_solved(solution)
    if reason := obstacle(solution.grid, stream):
        raise InputError(f"the solution cannot be played: {reason}: print its boards instead")
    with Stage(stream, keep_input) as stage:
        for number, frame in enumerate(_frames(solution, of)):
            if number:
                pause(FIRST if number == 1 else 1 / speed)
            stage.draw(frame)
        if solution.tiles:
            pause(1 / speed)


class Stage:
    """A terminal in which frames are drawn over each other, for as long as the block lasts."""

    # Signals that stop a process or end it. Ctrl-C is not among them: it is an exception.
    SIGNALS = (signal.SIGTSTP, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

    def __init__(self, stream: TextIO, keep_input: bool = False) -> None:
        self._stream, self._keep_input = stream, keep_input
        self._drawn = False  # whether the cursor is below a frame
        self._handlers: dict[int, Callable] = {}  # ours, where the default action was in place
        self._settings: list | None = None  # of the terminal, before
        with contextlib.suppress(OSError, termios.error):  # not a terminal, for all that it claims
            self._settings = termios.tcgetattr(stream.fileno())

    def __enter__(self) -> Stage:
        self._stream.flush()
        if threading.current_thread() is threading.main_thread():  # no other thread may set handlers, or gets signals
            ours = dict.fromkeys(self.SIGNALS, self._pass_on) | {signal.SIGCONT: self._enter}
            self._handlers = {number: ours[number] for number in ours if signal.getsignal(number) is signal.SIG_DFL}
        try:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            self._enter()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception) -> None:
        try:
            self._leave()
        finally:
            for number in self._handlers:
                signal.signal(number, signal.SIG_DFL)

    def draw(self, frame: Sequence[str]) -> None:
        """Draw a frame over the one before."""
        up = f"\r\x1b[{len(frame)}A" if self._drawn else ""
        # In one piece, so that an interruption finds the cursor below the board.
        self._stream.write(up + "".join(f"{line}{CLEAR_LINE}\n" for line in frame))
        self._stream.flush()
        self._drawn = True

    def _enter(self, *_: object) -> None:
        """Take the terminal, at first or when we are continued."""
        self._drawn = False
        self._echo(False)
        self._write(HIDE)

    def _leave(self) -> None:
        """Give the terminal back."""
        try:
            self._echo(True)
        finally:
            self._write(f"{PLAIN}\r{CLEAR_LINE}{SHOW}")  # the line may start with the ^C of an interruption

    def _pass_on(self, number: int, _: object) -> None:
        """Leave the terminal, and let a signal do what it does. After Ctrl-Z that returns when we are continued."""
        self._leave()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
        signal.signal(number, self._pass_on)
        self._enter()

    def _echo(self, on: bool) -> None:
        """Echo keys as before, or not at all."""
        if self._settings is None or _in_background(self._stream.fileno()):
            return
        settings, terminal = list(self._settings), self._stream.fileno()
        if not on:
            settings[LOCAL_MODES] &= ~termios.ECHO
        with contextlib.suppress(termios.error):  # the terminal is gone
            if on and not self._keep_input:
                termios.tcflush(terminal, termios.TCIFLUSH)
            termios.tcsetattr(terminal, termios.TCSANOW, settings)

    def _write(self, codes: str) -> None:
        if self._settings is None:
            self._stream.write(codes)
            self._stream.flush()
            return
        with contextlib.suppress(OSError):  # the terminal is gone
            # Past the buffer, which a handler of signals may find in the middle of something.
            os.write(self._stream.fileno(), codes.encode())


def _in_background(terminal: int) -> bool:
    """Whether a shell has put us in the background, where changing the terminal would stop us."""
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:  # no shell has: it is not our controlling terminal
        return False


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
