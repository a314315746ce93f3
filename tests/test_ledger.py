"""The figures in the documentation are those of the saved results, and the results agree with the literature."""

from pathlib import Path

import pytest

from solver import goal_board, load_set, parse_board
from solver.comparison.results_file import HEADER, ResultsFile
from solver.number_text import format_count, format_seconds

ROOT = Path(__file__).parent.parent
LEDGER = (ROOT / "docs" / "benchmarks.md").read_text()
README = (ROOT / "README.md").read_text()
# Published means over 1000 random boards: heuristic values and nodes generated.
PUBLISHED = {
    "manhattan": ("36.94", "401,189,630"),
    "pdb-unreflected:4x4-5-5-5-bytes": ("41.56", "3,090,405"),
    "pdb:4x4-6-6-3-bytes": ("42.92", "617,555"),
    "pdb-unreflected:4x4-7-8-bytes": ("44.75", "136,289"),
    "pdb:4x4-7-8-bytes": ("45.63", "36,710"),
}
RANKS = ("classic", "learned")


def results(name):
    """The cells of a file of results by heuristic, in the order of the file."""
    with ResultsFile(ROOT / "docs" / "results" / f"{name}.csv", resume=True) as file:
        methods = {}
        for cell in file.cells:
            methods.setdefault(cell.heuristic, []).append(cell)
        return methods


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def row(*texts):
    return "|" + "".join(f" {text} |" if text != "" else " |" for text in texts)


def korf100_rows():
    for heuristic, cells in results("korf100").items():
        figures = (format_count(mean(getattr(cell, name) for cell in cells)) for name in ("expanded", "generated"))
        time = format_seconds(mean(cell.seconds for cell in cells))
        yield row(f"`{heuristic}`", f"{mean(cell.h_start for cell in cells):.2f}", *figures, time)


def random_rows():
    for heuristic, cells in results("random-4x4").items():
        h, generated = (mean(getattr(cell, name) for cell in cells) for name in ("h_start", "generated"))
        published = PUBLISHED.get(heuristic, ("", ""))
        yield row(f"`{heuristic}`", len(cells), f"{h:.2f}", published[0], format_count(generated), published[1])


def korf24_rows():
    published = {one.id: one.generated for one in load_set("korf24")[2]}
    for cell in results("korf24")["pdb:5x5-6-6-6-6"]:
        if cell.length is not None:
            figures = (format_count(cell.generated), format_count(published[cell.instance]), f"{cell.seconds:,.0f}")
            yield row(cell.instance, cell.length, cell.h_start, *figures)


def collection_rows():
    published = {one.id: one.generated for one in load_set("korf24")[2]}
    for cell in results("korf24")["pdb:5x5-2600M"]:
        if cell.length is not None:
            counts = (cell.expanded, cell.generated, published[cell.instance])
            yield row(cell.instance, cell.length, cell.h_start, *map(format_count, counts), f"{cell.seconds:,.0f}")


def either_end_rows():
    published = {one.id: one.generated for one in load_set("korf24")[2]}
    for cell in results("korf24-either-end")["pdb:5x5-2600M"]:
        if cell.length is not None:
            counts = map(format_count, (cell.expanded, published[cell.instance]))
            revision = f"`{cell.revision.rpartition('+')[2]}`" if cell.revision else ""
            yield row(cell.instance, cell.length, cell.h_start, *counts, f"{cell.seconds:,.0f}", revision)


def both_ends_rows():
    for heuristic, cells in results("korf100-bae").items():
        expanded = [cell.expanded for cell in cells]
        yield row(f"`{heuristic}`", *map(format_count, (mean(expanded), max(expanded), mean(c.stored for c in cells))))


def rank_rows():
    """Beams of equal time with the classic rank and a learned one."""
    for path in sorted((ROOT / "docs" / "results").glob("rank-*.csv")):
        with ResultsFile(path, resume=True) as file:
            cells = {rank: [one for one in file.cells if one.algorithm == f"beam:rank={rank}"] for rank in RANKS}
        lengths = [[one.length for one in cells[rank]] for rank in RANKS]
        assert [one.board for one in cells["classic"]] == [one.board for one in cells["learned"]]
        assert len(file.cells) == 2 * len(lengths[0]) >= 24
        classic, learned = map(mean, lengths)
        shorter = sum(other < one for one, other in zip(*lengths, strict=True))
        (revision,) = {one.revision.rpartition("+")[2] for one in file.cells}
        shape, figures = path.stem.split("-")[1].replace("x", "×"), (f"{classic:.1f}", f"{learned:.1f}")
        yield row(shape, *figures, f"{100 * (learned / classic - 1):.1f} %", shorter, f"`{revision}`")


def readme_rows():
    methods = results("random-4x4")
    for heuristic, name, memory, published in (
        ("manhattan", f"Manhattan distance ({len(methods['manhattan'])} boards)", "", "401,189,630"),
        ("linear-conflict", "linear conflict", "", ""),
        ("pdb:4x4-5-5-5", "5-5-5", "0.5 MB", "3,090,405"),
        ("pdb:4x4-6-6-3", "6-6-3", "3.1 MB", "617,555"),
        ("pdb:4x4-7-8-bytes", "7-8, one byte per entry", "577 MB", "36,710"),
        ("pdb:4x4-7-8", "7-8", "196 MB", ""),
    ):
        h, generated = (mean(getattr(cell, field) for cell in methods[heuristic]) for field in ("h_start", "generated"))
        yield row(name, memory, f"{h:.2f}", format_count(generated), published)


TABLES = [
    (LEDGER, korf100_rows),
    (LEDGER, random_rows),
    (LEDGER, korf24_rows),
    (LEDGER, either_end_rows),
    (LEDGER, both_ends_rows),
    (LEDGER, collection_rows),
    (LEDGER, rank_rows),
    (README, readme_rows),
]


@pytest.mark.parametrize(("page", "rows"), TABLES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_tables_show_the_saved_results(page, rows):
    lines = page.splitlines()
    missing = [line for line in rows() if line not in lines]
    assert not missing, "\n".join(missing)


def test_what_the_readme_says_about_sets():
    readme, cells = " ".join(README.split()), results("korf100")
    assert f"generates {sum(cell.generated for cell in cells['manhattan']):,} nodes with Manhattan distance" in readme
    assert f"and {sum(cell.generated for cell in cells['pdb:4x4-7-8']):,} with the 7-8 database" in readme
    tried = results("korf24-either-end")["pdb:5x5-2600M"]
    assert all(cell.length is not None and cell.limit_hit is None for cell in tried)
    expanded = mean(cell.expanded for cell in tried) / 1e6
    assert f"5×5, {len(tried)} are proven so far" in readme
    assert f"which took {expanded:.0f} million boards expanded on average" in readme


def test_every_method_finished_the_same_boards():
    for name in ("korf100", "random-4x4"):
        methods = results(name)
        boards = {cell.instance: cell.board for cells in methods.values() for cell in cells}
        assert all(cell.limit_hit is None for cells in methods.values() for cell in cells)
        for cells in methods.values():
            assert all(boards[cell.instance] == cell.board for cell in cells)
            assert [cell.instance for cell in cells] == list(range(1, len(cells) + 1)), "none is left out"


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "results").glob("*.csv")), ids=lambda path: path.stem)
def test_every_file_has_room_for_the_machine_and_the_revision(path):
    assert path.read_text().splitlines()[0] == ",".join(HEADER)


def test_the_results_are_for_the_goals_they_name():
    for name, goal in (("korf100", "first"), ("korf24", "first"), ("random-4x4", "last")):
        methods = results(name)
        assert {cell.goal for cells in methods.values() for cell in cells} == {goal}
        for cell in methods.get("manhattan", ()):
            grid, board = parse_board(cell.board)
            homes = goal_board(grid, goal)
            assert cell.h_start == sum(grid.distance(at, homes.index(tile)) for at, tile in enumerate(board) if tile)


def test_manhattan_distance_generates_as_many_nodes_as_published_on_korfs_boards():
    published = {one.id: (one.length, one.generated) for one in load_set("korf100")[2]}
    cells = results("korf100")["manhattan"]
    assert {cell.instance: (cell.length, cell.generated) for cell in cells} == published
    assert sum(cell.generated for cell in cells) == 36_302_808_031


def test_lengths_agree_with_the_published_ones_and_with_each_other():
    for name in ("korf100", "korf24"):
        published = {one.id: one.length for one in load_set(name)[2]}
        for cells in results(name).values():
            assert all(cell.length in (None, published[cell.instance]) for cell in cells)
    lengths = {}
    for cells in results("random-4x4").values():
        for cell in cells:
            assert lengths.setdefault(cell.instance, cell.length) == cell.length
    assert len(lengths) == 1000


def test_two_boards_of_5x5_generate_as_many_nodes_as_published():
    """The published counts leave out the start."""
    generated = {cell.instance: cell.generated - 1 for cell in results("korf24")["pdb:5x5-6-6-6-6-bytes"]}
    assert generated == {38: 38_173_507, 40: 65_099_578}


def test_our_means_are_close_to_the_published_ones():
    """They are for other random boards, and for databases with the same patterns where those are known."""
    methods = results("random-4x4")
    for heuristic in ("manhattan", "pdb-unreflected:4x4-7-8-bytes", "pdb:4x4-7-8-bytes"):
        cells, (h, generated) = methods[heuristic], PUBLISHED[heuristic]
        assert abs(mean(cell.h_start for cell in cells) - float(h)) < 0.5
        assert 0.75 < mean(cell.generated for cell in cells) / int(generated.replace(",", "")) < 1.33
