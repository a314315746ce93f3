"""Bundles in pieces: what a worker has not finished in its time it hands back, for others to go on with.

How long a bundle takes is not known beforehand: with a database some take twenty times as long as expected, and whoever
has got one of them keeps a thousand others waiting. So a task has a time limit. When it is over, the worker returns
what it has found so far, and the paths to all that its stack has left to do. These *pieces* are work like any other,
and may be handed back in turn.

*The order.* What is found must be added up in the order of the search, in which a solution ends the counts. A piece has
a *place*: the number of a subtree in its bundle and, of what was left below a piece, numbers that are appended to the
place of that piece. Places compare as Python compares tuples, and that is the order of the search: what was done of a
piece comes before all that was left of it.

*Twice.* A piece may be searched by two workers, who stop at different boards and leave different pieces in the same
places. So what is missing is known by its place and its path: what one of them left is not taken for the other's.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

Place = tuple[int, ...]


class Piece(NamedTuple):
    """A part of a bundle that is to be searched."""

    bundle: int
    place: Place
    cells: bytes  # of the blank, on the way there


class Part(NamedTuple):
    """What was found of a piece, all of it or until it was handed back."""

    piece: Piece
    found: dict  # a record of ``Searched``


class Returned(NamedTuple):
    """What a task has done, and what it hands back."""

    parts: list[Part]
    left: list[Piece]


class Assembly:
    """Bundles that are put together from parts. ``every`` says that solutions do not end the counts."""

    def __init__(self, bundles: dict[int, list[bytes]], every: bool) -> None:
        self.every = every
        self.bundles = {
            number: [Piece(number, (place,), cells) for place, cells in enumerate(paths)]
            for number, paths in bundles.items()
        }
        self._parts: dict[int, list[Part]] = {number: [] for number in bundles}
        self._missing = {
            number: {piece.place: piece.cells for piece in pieces} for number, pieces in self.bundles.items()
        }
        self._solved: dict[int, Place] = {}  # bundle -> the first place with a solution

    @property
    def stop_at(self) -> float:
        """Bundles from this number on come after a solution."""
        return min(self._solved, default=inf) + 1

    def wanted(self, piece: Piece) -> bool:
        """Whether a piece is still to be searched."""
        return self._is_missing(piece) and not self._after_solution(piece.bundle, piece.place)

    def _is_missing(self, piece: Piece) -> bool:
        return self._missing.get(piece.bundle, {}).get(piece.place) == piece.cells

    def _after_solution(self, bundle: int, place: Place) -> bool:
        return bundle in self._solved and place > self._solved[bundle]

    def take(self, returned: Returned) -> list[tuple[int, list[Part]]]:
        """Take down what a task has found and left; returns the bundles that are complete now, with their parts.

        A piece that was searched twice counts once, and one of a bundle that is complete without it not at all.
        """
        taken = set()
        for part in returned.parts:
            bundle, place, _ = part.piece
            # Some pieces were searched by whoever has found them.
            if self._is_missing(part.piece) or (bundle, place[:-1]) in taken:
                taken.add((bundle, place))
                self._missing[bundle].pop(place, None)
                self._parts[bundle].append(part)
                if part.found["paths"] and not self.every and not self._after_solution(bundle, place):
                    self._solved[bundle] = place
        for piece in returned.left:
            if (piece.bundle, piece.place[:-1]) in taken:  # the others are as they were
                self._missing[piece.bundle][piece.place] = piece.cells
        numbers = sorted({bundle for bundle, _ in taken})
        return [(number, self._complete(number)) for number in numbers if self._is_complete(number)]

    def _is_complete(self, bundle: int) -> bool:
        return all(self._after_solution(bundle, place) for place in self._missing[bundle])

    def _complete(self, bundle: int) -> list[Part]:
        """The parts that count, in order. The bundle is done with."""
        del self._missing[bundle]
        parts = sorted(self._parts.pop(bundle), key=lambda part: part.piece.place)
        return [part for part in parts if not self._after_solution(bundle, part.piece.place)]
