"""What every way of showing a solution shares: the speed, and that there must be a solution to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdb_builder.base.errors import InputError
from pdb_builder.base.numeric import as_real

if TYPE_CHECKING:
    from ..solution import Solution

SPEED = 4  # moves per second
SLOWEST, FASTEST = 0.1, 25  # not every program shows a frame of a GIF for less than 1/25 second


def check_speed(speed: object) -> None:
    """Raise ``InputError`` unless ``speed`` is a number of moves per second that can be followed."""
    number = as_real(speed)
    if number is None or not SLOWEST <= number <= FASTEST:
        raise InputError(f"speed must be between {SLOWEST} and {FASTEST} moves per second, got {speed!r}")


def check_solved(solution: Solution) -> None:
    """Raise ``InputError`` for a search that ended without a solution."""
    if not solution.solved:
        raise InputError("the board was not solved, so there are no moves to show: search longer")
