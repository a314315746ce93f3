"""Partitions drawn on the goal: a letter for each pattern, the one of its table.

A pattern that is looked up in the table of its image has that table's letter with a prime, as in ``A'``; another image
of the same table has two primes, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..pattern import Pattern, Spec

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#"  # names of up to 63 tables
WIDTH = 100  # of drawings side by side
GAP = " " * 6


def table_names(spec: Spec) -> list[str]:
    """The letters of the tables, or their numbers if there are too many."""
    count = len(spec.patterns)
    return list(LETTERS[:count]) if count <= len(LETTERS) else [str(number) for number in range(1, count + 1)]


def pattern_names(spec: Spec) -> dict[Pattern, str]:
    """The name of every pattern of the partitions: that of its table, with a prime if it is an image of it."""
    names: dict[Pattern, str] = {}
    images: dict[int, int] = {}
    for tiles in (tiles for partition in spec.partitions for tiles in partition):
        if tiles not in names:
            number, _ = spec.source(tiles)
            if tiles == spec.patterns[number]:
                names[tiles] = table_names(spec)[number]
            else:
                images[number] = images.get(number, 0) + 1
                names[tiles] = table_names(spec)[number] + "'" * images[number]
    return names


def draw_goal(spec: Spec) -> str:
    """The goal."""
    goal = spec.grid.goal(spec.blank)
    return spec.grid.draw(lambda cell: goal[cell] or ".")


def draw_partitions(spec: Spec) -> list[str]:
    """Every partition: the name of each tile's pattern where the tile has its home."""
    goal, names = spec.grid.goal(spec.blank), pattern_names(spec)
    drawings = []
    for partition in spec.partitions:
        name_of = {tile: names[tiles] for tiles in partition for tile in tiles} | {0: "."}
        width = max(map(len, name_of.values()))
        labels = [name_of[tile].ljust(width) for tile in goal]  # so that primes hang over
        drawings.append(spec.grid.draw(labels.__getitem__))
    return drawings


def side_by_side(drawings: Sequence[str], indent: str = "    ") -> str:
    """Drawings of the same height, as many beside each other as there is room for."""
    lines: list[str] = []
    while drawings:
        count, width = 0, len(indent)
        while count < len(drawings) and (count == 0 or width + len(drawings[count].splitlines()[0]) <= WIDTH):
            width += len(drawings[count].splitlines()[0] + GAP)
            count += 1
        rows = zip(*(drawing.splitlines() for drawing in drawings[:count]), strict=True)
        lines += ([""] if lines else []) + [(indent + GAP.join(row)).rstrip() for row in rows]
        drawings = drawings[count:]
    return "\n".join(lines)
