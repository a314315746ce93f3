"""Tables of text: lines of aligned columns for the terminal, elements for a page."""

from __future__ import annotations

from typing import NamedTuple

from pdb_builder.base.markup import Markup, table

NAMES = ("algorithm", "heuristic", "proves", "from")  # headings of columns that hold words


class TextTable(NamedTuple):
    """Headings and rows of text. Groups are headings above several columns, each with the number of columns."""

    headings: list[str]
    rows: list[list[str]]
    groups: list[tuple[str, int]] | None = None

    def __str__(self) -> str:
        """Columns of numbers are aligned right, columns of names left."""
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
        return self.headings[column] not in NAMES

    def html(self) -> Markup:
        """The table for a page."""
        names = [column for column in range(len(self.headings)) if not self.is_number(column)]
        return table(self.headings, self.rows, names, self.groups or ())
