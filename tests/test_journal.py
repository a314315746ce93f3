"""Journals: a search that was ended in any way goes on where it was, and comes to the same end."""

import hashlib
import json
import os
import random
import signal
import time
import tracemalloc

import pytest

from pdb_builder import Grid, Spec, build_database
from pdb_builder.base.errors import InputError
from solver import solve, solving
from solver.heuristics import manhattan, pattern_database
from solver.instances import load_set
from solver.search import board_filter, journal, journal_file, journal_records, two_ended
from solver.search.journal_file import JournalFile, read_journal
from solver.search.outcome import Limits, Missing, Problem, unreported
from solver.search.thresholds import PUT_IN
from solver.search.tree import ROOM
from solver.watch import Watch

from .helpers import cut_small_trees, korf_in_order
from .oracle import solvable_boards
from .processes import started

pytestmark = pytest.mark.jit

GRID = Grid(4, 4)
OF = {"board": "this one"}
EIGHT = "8 6 7 / 2 5 4 / 3 0 1"  # 31 moves


def back(grid, blank, missing: Missing, check):
    return manhattan.prepare(grid, blank)


def outcome_of(path, board, threads=1, options=None, limits=None, backward=back):
    """The outcome of a search with a journal, and why that could not be written."""
    log = journal.open_journal(path, OF, lambda: True)
    limits = (limits or Limits())._replace(intact=log.look)
    problem = Problem(GRID, 0, board, manhattan.prepare(GRID, 0), backward=backward, journal=log)
    try:
        outcome = two_ended.search(problem, threads=threads, limits=limits, progress=unreported, **(options or {}))
    finally:
        log.close()
    return outcome, log.failure


def searched(path, board, threads=1, options=None, limits=None, backward=back):
    """What a search with a journal finds, but for the seconds."""
    outcome, failure = outcome_of(path, board, threads, options, limits, backward)
    assert failure is None
    iterations = [one._replace(seconds=0) for one in outcome.iterations]
    incumbents = [one._replace(seconds=0) for one in outcome.incumbents]
    return outcome.paths, outcome.expanded, outcome.generated, outcome.lower_bound, iterations, incumbents


def forge(path, lines):
    """Write a journal of records, or of any bytes without the last brace, whose checksums match."""
    check, content = "", b""
    for line in lines:
        text = line if isinstance(line, bytes) else json.dumps(line, separators=(",", ":")).encode()[:-1]
        check = hashlib.sha256(check.encode() + text).hexdigest()[:16]
        content += text + f',"check":"{check}"}}\n'.encode()
    path.write_bytes(content)


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
    for kept in [0, 1, 2, len(lines) - 1, len(lines), *chance.sample(range(len(lines)), 6)]:
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
        raise AssertionError("a bundle is searched again")

    monkeypatch.setattr(two_ended.Tree, "search_bundle", refused)
    monkeypatch.setattr(two_ended.Tree, "_in_one_piece", refused)
    assert searched(path, board) == expected


def test_trials_from_the_other_end_are_noted_part_by_part(tmp_path, small_trees):
    path = tmp_path / "a.journal"
    searched(path, korf_in_order()[3].board, options=WAYS["better end"])
    steps = journal.steps_of(path, read_journal(path))
    trials = [step for step in steps if step.what.get("threshold") is not None]
    assert {step.what["side"] for step in trials} == {"forward", "backward"}
    for step in trials:
        visited = sum(sum(one["visited"].values()) for one in step.bundles.values())
        assert step.bundles and 0 < visited <= sum(step.result["visited"])


@pytest.mark.parametrize("way", WAYS)
def test_a_finished_journal_opens_again(way, tmp_path, monkeypatch):
    """Small boards, of which nothing is beyond the bound, and filters so small that they know nearly every board."""
    cut_small_trees(monkeypatch)
    monkeypatch.setattr(board_filter, "LEAST", 1)
    grid, chance = Grid(3, 3), random.Random(7)
    for number, board in enumerate(chance.sample(solvable_boards(grid, 0), 12)):
        path = tmp_path / f"{number}.journal"
        for _ in range(2):
            log = journal.open_journal(path, OF | {"board": list(board)}, lambda: True)
            problem = Problem(grid, 0, board, manhattan.prepare(grid, 0), backward=back, journal=log)
            limits = Limits(memory=8)
            outcome = two_ended.search(problem, threads=2, limits=limits, progress=unreported, **WAYS[way])
            log.close()
            assert log.failure is None and len(outcome.paths[0]) - 1 == outcome.lower_bound


def test_what_a_changed_database_says_is_not_kept(tmp_path):
    """Not even if it is put back afterwards: what was found meanwhile is not believed."""
    database = build_database(Spec(Grid(3, 3), (((1, 2, 3, 4), (5, 6, 7, 8)),), 0, "bits"), tmp_path / "3x3-4-4.h5")
    watched = Watch()
    watched.over(pattern_database.prepare(Grid(3, 3), 0, database))
    assert watched.finish(None, lambda *_: None) and watched.trusted()
    os.utime(database.path)
    assert not watched.trusted()


def test_a_database_that_is_built_on_the_way_changes_nothing(tmp_path, small_trees, monkeypatch):
    """It is missing at first, and there from the beginning when the search goes on."""
    monkeypatch.setattr(two_ended, "WORTH_BUILDING", 20_000)
    board, path, built, asked = korf_in_order()[3].board, tmp_path / "a.journal", [], []

    def building(grid, blank, missing, check):
        asked.append(missing)
        if missing is Missing.BUILD:
            built.append(blank)
        return manhattan.prepare(grid, blank) if built else None

    expected = searched(path, board, options=WAYS["better end"], backward=building)
    assert len(set(asked)) == 2 and asked[-1] is Missing.BUILD
    lines = path.read_bytes().splitlines(keepends=True)
    looked = next(number for number, line in enumerate(lines) if b'"opened":false' in line)
    for kept in range(looked + 1, len(lines), 7):
        path.write_bytes(b"".join(lines[:kept]))
        assert searched(path, board, options=WAYS["better end"], backward=building) == expected


@pytest.mark.parametrize("change", ["path", "start", "sizes"])
def test_a_bundle_of_another_search_is_refused(change, tmp_path, small_trees):
    """Checksums and all: a path that the blank cannot take, one from elsewhere, more subtrees than there are."""
    board, path = korf_in_order()[3].board, tmp_path / "a.journal"
    searched(path, board)
    records = read_journal(path)
    found = next(record for record in reversed(records) if "bundle" in record and record["paths"])
    if change == "sizes":
        found["sizes"] += [1] * 1000
    else:
        found["paths"][0][0 if change == "start" else 9] ^= 15
    whole = next(number for number, record in enumerate(records) if record.get("result", {}).get("paths"))
    forge(path, records[:whole])
    with pytest.raises(InputError, match=r"a\.journal: step \d+ is of another search: (bundle|a path)"):
        searched(path, board)


def test_a_result_needs_all_bundles(tmp_path, small_trees):
    board, path = korf_in_order()[3].board, tmp_path / "a.journal"
    searched(path, board)
    records = read_journal(path)
    records.remove(next(record for record in records if "bundle" in record))
    forge(path, records)
    with pytest.raises(InputError, match=r"is of another search: a result without bundle 0 is"):
        searched(path, board)


def test_a_journal_is_believed(tmp_path, small_trees):
    """The test of the tests: with other counts in it, and checksums to match, the search has other counts."""
    board, path = korf_in_order()[3].board, tmp_path / "a.journal"
    expected = searched(path, board)
    records = read_journal(path)
    for record in records:
        if "bundle" in record:
            record["expanded"] += 1
        if "result" in record:
            record["result"]["expanded"] += 1
    forge(path, records)
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


@pytest.fixture
def full_after(monkeypatch):
    """``full_after(room)``: the disk has room for so many bytes of the next journals, but for their first lines."""
    opened = journal.open_journal

    def fill(room):
        def filled(*args):
            log = opened(*args)
            log.file.file = Full(log.file.file, room) if room is not None else log.file.file
            return log

        for module in (journal, solving):
            monkeypatch.setattr(module, "open_journal", filled)

    return fill


@pytest.mark.parametrize("way", ["plain", "both ends"])
def test_a_full_disk_ends_the_search_and_loses_nothing(way, tmp_path, small_trees, full_after):
    """As a limit does: with what is known by then. With room again, the search goes on."""
    board, path = korf_in_order()[3].board, tmp_path / "a.journal"
    expected = searched(tmp_path / "b.journal", board, options=WAYS[way])
    bounds = []
    for room in (5, 700, 2000, 5000):
        full_after(room)
        outcome, failure = outcome_of(path, board, 2, WAYS[way])
        assert outcome.stopped == "journal" and outcome.suboptimality_bound is None
        assert "No space left on device: make room, and go on with `journal`" in failure
        assert outcome.lower_bound <= expected[3]
        bounds.append(outcome.lower_bound)
    assert bounds == sorted(bounds) and bounds[-1] > bounds[0]
    full_after(None)
    assert searched(path, board, options=WAYS[way]) == expected


def test_an_answer_is_given_even_if_it_cannot_be_written(tmp_path, small_trees, monkeypatch):
    """If the last thing that is found cannot be kept, there is nothing left to search."""
    board, path, write = korf_in_order()[3].board, tmp_path / "a.journal", JournalFile.append

    def append(file, records):
        if any(record.get("result", {}).get("paths") for record in records):
            raise InputError("the disk is full")
        write(file, records)

    expected = searched(tmp_path / "b.journal", board)
    monkeypatch.setattr(JournalFile, "append", append)
    outcome, failure = outcome_of(path, board)
    assert (outcome.stopped, failure) == (None, "the disk is full")
    assert (outcome.paths, outcome.expanded, outcome.generated, outcome.lower_bound) == expected[:4]


def test_what_is_known_is_told_if_the_journal_cannot_be_written(tmp_path, run, full_after):
    """With a notice that says why, and the exit code of a limit; or with that of success if the answer is complete."""
    words = ("solve", EIGHT, "--heuristic", "manhattan", "--journal", str(tmp_path / "a.journal"))
    full_after(5)
    code, output, errors = run(*words)
    assert code == 3 and "no solution has fewer than 23 moves, the journal could not be written" in output
    assert errors.count("\n") == 1 and f"make room, and go on with --journal {tmp_path / 'a.journal'};" in errors
    code, output, _ = run(*words, "--json")
    record = json.loads(output)
    assert (code, record["stopped"], record["solved"]) == (3, "journal", False) and record["lower_bound"] >= 23
    full_after(None)
    code, output, errors = run(*words)
    assert code == 0 and "31 moves, proven shortest" in output and not errors

    told = []
    full_after(10)
    found = solve(EIGHT, heuristic="manhattan", journal=tmp_path / "b.journal", notify=told.append)
    assert found.stopped == "journal" and not found.solved and "No space left" in told[0] and len(told) == 1


@pytest.mark.parametrize("moment", [1, 3])
def test_a_journal_that_is_removed_ends_the_search(moment, tmp_path, run, monkeypatch):
    path, write, seen = tmp_path / "a.journal", JournalFile.append, []

    def append(file, records):
        seen.append(records)
        if len(seen) == 1 + moment:
            path.unlink()
        write(file, records)

    monkeypatch.setattr(JournalFile, "append", append)
    code, output, errors = run("solve", EIGHT, "--heuristic", "manhattan", "--journal", str(path))
    assert code == 3 and "the journal could not be written" in output and "was removed or renamed" in errors


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
    same, first = "with board 8 6 7 2 5 4 3 0 1", "`goal` 1 2 3 4 5 6 7 8 0 instead of with `goal` 0 1 2 3 4 5 6 7 8"
    other = [
        ({"board": "6 4 7 / 8 5 0 / 3 2 1"}, f"{same} instead of with board 6 4 7 8 5 0 3 2 1"),
        ({"goal": "first"}, f"with {first}"),
        ({"heuristic": "linear-conflict"}, "with `heuristic` manhattan instead of with `heuristic` linear-conflict"),
        ({"order": "value"}, "with `order` fixed instead of with `order` value"),
        ({"pruning": 4}, "with `pruning` 14 instead of with `pruning` 4"),
        ({"direction": "backward"}, "with `direction` auto instead of with `direction` backward"),
        ({"upper_bound": 40}, "without `upper_bound` instead of with `upper_bound` 40"),
        ({"every": True}, "without `every` instead of with `every`"),
    ]
    for changed, difference in other:
        arguments = {"board": board, "heuristic": "manhattan", "journal": path} | changed
        with pytest.raises(InputError) as error:
            solve(**arguments)
        assert str(error.value) == f"{path} is the journal of another search, {difference}: choose another journal"
    with pytest.raises(InputError, match="keeps no journal"):
        solve(board, algorithm="a-star", journal=path)
    header, step, *_ = read_journal(path)
    meets = {"threshold": 42, "role": 1}
    others = [
        ({"bound": 23}, "bound 23 instead of bound 21"),
        ({"side": "backward"}, "from the goal instead of from the start"),
        ({"heuristic": "hamming"}, "with `heuristic` hamming instead of with `heuristic` manhattan"),
        ({"databases": ["ab", "cd"]}, "with databases ab cd instead of without databases"),
        ({"pruning": 4}, "with `pruning` 4 instead of with `pruning` 14"),
        (meets, "one of both ends, up to sum 42 instead of from one end alone"),
        (meets | {"role": 0}, "a trial of both ends instead of no trial of both ends"),
    ]
    for changed, difference in others:
        forge(path, [header, step | {"what": step["what"] | changed}])
        with pytest.raises(InputError) as error:
            solve(board, heuristic="manhattan", journal=path)
        assert str(error.value) == f"{path}: step 1 is {difference}: choose another journal"
    forge(path, [header, step | {"what": step["what"] | {"pruning": 16}}])
    with pytest.raises(InputError, match="with `pruning` 14: free memory to look back further, or choose another"):
        solve(board, heuristic="manhattan", journal=path)
    for what, called in ((A_BEAM, "a beam"), (WAY_BACK["what"], "the way back")):
        forge(path, [header, step | {"what": what}])
        with pytest.raises(InputError, match=f"step 1 is {called} before bound 21 instead of bound 21: choose another"):
            solve(board, heuristic="manhattan", journal=path)


# ---- records of others --------------------------------------------------------------------------

COUNTS = {"expanded": 10, "generated": 20, "seconds": 0.5}
FOUND = COUNTS | {"least": 23, "paths": [], "sizes": [1, 2], "weight": 0.5, "shared_by": 2}
RESULT = FOUND | {"visited": None, "refuted": True}
WHAT = {"bound": 21, "side": "forward", "heuristic": "manhattan", "databases": [], "pruning": 14}
WHAT |= {"threshold": None, "role": None}
MEETING = {"step": 0, "what": WHAT | {"threshold": 30, "role": 1}}
A_BEAM = {"bound": 21, "side": "beam", "width": 5, "back": False}
FIRST, CUT = {"step": 0, "what": WHAT}, {"step": 0, "cut": [4, 3]}
BUNDLE = {"step": 0, "bundle": 2, **FOUND, "visited": None}
WAY_BACK = {"step": 0, "what": {"bound": 21, "side": "way back"}}
ODD = ["1", 1.5, -1, True, None, [], {}, 1 << 70]  # in the place of a count


def with_result(**changed):
    return [FIRST, {"step": 0, "result": RESULT | changed}]


def with_bundle(**changed):
    return [FIRST, CUT, BUNDLE | changed]


def without(record, name):
    return {key: value for key, value in record.items() if key != name}


FORGED = {  # what comes after the first line, the last record of which is refused
    "no JSON": [b'{"step":0,,'],
    "an array": [b"[1,2]"],
    "a number": [b"1"],
    "not UTF-8": [b'{"step":0,"what":"\xff"'],
    "UTF-16": ['{"step":0'.encode("utf-16")],
    "empty": [b""],
    "a long number": [b'{"step":' + b"1" * 5000],
    "deep": [b'{"step":' + b"[" * 100_000],
    "rather deep": [b'{"step":' + b"[" * 500 + b"]" * 500],
    "not a number": [FIRST, b'{"step":0,"result":{"expanded":NaN}'],
    "infinite": [FIRST, b'{"step":0,"result":{"expanded":-Infinity}'],
    "overflow": [FIRST, CUT, json.dumps(BUNDLE).encode()[:-1].replace(b"0.5", b"1e999")],
    "nothing": [{}],
    "no step": [{"what": WHAT}],
    "what is text": [{"step": 0, "what": "21"}],
    "what is a list": [{"step": 0, "what": [1]}],
    "what twice": [FIRST, FIRST],
    "half a meeting": [{"step": 0, "what": WHAT | {"role": 1}}],
    "no beginning": [{"step": 0, "result": RESULT}],
    "a step is left out": [FIRST, {"step": 2, "what": WHAT}],
    "a result without a step": [FIRST, {"step": 1, "result": RESULT}],
    "another member": [FIRST, {"step": 0, "result": RESULT, "more": 1}],
    "an unknown record": [FIRST, {"step": 0, "note": "hello"}],
    "two in one": [FIRST, CUT | {"result": RESULT}],
    "a result twice": [*with_result(), {"step": 0, "result": RESULT}],
    "a result that is text": [FIRST, {"step": 0, "result": "done"}],
    "a result that is a list": [FIRST, {"step": 0, "result": [RESULT]}],
    "a result that is null": [FIRST, {"step": 0, "result": None}],
    "more in a result": with_result(more=1),
    "a number in place of a flag": with_result(refuted=1),
    "text in place of seconds": with_result(seconds="1"),
    "negative seconds": with_result(seconds=-1),
    "paths that are null": with_result(paths=None),
    "an empty path": with_result(paths=[[]]),
    "a path that is null": with_result(paths=[None]),
    "a path of text": with_result(paths=[["1"] * 22]),
    "a negative path": with_result(paths=[[-1] * 22]),
    "a short path": with_result(paths=[[1] * 21]),
    "a path off the board": with_result(paths=[[9] * 22]),
    "a bound that does not rise": with_result(least=21),
    "a bound out of reach": with_result(least=1 << 20),
    "sums without a meeting": with_result(visited=[1]),
    "a meeting without sums": [MEETING, {"step": 0, "result": RESULT}],
    "negative sums": [MEETING, {"step": 0, "result": RESULT | {"visited": [-1]}}],
    "sums that are too large": [MEETING, {"step": 0, "result": RESULT | {"visited": [0] * 43 + [1]}}],
    "too many sums": [MEETING, {"step": 0, "result": RESULT | {"visited": [0] * 1000}}],
    "sums by number": [MEETING, {"step": 0, "result": RESULT | {"visited": {"1": 1}}}],
    "sums by no number": [MEETING, CUT, BUNDLE | {"visited": {"x": 1}}],
    "a sum by another number": [MEETING, CUT, BUNDLE | {"visited": {"01": 1}}],
    "a sum that is too large": [MEETING, CUT, BUNDLE | {"visited": {"43": 1}}],
    "a list of sums": [MEETING, CUT, BUNDLE | {"visited": [1]}],
    "a way back with counts": [WAY_BACK, {"step": 0, "result": COUNTS}],
    "a way back to nowhere": [WAY_BACK, {"step": 0, "result": {"opened": None}}],
    "a way back that is cut": [WAY_BACK, CUT],
    "a way back with a width": [{"step": 0, "what": WAY_BACK["what"] | {"width": 1}}],
    "a side of lists": [{"step": 0, "what": WHAT | {"side": [1]}}],
    "a cut twice": [FIRST, CUT, CUT],
    "a cut in three": [FIRST, {"step": 0, "cut": [1, 2, 3]}],
    "a cut that is a number": [FIRST, {"step": 0, "cut": 3}],
    "a cut into fewer than none": [FIRST, {"step": 0, "cut": [3, -1]}],
    "a cut into halves": [FIRST, {"step": 0, "cut": [3, 0.5]}],
    "a bundle without a cut": [FIRST, BUNDLE],
    "a bundle of nothing": [FIRST, {"step": 0, "cut": [4, 0]}, BUNDLE | {"bundle": 0}],
    "a bundle twice": [*with_bundle(), BUNDLE],
    "a bundle beyond the cut": with_bundle(bundle=3),
    "a bundle before the first": with_bundle(bundle=-1),
    "a bundle by name": with_bundle(bundle="2"),
    "more in a bundle": with_bundle(more=1),
    "a bundle without sizes": [FIRST, CUT, without(BUNDLE, "sizes")],
    "a bundle of odd sizes": with_bundle(sizes=[-1]),
    "a bundle with sums": with_bundle(visited={"3": 1}),
    "a beam that is cut": [{"step": 0, "what": A_BEAM}, CUT],
    "a beam with the result of an iteration": [{"step": 0, "what": A_BEAM}, {"step": 0, "result": RESULT}],
    "a beam with an empty path": [{"step": 0, "what": A_BEAM}, {"step": 0, "result": COUNTS | {"path": []}}],
    "a beam off the board": [{"step": 0, "what": A_BEAM}, {"step": 0, "result": COUNTS | {"path": [7, 9]}}],
    **{f"step {odd!r}": [{"step": odd, "what": WHAT}] for odd in ODD},
    **{f"bound {odd!r}": [{"step": 0, "what": WHAT | {"bound": odd}}] for odd in ODD},
    **{f"width {odd!r}": [{"step": 0, "what": A_BEAM | {"width": odd}}] for odd in ODD},
    **{f"{name} {odd!r}": with_result(**{name: odd}) for name in ("expanded", "generated", "least") for odd in ODD},
    **{f"a bundle with {name} {odd!r}": with_bundle(**{name: odd}) for name in ("expanded", "least") for odd in ODD},
    **{f"what without {name}": [{"step": 0, "what": without(WHAT, name)}] for name in WHAT},
    **{f"a result without {name}": [FIRST, {"step": 0, "result": without(RESULT, name)}] for name in RESULT},
    **{f"a bundle without {name}": [FIRST, CUT, without(BUNDLE, name)] for name in BUNDLE if name != "step"},
}


@pytest.fixture(scope="module")
def header(tmp_path_factory):
    """The first line of the journal of a search."""
    path = tmp_path_factory.mktemp("header") / "a.journal"
    solve(EIGHT, heuristic="manhattan", journal=path, node_limit=1)
    return read_journal(path)[0]


def test_records_that_are_what_they_must_be(header, tmp_path):
    """The test of the next one: what it changes is accepted as it is."""
    path = tmp_path / "a.journal"
    both = [{"step": 0, "result": RESULT | {"visited": [0] * 42 + [1]}}] * 2  # a half may be searched again
    other = {"step": 1, "what": A_BEAM}
    for lines in (
        [*with_bundle(), {"step": 0, "result": RESULT}, other, {"step": 1, "result": COUNTS | {"path": None}}],
        with_bundle(),
        [MEETING, *both],
        [WAY_BACK, {"step": 0, "result": {"opened": True}}],
        [other | {"step": 0}, {"step": 0, "result": COUNTS | {"path": [7, 8]}}],
        with_result(paths=[[8] * 22], refuted=False),
        [FIRST, {"step": 0, "cut": [4, 0]}],
    ):
        forge(path, [header, *lines])
        assert len(journal.steps_of(path, read_journal(path))) == 1 + (other in lines)


@pytest.mark.parametrize("name", FORGED)
def test_records_of_others_are_refused(name, header, tmp_path, run):
    """With a checksum that matches, in one line that says where, by the search and by the command."""
    path = tmp_path / "a.journal"
    forge(path, [header, *FORGED[name]])
    content = path.read_bytes()
    with pytest.raises(InputError) as error:
        solve(EIGHT, heuristic="manhattan", journal=path)
    told = str(error.value)
    assert told.startswith(f"{path}, line {len(FORGED[name]) + 1}: ") and told.endswith(": choose another journal")
    assert "\n" not in told and len(told) < 300
    code, output, errors = run("journal", str(path))
    assert (code, output, errors) == (2, "", f"pdb-solver: error: {told}\n")
    assert path.read_bytes() == content


def test_headers_of_others_are_refused(header, tmp_path, run):
    path = tmp_path / "a.journal"
    wrong = {
        "journal": [0, 2, "1", True, None, 1.5],
        "shape": ["3", "3x4", 3, None, "99x99", "1x9"],
        "wrap": [2, None, "no"],
        "board": [[], "012", [1] * 9, list(range(1, 10)), list(range(8)), [[0]], None],
        "goal": [[], "last", [0] * 9],
        "algorithm": [None, 1, "a\nb", "\ud800", "\x1b[2J"],
        "heuristic": [None, []],
        "databases": ["x", [1]],
        "pruning": [14, [14], ["1", "2"]],
        "every": ["no"],
        "direction": ["up", None],
        "upper_bound": ["40", -1],
        "order": [True],
    }
    changed = [header | {name: value} for name, values in wrong.items() for value in values]
    changed += [without(header, name) for name in header if name != "journal"] + [header | {"more": 1}]
    for one in changed:
        forge(path, [one, *with_result()])
        code, output, errors = run("journal", str(path))
        assert (code, output, errors.count("\n")) == (2, "", 1), one
        assert f"{path}, line 1: " in errors and errors.endswith(": choose another journal\n") and len(errors) < 400
        with pytest.raises(InputError, match=r"another journal|another search") as error:
            solve(EIGHT, heuristic="manhattan", journal=path)
        assert "\n" not in str(error.value)
    forge(path, [header | {"journal": 2}])
    with pytest.raises(InputError, match="line 1: the format is 2, and this version reads 1: choose another journal"):
        solve(EIGHT, heuristic="manhattan", journal=path)


def test_the_numbers_are_those_of_the_search():
    """Which is not imported to read a journal, since that would take longer than reading it."""
    assert PUT_IN == journal_records.PUT_IN and ROOM == journal_records.ROOM


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
    code, output, _ = run(*words, "--prove-at-least", str(one.length - 4), "--json")
    generated = json.loads(output)["generated"]
    assert code == 0
    code, output, _ = run("journal", str(path), "--json")
    told = json.loads(output)
    assert code == 0 and told["lower_bound"] == one.length - 4 and told["length"] is None
    bounds = [part["bound"] for part in told["parts"]]
    assert bounds == list(range(bounds[0], one.length - 5, 2))
    assert told["generated"] == 1 + sum(part["generated"] for part in told["parts"]) == generated
    assert told["lines"] > 5
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


def test_a_search_that_is_over_has_no_next_bounds(tmp_path, run):
    """By `--upper-bound`: a journal does not say how far a search is to go otherwise."""
    path = tmp_path / "a.journal"
    words = ("solve", EIGHT, "--heuristic", "manhattan", "--journal", str(path), "--upper-bound", "29")
    code, output, _ = run(*words, "--prove-at-least", "27", "--json")
    told = json.loads(run("journal", str(path), "--json")[1])
    assert code == 0 and told["next"] and told["generated"] == json.loads(output)["generated"]
    code, output, _ = run(*words)
    told = json.loads(run("journal", str(path), "--json")[1])
    assert code == 3 and (told["lower_bound"], told["length"], told["next"]) == (29, None, [])


@pytest.mark.parametrize("source", ["file", "stdin"])
def test_one_board_of_a_file(source, tmp_path, run):
    """Or of stdin. Two of them are refused before the first is searched."""
    path, boards = tmp_path / "a.journal", tmp_path / "boards.txt"
    words = ["solve", "--heuristic", "manhattan", "--journal", str(path)]

    def solved(text, *more):
        boards.write_text(text)
        if source == "file":
            return run(*words, "--file", str(boards), *more)
        return run(*words, "-", *more, stdin=text)

    for text in (f"{EIGHT}\n6 4 7 / 8 5 0 / 3 2 1\n", f"# two\n{EIGHT}\n\nbad\n"):
        code, output, errors = solved(text)
        assert (code, output, errors.count("\n")) == (2, "", 1) and not path.exists()
        assert "--journal is for the search of one board, and there is another, line " in errors
    code, _, errors = solved("# none\n")
    assert code == 2 and "there is no board in the input" in errors and not path.exists()
    code, output, _ = solved(f"# one\n{EIGHT.replace(' / ', chr(10))}\n", "--json")
    assert code == 0 and (record := json.loads(output))["length"] == 31 and record["line"] == 2
    told = json.loads(run("journal", str(path), "--json")[1])
    assert told["length"] == 31 and told["generated"] == record["generated"]
    before = path.read_bytes()
    assert "31 moves" in solved(f"{EIGHT}\n")[1] and path.read_bytes() == before
    code, _, errors = run(*words, "--set", "korf100")
    assert code == 2 and "there is another, 2: give one of them" in errors and path.read_bytes() == before


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
    longest = 0
    for number in range(kills):
        with started(*words, "--journal", str(path), "--threads", chance.choice("12")) as process:
            if number % 2:
                time.sleep(chance.uniform(0.3, 1.5))  # whatever it is doing by then
            else:
                while process.poll() is None and not (path.exists() and path.stat().st_size > longest):
                    time.sleep(0.01)
                time.sleep(chance.uniform(0, 0.3))  # while it goes on writing
            process.send_signal(signal.SIGKILL)
            process.wait()
        longest = path.stat().st_size
        read_journal(path)
    with started(*words, "--journal", str(path)) as process:
        assert counts(json.loads(process.communicate()[0])) == expected


@pytest.mark.subprocess
def test_killed_some_times(tmp_path):
    kill_again_and_again(tmp_path / "a.journal", 3, random.Random(os.getpid()))


@pytest.mark.slow
@pytest.mark.subprocess
def test_killed_hundreds_of_times(tmp_path):
    for number in range(30):
        kill_again_and_again(tmp_path / f"{number}.journal", 10, random.Random(number))
