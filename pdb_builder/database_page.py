"""What a notebook shows of an open database, as HTML.

Every partition is drawn on the goal: a tile has the colour of its pattern, and the name of the pattern's table. The
table below has a row for each table of the file.
"""

from __future__ import annotations

from .base.machine import readable_size
from .base.markup import Markup, element, side_by_side, table
from .base.wording import counted
from .database import Database, Table
from .drawing import DARK, RAINBOW, Colour, Picture, bars, board_picture, corner, square
from .pattern import Partition, Spec
from .pattern_names import pattern_names, table_names

SIDE = 160  # pixels of the longer side of a board
HEADINGS = ("pattern", "tiles", "entries", "size", "maximum", "mean", "distances")
APART = 3  # steps in the rainbow between the colours of a pattern and the next


def database_page(database: Database) -> Markup:
    """The partitions of a database, and a table of what it holds."""
    spec = database.spec
    names = zip(table_names(spec), database.tables, strict=True)
    return element(
        "div",
        element("p", element("b", database.path.name), f": {summary(database)}"),
        side_by_side(*(draw_partition(spec, one) for one in spec.partitions)),
        table(HEADINGS, [_row(letter, one) for letter, one in names], names=(0, 1, 6)),
    )


def summary(database: Database) -> str:
    """A database in a line."""
    spec, tables = database.spec, database.tables
    several = f"{len(spec.partitions)} partitions, " if len(spec.partitions) > 1 else ""
    size = readable_size(database.memory.nbytes)
    return f"{spec.grid} board, {several}{counted(len(tables), 'pattern')}, {spec.encoding}, {size}"


def draw_partition(spec: Spec, partition: Partition) -> Picture:
    """A partition: on the home of each tile the name of its pattern."""
    names, goal = pattern_names(spec), spec.grid.goal(spec.blank)
    colours: dict[int, Colour] = {}
    for number, tiles in enumerate(partition):
        colours |= dict.fromkeys(tiles, RAINBOW[APART * number % len(RAINBOW)])
    name_of = {tile: names[tiles] for tiles in partition for tile in tiles}
    squares = [
        square(corner(spec.grid, cell), name_of[tile], colours[tile], DARK) for cell, tile in enumerate(goal) if tile
    ]
    words = "; ".join(f"{names[tiles]}: {' '.join(map(str, tiles))}" for tiles in partition)
    return board_picture(spec.grid, squares, f"partition {words}", side=SIDE)


def _row(letter: str, one: Table) -> list[object]:
    title = f"entries at distances 0 to {one.maximum}"
    return [
        letter,
        " ".join(map(str, one.tiles)),
        f"{one.entries:,}",
        readable_size(one.values.nbytes),
        one.maximum,
        f"{one.mean:.2f}",
        bars(one.counts.tolist(), title, 3 * len(one.counts), 24),
    ]
