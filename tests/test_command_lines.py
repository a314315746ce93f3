"""What both command lines have in common: help, arguments, and errors of one line that name flags."""

import argparse
import io
import re
import shlex
import sys
from importlib import import_module

import pytest

import pdb_builder.cli
import solver.cli
from pdb_builder import argument_types as numbers
from pdb_builder.base import compile_cache
from pdb_builder.base.folders import databases_folder
from pdb_builder.shell import parse_size, positive, with_flags
from solver import argument_types

EASY = "1 2 3 4 5 6 0 7 8"
PROGRAMS = {"pdb-builder": pdb_builder.cli, "pdb-solver": solver.cli}
COMMANDS = {
    "pdb-builder": ["build", "info", "list", "verify", "choose", "bench"],
    "pdb-solver": ["solve", "compare", "serve", "journal", "learn", "check", "distribution", "random", "bench"],
}
ALL = [(program, command) for program, commands in COMMANDS.items() for command in commands]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, without databases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path))
    return tmp_path


@pytest.fixture
def call(run):
    """Runs a program by its name: ``call("pdb-builder", "list")`` is (code, output, errors)."""
    return lambda program, *words, **options: run(*words, main=PROGRAMS[program].main, **options)


def subparsers(program):
    parser = PROGRAMS[program]._parser()
    (action,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return action.choices


# ---- help ---------------------------------------------------------------------------------------


def test_these_are_all_commands():
    assert {program: list(subparsers(program)) for program in PROGRAMS} == COMMANDS


@pytest.mark.parametrize("program, command", [*ALL, ("pdb-builder", None), ("pdb-solver", None)])
def test_every_command_explains_itself_with_a_valid_example(program, command, call):
    code, text, errors = call(program, *filter(None, [command]), "--help")
    assert (code, errors) == (0, "") and "exit codes: 0" in text
    assert max(map(len, text.splitlines())) <= 120
    example = re.search(rf"example: {program} (.*)", text)[1]
    assert PROGRAMS[program]._parser().parse_args(shlex.split(example)).module
    assert command is None or example.startswith(command)


@pytest.mark.parametrize("program, command", [("pdb-builder", "list"), ("pdb-solver", "solve")])
def test_help_does_not_depend_on_the_machine(program, command, call):
    text = call(program, command, "--help")[1]
    assert "$SLIDEPDB_DATABASES" in text and str(databases_folder()) not in text


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_version(program, call):
    code, output, _ = call(program, "--version")
    assert code == 0 and re.fullmatch(r"slidepdb \d+\.\d+.*\n", output)


# ---- start and end ------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["pdb_builder", "solver"])
def test_both_programs_start_with_launch(package, monkeypatch):
    started = []
    monkeypatch.setattr(f"{package}.__main__.launch", started.append)
    import_module(f"{package}.__main__").main()
    assert started == [f"{package}.cli"]


@pytest.mark.parametrize(
    "error, code, said",
    [
        (MemoryError(), 2, "pdb-solver: error: out of memory: use a smaller board or smaller patterns"),
        (KeyboardInterrupt(), 130, "interrupted: nothing is lost, and nothing is left behind"),
        (PermissionError(13, "Permission denied", "a"), 2, "a: Permission denied: check its permissions, or choose"),
        (ZeroDivisionError(), 70, "Traceback"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_what_ends_a_command(error, code, said, call, monkeypatch):
    def fail(args):
        raise error

    monkeypatch.setattr("solver.commands.random.run", fail)
    found, output, errors = call("pdb-solver", "random", "4x4")
    assert (found, output) == (code, "") and said in errors
    assert code == 70 or len(errors.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [("pdb-solver", "solve", EASY, "--folder", "here"), ("pdb-builder", "list", "--folder", "here")],
    ids=lambda words: words[0],
)
def test_a_current_folder_that_was_removed(words, call, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    code, output, errors = call(*words)
    fact = "the current folder was removed, or cannot be read: change to another one"
    assert (code, output, errors) == (2, "", f"{words[0]}: error: {fact}\n")
    monkeypatch.setenv("SLIDEPDB_DATABASES", "here")
    assert call(*words[:2], *words[2:-2]) == (2, "", errors)


def test_remarks_about_compiled_code_are_printed(call, monkeypatch):
    monkeypatch.setattr("solver.commands.random.run", lambda args: compile_cache.notify("it was damaged") or 0)
    assert call("pdb-solver", "random", "4x4") == (0, "", "it was damaged\n")
    assert compile_cache.notify is None


def test_a_missing_file_does_not_close_the_output_of_the_caller(call):
    """Whoever calls ``main`` from Python wants to go on printing."""
    call("pdb-solver", "check", "--file", "no such file")
    assert sys.stdout.closings == 0


def printed(encoding, text, monkeypatch):
    """The bytes of a text that a command prints to a stream with an encoding."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setattr("solver.commands.random.run", lambda args: print(text, end="") or 0)
    assert solver.cli.main(["random", "4x4"]) == 0
    return stream.buffer.getvalue()


BAR = "█" * 3 + "▏▎▍▌▋▊▉"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_what_cannot_be_encoded_is_printed_in_ascii(encoding, monkeypatch):
    if encoding == "utf-8":
        assert printed(encoding, f"{BAR} 4×4 … ü ☃", monkeypatch) == f"{BAR} 4×4 … ü ☃".encode()
    else:
        assert printed(encoding, BAR, monkeypatch) == b"###|||####"
        assert printed(encoding, "☃", monkeypatch) == b"?"
        assert printed(encoding, "×…", monkeypatch) == {
            "ascii": b"x...", "latin-1": b"\xd7...", "cp1252": b"\xd7\x85",
        }[encoding]  # fmt: skip
    assert printed(encoding, "a\udcffb", monkeypatch) == b"a\xffb", "a file name that is not text"
    assert printed(encoding, "a\ud800b", monkeypatch) == b"a?b"


@pytest.mark.parametrize("words", [["check", "1 2 3 ü"], ["check", EASY, "--file", "ü"]])
def test_a_narrow_encoding_is_no_obstacle(words, monkeypatch):
    streams = {
        name: io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True) for name in ("stdout", "stderr")
    }
    for name, stream in streams.items():
        monkeypatch.setattr(f"sys.{name}", stream)
    assert solver.cli.main(words) == 2
    assert streams["stderr"].buffer.getvalue().endswith(b"\n")


# ---- errors -------------------------------------------------------------------------------------


def test_parameters_become_flags():
    assert with_flags("use a smaller pattern, or raise `max_memory`") == "use a smaller pattern, or raise --max-memory"
    assert with_flags("use `every`, or `quick` and `node_limit` 5") == "use --all, or --quick and --node-limit 5"
    assert with_flags("there is no `File Name.h5`") == "there is no `File Name.h5`"


@pytest.mark.parametrize(
    "words, message",
    [
        ("pdb-builder build 3x3-8 --wrap --encoding bits", "use --encoding bytes"),
        ("pdb-builder build 6x6 --max-memory 1k", "raise --max-memory"),
        ("pdb-builder info none", "there is no database"),
        ("pdb-builder verify none", "there is no database"),
        ("pdb-builder bench 3x3:9", "tile 9 is not on a 3x3 board"),
        (f"pdb-solver solve {EASY} --weight 5000", "--weight must be between 1 and 1000, got 5000.0"),
        (f"pdb-solver compare {EASY} --memory-limit 0", "--memory-limit must be above 0, got 0"),
        ("pdb-solver check 1 2 3 4 5 0", "give --shape 2x3"),
        ("pdb-solver distribution 3x3 --goal middle", "the goal is neither last, first, spiral nor a board"),
        ("pdb-solver random 1x4", "a board of 1x4 is too small"),
    ],
)
def test_errors_of_the_library_are_one_line_with_flags(words, message, call, folder):
    program, *words = words.split()
    code, output, errors = call(program, *words)
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert errors.startswith(f"{program}: error: ") and message in errors
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "the following arguments are required: COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["bench", "--frob"], "unrecognized arguments: --frob"),
        (["bench", "--frob\nnicate"], "unrecognized arguments: --frob nicate"),
        (["bench", "--frob\u2028nicate"], "unrecognized arguments: --frob nicate"),
        (["bench", "nothing"], "'nothing'"),
        (["bench", "--hel"], "unrecognized arguments: --hel"),
        (["--versio", "bench"], "unrecognized arguments: --versio"),
    ],
)
@pytest.mark.parametrize("program", PROGRAMS)
def test_bad_arguments_are_one_line_and_exit_code_2(program, words, message, call):
    code, output, errors = call(program, *words)
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert errors.startswith(program) and message in errors


@pytest.mark.parametrize(
    "program, words, message",
    [
        ("pdb-builder", "build 3x3-8 --encoding nibbles", "--encoding: invalid choice"),
        ("pdb-builder", "build 3x3-8 --threads 0", "--threads: '0' is not a number from 1 to 256"),
        ("pdb-builder", "build 6x6 --max-memory lots", "--max-memory: 'lots' is not a size"),
        ("pdb-builder", "bench --repeat 0", "--repeat: '0' is not"),
        ("pdb-solver", "solve --algorithm depth", "--algorithm: invalid choice"),
        ("pdb-solver", "solve --order random", "--order: invalid choice"),
        ("pdb-solver", "solve --moves hand", "--moves: invalid choice"),
        ("pdb-solver", "solve --set korf1", "--set: invalid choice"),
        ("pdb-solver", "solve --jobs 0", "--jobs: '0' is not"),
        ("pdb-solver", "solve --weight 0.5", "--weight: '0.5' is not a number from 1 to 10^18"),
        ("pdb-solver", "solve --width 0", "--width: '0' is not a whole number from 1 to 10^18: write it as"),
        ("pdb-solver", "solve --depth 0", "--depth: '0' is not"),
        ("pdb-solver", "solve --node-limit -5", "--node-limit: "),
        ("pdb-solver", "solve --time-limit nan", "--time-limit: 'nan' is not a number of seconds above 0"),
        ("pdb-solver", "solve --memory-limit lots", "--memory-limit: 'lots' is not a size"),
        ("pdb-solver", f"solve --depth 1{'0' * 30}", "0' is not a whole number from 1 to 10^18: write it as 5000000"),
        ("pdb-solver", "solve --node-limit 1e30", "'1e30' is not a whole number from 1 to 10^18: write it as 5000000"),
        ("pdb-solver", "solve --time-limit 1e30", "'1e30' is not a number of seconds above 0 and up to 10^18: write"),
        ("pdb-solver", "solve --memory-limit 9999999T", "'9999999T' is not a size of up to 10^18 bytes: write it"),
        ("pdb-solver", f"random 4x4 --seed 1{'0' * 30}", "is not a whole number from -10^18 to 10^18: write it as 7"),
        ("pdb-solver", "compare --only 1-99999999", "is not a list of numbers up to 9999999: write it as 1-20,33"),
        ("pdb-solver", "solve --speed 26", "--speed: '26' is not a number from 0.1 to 25"),
        ("pdb-solver", "compare --only x", "--only: 'x' is not a list of numbers"),
        ("pdb-solver", "compare --seed one", "--seed: 'one' is not a whole number"),
        ("pdb-solver", "random 4x4 -n 0", "-n/--number: '0' is not"),
        ("pdb-solver", "random", "required: RxC"),
        ("pdb-solver", "distribution 3x3 --threads 0", "--threads: '0' is not"),
    ],
)
def test_options_say_which_values_they_have(program, words, message, call):
    code, output, errors = call(program, *words.split())
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert errors.startswith(f"{program} {words.split()[0]}: error: ") and message in errors


# ---- values of options --------------------------------------------------------------------------

VALUES = {
    parse_size: {"4G": 4 * 10**9, "512M": 512 * 10**6, "1.5gb": 15 * 10**8, "100": 100, "2KiB": 2000, "0": 0},
    positive: {"1": 1, "007": 7, "256": 256},
    numbers.number_above_0: {
        "5": 5,
        "5_000": 5000,
        "1e9": 10**9,
        "20M": 2 * 10**7,
        "0.01M": 10**4,
        "1.5k": 1500,
        "2.0": 2,
    },
    argument_types.number_from_1: {"1": 1, "1.5": 1.5, "1000": 1000, "5000": 5000, "1" + "0" * 18: 10**18},
    numbers.whole_number: {"7": 7, "-3": -3, "+0": 0, "-1" + "0" * 18: -(10**18)},
    numbers.seconds_above_0: {"10": 10, "0.5": 0.5, ".5": 0.5, "1.": 1, "2e3": 2000},
    argument_types.moves_per_second: {"0.1": 0.1, "4": 4, "25": 25},
    argument_types.number_list: {"1-3,7": {1, 2, 3, 7}, "5": {5}, " 2 , 4 ": {2, 4}},
}
REFUSED = {
    parse_size: ["lots", "", "-1", "4X", "1e9", "4 G G", "1000001T", "9" * 5000],
    positive: ["0", "257", "x", "", "1.5", "-1", "٣"],
    numbers.number_above_0: ["0", "-5", "ten", "1.5", "0.1", "1e99x", "", "1e-3", "nan", "1e19", "9" * 5000],
    argument_types.number_from_1: ["0.5", "0", "-1", "x", "", "inf", "1e3", "9" * 30],
    numbers.whole_number: ["abc", "1.5", "", "9" * 30, "9" * 5000],
    numbers.seconds_above_0: ["0", "-1", "nan", "inf", "1e99", "soon", ""],
    argument_types.moves_per_second: ["0", "26", "fast", "nan", "0.09", ""],
    argument_types.number_list: ["x", "5-3", "", "1,,2", "-3", "1 - 2"],
}


@pytest.mark.parametrize("read", VALUES, ids=lambda read: read.__name__)
def test_how_values_may_be_written(read):
    assert {text: read(text) for text in VALUES[read]} == VALUES[read]
    for text in REFUSED[read]:
        with pytest.raises(argparse.ArgumentTypeError) as error:
            read(text)
        assert str(error.value).startswith(f"'{text[:20]}' is not a ") and "\n" not in str(error.value)
