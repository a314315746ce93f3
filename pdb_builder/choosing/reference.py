"""The reference: the partition whose search trees are sampled, and that collections are compared with.

It is the classical partition of a shape for the goal with its blank first. Elsewhere it is an automatic one, with
patterns of the size that is classical for the shape, or as large as a table of ``LARGEST_TABLE`` bytes allows; and
never with fewer than three patterns, so that there is something left to prune.
"""

from __future__ import annotations

from math import comb, factorial

from ..pattern import NAMED, Partition, automatic_partition
from .symmetry import Goal

CLASSICAL = {"3x3": "3x3-4-4", "3x4": "3x4-6-5", "4x4": "4x4-7-8", "5x5": "5x5-6-6-6-6"}
LARGEST_TABLE = 50_000_000


def reference_partition(goal: Goal) -> Partition:
    """The reference of a goal."""
    grid = goal.grid
    name = CLASSICAL.get(grid.shape)
    if name:
        (partition,) = NAMED[name]
        if goal.blank == 0 and not grid.wrap:
            return partition
        return automatic_partition(grid, goal.blank, max(map(len, partition)))
    size = 1
    while size < (grid.cells + 1) // 3 and comb(grid.cells, size + 1) * factorial(size + 1) // 8 < LARGEST_TABLE:
        size += 1
    return automatic_partition(grid, goal.blank, size)
