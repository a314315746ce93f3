"""The two ways a table stores distances.

``bits``: for every block and arrangement, bit 1 of the distance. Bit 0 need not be stored: every move
of a pattern tile changes the colour of one cell, so the distance has the parity of the number of
tiles that stand on a colour other than their home's. That gives the distance modulo 4, and since
neighbours differ by exactly 1, a search that knows the distance before a move knows it after. The
zone of the blank is part of the state, so the bound is as good as the pattern allows, and it is
consistent. It all rests on the board being bipartite.

``bytes``: for every footprint and arrangement, the least distance over the zones. The classical
table: larger and weaker, and one move may change it by more than 1, but any entry can be read by
itself, and the node counts of the literature were made with it.
"""

from __future__ import annotations

from math import factorial

from .base.errors import InputError
from .grid import Grid

ENCODINGS = ("bits", "bytes")
UNREACHED = 255  # in a ``bytes`` table: no sequence of moves leads to the goal


def check_encoding(grid: Grid, encoding: str | None) -> str:
    """The encoding to use; None takes the best one that is valid on the grid."""
    if encoding is None:
        return "bits" if grid.bipartite else "bytes"
    if encoding not in ENCODINGS:
        raise InputError(f"there is no encoding '{encoding}': take one of {', '.join(ENCODINGS)}")
    if encoding == "bits" and not grid.bipartite:
        raise InputError(
            f"encoding bits needs distances that change by 1 with every move, which a {grid} board with its "
            "odd side does not give: use --encoding bytes"
        )
    return encoding


def block_bytes(size: int) -> int:
    """The bytes of one block of a ``bits`` table: one bit per arrangement, whole bytes."""
    return max(1, factorial(size) // 8)
