"""Boards as SVG: squares with labels on a dark ground, and bars for numbers of states.

A square has a colour of its own and a label in another. What they mean is for others to say: numbers of tiles in the
colours of their homes (``solver.show.svg``), or letters of patterns (``database_page``). The ground is part of the
picture, so it looks the same on a light page and on a dark one.

A picture is text that can be written to a file, or put into a page of HTML as it is: it has no identifiers and no
style sheet that could clash with those of others. A notebook shows it by itself.

Squares are ``PITCH`` units apart, whatever the size of the picture, so coordinates are short, round numbers. The colour
of a square is the ``fill`` of its group and that of its label the ``color``, so that an animation can change both in
one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .base.markup import Markup, element
from .grid import Grid

Colour = tuple[int, int, int]
Place = tuple[int, int]  # units to the right, and down

# Colours that are told apart, and about equally bright, so that one dark text is readable on all.
RAINBOW: tuple[Colour, ...] = (
    (94, 228, 208),
    (98, 190, 250),
    (152, 154, 255),
    (214, 144, 250),
    (255, 142, 180),
    (255, 170, 112),
    (250, 216, 96),
)
NIGHT: Colour = (30, 34, 46)  # the ground below the squares
DARK: Colour = (20, 23, 32)  # labels on bright squares
LIGHT: Colour = (238, 241, 248)  # labels on dark squares

PITCH = 50  # units from square to square
GAP = 4  # between squares
MARGIN = 6  # around all of them
SIDE = 464  # pixels of the longer side of a board
SMALLEST, LARGEST = 26, 84  # pixels from square to square

NAMESPACE = "http://www.w3.org/2000/svg"
FONT = {"font_family": "system-ui,sans-serif", "font_weight": 600, "text_anchor": "middle"}


class Picture(Markup):
    """An SVG element, as text. Notebooks show the picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def css(colour: Colour) -> str:
    """A colour as style sheets write it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def pixels_apart(grid: Grid, side: int = SIDE) -> int:
    """The pixels from square to square of a board whose longer side has about ``side`` pixels."""
    return max(SMALLEST, min(LARGEST, side // max(grid.rows, grid.cols)))


def corner(grid: Grid, cell: int) -> Place:
    """Where a cell begins."""
    row, col = divmod(cell, grid.cols)
    return col * PITCH, row * PITCH


def square(
    at: Place, label: str, fill: Colour, ink: Colour, copies: Iterable[Place] = (), style: str | None = None
) -> Markup:
    """A square whose cell has this corner, and copies of it that are shifted by these units."""
    shape = element("rect", x=GAP // 2, y=GAP // 2, width=PITCH - GAP, height=PITCH - GAP, rx=7)
    size = min(21, 48 // len(label))
    text = element("text", label, x=PITCH // 2, y=PITCH // 2, dy=".35em", font_size=size, fill="currentColor")
    shifted = [element("g", shape, text, transform=_moved(shift)) for shift in copies]
    return element("g", shape, text, *shifted, fill=css(fill), color=css(ink), transform=_moved(at), style=style)


def _moved(by: Place) -> str:
    return f"translate({by[0]} {by[1]})"


def board_picture(
    grid: Grid, parts: Sequence[Markup], title: str, below: int = 0, side: int = SIDE, **attributes: object
) -> Picture:
    """A picture of the given parts, whose origin is the corner of the first cell, on the ground.

    ``title`` is for those who cannot see it. The ground reaches ``below`` units further down. ``side`` is about the
    number of pixels of the board's longer side.
    """
    width, height = grid.cols * PITCH + 2 * MARGIN, grid.rows * PITCH + 2 * MARGIN + below
    scale = pixels_apart(grid, side) / PITCH
    ground = element("rect", x=-MARGIN, y=-MARGIN, width=width, height=height, rx=11, fill=css(NIGHT))
    return Picture(
        element(
            "svg",
            *(element("title", title), ground, *parts),
            xmlns=NAMESPACE,
            viewBox=f"{-MARGIN} {-MARGIN} {width} {height}",
            width=round(width * scale),
            height=round(height * scale),
            role="img",
            **FONT,
            **attributes,
        )
    )


def bars(counts: Sequence[int], title: str, width: int, height: int) -> Picture:
    """A bar for every count, in the colour of the text around the picture; what is not 0 can be seen."""
    most = max(counts)
    path = ""
    for at, count in enumerate(counts):
        if count:
            high = max(0.5, round(20 * count / most, 1))
            path += f"M{at} 20v{-high:g}h.8v{high:g}z"
    shape = element("path", d=path, fill="currentColor")
    size = {"viewBox": f"0 0 {len(counts)} 20", "width": width, "height": height, "preserveAspectRatio": "none"}
    return Picture(element("svg", element("title", title), shape, xmlns=NAMESPACE, role="img", **size))
