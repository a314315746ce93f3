"""A solution as an animated GIF.

Every tile is drawn once for each of its two looks, at home and away, and then only copied: so a picture of hundreds of
frames takes a second, and numbers do not flicker while they slide. All frames share one palette, made by hand: a few
colours for tiles, and between each of them and what it meets the steps that make edges smooth. What a frame has in
common with the one before is left out of the file.

A tile that leaves over the edge of a wrapped board enters at the other side: it is drawn at both, and cut off.

Only here is Pillow needed, and only when a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from pdb_builder.base.errors import InputError
from pdb_builder.base.files import check_writable, output_file
from pdb_builder.grid import Grid

from .colours import DARK, LIGHT, NIGHT, Colour, look, mixed, place
from .terminal import SPEED, check_solved, check_speed

if TYPE_CHECKING:
    from PIL.Image import Image

    from ..board import Board
    from ..solution import Solution

PILLOW = (10, 1)  # the first that brings a font of any size
SIDE = 464  # pixels of the longer side of a board
SMALLEST, LARGEST = 26, 84  # pixels from tile to tile
MARGIN = 14
CAPTION = 34  # the height of the line below the board
FIRST, LAST = 120, 300  # hundredths of a second that start and goal are shown
STEP, STEPS = 4, 4  # hundredths of a second a frame while a tile slides, and how many there are

PAGE: Colour = (18, 20, 28)
BANDS = 7  # colours of tiles: one for each diagonal of a 4x4 board, and as many as the palette has room for


def check_possible(path: Path) -> None:
    """Raise ``InputError`` for a picture that cannot be made."""
    if not path.name.lower().endswith(".gif"):
        raise InputError(f"{path} does not end in .gif: give the picture this ending")
    check_writable(path)
    remedy = "run pip install 'slidepdb[gif]'"
    if find_spec("PIL") is None:
        raise InputError(f"a GIF needs Pillow, which is not there: {remedy}")
    from PIL import __version__

    if tuple(map(int, __version__.split(".")[:2])) < PILLOW:
        raise InputError(f"a GIF needs Pillow {'.'.join(map(str, PILLOW))} or later, not {__version__}: {remedy}")


def save_gif(solution: Solution, path: str | Path, speed: float = SPEED) -> None:
    """Draw a solution into a GIF that repeats for ever, with so many moves a second.

    The file is there whole or not at all. Raises ``InputError`` for what cannot be drawn or written.
    """
    path = Path(path)
    check_speed(speed)
    check_solved(solution)
    check_possible(path)
    frames = _frames(solution, speed)
    with output_file(path) as file:
        next(frames).save(
            file,
            format="GIF",
            save_all=True,
            append_images=frames,  # drawn one by one: together they would take much memory
            duration=[10 * duration for duration in _durations(len(solution.tiles), speed)],
            loop=0,
            palette=bytes(part for colour in palette() for part in colour),
            transparency=len(palette()) - 1,
            optimize=True,
            disposal=1,
            interlace=0,
        )


# ---- the palette --------------------------------------------------------------------------------

ON_PAGE, ON_NIGHT, ON_DARK, ON_LIGHT = range(4)  # numbers of colours
CAPTION_INKS = (4, 5, 6)
TILE_INKS = 7  # the first of the tiles' colours
EACH = 4  # so many for a tile: half board half tile, the tile, two steps from there to its number


@cache
def palette() -> tuple[Colour, ...]:
    """The 64 colours of all frames; the last one is transparent, that is, as in the frame before."""
    colours = [PAGE, NIGHT, DARK, LIGHT, *(mixed(PAGE, LIGHT, share) for share in (0.22, 0.45, 0.7))]
    for band in range(BANDS):
        for at_home in (False, True):
            fill, number = look(band / (BANDS - 1), at_home)
            colours += [mixed(NIGHT, fill, 0.5), fill, mixed(fill, number, 0.33), mixed(fill, number, 0.67)]
    return (*colours, (0, 0, 0))


def _tile_inks(share: float, at_home: bool) -> tuple[int, int, int, int, int]:
    """The colours of a tile whose home is so far from corner to corner: its edge, itself, and three for its number."""
    first = TILE_INKS + EACH * (2 * round(share * (BANDS - 1)) + at_home)
    return *range(first, first + EACH), ON_DARK if at_home else ON_LIGHT


def _stain(image: Image, mask: Image, inks: Sequence[int]) -> None:
    """Colour what a mask covers: the more it covers, the later the ink."""
    for number, ink in enumerate(inks):
        least = 255 * (number + 0.5) / len(inks)
        image.paste(ink, mask=mask.point([255 * (value >= least) for value in range(256)], "1"))


# ---- the frames ---------------------------------------------------------------------------------


class Painter:
    """Draws the boards of a grid on their way to a goal."""

    def __init__(self, grid: Grid, goal: Board) -> None:
        from PIL import ImageFont

        self.grid = grid
        self.homes = {tile: cell for cell, tile in enumerate(goal)}
        self.pitch = max(SMALLEST, min(LARGEST, SIDE // max(grid.rows, grid.cols)))  # from tile to tile
        self.gap = max(2, self.pitch // 14)
        digits = len(str(grid.cells - 1))
        self.number_font = ImageFont.load_default(round(self.pitch * (0.46 if digits < 3 else 0.36)))
        self.caption_font = ImageFont.load_default(16)
        self.width, self.height = grid.cols * self.pitch, grid.rows * self.pitch
        self.sprites: dict[tuple[int, bool], Image] = {}
        self.page = self._page()

    def board(self, board: Sequence[int]) -> Image:
        """The tiles of a board, without anything around them."""
        image = self._new(self.width, self.height, ON_NIGHT)
        for cell, tile in enumerate(board):
            if tile:
                image.paste(self._tile(tile, cell == self.homes[tile]), self._corner(cell))
        return image

    def sliding(self, resting: Image, tile: int, source: int, target: int, share: float) -> Image:
        """The board of the other tiles, and this one on its way from cell to cell."""
        image = resting.copy()
        (x, y), (to_x, to_y) = self._corner(source), self._corner(target)
        across, down = self._way(to_x - x, self.width), self._way(to_y - y, self.height)
        x, y = x + round(across * share), y + round(down * share)
        for shift_x in {0, _sign(across) * -self.width}:
            for shift_y in {0, _sign(down) * -self.height}:
                image.paste(self._tile(tile, at_home=False), (x + shift_x, y + shift_y))  # what is outside is cut off
        return image

    def frame(self, board: Image, number: int, count: int) -> Image:
        """A whole frame: a drawn board, and below it that so many moves are done."""
        from PIL import Image, ImageDraw

        image = self.page.copy()
        image.paste(board, (MARGIN, MARGIN))
        words = f"move {number} of {count}" if count else "no moves"
        mask = Image.new("L", (self.width + MARGIN, CAPTION))
        ImageDraw.Draw(mask).text((0, CAPTION // 2), words, 255, self.caption_font, anchor="lm")
        below = self._new(*mask.size, ON_PAGE)
        _stain(below, mask, CAPTION_INKS)
        if count:
            bar = (round(self.caption_font.getlength(f"move {count} of {count}")) + MARGIN, CAPTION // 2 - 2)
            whole = self.width - bar[0]
            below.paste(ON_NIGHT, (*bar, self.width, bar[1] + 4))
            below.paste(CAPTION_INKS[1], (*bar, bar[0] + whole * number // count, bar[1] + 4))
        image.paste(below, (MARGIN, self.height + 2 * MARGIN - MARGIN // 3))
        return image

    def _way(self, distance: int, side: int) -> int:
        """The way between neighbours, which is over the edge if they lie apart."""
        return distance if abs(distance) <= self.pitch else distance - _sign(distance) * side

    def _corner(self, cell: int) -> tuple[int, int]:
        row, col = divmod(cell, self.grid.cols)
        return col * self.pitch, row * self.pitch

    def _new(self, width: int, height: int, ink: int) -> Image:
        from PIL import Image

        image = Image.new("P", (width, height), ink)
        image.putpalette([part for colour in palette() for part in colour])
        return image

    def _page(self) -> Image:
        from PIL import Image, ImageDraw

        size = (self.width + 2 * MARGIN, self.height + 2 * MARGIN + CAPTION)
        mask = Image.new("L", size)
        low, high = MARGIN // 2, (self.width + MARGIN * 3 // 2 - 1, self.height + MARGIN * 3 // 2 - 1)
        ImageDraw.Draw(mask).rounded_rectangle((low, low, *high), MARGIN - 3, 255)
        image = self._new(*size, ON_PAGE)
        _stain(image, mask, [ON_NIGHT])
        return image

    def _tile(self, tile: int, at_home: bool) -> Image:
        """A tile with the board around it, drawn when it is first asked for."""
        if (tile, at_home) not in self.sprites:
            self.sprites[tile, at_home] = self._draw_tile(tile, at_home)
        return self.sprites[tile, at_home]

    def _draw_tile(self, tile: int, at_home: bool) -> Image:
        from PIL import Image, ImageDraw

        finer = 4  # a shape is drawn larger, to have smooth edges when it is made small
        large = Image.new("L", (self.pitch * finer, self.pitch * finer))
        low = self.gap * finer // 2
        high = self.pitch * finer - 1 - (self.gap - self.gap // 2) * finer
        ImageDraw.Draw(large).rounded_rectangle((low, low, high, high), self.pitch * finer // 7, 255)
        shape = large.resize((self.pitch, self.pitch), Image.Resampling.BOX)
        number = Image.new("L", shape.size)
        pen = ImageDraw.Draw(number)
        left, _, right, _ = pen.textbbox((0, 0), str(tile), self.number_font)
        _, top, _, bottom = pen.textbbox((0, 0), "0", self.number_font)  # all digits on one line
        centre = (low + high + 1) / finer
        pen.text(((centre - left - right) / 2, (centre - top - bottom) / 2), str(tile), 255, self.number_font)
        image = self._new(*shape.size, ON_NIGHT)
        edge, fill, *inks = _tile_inks(place(self.grid, self.homes[tile]), at_home)
        _stain(image, shape, [edge, fill])
        _stain(image, number, inks)
        return image


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _pace(number: int, speed: float) -> tuple[int, int]:
    """In how many frames the tile of a move slides, the last one at rest, and for how long that one is shown."""
    time = round(100 * number / speed) - round(100 * (number - 1) / speed)  # so that roundings do not add up
    steps = max(1, min(STEPS, time // STEP))
    return steps, time - STEP * (steps - 1)


def _durations(count: int, speed: float) -> list[int]:
    """For how many hundredths of a second each frame is shown."""
    durations = [FIRST]
    for number in range(1, count + 1):
        steps, rest = _pace(number, speed)
        durations += [*[STEP] * (steps - 1), rest]
    return [*durations[:-1], LAST]


def _frames(solution: Solution, speed: float) -> Iterator[Image]:
    """The frames: the start, and for each move some of the sliding tile and the board it leads to."""
    painter = Painter(solution.grid, solution.goal)
    count = len(solution.tiles)
    yield painter.frame(painter.board(solution.board), 0, count)
    moves = zip(solution.tiles, pairwise(solution.boards()), strict=True)
    for number, (tile, (before, after)) in enumerate(moves, 1):
        resting = painter.board([0 if other == tile else other for other in before])
        steps, _ = _pace(number, speed)
        for step in range(1, steps):
            share = step / steps
            eased = share * share * (3 - 2 * share)  # tiles set off and arrive gently
            moving = painter.sliding(resting, tile, before.index(tile), after.index(tile), eased)
            yield painter.frame(moving, number - 1, count)
        yield painter.frame(painter.board(after), number, count)
