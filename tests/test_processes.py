"""Both programs as processes: start-up, streams, terminals and signals, and what is left when they end."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from pdb_builder import cli as builder
from solver import solve
from solver.comparison.results_file import ResultsFile
from solver.show.terminal import HIDE, SHOW

from .processes import DEADLINE, ended, environment, started

pytestmark = [pytest.mark.subprocess, pytest.mark.jit]

EASY = "1 2 3 4 5 6 0 7 8"  # LL
FARTHER = "1 2 3 0 4 6 7 5 8"  # LUL
FARTHEST = "8 6 7 2 5 4 3 0 1"  # 31 moves
HARD = "10 20 24 21 23 5 22 13 16 9 11 17 0 7 2 6 12 19 14 15 3 8 1 18 4"  # hours with Manhattan distance


# ---- helpers ------------------------------------------------------------------------------------


def wait_until(condition, process):
    """Wait for a condition that a running process brings about."""
    while not condition():
        assert process.poll() is None, "the process ended too early"
        time.sleep(0.02)


def wait_for_work(process, seconds=0.3):
    """Wait until a process has used some more seconds of processor time."""

    def used():
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    enough = used() + seconds
    wait_until(lambda: used() >= enough, process)


class Terminal:
    """A pseudo-terminal. A program gets ``theirs`` as one of its streams, and ``text`` is what it has printed."""

    def __init__(self):
        self.ours, self.theirs = pty.openpty()
        termios.tcsetwinsize(self.theirs, (24, 80))
        self._printed = b""

    @property
    def text(self):
        return self._printed.decode(errors="replace").replace("\r\n", "\n")  # it may end within a character

    def read(self, until=None):
        """Read on until some text appears, or without one until no program has the terminal open any more."""
        if self.theirs is not None:  # or this process would keep it open
            os.close(self.theirs)
            self.theirs = None
        while until is None or until not in self.text:
            try:
                part = os.read(self.ours, 65536)
            except OSError:  # the other end is closed
                part = b""
            if not part:
                assert until is None, f"'{until}' was not printed: {self.text}"
                break
            self._printed += part
        return self.text


@pytest.fixture
def terminal():
    terminal = Terminal()
    yield terminal
    for end in filter(None, (terminal.ours, terminal.theirs)):
        os.close(end)


def shell(command):
    """Run a command line of bash in which our programs have their names."""
    for name, package in (("pdb-builder", "pdb_builder"), ("pdb-solver", "solver")):
        command = command.replace(name, f"{shlex.quote(sys.executable)} -m {package}")
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment(), timeout=DEADLINE)


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    """An empty working folder without databases, a usual terminal, and programs that Ctrl-C interrupts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    # A program started by one that ignores SIGINT ignores it as well, and the tests may run in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def compiled():
    """The kernels of the searches below are in the cache: what is interrupted is a search and not the compiler."""
    for algorithm in ("ida-star", "a-star"):
        solve(EASY, heuristic="manhattan", algorithm=algorithm)


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


# ---- start-up -----------------------------------------------------------------------------------


def test_help_and_boards_that_are_not_solved_need_no_heavy_libraries():
    code = """
import contextlib, io, sys
import pdb_builder.cli, solver.cli
heavy = {"numba", "numpy", "h5py", "tqdm", "matplotlib", "PIL"}
with contextlib.redirect_stdout(io.StringIO()) as printed:
    for package, words in (
        (pdb_builder, ["--help"]),
        (pdb_builder, ["build", "--help"]),
        (solver, ["--help"]),
        (solver, ["solve", "--help"]),
        (solver, ["random", "2x2"]),
        (solver, ["check", "2 1 3 4 5 6 7 8 0"]),
    ):
        with contextlib.suppress(SystemExit):
            package.cli.main(words)
        if loaded := heavy & set(sys.modules):
            sys.exit(f"{words}: {loaded}")
print(len(printed.getvalue()) > 5000)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


STARTED = """
import os, sys, threading, time
from pdb_builder.launch import launch
delay, number = float(sys.argv.pop(1)), int(sys.argv.pop(1))
def interrupt():
    while "solver.cli" not in sys.modules:  # this little program is not what is tested
        pass
    time.sleep(delay)
    os.kill(os.getpid(), number)
threading.Thread(target=interrupt, daemon=True).start()
sys.exit(launch("solver.cli"))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay", [0, 0.01, 0.02, 0.04, 0.08, 0.16, 0.3, 0.6])
def test_an_interruption_of_the_start_is_one_line(number, delay, compiled):
    """However early it comes; and one that comes too late changes nothing."""
    words = ("solve", EASY, "--heuristic", "manhattan", "--quiet")
    with started("-c", STARTED, delay, int(number), *words) as process:
        code, output, errors = ended(process)
    assert (code, output, errors) == (0, "LL\n", "") or (
        code == 130 and output in ("", "LL\n") and "interrupted" in errors and len(errors.splitlines()) == 1
    )


def test_an_ignored_interruption_stays_ignored(compiled):
    """As in a background job of a shell."""

    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    words = ("solve", EASY, "--heuristic", "manhattan", "--quiet")
    with started("-c", STARTED, 0, int(signal.SIGINT), *words, before=ignore) as process:
        assert ended(process) == (0, "LL\n", "")


def test_without_the_compiler_boards_are_not_solved_but_databases_are_built():
    variables = {"NUMBA_DISABLE_JIT": "1"}
    for words in (("solve", EASY), ("compare", EASY), ("bench", "manhattan")):
        with started("-m", "solver", *words, variables=variables) as process:
            code, output, errors = ended(process)
        assert (code, output) == (2, "") and re.fullmatch(
            r"pdb-solver: error: NUMBA_DISABLE_JIT is set, .*: unset it to solve boards\n", errors
        )
    with started("-m", "pdb_builder", "build", "2x2", "--output", "x.h5", variables=variables) as process:
        assert ended(process)[:2] == (0, "x.h5\n")


def test_the_builder_measures_in_separate_processes(capsys):
    assert builder.main(["bench", "3x3:3", "2x3:2:bytes", "--repeat", "1", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["board"], row["tiles"], row["encoding"]) for row in rows] == [("3x3", 3, "bits"), ("2x3", 2, "bytes")]
    assert all(row["states_per_second"] > 0 and row["peak_memory"] > 10**7 for row in rows)


def test_a_home_that_does_not_exist_is_not_made(tmp_path, compiled):
    """Neither by us nor by matplotlib."""
    variables = {"HOME": str(tmp_path / "no"), "XDG_CONFIG_HOME": "", "MPLCONFIGDIR": ""}
    words = ("compare", EASY, "--heuristics", "manhattan", "--plot", "x.svg")
    with started("-m", "solver", *words, variables=variables) as process:
        code, _, errors = ended(process)
    assert (code, errors) == (0, "") and os.listdir(tmp_path) == ["x.svg"]


@needs_proc
def test_an_interrupted_measurement_is_one_line():
    """In a terminal, Ctrl-C is sent to all processes of a command."""
    with started("-m", "pdb_builder", "bench", "4x4:8", "--repeat", "99", "--json") as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        wait_until(lambda: children.read_text(), process)
        (child,) = children.read_text().split()
        time.sleep(0.2)  # it imports something
        os.killpg(process.pid, signal.SIGINT)
        assert ended(process) == (130, "", "interrupted: nothing was changed, and the same command starts over\n")
    assert not Path(f"/proc/{child}").exists()


# ---- streams ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "pdb-solver random 4x4 -n 100000",
        "pdb-solver random 3x3 -n 20000 | pdb-solver solve - --heuristic manhattan",
    ],
)
def test_a_reader_who_has_seen_enough_is_not_an_error(command):
    done = shell(f"set -o pipefail; {command} | head -1")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


def test_closed_streams(tmp_path):
    assert shell("pdb-builder build 3x3-4-4 --output x.h5 <&- >&- 2>&-").returncode == 0
    assert (tmp_path / "x.h5").exists()
    done = shell("pdb-solver check hello 2>&-")
    assert (done.returncode, done.stdout) == (2, "")
    done = shell("pdb-solver check <&-")
    assert (done.returncode, done.stdout) == (2, "") and "there is no board in the input" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_output():
    done = shell(f"pdb-solver check {EASY} > /dev/full")
    message = "pdb-solver: error: output: No space left on device: make room, or use another disk\n"
    assert (done.returncode, done.stderr) == (2, message)


@pytest.mark.parametrize("ending", ["end of input", "interrupt"])
def test_answers_come_while_the_input_is_still_open(ending, compiled):
    """Another program writes a board and waits for its solution before it writes the next."""
    with started("-m", "solver", "solve", "--heuristic", "manhattan", "--json", stdin=subprocess.PIPE) as process:
        for board, length in (EASY, 2), ("1 2 3 4 5 6 7 0 8", 1), ("1 2 3 4 5 6 7 8 0", 0):
            process.stdin.write(board + "\n")
            assert json.loads(process.stdout.readline())["length"] == length
        if ending == "interrupt":
            process.send_signal(signal.SIGINT)
            process.wait()
        code, output, errors = ended(process)
    assert (code, output) == (130 if ending == "interrupt" else 0, "")
    assert errors == "interrupted: the boards after these were not started\n" * (ending == "interrupt")


# ---- terminals ----------------------------------------------------------------------------------


def test_at_a_prompt_boards_are_not_waited_for(terminal):
    with started("-m", "solver", "check", stdin=terminal.theirs) as process:
        code, output, errors = ended(process)
    assert (code, output) == (2, "") and "no board is given: write it after the command" in errors


def test_a_solution_is_played_in_a_terminal_and_then_printed(terminal, compiled):
    words = ("solve", FARTHER, "--animate", "--speed", "25", "--heuristic", "manhattan")
    with started("-m", "solver", *words, stdout=terminal.theirs) as process:
        movie, answer = terminal.read().split(SHOW)
        assert ended(process) == (0, None, "")
    assert movie.startswith(HIDE)
    places = [movie.index(f"move {number} of 3") for number in range(4)]
    assert all(a < b for a, b in pairwise(places))
    assert "3 moves, proven shortest" in answer and "\nLUL\n" in answer and "after 1 move" not in answer


def test_an_interrupted_playback_leaves_the_cursor_and_the_answer(terminal, compiled):
    words = ("solve", FARTHEST, "--animate", "--speed", "0.1", "--heuristic", "manhattan")
    with started("-m", "solver", *words, stdout=terminal.theirs) as process:
        terminal.read(until="move 1 of 31")
        process.send_signal(signal.SIGINT)
        movie, answer = terminal.read().split(SHOW)
        assert ended(process) == (130, None, "interrupted: the moves were not shown to the end\n")
    assert movie.startswith(HIDE) and "move 2 of 31" not in movie
    assert "31 moves, proven shortest" in answer


# A shell in miniature: it starts a program in a process group of its own, and tells when that stops.
SHELL = """
import os, subprocess, sys
program = subprocess.Popen([sys.executable, "-m", "solver", *sys.argv[1:]], process_group=0)
print(program.pid, file=sys.stderr, flush=True)
while os.WIFSTOPPED(status := os.waitpid(program.pid, os.WUNTRACED)[1]):
    print("stopped", file=sys.stderr, flush=True)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_suspended_playback_gives_the_cursor_back_and_goes_on(terminal, compiled):
    words = ("solve", FARTHER, "--animate", "--speed", "0.1", "--heuristic", "manhattan")
    with started("-c", SHELL, *words, stdout=terminal.theirs) as shell:
        player = int(shell.stderr.readline())
        terminal.read(until="move 1 of 3")
        os.kill(player, signal.SIGTSTP)
        assert shell.stderr.readline() == "stopped\n"
        assert terminal.read(until=SHOW).count(HIDE) == 1
        os.kill(player, signal.SIGCONT)
        terminal.read(until=SHOW + HIDE)
        os.kill(player, signal.SIGINT)
        assert ended(shell)[0] == 130
    assert terminal.read().count(SHOW) == 2


def test_an_interrupted_playback_of_several_boards_ends_them_all(terminal, compiled):
    Path("boards").write_text(f"{EASY}\n{FARTHER}\n")
    words = ("solve", "--file", "boards", "--animate", "--speed", "0.1", "--heuristic", "manhattan")
    with started("-m", "solver", *words, stdout=terminal.theirs) as process:
        terminal.read(until="move 1 of 2")
        process.send_signal(signal.SIGINT)
        output = terminal.read()
        assert ended(process) == (130, None, "interrupted: the boards after these were not started\n")
    assert "\nLL\n" in output and "line 2" not in output
    assert output.rindex(SHOW) > output.rindex(HIDE)


# ---- signals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_search_reports_its_lower_bound(number, terminal, compiled):
    with started("-m", "solver", "solve", HARD, "--heuristic", "manhattan", stderr=terminal.theirs) as process:
        terminal.read(until=" generated, ")
        code, output, _ = ended(process, number)
    assert code == 130 and not re.search("Traceback|interrupted", terminal.read())
    assert int(re.search(r"no solution has fewer than (\d+) moves, interrupted", output)[1]) >= 82
    assert re.search(r"^ +all +[\d,]{5,} +[\d,]{5,}", output, re.MULTILINE)


def test_an_interrupted_search_reports_its_lower_bound_as_json(terminal, compiled):
    words = ("--heuristic", "manhattan", "--json", "--algorithm", "a-star", "--memory-limit", "8G")
    with started("-m", "solver", "solve", HARD, *words, stderr=terminal.theirs) as process:
        terminal.read(until=" generated, ")
        code, output, _ = ended(process, signal.SIGINT)
    record = json.loads(output)
    assert (code, record["solved"], record["stopped"]) == (130, False, "interrupt")
    assert record["lower_bound"] >= record["h_start"] and record["generated"] > 10_000


@needs_proc
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_of_several_boards_reports_what_is_known(jobs, compiled):
    """The boards that are done, and the lower bounds of those that were begun."""
    Path("boards").write_text("\n".join([EASY, *[HARD] * 3]))
    words = ("--file", "boards", "--heuristic", "manhattan", "--jobs", str(jobs))
    with started("-m", "solver", "solve", *words, *["--json"] * (jobs > 1)) as process:
        first = process.stdout.readline()
        wait_for_work(process)
        code, output, errors = ended(process, signal.SIGINT)
    assert code == 130 and len(errors.splitlines()) <= 1
    if jobs == 1:
        assert first.startswith("line 1: 2 moves LL")
        assert re.fullmatch(r"line 2: no solution has fewer than \d+ moves, interrupted .*\n", output)
    else:
        records = [json.loads(line) for line in (first, *output.splitlines())]
        assert [(record["line"], record["stopped"]) for record in records] == [
            (1, None),
            (2, "interrupt"),
            (3, "interrupt"),
        ]
        assert all(record["lower_bound"] >= record["h_start"] for record in records)


@pytest.mark.parametrize(
    "words", [("solve", HARD, "--heuristic", "manhattan"), ("distribution", "2x5")], ids=lambda words: words[0]
)
def test_an_interruption_while_kernels_are_compiled(words, tmp_path):
    """The first kernels are in the cache before the next one is compiled."""
    cache = tmp_path / "cache"
    with started("-m", "solver", *words, variables={"NUMBA_CACHE_DIR": str(cache)}) as process:
        wait_until(lambda: any(cache.rglob("*.kernel")), process)
        assert ended(process, signal.SIGINT) == (130, "", "interrupted: before the work began\n")


def test_an_interrupted_writer_of_a_table_leaves_nothing(tmp_path):
    code = """
import os, signal, sys, time
import solver.cli, solver.heuristics.walking_table as module
def write_slowly(file, kind, build):
    file.write(b"a part")
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
module.write_sealed = write_slowly
sys.exit(solver.cli.main(sys.argv[1:]))
"""
    with started("-c", code, "solve", EASY, "--heuristic", "walking-distance") as process:
        assert ended(process) == (130, "", "interrupted: before the work began\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_interruption_between_the_levels_of_a_distribution(terminal):
    with started("-m", "solver", "distribution", "3x4", "--wrap", stderr=terminal.theirs) as process:
        terminal.read(until="M boards")
        assert ended(process, signal.SIGINT)[:2] == (130, "")
    assert terminal.read().endswith("interrupted: nothing is lost, and nothing is left behind\n")


# ---- comparisons --------------------------------------------------------------------------------


@contextmanager
def comparison_in_its_last_search():
    """A comparison of four easy boards and one that takes long, which writes to a.csv."""
    words = ("--set", "korf100", "--only", "9,12,30,42,88", "--heuristics", "manhattan", "--threads", "2")
    with started("-m", "solver", "compare", *words, "--resume", "a.csv") as process:
        wait_until(lambda: Path("a.csv").exists() and len(Path("a.csv").read_text().splitlines()) == 5, process)
        yield process


def saved():
    with ResultsFile(Path("a.csv"), resume=True) as results:
        return results.cells


def test_an_interrupted_comparison_keeps_and_shows_what_is_done():
    with comparison_in_its_last_search() as process:
        code, output, errors = ended(process, signal.SIGTERM)
    assert (code, errors) == (130, "interrupted: 4 of 5 boards are done, continue with --resume a.csv\n")
    assert "4 boards of 4x4 (korf100), means per board" in output
    assert [cell.instance for cell in saved()] == [9, 12, 30, 42]


def test_a_killed_comparison_loses_nothing_that_was_done(run):
    with comparison_in_its_last_search() as process:
        code, _, errors = run("compare", EASY, "--heuristics", "manhattan", "--resume", "a.csv")
        assert code == 2 and "another program is writing to a.csv" in errors
        process.kill()
        process.wait()
    done = saved()
    assert sorted(cell.instance for cell in done) == [9, 12, 30, 42]
    words = ("--set", "korf100", "--only", "9,12,30,42", "--heuristics", "manhattan", "--resume", "a.csv")
    code, output, errors = run("compare", *words)
    assert (code, errors) == (0, "") and "4 boards" in output
    assert sorted(saved()) == sorted(done), "to the time that each search took"
