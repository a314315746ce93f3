"""``pdb-solver compare``: what it reads, prints, writes and refuses."""

import csv
import hashlib
import html
import json
import os
import re
import resource
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from pdb_builder import NAMED, Grid, Spec
from pdb_builder.base.machine import processor_and_cores
from pdb_builder.revision import revision
from solver import load_set
from solver.comparison import report

from .comparisons import stop_before_the_proof
from .forge import forged

EASY = "1 2 3 4 5 6 0 7 8"
pytestmark = pytest.mark.jit


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working folder, and in it an empty folder of databases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLIDEPDB_DATABASES", "databases")
    (tmp_path / "databases").mkdir()
    return tmp_path


@pytest.fixture
def compare(run):
    """``run("compare", ...)`` with heuristics that need no database."""
    return lambda *words, **options: run("compare", "--heuristics", "manhattan,linear-conflict", *words, **options)


def rows(name):
    with open(name, newline="") as file:
        return list(csv.DictReader(file))


def timeless(name):
    return [{key: value for key, value in row.items() if key not in ("seconds", "check")} for row in rows(name)]


# ---- boards and methods ---------------------------------------------------------------------------


def test_one_board(compare):
    code, output, errors = compare(EASY)
    assert (code, errors) == (0, "")
    lines = output.splitlines()
    assert lines[0] == "1 board of 3x3 (boards given), means per board"
    assert " ".join(lines[1].split()) == "heuristic h mean median expanded generated seconds nodes/s ratio"
    assert [line.split()[:3] for line in lines[2:]] == [["manhattan", "2.00", "2"], ["linear-conflict", "2.00", "2"]]


@pytest.mark.parametrize("source", ["file", "stdin", "-"])
def test_boards_come_from_a_file_or_a_pipe(compare, source):
    text = f"# two boards\n{EASY}\n\n0 1 2 / 3 4 5 / 6 7 8\n"
    Path("boards.txt").write_text(text)
    words = {"file": ["--file", "boards.txt"], "stdin": [], "-": ["-"]}[source]
    code, output, errors = compare(*words, "--json", stdin=text)
    assert code == 0, errors
    found = json.loads(output)["cells"]
    assert [cell["instance"] for cell in found] == [2, 2, 4, 4], "boards are numbered by their lines"
    assert [cell["length"] for cell in found] == [2, 2, 22, 22]


def test_random_boards_are_those_of_the_random_command(compare, run):
    _, boards, _ = run("random", "2x3", "-n", "5", "--seed", "3")
    _, output, _ = compare("--random", "2x3", "-n", "5", "--seed", "3", "--json")
    found = json.loads(output)
    assert [cell["board"] for cell in found["cells"][::2]] == boards.splitlines()
    assert found["title"] == "5 boards of 2x3 (random boards, seed 3)"
    _, again, _ = compare("--random", "2x3", "-n", "5", "--json")
    _, once_more, _ = compare("--random", "2x3", "-n", "5", "--json")
    boards = [[cell["board"] for cell in json.loads(text)["cells"]] for text in (output, again, once_more)]
    assert boards[1] == boards[2] != boards[0], "without a seed they are the same every time"


def test_part_of_a_set_beside_the_published_counts(compare):
    code, output, errors = compare("--set", "korf100", "--only", "9,12,42", "--each", "--heuristics", "manhattan")
    assert (code, errors) == (0, "")
    published = {one.id: one for one in load_set("korf100")[2]}
    table = [line.replace(",", "").split() for line in output.splitlines()[2:5]]
    for line, number in zip(table, (9, 12, 42), strict=True):
        one = published[number]
        assert line[:3] == [str(number), str(one.length), str(one.generated)] and line[4] == str(one.generated)
    assert "3 boards of 4x4 (korf100)" in output


def test_algorithms_and_orders_side_by_side(compare):
    words = ("--random", "3x3", "-n", "4", "--heuristics", "manhattan,hamming", "--json")
    code, output, _ = compare(*words, "--algorithms", "ida-star,ida-star:value,a-star")
    record = json.loads(output)
    assert code == 0
    methods = [(summary["algorithm"], summary["heuristic"]) for summary in record["methods"]]
    assert methods == [
        (algorithm, heuristic)
        for algorithm in ("ida-star", "ida-star:value", "a-star")
        for heuristic in ("manhattan", "hamming")
    ]
    assert [summary["stored"] is None for summary in record["methods"]] == [True] * 4 + [False] * 2
    assert record["methods"][0]["ratio"] == 1 and record["methods"][1]["ratio"] < 1
    for key in ("expanded", "generated", "seconds", "h_start"):
        mine = [cell[key] for cell in record["cells"] if (cell["algorithm"], cell["heuristic"]) == methods[5]]
        mean = record["methods"][5]["h_mean" if key == "h_start" else key]
        assert mean == pytest.approx(sum(mine) / 4)


LESS = "ida-star,weighted-a-star:2,greedy,beam:30,bfs,dfs:20"


def test_suboptimal_searches_side_by_side(run):
    words = ("compare", "--random", "3x3", "-n", "6", "--heuristics", "manhattan,hamming", "--algorithms", LESS)
    code, output, errors = run(*words, "--each", "--csv", "a.csv")
    assert (code, errors) == (3, ""), "some boards are more than 20 moves deep"
    lines = output.splitlines()
    table = lines[lines.index("6 boards of 3x3 (random boards, seed 1), means per board") + 1 :]
    assert table[0].split()[:5] == ["algorithm", "heuristic", "proves", "solved", "length"]
    found = [line.replace("<= 2 x", "<=2x").replace(" of ", "/").split()[:5] for line in table[1:]]
    assert [row[:3] for row in found] == [
        ["ida-star", "manhattan", "optimal"],
        ["ida-star", "hamming", "optimal"],
        ["weighted-a-star:2", "manhattan", "<=2x"],
        ["weighted-a-star:2", "hamming", "<=2x"],
        ["greedy", "manhattan", "-"],
        ["greedy", "hamming", "-"],
        ["beam:30", "manhattan", "-"],
        ["beam:30", "hamming", "-"],
        ["bfs", "none", "optimal"],
        ["dfs:20", "none", "-"],
    ]
    shortest = float(found[0][4])
    assert float(found[8][4]) == shortest and float(found[2][4]) <= 2 * shortest
    assert float(found[4][4]) > shortest, "greedy solutions are longer"
    for row in rows("a.csv"):
        assert (row["limit_hit"] == "depth") == (row["length"] == "")
    assert lines[1].split().count("length") == 11 and lines[2].split()[0] == "1"
    before = Path("a.csv").read_bytes()
    code, again, errors = run(*words, "--each", "--resume", "a.csv")
    assert (code, again, errors) == (3, output, "") and Path("a.csv").read_bytes() == before


def test_lengths_as_json(run):
    words = ("--heuristics", "manhattan,inversions", "--algorithms", "weighted-a-star,bfs", "--json")
    code, output, errors = run("compare", "--random", "3x3", "-n", "5", *words)
    assert (code, errors) == (0, "")
    record = json.loads(output)
    assert [(one["algorithm"], one["heuristic"], one["suboptimality_bound"]) for one in record["methods"]] == [
        ("weighted-a-star", "manhattan", 1.5),
        ("weighted-a-star", "inversions", None),
        ("bfs", "none", 1.0),
    ]
    for one in record["methods"]:
        mine = [cell["length"] for cell in record["cells"] if cell["heuristic"] == one["heuristic"]]
        assert one["length"] == sum(mine) / 5


def test_uninformed_searches_need_no_heuristic(run):
    code, output, errors = run("compare", EASY, "--algorithms", "bfs,dijkstra,dfs")
    assert (code, errors) == (0, "")
    lines = output.splitlines()
    assert " ".join(lines[1].split()).startswith("algorithm heuristic h mean median"), "all are shortest"
    assert [line.split()[:2] for line in lines[2:]] == [["bfs", "none"], ["dijkstra", "none"], ["dfs", "none"]]


@pytest.mark.beam
def test_a_beam_runs_until_its_time_limit(compare):
    """Its results are trusted when they are read again, although another run would generate other boards."""
    board = " ".join(map(str, load_set("korf100")[2][0].board))
    words = (board, "--goal", "first", "--heuristics", "manhattan", "--algorithms", "beam", "--time-limit", "2")
    code, output, errors = compare(*words, "--csv", "a.csv")
    assert (code, errors) == (0, "")
    (row,) = rows("a.csv")
    assert row["algorithm"] == "beam" and int(row["length"]) >= 57 and row["limit_hit"] == ""
    code, again, errors = compare(*words, "--resume", "a.csv")
    assert (code, again, errors) == (0, output, "")


def test_an_unproven_solution_can_be_resumed(compare, monkeypatch):
    words = ("--random", "3x3", "-n", "3", "--heuristics", "hamming", "--algorithms", "bfs,bidirectional", "--resume")
    with monkeypatch.context() as patch:
        stop_before_the_proof(patch)
        code, output, errors = compare(*words, "a.csv", "--each")
    assert (code, errors) == (3, "") and "3 of 3" in output and "0 of 3" in output
    assert [row["limit_hit"] for row in rows("a.csv")] == ["", "nodes"] * 3
    assert all(row["length"] for row in rows("a.csv"))
    code, output, errors = compare(*words, "a.csv")
    assert (code, errors) == (0, "") and "solved" not in output
    assert [row["limit_hit"] for row in rows("a.csv")] == [""] * 6


def test_databases_side_by_side(run, small, here):
    shutil.copy(small, here / "databases" / "other.h5")
    shutil.copy(small, here / "databases")
    heuristics = "manhattan,pdb,pdb:other,pdb-unreflected:other"
    code, output, errors = run("compare", "--random", "3x3", "-n", "10", "--heuristics", heuristics)
    assert (code, errors) == (0, "")
    names = [line.split()[0] for line in output.splitlines()[2:]]
    assert names == ["manhattan", "pdb:3x3-4-4", "pdb:other", "pdb-unreflected:other"]


def test_by_default_manhattan_linear_conflict_and_the_best_database_are_compared(run, small, here):
    shutil.copy(small, here / "databases")
    code, output, _ = run("compare", EASY)
    assert code == 0
    assert [line.split()[0] for line in output.splitlines()[2:]] == ["manhattan", "linear-conflict", "pdb:3x3-4-4"]


def test_without_a_database_the_others_are_compared(run, small, here):
    code, output, errors = run("compare", EASY)
    assert code == 0
    assert [line.split()[0] for line in output.splitlines()[2:]] == ["manhattan", "linear-conflict"]
    assert re.fullmatch(
        r"compared without pdb: no database in .*databases is for 3x3 boards with this goal: "
        r"build one with 'pdb-builder build 3x3'\n",
        errors,
    )
    code, output, errors = run("compare", EASY, "--heuristics", "manhattan,pdb")
    assert (code, output) == (2, "") and "build one with 'pdb-builder build 3x3'" in errors
    code, output, errors = run("compare", "--random", "9x9", "-n", "1", "--node-limit", "100")
    assert (code, errors) == (3, ""), "there are none for such boards"
    (here / "databases" / "3x3-4-4.h5").write_bytes(small.read_bytes()[:-1000])
    code, output, errors = run("compare", EASY)
    assert code == 0 and "linear-conflict" in output and "3x3-4-4.h5" in errors and errors.count("\n") == 1


# ---- bad arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["1 2 3 4 5 6 7 8 8"], "repeated 8"),
        (["--set", "korf100", "--random", "4x4"], "--random draws boards of the shape it names"),
        ([EASY, "-n", "5"], "-n and --seed are for random boards"),
        ([EASY, "--seed", "5"], "-n and --seed are for random boards"),
        (["--set", "korf100", "--goal", "last"], "has its own goal"),
        (["--set", "korf100", "--only", "99-101"], "no board 101 among the 100: they are numbered 1, 2, 3, 4, 5, ..."),
        (["--random", "3x3", "-n", "1e12"], "1,000,000,000,000 boards are too many to compare on"),
        ([EASY, "--heuristics", "manhattan,magic"], "unknown heuristic 'magic'"),
        ([EASY, "--heuristics", ""], "unknown heuristic ''"),
        ([EASY, "--algorithms", ""], "unknown algorithm ''"),
        ([EASY, "--algorithms", "beam:wide"], "the width of beam must be an integer, got 'wide'"),
        ([EASY, "--csv", "a.csv", "--resume", "b.csv"], "--csv and --resume exclude each other"),
        ([EASY, "--csv", "a.html", "--report", "a.html"], "--csv and --report are both a.html"),
        ([EASY, "--plot", "a.png", "--resume", "./a.png"], "--resume and --plot are both a.png"),
        ([EASY, "--csv", "nowhere/a.csv"], "there is no folder nowhere for a.csv: create it"),
        ([EASY, "--csv", "a.h5"], "a.h5 does not end in .csv: choose a name that does"),
        ([EASY, "--resume", "a.txt"], "a.txt does not end in .csv: choose a name that does"),
        ([EASY, "--plot", "a.gif"], "a.gif does not end in .png or .svg: choose a name that does"),
        ([EASY, "--report", "databases"], "databases does not end in .html or .htm: choose a name that does"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(compare, words, said):
    code, output, errors = compare(*words)
    assert (code, output) == (2, "") and said in errors
    assert errors.count("\n") == 1 and errors.startswith("pdb-solver: error: ")
    assert sorted(os.listdir()) == ["databases"], "nothing is left behind"


@pytest.mark.parametrize("option", ["--csv", "--resume", "--plot", "--report"])
def test_an_existing_file_of_another_kind_is_left_alone(compare, small, option, here):
    name = {"--csv": "a.csv", "--resume": "a.csv", "--plot": "a.png", "--report": "a.html"}[option]
    shutil.copy(small, name)
    before = Path(name).read_bytes()
    code, output, errors = compare(EASY, option, name)
    assert (code, output) == (2, "") and errors.startswith(f"pdb-solver: error: {name} ") and errors.count("\n") == 1
    assert Path(name).read_bytes() == before


@pytest.mark.parametrize("option, name", [("--csv", "a.csv"), ("--plot", "a.png"), ("--report", "a.html")])
def test_a_link_that_leads_back_to_itself_is_no_output_file(compare, option, name):
    Path(name).symlink_to(name)
    code, output, errors = compare(EASY, option, name)
    assert (code, output) == (2, "") and "leads back to itself" in errors and errors.count("\n") == 1


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        (f"{EASY}\n1 2 3 4 5 6 7 8 9\n", 2, "line 2: "),
        (f"{EASY}\n2 1 3 4 5 6 7 8 0\n", 1, "line 2: the board cannot be solved"),
        (f"{EASY}\n1 2 3 / 4 5 0\n", 2, "line 2: this is a 2x3 board, the first one is a 3x3 board"),
        ("# none\n", 2, "there is no board in the input"),
    ],
)
def test_every_board_of_a_file_must_be_valid(compare, lines, code, said):
    found, output, errors = compare(stdin=lines)
    assert (found, output) == (code, "") and said in errors and errors.count("\n") == 1


def test_a_database_with_inadmissible_values_is_detected(run, database_of, here):
    """Values are raised, and the checksums fit them: its solutions are valid, but not shortest."""

    def raise_values(root):
        for group in root.values():
            table = group["table"]
            table[...] = table[...] + 4 * np.isin(table[...], (6, 7, 8)).astype(table.dtype)

    good = database_of(Spec(Grid(3, 3), NAMED["3x3-4-4"], 0, "bytes"))
    forged(good, here / "databases" / "3x3-4-4.h5", raise_values)
    words = ("compare", "--random", "3x3", "-n", "20", "--heuristics", "manhattan,pdb", "--csv", "a.csv")
    code, output, errors = run(*words)
    assert (code, output) == (2, "") and errors.count("\n") == 1
    assert "pdb-builder verify" in errors and ("disagree" in errors or "solve nothing" in errors)
    assert rows("a.csv"), "finished searches are kept"


# ---- limits -------------------------------------------------------------------------------------


def test_a_limit_is_shown_as_a_lower_bound(compare):
    words = ("--random", "3x3", "-n", "6", "--node-limit", "300", "--each", "--csv", "a.csv")
    code, output, _ = compare(*words)
    assert code == 3
    limited = [row for row in rows("a.csv") if row["limit_hit"]]
    assert 0 < len(limited) < 12
    for row in limited:
        assert row["limit_hit"] == "nodes" and row["length"] == "" and int(row["generated"]) >= 300
        assert f"> {int(row['generated']):,}" in output
    summary = output.splitlines()[-2:]
    assert re.search(r"manhattan +\d of 6 .*> [\d,]+ +> [\d,]+ +> [\d.]+", summary[0])


def test_a_time_limit_on_a_hard_board(compare):
    board = " ".join(map(str, load_set("korf100")[2][87].board))
    words = ("--goal", "first", "--time-limit", "0.2", "--heuristics", "manhattan", "--json", "--threads", "2")
    code, output, _ = compare(board, *words)
    assert code == 3
    (found,) = json.loads(output)["cells"]
    assert found["limit_hit"] == "time" and found["length"] is None and found["generated"] > 10_000
    assert found["seconds"] >= 0.2


# ---- files --------------------------------------------------------------------------------------


def test_the_csv_file(compare):
    words = ("--random", "3x3", "-n", "7", "--csv", "a.csv", "--heuristics", "manhattan,hamming")
    assert compare(*words, "--algorithms", "a-star")[0] == 0
    found = rows("a.csv")
    assert [int(row["instance"]) for row in found] == [number for number in range(1, 8) for _ in range(2)]
    assert [row["heuristic"] for row in found] == ["manhattan", "hamming"] * 7
    assert all(int(row["stored"]) > 0 and float(row["seconds"]) >= 0 and row["limit_hit"] == "" for row in found)
    again, _, errors = compare(*words)
    assert again == 2 and "a.csv exists: continue it with --resume a.csv" in errors
    assert rows("a.csv") == found


def test_resuming_runs_what_is_missing(compare):
    compare("--random", "3x3", "-n", "7", "--csv", "whole.csv")
    lines = Path("whole.csv").read_text().splitlines(keepends=True)
    Path("part.csv").write_text("".join(lines[:1] + lines[4:9]) + lines[9][:20])
    code, output, errors = compare("--random", "3x3", "-n", "7", "--resume", "part.csv")
    assert (code, errors) == (0, "")
    assert timeless("part.csv") == timeless("whole.csv")
    kept = Path("part.csv").read_text().splitlines(keepends=True)
    assert kept[4:9] == lines[4:9], "even the seconds"
    before = Path("part.csv").read_bytes()
    code, again, _ = compare("--random", "3x3", "-n", "7", "--resume", "part.csv")
    assert code == 0 and Path("part.csv").read_bytes() == before
    assert again == output, "nothing was solved again"


def test_every_line_says_its_machine_and_revision(compare):
    code, output, _ = compare("--random", "3x3", "-n", "2", "--csv", "a.csv", "--json")
    origins = {(row["machine"], row["revision"]) for row in rows("a.csv")}
    assert code == 0 and origins == {(processor_and_cores(), revision())}
    assert {(cell["machine"], cell["revision"]) for cell in json.loads(output)["cells"]} == origins


@pytest.mark.parametrize("fault", [[], ["--goal", "first"]], ids=["resumed", "refused"])
def test_a_file_of_an_earlier_revision_is_continued_with_all_columns(compare, fault):
    """One that did not say where a line was measured."""
    words = ("--random", "3x3", "--resume", "a.csv", "-n")
    compare(*words, "2")
    known = rows("a.csv")
    with open("a.csv", "w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([name for name in known[0] if name not in ("machine", "revision")])
        for row in known:
            fields = list(row.values())[:12]
            text = ",".join(fields)
            lines.writerow([*fields, hashlib.sha256(text.encode()).hexdigest()[:8]])
    before = Path("a.csv").read_bytes()
    code, _, errors = compare(*words, "3", *fault)
    if fault:
        assert code == 2 and errors.count("\n") == 1 and Path("a.csv").read_bytes() == before
    else:
        assert (code, errors) == (0, "")
        found = rows("a.csv")
        assert list(found[0]) == list(known[0]) and len(found) == 6
        for old, new in zip(known, found[:4], strict=True):
            assert new == old | {"machine": "", "revision": "", "check": new["check"]}, "even the seconds"
        assert all(row["machine"] and row["revision"] for row in found[4:])


def test_a_comparison_can_grow(compare):
    compare("--random", "3x3", "-n", "3", "--csv", "a.csv", "--heuristics", "manhattan")
    compare("--random", "3x3", "-n", "5", "--resume", "a.csv", "--heuristics", "linear-conflict")
    assert len(rows("a.csv")) == 8
    code, output, _ = compare("--random", "3x3", "-n", "5", "--resume", "a.csv")
    assert code == 0 and "5 boards of 3x3" in output
    assert [row["heuristic"] for row in rows("a.csv")] == ["manhattan", "linear-conflict"] * 5


def test_results_for_another_goal_are_refused(compare):
    Path("boards.txt").write_text("8 6 7 2 5 4 3 0 1\n")
    assert compare("--file", "boards.txt", "--csv", "a.csv")[0] == 0
    before = Path("a.csv").read_bytes()
    code, output, errors = compare("--file", "boards.txt", "--resume", "a.csv", "--goal", "2 1 4 3 6 5 8 7 0")
    assert (code, output) == (2, "")
    assert errors == (
        "pdb-solver: error: a.csv holds results for the goal 'last', not for '2 1 4 3 6 5 8 7 0': start a new file of "
        "results for these\n"
    )
    assert Path("a.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--random", "3x4"], "a.csv holds boards of 3x3, not of 3x4: start a new file of results for these"),
        (["--random", "3x3", "--wrap"], "a.csv holds boards of 3x3, not of 3x3 wrapped: start a new file"),
        (["--random", "3x3", "--goal", "2 1 3 4 5 6 7 8 0"], "goal 'last', not for '2 1 3 4 5 6 7 8 0': start a new"),
        (["--random", "3x3", "--seed", "9", "--goal", "first"], "holds results for the goal 'last', not for 'first'"),
        (["--random", "3x3", "--goal", "8 7 6 5 4 3 2 1 0", "--heuristics", "hamming"], "for '8 7 6 5 4 3 2 1 0': "),
    ],
    ids=["shape", "edges", "parity", "values", "method"],
)
def test_boards_of_another_puzzle_are_not_added_to_a_file(compare, words, said):
    assert compare("--random", "3x3", "-n", "3", "--heuristics", "manhattan", "--csv", "a.csv")[0] == 0
    before = Path("a.csv").read_bytes()
    code, output, errors = compare("-n", "2", "--heuristics", "manhattan", "--resume", "a.csv", *words)
    assert (code, output) == (2, "") and re.search(said, errors) and errors.count("\n") == 1
    assert Path("a.csv").read_bytes() == before


def test_a_changed_count_of_any_line_is_refused(compare):
    """The longest search is never repeated, so nothing but its checksum gives it away."""
    words = ("--random", "3x3", "-n", "5", "--heuristics", "manhattan", "--resume", "a.csv")
    assert compare(*words)[0] == 0
    longest = max(rows("a.csv"), key=lambda row: int(row["generated"]))
    good = Path("a.csv").read_text()
    line = next(number for number, text in enumerate(good.splitlines(), 1) if text.endswith(longest["check"]))
    changed = good.replace(f",{longest['generated']},", f",{int(longest['generated']) + 2},")
    Path("a.csv").write_text(changed)
    code, output, errors = compare(*words)
    assert (code, output) == (2, "") and f"a.csv, line {line}: " in errors and "does not match its checksum" in errors
    assert Path("a.csv").read_text() == changed


def test_a_higher_limit_reruns_the_boards_that_hit_it(compare):
    words = ("--random", "3x3", "-n", "6")
    compare(*words, "--node-limit", "300", "--csv", "a.csv")
    hit = sum(row["limit_hit"] != "" for row in rows("a.csv"))
    assert compare(*words, "--node-limit", "300", "--resume", "a.csv")[0] == 3
    assert sum(row["limit_hit"] != "" for row in rows("a.csv")) == hit
    assert compare(*words, "--resume", "a.csv")[0] == 0
    assert all(row["limit_hit"] == "" for row in rows("a.csv")) and len(rows("a.csv")) == 12


def test_the_plot_and_the_page(compare, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(report, "draw_panels", lambda comparison: ["<svg></svg>"])  # the same as the plot
    words = ("--random", "3x3", "-n", "9", "--plot", "a.svg", "--report", "a.html")
    code, output, _ = compare(*words)
    assert code == 0 and "ratio" in output
    assert Path("a.svg").read_text().startswith("<?xml")
    page = Path("a.html").read_text()
    assert "pdb-solver compare --heuristics manhattan,linear-conflict --random 3x3 -n 9 --plot a.svg" in page


@pytest.mark.parametrize("words", [("--csv", "a.csv"), ("--csv=a.csv",)])
def test_the_command_on_the_page_can_be_run_again_and_again(compare, run, monkeypatch, words):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(report, "draw_panels", lambda comparison: ["<svg></svg>"])
    assert compare("--random", "3x3", "-n", "2", *words, "--report", "a.html")[0] == 0
    for _ in range(2):
        again = html.unescape(re.search(r"<pre>pdb-solver (.*)</pre>", Path("a.html").read_text())[1])
        assert re.search(r"--resume[ =]a.csv", again)
        assert run(*shlex.split(again))[::2] == (0, "")


def test_matplotlib_is_needed_only_for_plots_and_pages(compare, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert compare(EASY)[0] == 0


def test_a_full_disk_is_one_line_and_keeps_what_was_written(compare):
    """A limit on the size of files stands for a full disk."""
    compare("--random", "3x3", "-n", "3", "--csv", "a.csv")
    before = Path("a.csv").read_text()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
    try:
        code, output, errors = compare("--random", "3x3", "-n", "5", "--resume", "a.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (code, output) == (2, "")
    assert errors == (
        "pdb-solver: error: a.csv: File too large: make room, and continue with --resume a.csv; finished searches are "
        "kept\n"
    )
    assert Path("a.csv").read_text()[: len(before)] == before
    assert compare("--random", "3x3", "-n", "5", "--resume", "a.csv")[0] == 0
    assert Path("a.csv").read_text().startswith(before) and len(rows("a.csv")) == 10


@pytest.mark.parametrize("path", ["/dev/full", "/dev/null", "pipe", "databases"])
def test_results_go_into_regular_files_only(compare, path):
    os.mkfifo("pipe")
    code, _, errors = compare(EASY, "--resume", path)
    assert code == 2 and path in errors and errors.count("\n") == 1


@pytest.mark.slow
def test_the_default_database_against_manhattan_on_a_part_of_korfs_boards(run, database_of, here):
    """What ``make compare`` does."""
    (here / "databases" / "4x4-7-8.h5").symlink_to(database_of(Spec(Grid(4, 4), NAMED["4x4-7-8"])))
    words = ("--set", "korf100", "--only", "1-25", "--heuristics", "manhattan,pdb:4x4-7-8", "--json")
    code, output, _ = run("compare", *words)
    manhattan, database = json.loads(output)["methods"]
    published = [one.generated for one in load_set("korf100")[2][:25]]
    assert code == 0 and manhattan["generated"] == sum(published) / 25
    assert database["ratio"] > 5000
