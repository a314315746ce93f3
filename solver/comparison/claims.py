"""Claims: what is known about the shortest solution of a board, and whether all of it can be true.

Everything that is known about a board says that its shortest solution has at least some number of moves, or at most
some number, or both:

    the published length, and a length proven shortest   both
    a solution with suboptimality bound w                at most its length, at least its length / w
    any other solution                                   at most its length
    the value of an admissible heuristic at the start    at least this value
    a depth limit within which nothing was found         more than this limit

So methods that guarantee shortest solutions all find the same length; any other may find a longer solution, never a
shorter one. If two claims contradict each other, that is a ``Disagreement``, an error: a database is damaged, a saved
result was changed, or a search has a defect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from pdb_builder.base.errors import Disagreement

from .cells import Cell
from .methods import Method


class Claim(NamedTuple):
    """A claim about the shortest solution of a board, in words, and the fewest and the most moves it allows."""

    words: str
    least: float
    most: float


def claims_of(name: str, method: Method, cell: Cell) -> list[Claim]:
    """What a cell claims, under the given name for its method."""
    claims = []
    if cell.length is not None:
        bound = method.suboptimality_bound if cell.limit_hit is None else None
        words = f"{name} finds {cell.length}"
        if bound is None:
            claims.append(Claim(f"{words} without a guarantee", 0, cell.length))
        else:
            words += "" if bound == 1 else f", at most {bound:g} times the shortest"
            # A little less, since 33 / 1.1 need not be 30.
            claims.append(Claim(words, math.ceil(cell.length / bound - 1e-9), cell.length))
    depth = method.settings.depth
    if cell.limit_hit == "depth" and depth is not None:  # a saved cell may say anything
        claims.append(Claim(f"{name} finds nothing within {depth} moves", depth + 1, math.inf))
    if method.admissible:
        claims.append(Claim(f"{name} gives {cell.h_start} at the start", cell.h_start, math.inf))
    return claims


def published_claim(length: int) -> Claim:
    return Claim(f"{length} is published", length, length)


def check_agreement(claims: Sequence[Claim], board: str) -> None:
    """Raise ``Disagreement`` unless all claims about a board can be true."""
    least = max((claim.least for claim in claims), default=0)
    most = min((claim.most for claim in claims), default=math.inf)
    if least > most:
        wrong = [claim for claim in claims if claim.least > most or claim.most < least]
        wrong.sort(key=lambda claim: claim.most == math.inf)  # solutions first
        raise Disagreement(
            f"{board}: the lengths of shortest solutions disagree: {', '.join(claim.words for claim in wrong)}: trust "
            "none of these results; check the databases with 'pdb-builder verify', and a resumed file for changed lines"
        )
