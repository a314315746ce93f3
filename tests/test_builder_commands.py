"""The commands of the builder: what they print, build and refuse."""

import doctest
import json
import re
from pathlib import Path

import pytest

import pdb_builder
from pdb_builder import NAMED, Grid, Spec, build_database, open_database
from pdb_builder.cli import main

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
        ("4x4-9", "unknown partition '4x4-9': use 3x3-8, 3x3-4-4,"),
        ("3x3-8 hello", "unknown partition 'hello'"),
        ("3x3-8 --patterns 1,2/3", "--patterns goes with a board shape: write 3x3 instead of 3x3-8"),
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


@pytest.mark.jit
def test_list_shows_which_databases_are_built(databases, builder, small):
    builder("build", "3x3-8")
    (databases / "3x3-4-4.h5").write_text("")
    code, output, _ = builder("list")
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
