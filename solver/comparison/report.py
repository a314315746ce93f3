"""The HTML page of a comparison: its tables, its pictures, and the command that makes it again.

The page is one file that loads no other, so that it can be kept, mailed and published as it is.
"""

from __future__ import annotations

import html
import shlex
import time
from pathlib import Path

from pdb_builder import __version__
from pdb_builder.base.files import check_output, output_file
from pdb_builder.base.machine import description

from ..board import format_board
from ..text_table import TextTable
from .comparison import Comparison
from .headline import headline
from .plots import check_library, draw_panels
from .tables import board_table, summary_table

CSS = """
:root { color-scheme: light dark; --ink: #111; --paper: #fff; --pale: #ddd; --blue: #0072b2; --box: #f3f3f3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #17191d; --pale: #3d4148; --blue: #3f9fe0; --box: #24272d; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
body { color: var(--ink); background: var(--paper); }
h1 { font-size: 1.6rem; line-height: 1.2; }
.headline { font-size: 1.15rem; }
table { border-spacing: 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.6rem; text-align: right; white-space: nowrap; }
:is(th, td):first-child { position: sticky; left: 0; background: var(--paper); }
th { border-bottom: 2px solid var(--ink); }
td { border-bottom: 1px solid var(--pale); }
.wide { overflow-x: auto; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1.5rem; }
.pictures:has(> :nth-child(4)) { max-width: 52rem; }
.pictures svg { width: 100%; height: auto; fill: currentColor; }
pre { background: var(--box); padding: 0.7rem; white-space: pre-wrap; overflow-wrap: anywhere; }
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
    if plot is not None:
        check_output(plot, ".png", ".svg")
    if report is not None:
        check_output(report, ".html", ".htm")
    if plot or report:
        check_library()


def save_report(comparison: Comparison, title: str, words: list[str], path: Path) -> None:
    """Write the page. ``words`` are the arguments of the command that makes it again."""
    first = comparison.methods[0]
    boards = [f"{one.id:4}: {format_board(comparison.grid, one.board)}" for one in comparison.finished()]
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p class=headline>{html.escape(headline(comparison))}</p>",
        _wide(summary_table(comparison)),
        "<p>Means per board. <em>h</em> is the heuristic's value at the start. <em>expanded</em> counts the boards "
        "whose moves were tried, <em>generated</em> every move tried, and the start. <em>ratio</em> is what "
        f"{html.escape(str(first))} generated, divided by what the row generated. Figures after &gt; are lower bounds: "
        f"a search hit a limit. {VARIED if comparison.lengths_vary else AGREED}</p>",
        f"<div class=pictures>{chr(10).join(draw_panels(comparison))}</div>",
        "<h2>To run it again</h2>",
        f"<pre>{html.escape(shlex.join(['pdb-solver', *words]))}</pre>",
        f"<p>slidepdb {__version__}, {html.escape(description())}, {time.strftime('%Y-%m-%d %H:%M %Z')}.</p>",
        f"<details><summary>Board by board</summary>{_wide(board_table(comparison))}</details>",
        f"<details><summary>The boards</summary><pre>{html.escape(chr(10).join(boards))}</pre>"
        f"<p>The goal is {html.escape(format_board(comparison.grid, comparison.goal))}.</p></details>",
    ]
    page = (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{html.escape(title)}</title><style>{CSS}</style>"
    )
    with output_file(path) as file:
        file.write(("\n".join([page, *parts]) + "\n").encode(errors="replace"))


def _wide(table: TextTable) -> str:
    """A table that is scrolled where the page is too narrow for it."""
    return f"<div class=wide>{table.html()}</div>"
