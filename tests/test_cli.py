"""The command line of the builder: help, answers, errors, and the base it shares with the solver."""

import doctest
import json
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pdb_builder
from pdb_builder import NAMED, Grid, Spec, build_database, open_database
from pdb_builder.base.folders import databases_folder
from pdb_builder.cli import _parser, main
from pdb_builder.shell import parse_size, with_flags

from .forge import forged

ROOT = Path(__file__).parent.parent
COMMANDS = ["build", "info", "list", "verify", "bench"]


@pytest.fixture
def databases(tmp_path, monkeypatch):
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path))
    return tmp_path


# ---- help and documentation ---------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    text = capsys.readouterr().out
    assert stop.value.code == 0
    assert f"example: pdb-builder {command}" in text and "exit codes: 0" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_are_valid(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    example = re.search(r"example: pdb-builder (.*)", capsys.readouterr().out)[1]
    assert _parser().parse_args(shlex.split(example)).module


def test_help_starts_without_the_heavy_libraries():
    code = (
        "import sys; from pdb_builder.cli import _parser; _parser().format_help(); "
        "print(*{'numba', 'numpy', 'h5py', 'tqdm'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "\n"


@pytest.mark.parametrize("command", ["build", "list"])
def test_help_does_not_depend_on_the_machine(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    assert "$SLIDEPDB_DATABASES" in text and str(databases_folder()) not in text


def test_an_interrupt_during_start_up_is_quiet(tmp_path):
    """Ctrl-C while the command line is imported."""
    (tmp_path / "interrupted_import.py").write_text("raise KeyboardInterrupt")
    code = "import sys; from pdb_builder.launch import launch; sys.exit(launch('interrupted_import'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_both_programs_start_with_launch(monkeypatch):
    for program in ("pdb_builder", "solver"):
        started = []
        monkeypatch.setattr(f"{program}.__main__.launch", started.append)
        import_module(f"{program}.__main__").main()
        assert started == [f"{program}.cli"]


def test_the_examples_of_the_package_are_true():
    assert doctest.testmod(pdb_builder).failed == 0 < doctest.testmod(pdb_builder).attempted


# ---- answers ------------------------------------------------------------------------------------


def test_build_prints_the_path(databases, capsys):
    assert main(["build", "3x3-8", "3x3-4-4"]) == 0
    output, errors = capsys.readouterr()
    assert output.splitlines() == [str(databases / "3x3-8.h5"), str(databases / "3x3-4-4.h5")]
    assert "MB of memory to build" in errors
    assert main(["build", "3x3-8"]) == 0
    assert "nothing to do" in capsys.readouterr().err


def test_the_folder_is_printed_as_an_absolute_path(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["build", "3x3-4-4", "--folder", "here"]) == 0
    output, errors = capsys.readouterr()
    path = tmp_path / "here" / "3x3-4-4.h5"
    assert output == f"{path}\n" and all(line.startswith(f"{path}: ") for line in errors.splitlines())


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
def test_targets_and_options_describe_the_database(words, name, spec, databases, capsys):
    assert main(["build", *words.split()]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert open_database(path).spec == spec
    assert name is None or path.stem == name


def test_info(small, capsys):
    assert main(["info", str(small)]) == 0
    text = capsys.readouterr().out
    for expected in (
        "3x3 board, 2 patterns",
        "0 1 2".replace("0", "."),
        ". A A",
        "B B B",
        "maximum",
        "mean",
        "built by slidepdb",
        "█",
    ):
        assert expected in text
    assert main(["info", "--json", str(small)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["goal"] == list(range(9))
    assert [sum(pattern["counts"]) == pattern["entries"] for pattern in facts["patterns"]] == [True, True]


@pytest.mark.jit
def test_list(databases, capsys):
    main(["build", "3x3-8"])
    (databases / "3x3-4-4.h5").write_text("")
    capsys.readouterr()
    assert main(["list"]) == 0
    lines = {line.split()[0].strip("*"): line.split()[-1] for line in capsys.readouterr().out.splitlines()[1:-1]}
    assert set(lines) == set(NAMED)
    assert (lines["3x3-8"], lines["3x3-4-4"], lines["4x4-7-8"]) == ("yes", "damaged", "no")
    assert main(["list", "--json", "--encoding", "bytes"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["4x4-7-8"]["entries"] == 57_657_600 + 518_918_400
    assert rows["5x5-6-6-6-6"]["entries"] == 4 * 127_512_000


def test_verify(small, tmp_path, capsys):
    assert main(["verify", str(small)]) == 0
    text = capsys.readouterr().out
    assert len(re.findall(r"^\d \w+ +holds", text, re.MULTILINE)) == 7 and "proved correct" in text
    assert main(["verify", "--quick", str(small)]) == 0
    assert "not searched again" in capsys.readouterr().out

    def change(root):
        root["pattern_1/table"][7] ^= 1

    path = forged(small, tmp_path / "x.h5", change)
    assert main(["verify", str(path)]) == 1
    assert re.search(r"^6 entries +FAILED", capsys.readouterr().out, re.MULTILINE)
    assert main(["verify", "--json", str(path)]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["verified"] is False and facts["checks"][-1]["holds"] is False


@pytest.mark.jit
def test_bench(capfd):
    assert main(["bench", "3x3:3", "2x3:2:bytes", "--repeat", "1", "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(row["board"], row["tiles"], row["encoding"]) for row in rows] == [("3x3", 3, "bits"), ("2x3", 2, "bytes")]
    assert all(row["states_per_second"] > 0 and row["peak_memory"] > 10**7 for row in rows)


def shell(command, **kwargs):
    command = command.replace("pdb-builder", f"{shlex.quote(sys.executable)} -m pdb_builder")
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, **kwargs)


def test_closed_and_full_streams(small, tmp_path):
    path = shlex.quote(str(small))
    done = shell(f"pdb-builder build 3x3-4-4 --output {tmp_path}/x.h5 <&- >&- 2>&-")
    assert done.returncode == 0 and (tmp_path / "x.h5").exists()
    done = shell("pdb-builder info none.h5 2>&-")
    assert (done.returncode, done.stdout) == (2, "")
    done = shell(f"set -o pipefail; pdb-builder info {path} | true")
    assert (done.returncode, done.stderr) == (0, "")
    done = shell(f"PYTHONIOENCODING=ascii pdb-builder info {path}")
    assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written(small):
    done = shell(f"pdb-builder info {shlex.quote(str(small))} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "pdb-builder: error: output: No space left on device: make room, or use another disk\n"


def test_more_patterns_than_capital_letters(tmp_path, capsys):
    spec = Spec(Grid(4, 8), tuple((tile,) for tile in range(1, 32)))
    build_database(spec, tmp_path / "x.h5")
    assert main(["info", str(tmp_path / "x.h5")]) == 0
    text = capsys.readouterr().out
    assert "pattern e: tiles 31:" in text and "c d e" in text


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, message",
    [
        ("build 4x4-9", "unknown partition '4x4-9': use 3x3-8, 3x3-4-4,"),
        ("build 1x4", "a board of 1x4 is too small"),
        ("build 9x9", "a board of 9x9 has 81 cells, and pattern databases are for at most 64: use a smaller board"),
        ("build 9x9 --max-memory 1k", "pattern databases are for at most 64"),
        ("build 10x10 --wrap --patterns 1,2/3 --encoding bytes --blank 99", "a board of 10x10 wrapped has 100 cells"),
        ("build 3x3-8 5x13", "a board of 5x13 has 65 cells"),
        ("build 11x11", "a board of 11x11 has 121 cells: at most 100 are possible"),
        ("bench 9x9:2", "a board of 9x9 has 81 cells"),
        ("build hello", "unknown partition 'hello'"),
        ("build 3x3 --patterns 1,2,3/3,4", "tile 3 is in patterns 1 and 2"),
        ("build 3x3 --patterns 1,2,3/4,5", "3 tiles are in no pattern (6, 7, 8)"),
        ("build 3x3 --patterns 1,2,3,4,5,6,7,8,9", "tile 9 is not on a 3x3 board"),
        ("build 4x4 --patterns 1,2,3,4,5,6,7,8,9,10,11,12,13/14,15", "index would not fit"),
        ("build 3x3 --patterns 1,,x", "'x' in the pattern list is not a tile number"),
        ("build 3x3-8 --patterns 1,2/3", "--patterns goes with a board shape"),
        ("build 3x3-8 3x3-4-4 --output x.h5", "go with a single database"),
        ("build 3x3-8 --output x.txt", "does not end in .h5"),
        ("build 3x3-8 --blank 9", "the blank cannot be on cell 9"),
        ("build 3x3-8 --blank middle", "'middle' is not a cell"),
        ("build 3x3-8 --wrap --encoding bits", "use --encoding bytes"),
        ("build 3x3-8 --encoding nibbles", "invalid choice"),
        ("build 3x3-8 --threads 0", "'0' is not a number from 1 to 256"),
        ("build 3x3-8 --threads many", "'many' is not a number"),
        ("build 6x6 --max-memory lots", "'lots' is not a size"),
        ("build 6x6 --max-memory 1k", "raise --max-memory"),
        ("build 4x4-7-8 --max-memory 100M", "needs at least 259 MB of memory, but only 100 MB can be used"),
        ("build 4x4-7-8 --max-memory 0", "but only 0 bytes can be used"),
        ("build 6x6 --max-memory 0", "raise --max-memory"),
        (
            "build 8x8 --patterns " + "/".join(",".join(map(str, range(a, min(a + 12, 64)))) for a in range(1, 64, 12)),
            "index would not fit",
        ),
        ("info none.h5", "there is no database none.h5"),
        ("info .", "is not a pattern database file (a folder)"),
        ("verify none.h5", "there is no database none.h5"),
        ("bench 4x4", "'4x4' is not a row to measure"),
        ("bench 3x3:9", "tile 9 is not on a 3x3 board"),
        ("", "COMMAND"),
        ("frobnicate", "invalid choice"),
        ("build --frob", "unrecognized arguments: --frob"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, message, databases, capsys):
    try:
        code = main(words.split())
    except SystemExit as stop:
        code = stop.code
    output, errors = capsys.readouterr()
    assert code == 2
    assert output == ""
    assert message in errors
    assert len(errors.splitlines()) == 1
    assert list(databases.iterdir()) == []


def test_library_errors_name_flags_on_the_command_line():
    assert with_flags("use a smaller pattern, or raise `max_memory`") == "use a smaller pattern, or raise --max-memory"
    assert with_flags("use `every`, or `quick` and `node_limit` 5") == "use --all, or --quick and --node-limit 5"
    assert with_flags("there is no `File Name.h5`") == "there is no `File Name.h5`"


def test_sizes():
    assert [parse_size(text) for text in ("4G", "512M", "1.5gb", "100", "2KiB")] == [
        4 * 10**9,
        512 * 10**6,
        15 * 10**8,
        100,
        2000,
    ]
