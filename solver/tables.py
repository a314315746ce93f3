"""The tables of a comparison: what goes into their places, and how they look as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .comparing import Comparison, Summary


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
        return self.headings[column] not in ("algorithm", "heuristic")


def summary_table(comparison: Comparison) -> Table:
    """A row for each method."""
    summaries = comparison.summaries()
    several = len({summary.algorithm for summary in summaries}) > 1
    stored = any(summary.stored is not None for summary in summaries)
    limited = any(summary.unfinished for summary in summaries)
    headings = ["heuristic", "h mean", "median", "expanded", "generated"]
    headings += ["stored"] * stored + ["seconds", "nodes/s", "ratio"]
    headings = ["algorithm"] * several + headings[:1] + ["solved"] * limited + headings[1:]
    rows = []
    for one in summaries:
        row = [one.algorithm] * several + [one.heuristic]
        row += [f"{one.boards - one.unfinished} of {one.boards}"] * limited
        row += [f"{one.h_mean:.2f}", f"{one.h_median:g}"]
        row += [marked(count(one.expanded), one.unfinished), marked(count(one.generated), one.unfinished)]
        row += ["-" if one.stored is None else marked(count(one.stored), one.unfinished)] * stored
        row += [marked(seconds(one.seconds), one.unfinished), millions(one.nodes_per_second or 0), _ratio(one)]
        rows.append(row)
    return Table(headings, rows)


def board_table(comparison: Comparison) -> Table:
    """A row for each board, three columns for each method."""
    boards = comparison.whole()
    published = any(one.generated for one in boards)
    headings = ["board", "length"] + ["generated"] * published
    groups = [("", 2)] + [("published", 1)] * published
    for method in comparison.methods:
        groups.append((str(method), 3))
        headings += ["h", "generated", "seconds"]
    rows = []
    for one in boards:
        cells = [comparison.cell(one, method) for method in comparison.methods]
        length = next((cell.length for cell in cells if cell.length is not None), one.length)
        row = [str(one.id), "?" if length is None else str(length)]
        row += [count(one.generated) if one.generated else "-"] * published
        for cell in cells:
            figures = (count(cell.generated), seconds(cell.seconds))
            row += [str(cell.h_start), *(marked(figure, cell.limit_hit) for figure in figures)]
        rows.append(row)
    return Table(headings, rows, groups)


def marked(text: str, at_least: object) -> str:
    """A figure, with the sign that it is a lower bound if it is."""
    return f"> {text}" if at_least else text


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


def _ratio(summary: Summary) -> str:
    if summary.ratio is None:
        return "?"
    return times(summary.ratio) if summary.ratio_is == "=" else f"{summary.ratio_is} {times(summary.ratio)}"
