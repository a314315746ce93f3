"""Pieces of bundles (``pieces``), searched one after another until the time is over, and what is left, handed back.

The moves that a stack has not made yet are what is left. Of these the one that branched off first leads to about as
many boards as all others together, so whoever is given it will not be done soon either. So what branched off within the
first few moves is followed until all of that is equally deep, a board at a time. It is searched then, like any other
piece, though nobody was ever given it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .cutting import key_of
from .pieces import Part, Piece, Returned
from .searched import Searched

if TYPE_CHECKING:
    from .tree import Tree, Worker

FOLLOWED = 3  # moves beyond the first branch that was left


def search_pieces(
    tree: Tree,
    worker: Worker,
    bound: int,
    pieces: list[Piece],
    is_late: Callable[[], bool],
    is_unwanted: Callable[[int], bool] = lambda bundle: False,
) -> Returned:
    """Search pieces until it is late, the first in any case. Those of bundles that are not wanted are left out."""
    parts, left = list[Part](), list[Piece]()

    def is_over(bundle: int) -> bool:
        return is_late() or is_unwanted(bundle)

    def note(piece: Piece, found: Searched) -> bool:
        """Note what was found of a piece; returns whether that ends the search."""
        parts.append(Part(piece, found.as_record()))
        return bool(found.paths) and not tree.every

    def leave(piece: Piece, rest: list[np.ndarray], depth: int) -> bool:
        """Hand back what is left of a piece, followed to a depth; returns whether there was a solution on the way."""
        for number, path in enumerate(rest):
            one = Piece(piece.bundle, (*piece.place, number), key_of(path))
            if len(path) > depth:
                left.append(one)
                continue
            found, below = tree.search_piece(worker, bound, path, lambda: True, at_once=1)
            if note(one, found) or leave(one, below, depth):
                return True
        return False

    for piece in pieces:
        if is_unwanted(piece.bundle):
            continue
        if parts and is_late():
            left.append(piece)
            continue
        path = tree.path_through(piece.cells)
        found, rest = tree.search_piece(worker, bound, path, partial(is_over, piece.bundle))
        if rest and is_unwanted(piece.bundle):
            continue
        if note(piece, found) or (rest and leave(piece, rest, min(map(len, rest)) - 1 + FOLLOWED)):
            break  # those after a solution are not wanted
    return Returned(parts, left)
