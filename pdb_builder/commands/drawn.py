"""Partitions drawn on the goal, as text: the name of its pattern for each tile (``pattern_names``)."""

from __future__ import annotations

from collections.abc import Sequence

from ..pattern import Spec
from ..pattern_names import pattern_names

WIDTH = 100  # of drawings side by side
GAP = " " * 6


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
