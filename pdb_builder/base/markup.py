"""HTML and SVG as text that is escaped and well-formed.

Names of files and heuristics are the user's, and may hold anything. So there are two kinds of text: what is ``Markup``
is taken as it is, and what is not is escaped when it becomes part of markup. Elements are written as XML, which is also
HTML, so whatever is made here can be parsed by either.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence

# Characters that XML cannot write, among them the halves of pairs that stand for undecodable bytes in names of files.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
UNKNOWN = "\ufffd"


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def escaped(text: object) -> Markup:
    """A text, or anything else by its text, as markup."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_UNWRITABLE.sub(UNKNOWN, str(text))))


def joined(*parts: object) -> Markup:
    """Texts and markup one after another."""
    return Markup("".join(map(escaped, parts)))


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """An element. Attributes that are None are left out. In their names ``_`` is ``-``, or nothing if it is the last.

    >>> element("td", "a < b", class_="name", colspan=2, title=None)
    '<td class="name" colspan="2">a &lt; b</td>'
    """
    given = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items() if value is not None)
    start = tag + "".join(f' {name}="{escaped(value)}"' for name, value in given)
    return Markup(f"<{start}>{joined(*children)}</{tag}>" if children else f"<{start}/>")


def side_by_side(*parts: object) -> Markup:
    """Parts in a row, or below each other where there is no room for it."""
    return element("div", *parts, style="display:flex;flex-wrap:wrap;align-items:center;gap:1em")


def table(
    headings: Sequence[object],
    rows: Iterable[Sequence[object]],
    names: Collection[int] = (),
    groups: Iterable[tuple[str, int]] = (),
) -> Markup:
    """A table of HTML. Its columns are aligned right, but for those with these numbers, which hold names.

    Groups are headings above several columns, each with the number of columns.
    """

    def row(tag: str, cells: Sequence[object]) -> Markup:
        sides = ("text-align:left" if column in names else None for column in range(len(cells)))
        return element("tr", *(element(tag, cell, style=side) for cell, side in zip(cells, sides, strict=True)))

    above = [element("th", title, colspan=span) for title, span in groups]
    lines = [element("tr", *above)] * bool(above) + [row("th", headings), *(row("td", cells) for cells in rows)]
    return element("table", Markup("\n".join(lines)), style="text-align:right")
