"""Names of patterns in pictures and tables: a letter for each table.

A pattern that is looked up in the table of its image has that table's letter with a prime, as in ``A'``; another image
of the same table has two primes, and so on.
"""

from __future__ import annotations

from .pattern import Pattern, Spec

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#"  # names of up to 63 tables


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
