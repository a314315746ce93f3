"""The heuristics by name. Their code, and with it numba, is imported when one is prepared (``preparing``).

A heuristic is written as one of the names below, ``pdb:NAME`` for a certain database (its file in the folder of
databases, without .h5, or any path that ends in .h5), or ``max:A+B`` for the maximum of several. ``pdb`` looks a board
up in all its symmetries, ``pdb-unreflected`` in a single one.

A search is compiled for the heuristic it uses, and for a maximum of many that takes long: hence ``MOST_PARTS``.
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
}

MOST_PARTS = 6  # of a maximum


def check_name(spec: str) -> None:
    """Raise ``InputError`` unless ``spec`` is written as a heuristic is."""
    for part in parts_of(spec):
        name, colon, rest = part.partition(":")
        if name not in HEURISTICS or (colon and (not name.startswith("pdb") or not rest)):
            raise InputError(f"unknown heuristic {part[:60]!r}: use {', '.join(HEURISTICS)}, pdb:NAME or max:A+B")


def parts_of(spec: str) -> list[str]:
    """The heuristics whose maximum ``spec`` names, each once; just the one if it is not a maximum."""
    name, _, rest = spec.strip().partition(":")
    if name != "max" or not rest:
        return [spec.strip()]
    parts = list(dict.fromkeys(part.strip() for part in rest.split("+")))
    if "" in parts:
        raise InputError(f"{spec[:60]!r} lacks a heuristic beside a plus sign: write it as max:A+B")
    if len(parts) > MOST_PARTS:
        raise InputError(f"{spec[:60]!r} has {len(parts)} heuristics: take the maximum of at most {MOST_PARTS}")
    return parts
