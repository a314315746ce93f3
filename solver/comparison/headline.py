"""What came out of a comparison, in a sentence.

Of the methods that solved every board, the one that generated least is set against the first method, which is the
yardstick of the tables; if it is the first itself, against the next best. Where the other hit a limit its figures are
lower bounds, and so is what was saved: it says "at least", or nothing if even that is unknown. Shorter solutions are
worth more than longer ones, so if lengths vary, the sentence says by how much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdb_builder.base.wording import counted

from ..number_text import format_count, format_ratio, format_seconds
from .cells import Cell, Summary
from .methods import Method

if TYPE_CHECKING:
    from .comparison import Comparison

NOISE = 1.25  # times that differ by a smaller factor may do so by chance
MEASURABLE = 0.1  # seconds for all boards: shorter times say more about the machine than about the methods


def headline(comparison: Comparison) -> str:
    """The sentence, for a comparison with at least one finished board."""
    names = dict(zip(comparison.methods, comparison.names(), strict=True))
    found = dict(zip(comparison.methods, comparison.summaries(), strict=True))
    whole = [method for method, summary in found.items() if not summary.unfinished]
    if not whole:
        return _nothing_whole(names, found)
    best = min(whole, key=lambda method: found[method].generated)
    others = [method for method in comparison.methods if method != best]
    if not others:
        one = found[best]
        figures = f"{format_count(one.generated)} boards in {format_seconds(one.seconds)} seconds"
        return f"{names[best]} solves {_all(one.boards)}, generating {figures}{' on average' * (one.boards > 1)}."
    rivals = [method for method in whole if method != best] or others
    other = others[0] if best != comparison.methods[0] else min(rivals, key=lambda method: found[method].generated)
    name = names[other] + _unsolved(found[other])
    longer = _longer(comparison.column(best), comparison.column(other))
    return f"{names[best]} {_saved(found[best], found[other], name)}{longer}."


def _nothing_whole(names: dict[Method, str], found: dict[Method, Summary]) -> str:
    """For methods of which none solved every board."""
    best = max(found, key=lambda method: found[method].boards - found[method].unfinished)
    one = found[best]
    if one.unfinished == one.boards:
        return f"Within the limits no method solves {'the board' if one.boards == 1 else 'any of the boards'}."
    closest = f"{names[best]} comes closest, with {one.boards - one.unfinished}"
    return f"Within the limits no method solves {_all(one.boards)}; {closest}."


def _all(boards: int) -> str:
    return "the board" if boards == 1 else f"all {boards} boards"


def _unsolved(one: Summary) -> str:
    """A remark on boards that a method did not solve, if there are any."""
    return f" ({one.boards - one.unfinished} of {counted(one.boards, 'board')} solved)" if one.unfinished else ""


def _saved(best: Summary, other: Summary, name: str) -> str:
    """What the best method saves in comparison with another: boards generated, and time."""
    at_least = "at least " * bool(other.cut_short)
    boards = other.generated / best.generated
    saves = boards > 1 and format_ratio(boards) != "1"
    if not saves and other.unfinished:  # it did not generate less, but gave up earlier
        return f"solves {_all(best.boards)}, unlike {name}"
    words = f"{at_least}{format_ratio(boards)} times fewer boards than" if saves else "as many boards as"
    words = f"generates {words} {name}"
    measurable = best.seconds and max(best.seconds, other.seconds) * best.boards >= MEASURABLE
    time = other.seconds / best.seconds if measurable else None
    if time is None or (other.cut_short and time < NOISE):
        return words
    if 1 / NOISE < time < NOISE:
        return f"{words}, and takes about as long"
    if time > 1:
        return f"{words}, and takes {at_least}{format_ratio(time)} times less time"
    return f"{words}, but takes {format_ratio(1 / time)} times as long"


def _longer(best: list[Cell], other: list[Cell]) -> str:
    """How much longer the solutions of one method are, on the boards that both solved; empty if they are not."""
    pairs = [
        (a.length, b.length)
        for a, b in zip(best, other, strict=True)
        if a.length is not None and b.length is not None and a.limit_hit is b.limit_hit is None
    ]
    ours, theirs = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    if ours == theirs:
        return ""
    share = format_ratio(100 * abs(ours / theirs - 1))
    return f"; its solutions are {share} % {'longer' if ours > theirs else 'shorter'}"
