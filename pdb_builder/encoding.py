"""The two encodings: how a table stores distances.

``bits`` stores bit 1 of the distance for every block and arrangement. Bit 0 need not be stored: every
move of a pattern tile changes the chessboard colour of its cell, so the distance is even if and only
if an even number of tiles are on the other colour than at home. Both bits give the distance modulo 4.
Neighbouring states differ by exactly 1, so a search that knows the distance before a move also knows
it afterwards. The blank's zone is part of the state, so the bound is as strong as the pattern allows,
and it is consistent. All of this needs a bipartite board.

``bytes`` stores the least distance over all zones, one byte per footprint and arrangement. This is the
classical table. It is larger and weaker, and one move may change its value by more than 1. But every
entry can be read by itself, and the node counts in the literature were obtained with such tables.
"""

from __future__ import annotations

from math import factorial

from .base.errors import InputError
from .grid import Grid

ENCODINGS = ("bits", "bytes")
UNREACHED = 255  # in a ``bytes`` table: the goal cannot be reached


def check_encoding(grid: Grid, encoding: str | None) -> str:
    """The encoding to use on a grid: None chooses ``bits`` where it is valid."""
    if encoding is None:
        return "bits" if grid.bipartite else "bytes"
    if encoding not in ENCODINGS:
        raise InputError(f"unknown encoding '{encoding}': use {' or '.join(ENCODINGS)}")
    if encoding == "bits" and not grid.bipartite:
        raise InputError(
            f"encoding bits needs distances that change by 1 with every move, and on {grid.a_board}, which has an "
            "odd side, they do not: use `encoding` bytes"
        )
    return encoding


def block_bytes(size: int) -> int:
    """The bytes of one block of a ``bits`` table: one bit per arrangement, rounded up to whole bytes."""
    return max(1, factorial(size) // 8)
