"""The tables of a comparison: one of methods, one of boards, as text.

A column that would say the same in every row, because it has to, is left out: the algorithm if there is one, the
lengths if all solutions are shortest, the boards solved if no limit was hit. Figures after ``>`` are lower bounds, and
lengths after ``<=`` are not proven shortest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..number_text import format_count, format_large, format_ratio, format_seconds
from ..text_table import TextTable
from .cells import Summary

if TYPE_CHECKING:
    from .comparison import Comparison


def summary_table(comparison: Comparison, summaries: Sequence[Summary] | None = None) -> TextTable:
    """One row per method, of its summary over the finished boards, or of another one that is given."""
    summaries = comparison.summaries() if summaries is None else summaries
    several = len({summary.algorithm for summary in summaries}) > 1
    stored = any(summary.stored is not None for summary in summaries)
    limited = any(summary.unfinished for summary in summaries)
    varied = comparison.lengths_vary
    headings = ["algorithm"] * several + ["heuristic"] + ["proves"] * varied + ["solved"] * limited
    headings += ["length"] * varied + ["h mean", "median", "expanded", "generated"]
    headings += ["stored"] * stored + ["seconds", "nodes/s", "ratio"]
    rows = []
    for one in summaries:
        row = [one.algorithm] * several + [one.heuristic] + [_proves(one)] * varied
        row += [f"{one.boards - one.unfinished} of {one.boards}"] * limited
        row += ["-" if one.length is None else f"{one.length:.2f}"] * varied
        row += ["-", "-"] if one.heuristic == "none" else [f"{one.h_mean:.2f}", f"{one.h_median:g}"]
        row += [
            _at_least(format_count(one.expanded), one.cut_short),
            _at_least(format_count(one.generated), one.cut_short),
        ]
        row += ["-" if one.stored is None else _at_least(format_count(one.stored), one.cut_short)] * stored
        row += [
            _at_least(format_seconds(one.seconds), one.cut_short),
            format_large(one.nodes_per_second or 0),
            _ratio(one),
        ]
        rows.append(row)
    return TextTable(headings, rows)


def board_table(comparison: Comparison) -> TextTable:
    """One row per board, with three columns per method, and a fourth for lengths if they may differ."""
    boards, varied = comparison.finished(), comparison.lengths_vary
    published = any(one.generated for one in boards)
    headings = ["board", "length"] + ["generated"] * published
    groups = [("", 2)] + [("published", 1)] * published
    for method in comparison.methods:
        groups.append((str(method), 3 + varied))
        headings += ["h"] + ["length"] * varied + ["generated", "seconds"]
    rows = []
    for one in boards:
        length, proven = comparison.shortest(one)
        row = [str(one.id), "?" if length is None else _at_most(length, proven)]
        row += [format_count(one.generated) if one.generated else "-"] * published
        for cell in comparison.row(one):
            value = "-" if cell.heuristic == "none" else str(cell.h_start)
            figures = (format_count(cell.generated), format_seconds(cell.seconds))
            own = "-" if cell.length is None else str(cell.length)
            row += [value, *[own] * varied, *(_at_least(figure, cell.cut_short) for figure in figures)]
        rows.append(row)
    return TextTable(headings, rows, groups)


def _at_least(figure: str, lower_bound: object) -> str:
    """A figure, marked if it is a lower bound."""
    return f"> {figure}" if lower_bound else figure


def _at_most(length: int, proven: bool) -> str:
    """A length, marked unless it is proven shortest."""
    return str(length) if proven else f"<= {length}"


def _proves(summary: Summary) -> str:
    """What a method proves about the lengths it finds."""
    bound = summary.suboptimality_bound
    return "-" if bound is None else "optimal" if bound == 1 else f"<= {bound:g} x"


def _ratio(summary: Summary) -> str:
    if summary.ratio is None:
        return "?"
    ratio = format_ratio(summary.ratio)
    return ratio if summary.ratio_is == "=" else f"{summary.ratio_is} {ratio}"
