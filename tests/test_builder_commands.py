"""The commands of the builder: what they print, build and refuse."""

import doctest
import json
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import pdb_builder
from pdb_builder import NAMED, Grid, Spec, build_database, open_database
from pdb_builder.cli import _parser, main
from pdb_builder.commands.build import _spec_of
from pdb_builder.pattern import parse_collection

from .forge import forged


@pytest.fixture
def builder(run):
    """Runs ``pdb-builder``: ``builder("build", ...)`` is (code, output, errors)."""
    return lambda *words: run(*words, main=main)


@pytest.fixture
def databases(tmp_path, monkeypatch):
    """An empty folder of databases."""
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path))
    return tmp_path


def test_the_examples_of_the_package_are_true():
    found = doctest.testmod(pdb_builder)
    assert found.failed == 0 < found.attempted


# ---- build --------------------------------------------------------------------------------------


def test_build_prints_the_path_of_each_database(databases, builder):
    code, output, errors = builder("build", "3x3-8", "3x3-4-4")
    assert code == 0 and "MB of memory to build" in errors
    assert output.splitlines() == [str(databases / "3x3-8.h5"), str(databases / "3x3-4-4.h5")]
    code, output, errors = builder("build", "3x3-8")
    assert (code, output) == (0, f"{databases / '3x3-8.h5'}\n") and "nothing to do" in errors


def test_what_cannot_be_built_is_one_line(tmp_path, builder):
    (tmp_path / "junk.h5").write_text("my thesis")
    (tmp_path / "circle.h5").symlink_to(tmp_path / "circle.h5")
    for name, remedy in (
        ("junk", "choose another name, or replace it with --overwrite"),
        ("circle", "remove it, or choose another name"),
        ("junk.h5/a", "choose another folder"),
        ("x" * 250, "choose a shorter name"),
    ):
        code, output, errors = builder("build", "3x3-8", "--output", str(tmp_path / f"{name}.h5"))
        assert (code, output, len(errors.splitlines())) == (2, "", 1) and errors.endswith(f": {remedy}\n")
    code, _, errors = builder("build", "3x3-8", "--blank", "1" + "0" * 18)
    assert code == 2 and "a 3x3 board has cells 0 to 8" in errors


def test_the_folder_is_printed_as_an_absolute_path(tmp_path, monkeypatch, builder):
    monkeypatch.chdir(tmp_path)
    code, output, errors = builder("build", "3x3-4-4", "--folder", "here")
    path = tmp_path / "here" / "3x3-4-4.h5"
    assert (code, output) == (0, f"{path}\n") and all(line.startswith(f"{path}: ") for line in errors.splitlines())


@pytest.mark.parametrize(
    "words, name, spec",
    [
        ("3x3", "3x3-8", Spec(Grid(3, 3), NAMED["3x3-8"])),
        ("3x3-4-4 --blank last", "3x3-4-4-blank8", Spec(Grid(3, 3), NAMED["3x3-4-4"], 8)),
        ("3x3-4-4 --wrap", "3x3-4-4-wrap-bytes", Spec(Grid(3, 3, True), NAMED["3x3-4-4"], 0, "bytes")),
        (
            "2x3 --patterns 1,2/3,4,5 --encoding bytes --blank 4",
            None,
            Spec(Grid(2, 3), ((1, 2), (3, 4, 5)), 4, "bytes"),
        ),
        ("2x4 --wrap --threads 1", None, Spec(Grid(2, 4, True), ((1, 2, 3, 4, 5, 6, 7),))),
        (
            "2x3 --collection 1,2/3,4,5;1,2,3/4,5 --blank last",
            None,
            Spec(Grid(2, 3), (((1, 2), (3, 4, 5)), ((1, 2, 3), (4, 5))), 5),
        ),
    ],
)
def test_targets_and_options_describe_the_database(words, name, spec, databases, builder):
    code, output, _ = builder("build", *words.split())
    path = Path(output.strip())
    assert code == 0 and open_database(path).spec == spec
    assert name is None or path.stem == name


@pytest.mark.parametrize(
    "words, message",
    [
        ("4x4-9", "unknown name '4x4-9': use 3x3-8, 3x3-4-4,"),
        ("3x3-8 hello", "unknown name 'hello'"),
        ("3x3-8 --patterns 1,2/3", "--patterns goes with a board shape: write 3x3 instead of 3x3-8"),
        ("3x3-8 --collection 1,2/3", "--collection goes with a board shape: write 3x3 instead of 3x3-8"),
        ("3x3 2x3 --collection 1,2/3,4,5", "go with a single database"),
        (
            "2x3 --collection 1,2/3,4,5;",
            "the collection '1,2/3,4,5;' has an empty partition: separate partitions by one",
        ),
        ("2x3 --collection 1,2/3,4,5;1,2,3/4", "partition 2: 1 tile is in no pattern (5)"),
        ("2x3 --collection 1,2/3,4,5;1,2/3;4,5", "partition 2: 2 tiles are in no pattern (4, 5)"),
        ("2x3 --collection 1,2 --patterns 1,2", "not allowed with argument"),
        ("5x5-1200M --blank 7", "no collection 5x5-1200M is for goals with the blank on cell 7: name the board shape"),
        ("5x5-250M --max-memory 20M", "but only 20 MB can be used"),
        ("3x3-8 3x3-4-4 --output x.h5", "go with a single database"),
        ("3x3-8 --output x.txt", "does not end in .h5"),
        ("3x3-8 --blank middle", "'middle' is not a cell"),
        ("3x3-8 --blank -1", "'-1' is not a cell"),
        ("4x4-7-8 --max-memory 0", "but only 0 bytes can be used"),
        ("6x6 --max-memory 0", "raise --max-memory"),
    ],
)
def test_nothing_is_built_if_one_target_makes_no_sense(words, message, databases, builder):
    code, output, errors = builder("build", *words.split())
    assert (code, output, len(errors.splitlines())) == (2, "", 1) and message in errors
    assert list(databases.iterdir()) == []


@pytest.mark.parametrize(
    "words, name",
    [
        ("5x5", "5x5-250M"),
        ("5x5 --blank last", "5x5-250M-blank24"),
        ("5x5 --blank 12", "5x5-90M-blank12"),
        ("5x5 --blank 3", "5x5-*M-blank3"),  # that of cell 1, turned
        ("5x5-250M --blank 20", "5x5-250M-blank20"),
        ("5x5-250M-blank7", "5x5-250M-blank7"),
        ("5x5-250M-blank7 --blank 11", "5x5-250M-blank11"),
        ("5x5-250M-blank7 --blank 2", "5x5-250M-blank2"),
        ("5x5-2600M --blank 4", "5x5-2600M-blank4"),
        ("5x5 --encoding bytes", "5x5-6-6-6-6-bytes"),
        ("5x5 --wrap", "5x5-6-6-6-6-wrap-bytes"),
        ("5x5-250M --encoding bytes", "5x5-250M-bytes"),
        ("5x5-6-6-6-6 --blank 7", "5x5-6-6-6-6-blank7"),
        ("5x5 --max-memory 1G", "5x5-250M"),
        ("5x5 --max-memory 2.5G", "5x5-1200M"),
        ("5x5 --max-memory 4G", "5x5-2600M"),
        ("5x5 --max-memory 4G --blank 12", "5x5-90M-blank12"),
        ("5x5 --max-memory 240M", "5x5-5-5-5-5-4-??????"),
        ("5x5 --max-memory 4G --encoding bytes", "5x5-7-7-7-3-??????-bytes"),
        ("6x6 --max-memory 1G", "6x6-6-6-6-6-6-5-??????"),
        ("4x4", "4x4-7-8"),
        ("4x4 --blank 5", "4x4-7-8-blank5"),
    ],
)
def test_which_database_a_target_stands_for(words, name):
    """Without building it."""
    args = _parser().parse_args(["build", *words.split()])
    assert fnmatch(_spec_of(args.targets[0], args).name, name)


# ---- info and list ------------------------------------------------------------------------------


@pytest.mark.parametrize("by_name", [False, True])
def test_info_shows_what_a_database_contains(by_name, small, builder):
    words = ["3x3-4-4", "--folder", str(small.parent)] if by_name else [str(small)]
    code, text, errors = builder("info", *words)
    assert (code, errors) == (0, "")
    for expected in ("3x3 board, 2 patterns", ". 1 2", ". A A", "B B B", "maximum", "mean", "built by slidepdb", "█"):
        assert expected in text
    facts = json.loads(builder("info", "--json", *words)[1])
    assert facts["goal"] == list(range(9))
    assert [sum(pattern["counts"]) == pattern["entries"] for pattern in facts["patterns"]] == [True, True]


def test_info_names_more_patterns_than_there_are_capital_letters(tmp_path, builder):
    path = tmp_path / "x.h5"
    build_database(Spec(Grid(4, 7), tuple((tile,) for tile in range(1, 28))), path)
    code, text, _ = builder("info", str(path))
    assert code == 0 and "pattern a: tiles 27:" in text and "Y Z a" in text


def test_info_draws_all_partitions(tmp_path, builder):
    """A' is the pattern that is looked up in the table of A."""
    spec = Spec(Grid(3, 3), parse_collection("1,2,5/3,4,6,7,8; 3,6,7/1,2/4,5,8; 1,2,5/3,6,7/4,8"))
    build_database(spec, tmp_path / "x.h5")
    code, text, _ = builder("info", str(tmp_path / "x.h5"))
    assert code == 0 and "3x3 board, 3 partitions, 5 patterns" in text
    drawing = text[text.index("goal and partitions:") :].splitlines()[1:4]
    assert drawing == [
        "    . 1 2      . A A      .  C  C       .  A  A",
        "    3 4 5      B B A      A' D  D       A' E  A",
        "    6 7 8      B B B      A' A' D       A' A' E",
    ]
    assert text.count("\npattern ") == 5 and "A' is looked up in the table of A" in text
    facts = json.loads(builder("info", "--json", str(tmp_path / "x.h5"))[1])
    assert [[pattern["tiles"] for pattern in row] for row in facts["partitions"]] == [
        [list(tiles) for tiles in partition] for partition in spec.partitions
    ]
    assert [[pattern["pattern"] for pattern in row] for row in facts["partitions"]] == [[1, 2], [1, 3, 4], [1, 1, 5]]
    assert facts["partitions"][1][0]["cells"] == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert [pattern["tiles"] for pattern in facts["patterns"]] == [list(tiles) for tiles in spec.patterns]


@pytest.mark.jit
def test_list_draws_all_partitions(databases, builder):
    code, text, _ = builder("list")
    assert code == 0 and "\n    . A A B\n    A A B B\n    A C C B\n    C C C B\n" in text
    row = next(line for line in text.splitlines() if line.startswith("5x5-250M "))
    assert row.split()[1:3] == ["6", "11"]
    rows = {row["name"]: row for row in json.loads(builder("list", "--json")[1])}
    assert rows["5x5-250M"]["tables"] == 11 and len(rows["5x5-250M"]["partitions"]) == 6
    assert (rows["5x5-250M-blank7"]["blank"], rows["4x4-7-8"]["blank"]) == (7, 0)


@pytest.mark.jit
def test_list_shows_which_databases_are_built(databases, builder, small):
    builder("build", "3x3-8")
    (databases / "3x3-4-4.h5").write_text("")
    code, output, _ = builder("list", "--brief")
    lines = {line.split()[0].strip("*"): line.split()[-1] for line in output.splitlines()[1:-1]}
    assert code == 0 and set(lines) == set(NAMED)
    assert (lines["3x3-8"], lines["3x3-4-4"], lines["4x4-7-8"]) == ("yes", "damaged", "no")
    table = open_database(small).tables[1]
    content = bytearray(small.read_bytes())
    content[table.offset + table.values.nbytes // 2] ^= 16
    (databases / "3x3-4-4.h5").write_bytes(content)
    open_database(databases / "3x3-4-4.h5")  # which does not look at every entry
    rows = {row["name"]: row["built"] for row in json.loads(builder("list", "--json")[1])}
    assert (rows["3x3-8"], rows["3x3-4-4"]) == ("yes", "damaged")
    rows = {row["name"]: row for row in json.loads(builder("list", "--json", "--encoding", "bytes")[1])}
    assert rows["4x4-7-8"]["entries"] == 57_657_600 + 518_918_400
    assert rows["5x5-6-6-6-6"]["entries"] == 4 * 127_512_000


# ---- verify -------------------------------------------------------------------------------------


def test_an_interrupted_verification_starts_over(small, builder, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("pdb_builder.commands.verify.verify_database", interrupted)
    code, output, errors = builder("verify", str(small))
    assert (code, output) == (130, "")
    assert errors == "interrupted: nothing was changed, and the same command starts over\n"


def test_verify_proves_a_database(small, builder):
    code, text, _ = builder("verify", str(small))
    assert code == 0 and "proved correct" in text
    assert len(re.findall(r"^\d \w+ +holds", text, re.MULTILINE)) == 7
    code, text, _ = builder("verify", "--quick", "3x3-4-4", "--folder", str(small.parent))
    assert code == 0 and "not searched again" in text


def test_verify_names_the_invariant_that_fails(small, tmp_path, builder):
    def change(root):
        root["pattern_1/table"][7] ^= 1

    path = forged(small, tmp_path / "x.h5", change)
    code, text, _ = builder("verify", str(path))
    assert code == 1 and re.search(r"^6 entries +FAILED", text, re.MULTILINE)
    code, text, _ = builder("verify", "--json", str(path))
    facts = json.loads(text)
    assert (code, facts["verified"]) == (1, False) and facts["checks"][-1]["holds"] is False
