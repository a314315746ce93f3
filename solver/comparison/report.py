"""The HTML page of a comparison: its tables, its pictures, and the command that makes it again.

The page is one file that loads no other, so that it can be kept, mailed and published as it is.
"""

from __future__ import annotations

import html
import shlex
import time
from importlib.util import find_spec
from pathlib import Path

from pdb_builder import __version__
from pdb_builder.base.errors import InputError
from pdb_builder.base.files import check_writable, output_file
from pdb_builder.base.machine import description

from ..board import format_board
from .comparison import Comparison
from .plots import FORMATS, draw, format_of
from .tables import TextTable, board_table, summary_table

CSS = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
body { color: #111; background: #fff; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.7rem; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid #111; }
td { border-bottom: 1px solid #ddd; }
.name { text-align: left; }
.wide { overflow-x: auto; }
pre { background: #f3f3f3; padding: 0.7rem; overflow-x: auto; }
svg { width: 100%; height: auto; }
summary { font-weight: bold; font-size: 1.2rem; margin: 1rem 0; cursor: pointer; }
"""

AGREED = "All methods agree on the length of every shortest solution."
VARIED = (
    "<em>length</em> is the mean over the boards solved, and <em>proves</em> says what is known about these lengths: "
    "optimal, at most the given multiple of optimal, or nothing. No method found a solution shorter than one that "
    "another has proven shortest."
)


def check_outputs(plot: Path | None, report: Path | None) -> None:
    """Raise ``InputError`` for a plot or a page that cannot be made."""
    if plot is not None and format_of(plot) not in FORMATS:
        raise InputError(f"{plot} ends in neither .png nor .svg: choose a name that does")
    for path in (plot, report):
        if path is not None:
            check_writable(path)
    if (plot or report) and find_spec("matplotlib") is None:
        raise InputError("pictures need matplotlib, which is not installed: run pip install 'slidepdb[plot]'")


def save_report(comparison: Comparison, title: str, words: list[str], path: Path) -> None:
    """Write the page. ``words`` are the arguments of the command that made the comparison."""
    picture = draw(comparison, "", "svg").decode()
    picture = picture[picture.index("<svg") :]  # without the header of a file
    first = comparison.methods[0]
    boards = [f"{one.id:4}: {format_board(comparison.grid, one.board)}" for one in comparison.finished()]
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        _as_html(summary_table(comparison)),
        "<p>Means per board. <em>h</em> is the heuristic's value at the start. <em>expanded</em> counts the boards "
        "whose moves were tried, <em>generated</em> every move tried, and the start. <em>ratio</em> is what "
        f"{html.escape(str(first))} generated, divided by what the row generated. Figures after &gt; are lower bounds: "
        f"a search hit a limit. {VARIED if comparison.lengths_vary else AGREED}</p>",
        picture,
        "<h2>To run it again</h2>",
        f"<pre>{html.escape(shlex.join(['pdb-solver', *words]))}</pre>",
        f"<p>slidepdb {__version__}, {html.escape(description())}, {time.strftime('%Y-%m-%d %H:%M %Z')}.</p>",
        f"<details><summary>Board by board</summary>{_as_html(board_table(comparison))}</details>",
        f"<details><summary>The boards</summary><pre>{html.escape(chr(10).join(boards))}</pre>"
        f"<p>The goal is {html.escape(format_board(comparison.grid, comparison.goal))}.</p></details>",
    ]
    page = f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title><style>{CSS}</style>"
    with output_file(path) as file:
        file.write(("\n".join([page, *parts]) + "\n").encode(errors="replace"))


def _as_html(table: TextTable) -> str:
    def row(tag: str, cells: list[str]) -> str:
        marks = ["" if table.is_number(column) else " class=name" for column in range(len(cells))]
        texts = (f"<{tag}{mark}>{html.escape(cell)}</{tag}>" for mark, cell in zip(marks, cells, strict=True))
        return f"<tr>{''.join(texts)}</tr>"

    groups = "".join(f"<th colspan={span}>{html.escape(group)}</th>" for group, span in table.groups or ())
    rows = [f"<tr>{groups}</tr>" * bool(groups), row("th", table.headings), *(row("td", cells) for cells in table.rows)]
    return f"<div class=wide><table>{chr(10).join(rows)}</table></div>"
