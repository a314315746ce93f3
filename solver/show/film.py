"""A solution as an animated SVG.

The picture is that of the start (``svg``), and a style sheet inside moves its tiles: for each tile the times at which
it comes to a cell and leaves it, as shares of the whole film, and for each that comes home or leaves it the times at
which its colours change. Nothing is drawn twice, so 80 moves of 4x4 take 9 kB. There is no script, so the film plays
wherever pictures do, also on pages that allow none. Where the system asks for less motion, it shows the start.

A tile that leaves across the edge of a wrapped board enters on the opposite side. It slides one cell beyond the edge,
where nothing can be seen, and takes a copy of itself along, a whole board away, which slides in. When it has arrived,
tile and copy look like the tile in its new cell, so it can be put there unnoticed when it moves next.

The names in a style sheet are those of a whole page. So all of them begin with a name that is worked out from what the
film shows: two films on a page do not disturb each other, and the same film is the same text every time.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from itertools import islice, pairwise, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pdb_builder.base.errors import InputError
from pdb_builder.base.files import check_output, output_file
from pdb_builder.base.markup import Markup, element
from pdb_builder.base.numeric import as_integer
from pdb_builder.base.wording import counted
from pdb_builder.drawing import (
    GAP,
    LIGHT,
    NIGHT,
    PITCH,
    SIDE,
    Picture,
    Place,
    board_picture,
    corner,
    css,
    pixels_apart,
)
from pdb_builder.grid import Grid

from ..board import Board, format_board
from .colours import mix
from .playback import SPEED, check_solved, check_speed
from .svg import colours_of, draw, draw_tile

if TYPE_CHECKING:
    from ..solution import Solution

FIRST, LAST = 1.2, 3.0  # seconds for the start and for the goal
SLIDE = 0.16  # seconds that a tile slides, if moves are far enough apart
PRECISION = 0.005  # seconds between times that are told apart
CAPTION = 14  # pixels of the letters of the line below the board
WIDEST = 0.72  # of a letter, as a share of that
TRACK, INK = css(mix(NIGHT, LIGHT, 0.22)), css(mix(NIGHT, LIGHT, 0.7))


def check_svg(path: Path) -> None:
    """Raise ``InputError`` for an SVG that cannot be made: another ending, or a file that must stay."""
    check_output(path, ".svg")


def save_svg(solution: Solution, path: str | Path, speed: float = SPEED) -> None:
    """Write a solution to an SVG file that plays it again and again, at ``speed`` moves per second.

    The file is written completely or not at all. Raises ``InputError`` if it cannot be drawn or written.
    """
    path = Path(path)
    film = draw_film(solution, speed)
    check_svg(path)
    with output_file(path) as file:
        file.write(f"{film}\n".encode())


def draw_solution(solution: Solution, step: int | None, speed: float | None) -> Picture:
    """The board after ``step`` moves, or if that is None the film; see ``Solution.svg``."""
    if step is None:
        return draw_film(solution, SPEED if speed is None else speed)
    number, most = as_integer(step), len(solution.tiles)
    if number is None or not 0 <= number <= most:
        raise InputError(f"step must be an integer from 0 to {most}, got {step!r}")
    return draw(solution.grid, next(islice(solution.boards(), number, None)), solution.goal)


def draw_film(solution: Solution, speed: float = SPEED, side: int = SIDE) -> Picture:
    """The film of a solution; the longer side of its board has about ``side`` pixels.

    Raises ``InputError`` for a speed that cannot be followed, and if there is no solution.
    """
    check_speed(speed)
    check_solved(solution)
    grid, goal, count = solution.grid, solution.goal, len(solution.tiles)
    clock = Clock(count, speed)
    facts = f"{grid} {solution.board} {goal} {solution.tiles} {float(speed)}"
    name = f"b{hashlib.sha256(facts.encode()).hexdigest()[:6]}"
    rules, tiles = [], []
    for tile, visits in _visits(solution).items():
        own, path, shifts = f"{name}-{tile}", _path(grid, visits, clock), _shifts(grid, visits)
        changes = _changes(grid, goal, tile, visits, clock)
        rules += [f"@keyframes {own}{{{path}}}"] * bool(path) + [f"@keyframes {own}c{{{changes}}}"] * bool(changes)
        names = f"animation-name:{own}" + f",{own}c" * bool(changes) if path else None
        tiles.append(draw_tile(grid, goal, tile, visits[0].cell, shifts, names))
    if grid.wrap:  # a picture in the picture is cut off at its edges
        tiles = [element("svg", *tiles, width=grid.cols * PITCH, height=grid.rows * PITCH, overflow="hidden")]
    said = counted(count, "move") if count else "no moves"
    size = round(CAPTION * PITCH / pixels_apart(grid, side))
    left, right, middle = GAP // 2, grid.cols * PITCH - GAP // 2, grid.rows * PITCH + size
    place = {"x": left, "y": middle, "dy": ".35em", "font_size": size, "text_anchor": "start"}
    below = [element("text", said, **place, fill=INK)]
    bar = left + round(size * (WIDEST * len(said) + 0.5))
    if count and bar < right - size:
        below.append(_bar(bar, middle, right - bar, size // 3, f"{name}-bar"))
        start, end = clock.start(1), clock.end(count)
        rules.append(f"@keyframes {name}-bar{{{start}{{transform:scale(0,1)}}{end},to{{transform:none}}}}")
    rules += [
        f".{name} *{{animation:{clock.seconds:g}s infinite;animation-timing-function:ease-in-out,step-end}}",
        f"@media(prefers-reduced-motion:reduce){{.{name} *{{animation-name:none!important}}}}",
    ]
    title = f"{grid} board: {format_board(grid, solution.board)}: {said} {solution.moves}".rstrip()
    sheet = [element("style", Markup("\n".join(rules)))] * bool(count)
    return board_picture(grid, [*sheet, *tiles, *below], title, round(1.6 * size), side, class_=name)


class Visit(NamedTuple):
    """A cell that a tile comes to with a move; with the move 0 it is there from the start."""

    move: int
    cell: int


class Clock:
    """When moves begin and end, as shares of the film."""

    def __init__(self, moves: int, speed: float) -> None:
        self._apart = 1 / speed
        self._slide = min(SLIDE, 0.8 * self._apart)  # so that a tile arrives before it leaves again
        self.seconds = round(FIRST + max(0, moves - 1) * self._apart + self._slide + LAST, 2)
        self._digits = max(1, math.ceil(math.log10(self.seconds / PRECISION / 100)))

    def start(self, move: int) -> str:
        """When a tile begins to slide."""
        return self._share(FIRST + (move - 1) * self._apart)

    def end(self, move: int) -> str:
        """When it has arrived."""
        return self._share(FIRST + (move - 1) * self._apart + self._slide)

    def _share(self, seconds: float) -> str:
        return f"{round(100 * seconds / self.seconds, self._digits):.10g}%"


def _visits(solution: Solution) -> dict[int, list[Visit]]:
    """The cells that each tile visits, in the order of the tiles."""
    where = {
        tile: [Visit(0, cell)] for tile, cell in sorted(zip(solution.board, range(solution.grid.cells), strict=True))
    }
    del where[0]
    for move, (tile, board) in enumerate(zip(solution.tiles, islice(solution.boards(), 1, None), strict=True), 1):
        where[tile].append(Visit(move, board.index(tile)))
    return where


def _crossing(grid: Grid, source: int, target: int) -> Place:
    """What a tile that slides from one cell to the next must add to end beyond the edge, and not on the other side."""
    (x, y), (to_x, to_y) = corner(grid, source), corner(grid, target)

    def beyond(distance: int, cells: int) -> int:
        return 0 if abs(distance) <= PITCH else cells * PITCH * (1 if distance < 0 else -1)

    return beyond(to_x - x, grid.cols), beyond(to_y - y, grid.rows)


def _shifts(grid: Grid, visits: Sequence[Visit]) -> list[Place]:
    """Where the copies of a tile are, beside the tile, that enter the board when it leaves."""
    ways = {_crossing(grid, source.cell, target.cell) for source, target in pairwise(visits)} - {(0, 0)}
    return sorted((-across, -down) for across, down in ways)


def _path(grid: Grid, visits: Sequence[Visit], clock: Clock) -> str:
    """The frames of a tile's way, which leads from its cell at the start to others."""
    first = corner(grid, visits[0].cell)

    def at(cell: int, beyond: Place = (0, 0)) -> str:
        (x, y), (across, down) = corner(grid, cell), beyond
        return f"translate:{x - first[0] + across}px {y - first[1] + down}px"

    frames, beyond = [], (0, 0)
    for visit, after in zip_longest(visits, visits[1:]):
        leaves = clock.start(after.move) if after else "to"
        if visit.move == 0:
            frames.append(f"{leaves}{{translate:0}}" if after else "")
        elif after and beyond != (0, 0):
            frames.append(f"{clock.end(visit.move)}{{{at(visit.cell, beyond)};animation-timing-function:step-end}}")
            frames.append(f"{leaves}{{{at(visit.cell)}}}")
        else:
            frames.append(f"{clock.end(visit.move)},{leaves}{{{at(visit.cell, beyond)}}}")
        beyond = _crossing(grid, visit.cell, after.cell) if after else (0, 0)
    return "".join(frames)


def _changes(grid: Grid, goal: Board, tile: int, visits: Sequence[Visit], clock: Clock) -> str:
    """The frames of a tile's colours, which change when it leaves its home and when it has come home."""
    home, frames = goal.index(tile), []
    for source, target in pairwise(visits):
        if home in (source.cell, target.cell):
            fill, ink = colours_of(grid, goal, tile, target.cell)
            when = clock.end(target.move) if target.cell == home else clock.start(target.move)
            frames.append(f"{when}{{fill:{css(fill)};color:{css(ink)}}}")
    return "".join(frames)


def _bar(left: int, middle: int, width: int, height: int, name: str) -> Markup:
    """A bar that fills up with the moves."""
    size = {"y": -height / 2, "width": width, "height": height, "rx": height / 2}
    moving = f"animation-name:{name};animation-timing-function:linear"
    filled = element("rect", **size, fill=INK, transform="scale(0 1)", style=moving)
    return element("g", element("rect", **size, fill=TRACK), filled, transform=f"translate({left} {middle})")
