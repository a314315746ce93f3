"""The tables of a comparison: what goes into their places, and how they look as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .comparison import Comparison, Summary


class Table(NamedTuple):
    """Headings and rows of text. Groups are headings above several columns, with how many."""

    headings: list[str]
    rows: list[list[str]]
    groups: list[tuple[str, int]] | None = None

    def __str__(self) -> str:
        """Columns of numbers lean to the right, the first ones, of names, to the left."""
        widths = [max(map(len, column)) for column in zip(self.headings, *self.rows, strict=True)]
        at, titles, lines = 0, [], []
        for title, span in self.groups or ():
            room = sum(widths[at : at + span]) + 2 * (span - 1)
            widths[at + span - 1] += max(0, len(title) - room)  # a title wider than its columns
            titles.append(title.rjust(room))
            at += span
        if titles:
            lines.append("  ".join(titles))
        for row in [self.headings, *self.rows]:
            cells = [
                text.rjust(width) if self.is_number(column) else text.ljust(width)
                for column, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells))
        return "\n".join(line.rstrip() for line in lines)

    def is_number(self, column: int) -> bool:
        return self.headings[column] not in ("algorithm", "heuristic", "proves")


def summary_table(comparison: Comparison) -> Table:
    """A row for each method. What is the same for all of them, because it has to be, has no column."""
    summaries = comparison.summaries()
    several = len({summary.algorithm for summary in summaries}) > 1
    stored = any(summary.stored is not None for summary in summaries)
    limited = any(summary.unfinished for summary in summaries)
    varied = comparison.varied
    headings = ["algorithm"] * several + ["heuristic"] + ["proves"] * varied + ["solved"] * limited
    headings += ["length"] * varied + ["h mean", "median", "expanded", "generated"]
    headings += ["stored"] * stored + ["seconds", "nodes/s", "ratio"]
    rows = []
    for one in summaries:
        row = [one.algorithm] * several + [one.heuristic] + [_proves(one)] * varied
        row += [f"{one.boards - one.unfinished} of {one.boards}"] * limited
        row += ["-" if one.length is None else f"{one.length:.2f}"] * varied
        row += ["-", "-"] if one.heuristic == "none" else [f"{one.h_mean:.2f}", f"{one.h_median:g}"]
        row += [marked(count(one.expanded), one.cut_short), marked(count(one.generated), one.cut_short)]
        row += ["-" if one.stored is None else marked(count(one.stored), one.cut_short)] * stored
        row += [marked(seconds(one.seconds), one.cut_short), millions(one.nodes_per_second or 0), _ratio(one)]
        rows.append(row)
    return Table(headings, rows)


def board_table(comparison: Comparison) -> Table:
    """A row for each board, three columns for each method, and one more if the lengths it finds are its own."""
    boards, varied = comparison.whole(), comparison.varied
    published = any(one.generated for one in boards)
    headings = ["board", "length"] + ["generated"] * published
    groups = [("", 2)] + [("published", 1)] * published
    for method in comparison.methods:
        groups.append((str(method), 3 + varied))
        headings += ["h"] + ["length"] * varied + ["generated", "seconds"]
    rows = []
    for one in boards:
        cells = [comparison.cell(one, method) for method in comparison.methods]
        length, proven = comparison.shortest(one)
        row = [str(one.id), "?" if length is None else at_most(length, proven)]
        row += [count(one.generated) if one.generated else "-"] * published
        for cell in cells:
            value = "-" if cell.heuristic == "none" else str(cell.h_start)
            figures = (count(cell.generated), seconds(cell.seconds))
            own = "-" if cell.length is None else str(cell.length)
            row += [value, *[own] * varied, *(marked(figure, cell.cut_short) for figure in figures)]
        rows.append(row)
    return Table(headings, rows, groups)


def marked(text: str, at_least: object) -> str:
    """A figure, with the sign that it is a lower bound if it is."""
    return f"> {text}" if at_least else text


def at_most(length: int, proven: bool) -> str:
    """A length, with the sign that the shortest one may be less if that is so."""
    return str(length) if proven else f"<= {length}"


def count(number: float) -> str:
    return f"{number:,.0f}"


def seconds(number: float) -> str:
    return f"{number:,.2f}" if number >= 1 else f"{number:.4f}" if number >= 0.001 else f"{number:.6f}"


def readable_time(number: float) -> str:
    """So many seconds, roughly."""
    if number < 90:
        return f"{number:.0f} s"
    return f"{number / 60:.0f} min" if number < 5400 else f"{number / 3600:.1f} h"


def millions(number: float) -> str:
    return f"{number / 1e9:.2f} G" if number >= 1e9 else f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number:,.0f}"


def times(number: float) -> str:
    """A ratio."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _proves(summary: Summary) -> str:
    """What a method proves of the lengths it finds."""
    if summary.within is None:
        return "-"
    return "optimal" if summary.within == 1 else f"<= {summary.within:g} x"


def _ratio(summary: Summary) -> str:
    if summary.ratio is None:
        return "?"
    return times(summary.ratio) if summary.ratio_is == "=" else f"{summary.ratio_is} {times(summary.ratio)}"
