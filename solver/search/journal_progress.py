"""How far a search has come by its journal, and what the next bounds will take.

Iterations grow by a factor that changes little from one bound to the next: the last two from the same end tell how much
the one after them takes. Of an iteration under way, the bundles that are finished tell more, once they are enough.
"""

from __future__ import annotations

from typing import NamedTuple

from pdb_builder.grid import Grid

from . import BEAM, WAY_BACK
from .journal import Step

ENOUGH = 0.05  # of the bundles: then they tell how large the iteration is
AHEAD = 3  # bounds that are estimated


class Part(NamedTuple):
    """A step of a search, as far as it is done."""

    bound: int
    side: str
    expanded: int
    generated: int
    seconds: float  # of all threads together, unless it is finished
    share: float  # that is done
    refuted: bool  # no solution has this length


class Estimate(NamedTuple):
    """What a bound will take, or the rest of it."""

    bound: int
    generated: float
    seconds: float


class JournalProgress(NamedTuple):
    """How far a search has come."""

    parts: list[Part]
    lower_bound: int
    length: int | None  # of the best solution so far
    generated: int  # the start counts as one
    seconds: float
    next: list[Estimate]


def progress_of(grid: Grid, steps: list[Step], upper_bound: int | None = None) -> JournalProgress:
    """How far the search of a journal has come, which is over when no solution can be shorter than an upper bound."""
    parts = [_part(step) for step in steps if step.what and step.what["side"] != WAY_BACK]
    between = 2 if grid.bipartite else 1
    bounds = [part.bound for part in parts]
    refuted = [part.bound + between for part in parts if part.refuted]
    lengths = [length for step in steps if (length := _length(step)) is not None]
    generated, seconds = 1 + sum(part.generated for part in parts), sum(part.seconds for part in parts)
    lower_bound, length = max([*bounds, *refuted], default=0), min(lengths, default=None)
    if length is not None and length <= lower_bound:
        return JournalProgress(parts, length, length, generated, seconds, [])
    if upper_bound is not None and lower_bound >= upper_bound:
        return JournalProgress(parts, lower_bound, length, generated, seconds, [])
    ahead = _estimates([part for part in parts if part.side != BEAM], lower_bound, between)
    return JournalProgress(parts, lower_bound, length, generated, seconds, ahead)


def _part(step: Step) -> Part:
    what = step.what or {}
    done = [step.result] if step.result else list(step.bundles.values())
    share = 1.0 if step.result else len(done) / max(1, step.cut[1]) if step.cut else 0.0
    expanded, generated, seconds = (sum(one[name] for one in done) for name in ("expanded", "generated", "seconds"))
    refuted = bool(step.result and step.result.get("refuted"))
    return Part(what["bound"], what["side"], expanded, generated, seconds, share, refuted)


def _length(step: Step) -> int | None:
    """The moves of the solution that a step has found."""
    found = step.result or {}
    path = found.get("path") or (found["paths"][0] if found.get("paths") else None)
    return None if path is None else len(path) - 1


def _estimates(parts: list[Part], bound: int, between: int) -> list[Estimate]:
    """What the bounds from the lower bound on will take, at the rate so far; nothing if too little is known."""
    seconds = sum(part.seconds for part in parts)
    rate = sum(part.generated for part in parts) / seconds if seconds else 0.0
    sides = [part.side for part in parts if part.bound == bound] or [part.side for part in parts if part.refuted]
    whole = {part.bound: part.generated for part in parts if part.refuted and part.side in sides[-1:]}
    earlier = sorted(whole)[-2:]
    if len(earlier) < 2 or not rate:
        return []
    growth = (whole[earlier[1]] / whole[earlier[0]]) ** (between / (earlier[1] - earlier[0]))
    size, found = float(whole[earlier[1]]), []
    for ahead in range(earlier[1] + between, bound + AHEAD * between, between):
        size *= growth
        done = 0
        for part in parts:
            if part.bound == ahead and part.side == sides[-1] and not part.refuted:
                done = part.generated
                size = done / part.share if part.share >= ENOUGH else max(size, done)
        if ahead >= bound:
            found.append(Estimate(ahead, size - done, (size - done) / rate))
    return found
