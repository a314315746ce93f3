"""Journals: a search that was ended in any way goes on where it was, and comes to the same end."""

import json
import os
import random
import signal
import time
import tracemalloc

import pytest

from pdb_builder import Grid
from pdb_builder.base.errors import InputError
from solver import solve
from solver.heuristics import manhattan
from solver.instances import load_set
from solver.search import journal, journal_file, two_ended
from solver.search.journal_file import JournalFile, read_journal
from solver.search.outcome import Limits, Missing, Problem, unreported

from .helpers import cut_small_trees, korf_in_order
from .processes import started

pytestmark = pytest.mark.jit

GRID = Grid(4, 4)
OF = {"board": "this one"}


def back(grid, blank, missing: Missing, check):
    return manhattan.prepare(grid, blank)


def searched(path, board, threads=1, options=None, limits=None, of=OF):
    """What a search with a journal finds, but for the seconds."""
    log = journal.open_journal(path, of, lambda: True)
    problem = Problem(GRID, 0, board, manhattan.prepare(GRID, 0), backward=back, journal=log)
    try:
        outcome = two_ended.search(
            problem, threads=threads, limits=limits or Limits(), progress=unreported, **(options or {})
        )
    finally:
        log.close()
    iterations = [one._replace(seconds=0) for one in outcome.iterations]
    incumbents = [one._replace(seconds=0) for one in outcome.incumbents]
    return outcome.paths, outcome.expanded, outcome.generated, outcome.lower_bound, iterations, incumbents


WAYS = {
    "plain": {},
    "all": {"every": True},
    "better end": {"direction": "auto"},
    "both ends": {"direction": "auto", "both_ends": "on"},
    "backward": {"direction": "backward"},
}


@pytest.fixture
def small_trees(monkeypatch):
    """Iterations are cut early, beams go before small ones, and the other end is tried soon."""
    cut_small_trees(monkeypatch)
    for name, value in {"SMALL": 500, "LONG": 2000, "MANY": 3000}.items():
        monkeypatch.setattr(two_ended, name, value)


@pytest.mark.parametrize("way", WAYS)
def test_a_search_goes_on_from_any_line(way, tmp_path, small_trees):
    """With the beginning of a journal, of any number of lines and part of another, the end is the same."""
    board = korf_in_order()[3].board
    path, chance = tmp_path / "a.journal", random.Random(1)
    expected = searched(path, board, 2, WAYS[way])
    assert expected == searched(tmp_path / "b.journal", board, 1, WAYS[way])
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) > 20
    for kept in [0, 1, 2, len(lines) - 1, len(lines), *chance.sample(range(len(lines)), 10)]:
        content = b"".join(lines[:kept])
        content += lines[kept][: chance.randrange(len(lines[kept]))] if kept < len(lines) else b""
        path.write_bytes(content)
        assert searched(path, board, chance.choice((1, 2)), WAYS[way]) == expected
    again = path.read_bytes()
    assert searched(path, board, 2, WAYS[way]) == expected and path.read_bytes() == again


def test_what_is_finished_is_not_searched_again(tmp_path, small_trees, monkeypatch):
    board, path = korf_in_order()[3].board, tmp_path / "a.journal"
    expected = searched(path, board)

    def refused(*args, **options):
        raise AssertionError("a subtree is searched again")

    monkeypatch.setattr(two_ended.Tree, "_below", refused)
    assert searched(path, board) == expected


def test_a_journal_is_believed(tmp_path, small_trees):
    """The test of the tests: with other counts in it, and checksums to match, the search has other counts."""
    board, path = korf_in_order()[3].board, tmp_path / "a.journal"
    expected = searched(path, board)
    records = read_journal(path)
    path.unlink()
    for record in records:
        if "subtree" in record:
            record["expanded"] += 1
        if "result" in record:
            record["result"]["expanded"] += 1
    file = JournalFile(path)
    file.append(records)
    file.close()
    assert searched(path, board)[1] > expected[1]


@pytest.mark.parametrize("limits", [{"nodes": 3000}, {"nodes": 20_000}])
def test_limits_end_a_search_that_can_go_on(limits, tmp_path, small_trees):
    board, path = korf_in_order()[3].board, tmp_path / "a.journal"
    expected = searched(tmp_path / "b.journal", board, options=WAYS["better end"])
    paths, *_ = searched(path, board, options=WAYS["better end"], limits=Limits(**limits))
    assert not paths or len(paths[0]) >= len(expected[0][0])
    assert searched(path, board, 2, options=WAYS["better end"]) == expected


def test_every_byte_counts(tmp_path):
    """Changed, it is refused; at the end, where a line may be incomplete, dropped. Cut off anywhere, so is the rest."""
    path = tmp_path / "a.journal"
    searched(path, korf_in_order()[0].board)
    whole = path.read_bytes()
    whole = b"".join(whole.splitlines(keepends=True)[:6])
    path.write_bytes(whole)
    records = read_journal(path)
    assert len(records) == 6
    for at in range(len(whole)):
        for bit in (1, 64):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            try:
                assert read_journal(path) == records[:-1] and at == len(whole) - 1
            except InputError as error:
                assert "\n" not in str(error)
        path.write_bytes(whole[:at])
        if b"\n" in whole[:at]:
            assert read_journal(path) == records[: whole[:at].count(b"\n")]
        else:
            with pytest.raises(InputError, match="is all there is" if at else "is empty"):
                read_journal(path)
    lines = whole.splitlines(keepends=True)
    for wrong in (lines[:2] + lines[3:], [*lines[:2], lines[3], lines[2], *lines[4:]], [*lines, lines[-1]]):
        path.write_bytes(b"".join(wrong))
        with pytest.raises(InputError, match="does not match its checksum"):
            read_journal(path)


def test_what_a_journal_is_not(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    for use in (JournalFile, read_journal):
        with pytest.raises(InputError, match="is not a journal"):
            use(path)
        assert path.read_text() == "hello"
        with pytest.raises(InputError, match="is not a regular file"):
            use(tmp_path)
    for use in (JournalFile, read_journal):
        with pytest.raises(InputError, match="No such file"):
            use(tmp_path / "missing" / "a.journal")


@pytest.mark.parametrize(
    "content",
    [b"{", b'{"jour', b'{"journal":', b'{"journal":"Nature"', b'{"journal":"Nature","volume":1}', b'{"journal":1,"b'],
)
def test_a_file_of_somebody_else_is_left_alone(content, tmp_path):
    """Even if it begins like a journal: only the beginning of the very line that is to be written is overwritten."""
    path = tmp_path / "notes.json"
    line = JournalFile(tmp_path / "a.journal", header := {"journal": 1, **OF})
    line.append([header])
    line.close()
    own = (tmp_path / "a.journal").read_bytes()
    for rest in (b"", b"\n", b"x", b"\nmore\n"):
        path.write_bytes(content + rest)
        if not own.startswith(content + rest):
            with pytest.raises(InputError, match="is not a journal"):
                journal.open_journal(path, OF, lambda: True)
            with pytest.raises(InputError, match="is not a journal"):
                JournalFile(path)
        with pytest.raises(InputError, match="is not a journal"):
            read_journal(path)
        assert path.read_bytes() == content + rest
    for kept in range(len(own)):
        path.write_bytes(own[:kept])
        journal.open_journal(path, OF, lambda: True).close()
        assert path.read_bytes() == own


def test_files_of_any_size(tmp_path, monkeypatch):
    """A file takes the memory of its size, however many calls it takes to read it; one that is absurd is refused."""
    path = tmp_path / "a.journal"
    searched(path, korf_in_order()[0].board)
    records = read_journal(path)
    tracemalloc.start()
    try:
        assert read_journal(path) == records
        assert tracemalloc.get_traced_memory()[1] < 100 * path.stat().st_size
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(journal_file, "AT_ONCE", 100)
    assert read_journal(path) == records and JournalFile(path).records == records
    whole = path.read_bytes()
    os.truncate(path, (1 << 32) + 1)
    for use in (JournalFile, read_journal):
        with pytest.raises(InputError, match="has 4,294,967,297 bytes, and a journal at most 4,294,967,296"):
            use(path)
    assert path.stat().st_size == (1 << 32) + 1
    with open(path, "rb") as file:
        assert file.read(len(whole)) == whole


def test_one_search_at_a_time(tmp_path):
    path = tmp_path / "a.journal"
    first = JournalFile(path)
    with pytest.raises(InputError, match="another program is writing"):
        JournalFile(path)
    first.close()
    JournalFile(path).close()


def test_a_full_disk_ends_the_search_and_loses_nothing(tmp_path, small_trees, monkeypatch):
    board, path = korf_in_order()[3].board, tmp_path / "a.journal"
    expected = searched(tmp_path / "b.journal", board)

    class Full:
        """A file that takes some bytes, and then no more."""

        def __init__(self, file, room):
            self.file, self.room = file, room

        def write(self, data):
            if self.room == 0:
                raise OSError(28, "No space left on device")
            written = self.file.write(data[: self.room])
            self.room -= written
            return written

        def __getattr__(self, name):
            return getattr(self.file, name)

    opened = journal.JournalFile
    for room in (5, 700, 2000, 5000):

        def filled(path, header, room=room):
            file = opened(path, header)
            file.file = Full(file.file, room)
            return file

        monkeypatch.setattr(journal, "JournalFile", filled)
        with pytest.raises(InputError, match="No space left on device: make room, and go on"):
            searched(path, board, 2)
    monkeypatch.setattr(journal, "JournalFile", opened)
    assert searched(path, board) == expected


REMOVED, REPLACED = "was removed or renamed", "was replaced by another file"


@pytest.mark.parametrize(
    ("happens", "message"),
    [
        (lambda path: path.unlink(), REMOVED),
        (lambda path: path.rename(path.with_suffix(".old")), REMOVED),
        (lambda path: (path.unlink(), path.touch()), REPLACED),
        (lambda path: (path.with_suffix(".new").write_text("mine"), path.with_suffix(".new").rename(path)), REPLACED),
        (lambda path: os.truncate(path, 10), "was changed .* it has 10 bytes instead of"),
        (lambda path: path.write_bytes(path.read_bytes() + b"more"), "was changed .* bytes instead of"),
    ],
)
def test_a_journal_that_is_lost_while_it_is_written(happens, message, tmp_path):
    """It is noticed when the next line is written, and nothing is changed."""
    path = tmp_path / "a.journal"
    file = JournalFile(path)
    file.append([{"journal": 1}, {"step": 0}])
    happens(path)
    left = {one: one.read_bytes() for one in tmp_path.iterdir()}
    with pytest.raises(InputError, match=message) as error:
        file.append([{"step": 1}])
    assert "\n" not in str(error.value)
    file.close()
    assert {one: one.read_bytes() for one in tmp_path.iterdir()} == left


def test_nothing_is_written_that_cannot_be_trusted(tmp_path):
    log = journal.open_journal(tmp_path / "a.journal", OF, lambda: False)
    log.step({"bound": 1}).end({"expanded": 1})
    log.close()
    assert len(read_journal(tmp_path / "a.journal")) == 1


def test_another_search_is_refused(tmp_path):
    path, board = tmp_path / "a.journal", "8 6 7 / 2 5 4 / 3 0 1"
    solve(board, heuristic="manhattan", journal=path)
    solve(board, heuristic="manhattan", journal=path, threads=2, prove_at_least=20, time_limit=100)
    other = {
        "board": {"board": "6 4 7 / 8 5 0 / 3 2 1"},
        "goal": {"goal": "first"},
        "heuristic": {"heuristic": "linear-conflict"},
        "order": {"order": "value"},
        "pruning": {"pruning": 4},
        "direction": {"direction": "backward"},
        "upper_bound": {"upper_bound": 40},
    }
    for name, changed in other.items():
        arguments = {"board": board, "heuristic": "manhattan", "journal": path} | changed
        with pytest.raises(InputError, match=f"another search, with {name} "):
            solve(**arguments)
    with pytest.raises(InputError, match="keeps no journal"):
        solve(board, algorithm="a-star", journal=path)
    records = read_journal(path)
    path.unlink()
    file = JournalFile(path)
    records[1]["what"]["bound"] += 2
    file.append(records)
    file.close()
    with pytest.raises(InputError, match="step 1 of the journal is with bound"):
        solve(board, heuristic="manhattan", journal=path)


def test_a_lower_bound_is_enough():
    board = "8 6 7 / 2 5 4 / 3 0 1"  # 31 moves
    for direction in ("forward", "auto"):
        found = solve(board, heuristic="manhattan", prove_at_least=27, direction=direction)
        assert (found.lower_bound, found.solved, found.stopped) == (27, False, "proven")
    found = solve(board, heuristic="manhattan", prove_at_least=28)
    assert found.lower_bound == 29 and found.stopped == "proven"
    found = solve(board, heuristic="manhattan", prove_at_least=31)
    assert found.lower_bound == 31 and not found.solved
    found = solve(board, heuristic="manhattan", prove_at_least=33)
    assert found.optimal and found.length == 31


# ---- how far it is ----------------------------------------------------------------------------------


def test_how_far_a_search_is(tmp_path, run):
    """By its journal: what is done, what is proven, and an estimate of the next bounds that is not far off."""
    path, one = tmp_path / "a.journal", load_set("korf100")[2][11]
    board = " ".join(map(str, one.board))
    words = ("solve", board, "--goal", "first", "--heuristic", "manhattan", "--direction", "forward")
    words += ("--journal", str(path))
    assert run(*words, "--prove-at-least", str(one.length - 4))[0] == 0
    code, output, _ = run("journal", str(path), "--json")
    told = json.loads(output)
    assert code == 0 and told["lower_bound"] == one.length - 4 and told["length"] is None
    bounds = [part["bound"] for part in told["parts"]]
    assert bounds == list(range(bounds[0], one.length - 5, 2))
    assert told["generated"] == sum(part["generated"] for part in told["parts"]) and told["lines"] > 5
    assert [one["bound"] for one in told["next"]] == [one.length - 4, one.length - 2, one.length]
    assert run(*words)[0] == 0
    after = json.loads(run("journal", str(path), "--json")[1])
    assert after["length"] == after["lower_bound"] == one.length and not after["next"]
    sizes = {part["bound"]: part["generated"] for part in after["parts"]}
    for estimate in told["next"][:2]:
        assert 0.5 < estimate["generated"] / sizes[estimate["bound"]] < 2
    code, output, _ = run("journal", str(path))
    assert code == 0 and f"{one.length} moves, proven shortest" in output and "match their checksums" in output
    path.write_bytes(path.read_bytes().replace(b'"expanded":', b'"expandeD":', 1))
    code, output, errors = run("journal", str(path))
    assert code == 2 and not output and errors.count("\n") == 1 and "does not match its checksum" in errors
    code, _, errors = run("journal", str(tmp_path / "none"))
    assert code == 2 and "No such file" in errors


# ---- killed -------------------------------------------------------------------------------------


def kill_again_and_again(path, kills, chance):
    """Kill a search with SIGKILL at random moments, and let it come to an end; compare it with one left in peace."""
    board = " ".join(map(str, load_set("korf100")[2][11].board))
    words = ("-m", "solver", "solve", board, "--goal", "first", "--heuristic", "manhattan", "--direction", "forward")
    words += ("--pruning", "2", "--json")

    def counts(answer):
        return {name: answer[name] for name in ("length", "moves", "expanded", "generated", "lower_bound", "optimal")}

    with started(*words) as process:
        expected = counts(json.loads(process.communicate()[0]))
    longer = 0
    for _ in range(kills):
        with started(*words, "--journal", str(path), "--threads", chance.choice("12")) as process:
            time.sleep(chance.uniform(0.3, 1.5))
            process.send_signal(signal.SIGKILL)
            process.wait()
        if path.exists() and path.stat().st_size > 100:
            longer = len(read_journal(path))
    assert longer
    with started(*words, "--journal", str(path)) as process:
        assert counts(json.loads(process.communicate()[0])) == expected


@pytest.mark.subprocess
def test_killed_some_times(tmp_path):
    kill_again_and_again(tmp_path / "a.journal", 4, random.Random(os.getpid()))


@pytest.mark.slow
@pytest.mark.subprocess
def test_killed_hundreds_of_times(tmp_path):
    for number in range(30):
        kill_again_and_again(tmp_path / f"{number}.journal", 10, random.Random(number))
