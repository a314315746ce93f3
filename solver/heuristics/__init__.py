"""The heuristics by name. Their code, and with it numba, is imported when one is prepared (``preparing``).

A heuristic is written as one of the names below, ``pdb:NAME`` for a certain database (its file in the folder of
databases, without .h5, or any path that ends in .h5), or ``max:A+B`` for the maximum of several. ``pdb`` looks a board
up in all its symmetries, ``pdb-unreflected`` in a single one.
"""

from __future__ import annotations

from pdb_builder.base.errors import InputError

HEURISTICS = {
    "manhattan": "each tile's distance to its home, added up",
    "linear-conflict": "the same, plus two moves for each tile that must leave its line",
    "walking-distance": "vertical and horizontal moves if tiles knew only the row, or column, they belong to",
    "hamming": "how many tiles are not at home",
    "inversions": "pairs of tiles in the wrong order, plus the blank's distance to its home: inadmissible",
    "pdb": "pattern databases, the largest sum over the symmetries of the board",
    "pdb-unreflected": "the same, without symmetries",
    "max": "max:A+B, the maximum of several",
}


def check_name(spec: str) -> None:
    """Raise ``InputError`` unless ``spec`` is written as a heuristic is."""
    name, colon, rest = spec.strip().partition(":")
    if name == "max" and rest:
        parts = rest.split("+")
        if not all(part.strip() for part in parts):
            raise InputError(f"{spec[:60]!r} lacks a heuristic beside a plus sign: write it as max:A+B")
        for part in parts:
            check_name(part)
    elif name not in HEURISTICS or name == "max" or (colon and (not name.startswith("pdb") or not rest)):
        known = ", ".join(name for name in HEURISTICS if name != "max")
        raise InputError(f"unknown heuristic {spec[:60]!r}: use {known}, pdb:NAME or max:A+B")
