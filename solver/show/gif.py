"""A solution as an animated GIF.

Every tile is drawn twice, at home and away, and then only copied: so a GIF of hundreds of frames takes a second, and
numbers do not flicker while they slide. All frames share one palette, made by hand: a few colours for tiles and the
steps between each of them and its surroundings, for smooth edges. What a frame has in common with the one before is
left out of the file.

A tile that leaves across the edge of a wrapped board enters on the opposite side: it is drawn on both, and cut off.

Pillow is an optional dependency, needed only here: it is imported when a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from pdb_builder.base.errors import InputError
from pdb_builder.base.files import check_output, output_file
from pdb_builder.drawing import DARK, LIGHT, NIGHT, Colour, pixels_apart
from pdb_builder.grid import Grid

from .colours import corner_share, mix, tile_colours
from .playback import SPEED, check_solved, check_speed

if TYPE_CHECKING:
    from PIL.Image import Image

    from ..board import Board
    from ..solution import Solution

PILLOW = (10, 1)  # the first version with a font of any size
MARGIN = 14
CAPTION = 34  # the height of the line below the board
FIRST, LAST = 120, 300  # hundredths of a second for the start and for the goal
STEP, STEPS = 4, 4  # hundredths of a second per frame while a tile slides, and frames per move

PAGE: Colour = (18, 20, 28)
BANDS = 7  # colours of tiles: one per diagonal of a 4x4 board, and all the palette has room for


def check_gif(path: Path) -> None:
    """Raise ``InputError`` for a GIF that cannot be made: another ending, a file that must stay, no Pillow."""
    check_output(path, ".gif")
    remedy = "run pip install 'slidepdb[gif]'"
    if find_spec("PIL") is None:
        raise InputError(f"a GIF needs Pillow, which is not installed: {remedy}")
    from PIL import __version__

    if tuple(map(int, __version__.split(".")[:2])) < PILLOW:
        raise InputError(f"a GIF needs Pillow {'.'.join(map(str, PILLOW))} or later, not {__version__}: {remedy}")


def save_gif(solution: Solution, path: str | Path, speed: float = SPEED) -> None:
    """Draw a solution into a GIF that repeats forever, at ``speed`` moves per second.

    The file is written completely or not at all. Raises ``InputError`` if it cannot be drawn or written.
    """
    path = Path(path)
    check_speed(speed)
    check_solved(solution)
    check_gif(path)
    frames = _frames(solution, speed)
    with output_file(path) as file:
        next(frames).save(
            file,
            format="GIF",
            save_all=True,
            append_images=frames,  # drawn one by one, to save memory
            duration=[10 * duration for duration in _durations(len(solution.tiles), speed)],
            loop=0,
            palette=bytes(part for colour in palette() for part in colour),
            transparency=len(palette()) - 1,
            optimize=True,
            disposal=1,
            interlace=0,
        )


# ---- the palette --------------------------------------------------------------------------------

PAGE_INK, NIGHT_INK, DARK_INK, LIGHT_INK = range(4)  # an ink is an index into the palette
CAPTION_INKS = (4, 5, 6)
TILE_INKS = 7  # the first ink of the tiles
INKS_PER_TILE = 4  # half ground half tile, the tile, two steps from there to its number


@cache
def palette() -> tuple[Colour, ...]:
    """The 64 colours of all frames; the last one is transparent: it leaves the frame before as it is."""
    colours = [PAGE, NIGHT, DARK, LIGHT, *(mix(PAGE, LIGHT, share) for share in (0.22, 0.45, 0.7))]
    for band in range(BANDS):
        for at_home in (False, True):
            fill, number = tile_colours(band / (BANDS - 1), at_home)
            colours += [mix(NIGHT, fill, 0.5), fill, mix(fill, number, 0.33), mix(fill, number, 0.67)]
    return (*colours, (0, 0, 0))


def _tile_inks(share: float, at_home: bool) -> tuple[int, int, int, int, int]:
    """The inks of a tile whose home is at this ``corner_share``: its edge, itself, and three for its number."""
    first = TILE_INKS + INKS_PER_TILE * (2 * round(share * (BANDS - 1)) + at_home)
    return *range(first, first + INKS_PER_TILE), DARK_INK if at_home else LIGHT_INK


def _stain(image: Image, mask: Image, inks: Sequence[int]) -> None:
    """Colour the area under a mask: the stronger the mask, the later the ink."""
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
        self.pitch = pixels_apart(grid)
        self.gap = max(2, self.pitch // 14)
        digits = len(str(grid.cells - 1))
        self.number_font = ImageFont.load_default(round(self.pitch * (0.46 if digits < 3 else 0.36)))
        self.caption_font = ImageFont.load_default(16)
        self.width, self.height = grid.cols * self.pitch, grid.rows * self.pitch
        self.sprites: dict[tuple[int, bool], Image] = {}
        self.page = self._page()

    def board(self, board: Sequence[int]) -> Image:
        """The tiles of a board, without margins."""
        image = self._new(self.width, self.height, NIGHT_INK)
        for cell, tile in enumerate(board):
            if tile:
                image.paste(self._tile(tile, cell == self.homes[tile]), self._corner(cell))
        return image

    def sliding(self, resting: Image, tile: int, source: int, target: int, share: float) -> Image:
        """The board of the other tiles, and this one on its way between two cells."""
        image = resting.copy()
        (x, y), (to_x, to_y) = self._corner(source), self._corner(target)
        across, down = self._shorter(to_x - x, self.width), self._shorter(to_y - y, self.height)
        x, y = x + round(across * share), y + round(down * share)
        for shift_x in {0, _sign(across) * -self.width}:
            for shift_y in {0, _sign(down) * -self.height}:
                image.paste(self._tile(tile, at_home=False), (x + shift_x, y + shift_y))  # the rest is cut off
        return image

    def frame(self, board: Image, number: int, count: int) -> Image:
        """A whole frame: a drawn board, and below it the number of moves done."""
        from PIL import Image, ImageDraw

        image = self.page.copy()
        image.paste(board, (MARGIN, MARGIN))
        words = f"move {number} of {count}" if count else "no moves"
        mask = Image.new("L", (self.width + MARGIN, CAPTION))
        ImageDraw.Draw(mask).text((0, CAPTION // 2), words, 255, self.caption_font, anchor="lm")
        below = self._new(*mask.size, PAGE_INK)
        _stain(below, mask, CAPTION_INKS)
        if count:
            bar = (round(self.caption_font.getlength(f"move {count} of {count}")) + MARGIN, CAPTION // 2 - 2)
            whole = self.width - bar[0]
            below.paste(NIGHT_INK, (*bar, self.width, bar[1] + 4))
            below.paste(CAPTION_INKS[1], (*bar, bar[0] + whole * number // count, bar[1] + 4))
        image.paste(below, (MARGIN, self.height + 2 * MARGIN - MARGIN // 3))
        return image

    def _shorter(self, distance: int, side: int) -> int:
        """The distance between neighbours, across the edge if they are on opposite sides."""
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
        image = self._new(*size, PAGE_INK)
        _stain(image, mask, [NIGHT_INK])
        return image

    def _tile(self, tile: int, at_home: bool) -> Image:
        """A tile with the ground around it, drawn when first needed."""
        if (tile, at_home) not in self.sprites:
            self.sprites[tile, at_home] = self._draw_tile(tile, at_home)
        return self.sprites[tile, at_home]

    def _draw_tile(self, tile: int, at_home: bool) -> Image:
        from PIL import Image, ImageDraw

        finer = 4  # the shape is drawn larger and scaled down, for smooth edges
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
        image = self._new(*shape.size, NIGHT_INK)
        edge, fill, *inks = _tile_inks(corner_share(self.grid, self.homes[tile]), at_home)
        _stain(image, shape, [edge, fill])
        _stain(image, number, inks)
        return image


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _pace(number: int, speed: float) -> tuple[int, int]:
    """The number of frames of a move, the last one at rest, and how long that one is shown."""
    time = round(100 * number / speed) - round(100 * (number - 1) / speed)  # so that rounding errors do not add up
    steps = max(1, min(STEPS, time // STEP))
    return steps, time - STEP * (steps - 1)


def _durations(count: int, speed: float) -> list[int]:
    """How long each frame is shown, in hundredths of a second."""
    durations = [FIRST]
    for number in range(1, count + 1):
        steps, rest = _pace(number, speed)
        durations += [*[STEP] * (steps - 1), rest]
    return [*durations[:-1], LAST]


def _frames(solution: Solution, speed: float) -> Iterator[Image]:
    """The frames: the start and, for each move, some of the sliding tile and the board it leads to."""
    painter = Painter(solution.grid, solution.goal)
    count = len(solution.tiles)
    yield painter.frame(painter.board(solution.board), 0, count)
    moves = zip(solution.tiles, pairwise(solution.boards()), strict=True)
    for number, (tile, (before, after)) in enumerate(moves, 1):
        resting = painter.board([0 if other == tile else other for other in before])
        steps, _ = _pace(number, speed)
        for step in range(1, steps):
            share = step / steps
            eased = share * share * (3 - 2 * share)  # tiles start and arrive gently
            moving = painter.sliding(resting, tile, before.index(tile), after.index(tile), eased)
            yield painter.frame(moving, number - 1, count)
        yield painter.frame(painter.board(after), number, count)
