"""Clusters: whatever workers do, or fail to do, results and counts are those of one thread."""

import json
import logging
import os
import shutil
import signal
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from pdb_builder import Grid, Spec
from pdb_builder.base.errors import ClusterLost, InputError
from solver import compare, solve
from solver.cluster import bundle_tasks, bundles, connection, crew, fitness
from solver.cluster.connection import Connection
from solver.cluster.fitness import Unfit, wanted_for
from solver.comparison.comparison import Comparison
from solver.heuristics import manhattan
from solver.search import sharing, two_ended
from solver.search.journal_file import read_journal

from .helpers import cut_small_trees, korf_in_order
from .processes import ended, started

distributed = pytest.importorskip("distributed", reason="clusters need dask and distributed")

pytestmark = [pytest.mark.jit, pytest.mark.subprocess]

LONG = "15 2 12 11 / 14 13 9 5 / 1 3 8 7 / 0 10 6 4"  # with Manhattan distance, about ten seconds
PLAIN = {"goal": "first", "heuristic": "manhattan", "direction": "forward"}
LOCAL = "127.0.0.1"
OF_12 = Spec(Grid(3, 4), (((1, 2, 3), (4, 5, 6), (7, 8, 9), (10, 11)),), 0, "bits")
OTHER = Spec(Grid(3, 4), (((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11)),), 0, "bits")


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """The folder of databases of the workers."""
    return tmp_path_factory.mktemp("there")


@pytest.fixture(scope="module")
def client(there):
    """The client of a cluster of two processes."""
    settings = {"threads_per_worker": 1, "memory_limit": 0, "silence_logs": logging.CRITICAL}
    settings |= {"host": LOCAL, "dashboard_address": f"{LOCAL}:0", "worker_dashboard_address": f"{LOCAL}:0"}
    variables = {"SLIDEPDB_DATABASES": str(there)}
    with (
        distributed.LocalCluster(n_workers=2, **settings, env=variables) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def small_trees(monkeypatch):
    """Small iterations go to the cluster, in several tasks."""
    cut_small_trees(monkeypatch)
    monkeypatch.setattr(sharing, "WORTH", 0)
    monkeypatch.setattr(bundles, "TASK_SECONDS", 0.002)
    monkeypatch.setattr(two_ended, "SMALL", 500)
    monkeypatch.setattr(two_ended, "LONG", 10**12)


@pytest.fixture
def sent(monkeypatch):
    """The tasks that are sent."""
    tasks, submit_all = [], connection.Connection.submit_all

    def noted(self, function, given, **options):
        tasks.extend(given)
        return submit_all(self, function, given, **options)

    monkeypatch.setattr(connection.Connection, "submit_all", noted)
    return tasks


def told(solution):
    """All that a search has found, but for the seconds."""
    iterations = [one._replace(seconds=0) for one in solution.iterations]
    return solution.tiles, solution.expanded, solution.generated, solution.lower_bound, iterations, solution.solutions


def put(path, to):
    """Copy a file without writing into one that is in use."""
    shutil.copy(path, to.with_suffix(".new"))
    to.with_suffix(".new").replace(to)


def korf(number=3):
    return korf_in_order()[number].board


# ---- the same as one thread ---------------------------------------------------------------------


WAYS = {
    "forward": {},
    "backward": {"direction": "backward"},
    "the better end": {"direction": "auto", "both_ends": "off"},
    "both ends": {"direction": "auto", "both_ends": "on"},
    "all": {"every": True},
    "by value": {"order": "value"},
    "published counts": {"order": "fixed"},
    "a bound": {"prove_at_least": 47},
}


@pytest.mark.parametrize("way", WAYS)
def test_counts_are_those_of_one_thread(way, client, small_trees, sent):
    arguments = {"board": korf(), **PLAIN, **WAYS[way]}
    expected = told(solve(**arguments, threads=1))
    assert not sent
    assert told(solve(**arguments, cluster=client)) == expected
    assert len(sent) > 3 or way == "both ends"


def test_wrapped_boards(client, small_trees, sent, monkeypatch):
    monkeypatch.setattr(sharing, "WORTH", 0)
    arguments = {"board": "9 5 7 3 / 4 2 6 1 / 8 0 10 11", "wrap": True, **PLAIN}
    assert told(solve(**arguments, cluster=client)) == told(solve(**arguments, threads=1))
    assert sent


def test_databases(client, there, database_of, small_trees, sent, monkeypatch):
    monkeypatch.setattr(sharing, "WORTH", 0)
    path = database_of(OF_12)
    put(path, there / path.name)
    board = "5 8 2 1 / 3 0 10 6 / 7 9 11 4"
    arguments = {"goal": "first", "heuristic": f"pdb:{path.stem}", "direction": "forward", "folder": path.parent}
    assert told(solve(board, **arguments, cluster=client)) == told(solve(board, **arguments, threads=1))
    assert sent


def test_what_is_handed_back_is_finished_by_others(client, small_trees, sent, monkeypatch):
    """Tasks without any time: each hands back all but the first few boards, again and again."""
    monkeypatch.setattr(bundles, "time_limit", lambda left, workers: 0)

    def look_at_the_clock_after(expansions):
        bundle_tasks.SLICE = expansions
        bundle_tasks._kept.clear()

    client.run(look_at_the_clock_after, 3_000)
    try:
        arguments = {"board": korf(), **PLAIN}
        assert told(solve(**arguments, cluster=client)) == told(solve(**arguments, threads=1))
        assert max(len(piece.place) for task in sent for piece in task.pieces) > 2
    finally:
        client.run(look_at_the_clock_after, bundle_tasks.SLICE)


def test_a_bundle_that_is_lost_or_changed_is_noticed(client, small_trees, monkeypatch):
    """The test of the tests. One that comes twice changes nothing."""
    arguments, take = {"board": korf(), **PLAIN}, bundles._Iteration._take_returned
    expected = told(solve(**arguments, threads=1))

    def twice(self, returned):
        take(self, returned)
        take(self, returned)

    def changed(self, returned):
        if returned.parts[0].piece[:2] == (0, (0,)):
            returned.parts[0].found["expanded"] += 1
        take(self, returned)

    def lost(self, returned):
        pass

    monkeypatch.setattr(bundles._Iteration, "_take_returned", twice)
    assert told(solve(**arguments, cluster=client)) == expected
    monkeypatch.setattr(bundles._Iteration, "_take_returned", changed)
    assert solve(**arguments, cluster=client).expanded > expected[1]
    monkeypatch.setattr(bundles._Iteration, "_take_returned", lost)
    with pytest.raises(AssertionError, match="a bundle was lost"):
        solve(**arguments, cluster=client)


def test_several_boards(client, there, database_of, tmp_path, run):
    path, here = database_of(OF_12), tmp_path / "here"  # a folder with no other databases
    here.mkdir()
    put(path, here / path.name)
    put(path, there / path.name)
    file = tmp_path / "boards.txt"
    file.write_text("8 6 7 / 2 5 4 / 3 0 1\n1 2 / 3 0\n3 2 1 / 0 4 5 / 6 7 8\n5 8 2 1 / 3 0 10 6 / 7 9 11 4\nx\n")
    words = ("solve", "--file", str(file), "--goal", "first", "--json", "--folder", str(here))
    address = client.scheduler.address

    def answers(*more):
        code, output, _ = run(*words, *more)
        lines = [json.loads(line) for line in output.splitlines()]
        for line in lines:
            for name in ("seconds", "iterations", "databases"):
                line.pop(name, None)
        return code, lines

    code, expected = answers("--threads", "1")
    assert code == 2 and len(expected) == 5
    assert answers("--cluster", address) == (code, expected)


def test_comparisons(client):
    boards = ["8 6 7 / 2 5 4 / 3 0 1", "6 4 7 / 8 5 0 / 3 2 1"]
    methods = (["manhattan", "linear-conflict"], ["ida-star", "a-star"])

    def cells(comparison: Comparison):
        return {key: cell._replace(seconds=0, machine="") for key, cell in comparison.cells.items()}

    assert cells(compare(boards, *methods, cluster=client)) == cells(compare(boards, *methods))


# ---- limits and interruptions -------------------------------------------------------------------


def test_limits(client, small_trees):
    found = solve(LONG, **PLAIN, time_limit=1, cluster=client)
    assert found.stopped == "time" and 43 < found.lower_bound <= 65
    found = solve(LONG, **PLAIN, node_limit=3_000_000, cluster=client)
    assert found.stopped == "nodes" and found.generated >= 3_000_000


def in_session(number):
    """The processes of a session that have not ended."""
    alive = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                state, _, _, session = file.read().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == number and state != "Z":
            alive.append(name)
    return alive


def wait_for(condition, seconds=40):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lines_in(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
def test_ctrl_c(tmp_path):
    """As in a terminal, all processes of the command get the signal."""
    path = tmp_path / "a.journal"
    words = ("solve", LONG, "--goal", "first", "--heuristic", "manhattan", "--direction", "forward")
    with started("-m", "solver", *words, "--cluster", "local:2", "--journal", path) as process:
        wait_for(lambda: lines_in(path) > 100)
        assert len(in_session(process.pid)) >= 3
        os.killpg(process.pid, signal.SIGINT)
        code, output, errors = ended(process)
        assert code == 130 and "interrupted" in output and not errors
        wait_for(lambda: not in_session(process.pid), 5)
    assert len(read_journal(path)) > 100


def test_a_cluster_on_this_machine_listens_to_nobody_else(monkeypatch):
    """Neither to schedule and work, nor to show how that goes."""
    psutil = pytest.importorskip("psutil")
    with connection.connected("local:1") as here:
        own = psutil.Process()
        processes = [own, *own.children(recursive=True)]
        listening = [one.laddr.ip for each in processes for one in each.net_connections() if one.status == "LISTEN"]
        assert here.threads() == 1 and len(listening) > 2 and set(listening) == {LOCAL}


# ---- journals -----------------------------------------------------------------------------------


def test_journals_go_on_with_threads_or_a_cluster(client, small_trees, tmp_path):
    arguments = {"board": korf(), **PLAIN}
    expected = told(solve(**arguments, threads=1))
    for name, first, second in (("a", client, None), ("b", None, client)):
        path = tmp_path / f"{name}.journal"
        found = solve(**arguments, journal=path, cluster=first, node_limit=expected[2] // 2)
        assert found.stopped == "nodes" and any("bundle" in record for record in read_journal(path))
        assert told(solve(**arguments, journal=path, cluster=second)) == expected


def test_the_scheduler_is_gone(tmp_path, run, monkeypatch):
    """The search ends as by a limit, with what is known; its journal has all that was finished."""
    monkeypatch.setattr(crew, "PATIENCE", 0.5)
    path, address = tmp_path / "a.journal", tmp_path / "scheduler.json"
    words = ("solve", LONG, "--goal", "first", "--heuristic", "manhattan", "--direction", "forward", "--json")
    words += ("--prove-at-least", "63", "--journal", str(path), "--cluster", f"file:{address}")
    own = ("--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", address)
    with started("-m", "distributed.cli.dask_scheduler", "--port", "0", *own) as scheduler:
        wait_for(address.exists)
        with started("-m", "distributed.cli.dask_worker", "--no-nanny", *own):

            def kill():
                wait_for(lambda: lines_in(path) > 300)
                scheduler.kill()

            killer = threading.Thread(target=kill)
            killer.start()
            code, output, errors = run(*words)
            killer.join()
    answer = json.loads(output)
    assert code == 3 and answer["stopped"] == "cluster" and 55 < answer["lower_bound"] < 63
    assert errors.count("\n") == 1 and "is gone: start the scheduler" in errors
    assert len(read_journal(path)) > 300
    found = solve(LONG, **PLAIN, journal=path, prove_at_least=answer["lower_bound"] + 2)
    assert found.stopped == "proven"
    assert [one._replace(seconds=0) for one in found.iterations] == [
        one._replace(seconds=0) for one in solve(LONG, **PLAIN, prove_at_least=found.lower_bound).iterations
    ]


# ---- workers ------------------------------------------------------------------------------------


def test_a_worker_with_another_database_or_none_is_refused(client, there, database_of, tmp_path, sent):
    path = database_of(OF_12)
    named = there / "mine.h5"
    shutil.copy(path, tmp_path / "mine.h5")
    arguments = {"goal": "first", "heuristic": "pdb:mine", "folder": tmp_path, "cluster": client}
    board = "5 8 2 1 / 3 0 10 6 / 7 9 11 4"
    addresses, cut_short = list(client.nthreads()), tmp_path / "short"
    cut_short.write_bytes(path.read_bytes()[:-100])
    for prepare, reason in (
        (lambda: None, "there is no database"),
        (lambda: put(database_of(OTHER), named), "checksum"),
        (lambda: put(cut_short, named), "mine.h5"),
    ):
        prepare()
        for use in (lambda: solve(board, **arguments), lambda: solve_many(board, **arguments)):
            with pytest.raises(InputError, match="cannot take part") as caught:
                use()
            assert any(one in str(caught.value) for one in addresses) and "\n" not in str(caught.value)
            assert reason in str(caught.value)
    assert not sent
    put(path, named)
    assert solve(board, **arguments).optimal


def solve_many(board, goal, heuristic, folder, cluster):
    return compare([board], [heuristic], goal=goal, folder=folder, cluster=cluster)


def test_a_worker_with_another_source_is_refused(client, monkeypatch, sent):
    monkeypatch.setattr(fitness, "source_digest", lambda: "0123456789ab")
    with pytest.raises(
        InputError, match=r"cannot take part: its slidepdb .* another source, with the digest \w{12}, not 0123"
    ):
        solve(korf(), **PLAIN, cluster=client)
    assert not sent


def test_the_digest_of_the_source_tells_any_change(tmp_path, monkeypatch):
    own = fitness.source_digest.__wrapped__()
    assert own == fitness.source_digest()
    monkeypatch.setattr(fitness, "ROOT", tmp_path)
    digests = {own, fitness.source_digest.__wrapped__()}  # the second is of no files
    for package in ("pdb_builder", "solver"):
        (tmp_path / package).mkdir()
        for text in (b"1", b"2", b"2\n"):
            (tmp_path / package / "one.py").write_bytes(text)
            digests.add(fitness.source_digest.__wrapped__())
    (tmp_path / "solver" / "new.py").touch()
    digests.add(fitness.source_digest.__wrapped__())
    assert len(digests) == 2 + 3 + 3 + 1


def test_a_late_worker_that_is_unfit_is_left_out(client, there, database_of, small_trees, monkeypatch, tmp_path):
    monkeypatch.setattr(sharing, "WORTH", 0)
    monkeypatch.setattr(bundles, "TASK_SECONDS", 0)
    path = database_of(OF_12)
    put(path, there / path.name)
    board, remarks = "5 8 2 1 / 3 0 10 6 / 7 9 11 4", []
    arguments = {"goal": "first", "heuristic": f"pdb:{path.stem}", "direction": "forward", "folder": path.parent}
    expected = told(solve(board, **arguments, threads=1))
    tasks_of, late = bundles.tasks_of, []
    words = ("-m", "distributed.cli.dask_worker", client.scheduler.address, "--no-nanny", "--no-dashboard")
    words += ("--host", "127.0.0.1", "--nthreads", "2")

    def joined(*args):
        if not late:
            before = client.nthreads().keys()
            process = started(*words, variables={"SLIDEPDB_DATABASES": str(tmp_path)})
            process.__enter__()
            late.append(process)
            wait_for(lambda: client.nthreads().keys() - before)
            late.extend(client.nthreads().keys() - before)
        return tasks_of(*args)

    monkeypatch.setattr(bundles, "tasks_of", joined)
    try:
        assert told(solve(board, **arguments, cluster=client, notify=remarks.append)) == expected
    finally:
        late[0].__exit__(None, None, None)
    (remark,) = remarks
    assert late[1] in remark and "cannot take part" in remark and "goes on without it" in remark
    wait_for(lambda: late[1] not in client.nthreads())


def test_a_worker_is_killed(client, small_trees, monkeypatch):
    arguments, take, killed = {"board": korf(5), **PLAIN}, bundles._Iteration._take_returned, []
    expected = told(solve(**arguments, threads=1))
    workers = client.run(os.getpid)

    def kill(self, returned):
        if not killed and len(self.under_way) > 3:
            killed.append(workers.popitem()[1])
            os.kill(killed[0], signal.SIGKILL)
        take(self, returned)

    monkeypatch.setattr(bundles._Iteration, "_take_returned", kill)
    assert told(solve(**arguments, cluster=client)) == expected
    assert killed


class Fake:
    """A connection to nobody, or to workers that are named."""

    name, folder, lost = "tcp://fake:1", None, False

    def __init__(self, *workers):
        self.there, self.answers = dict.fromkeys(workers, 1), {}

    def workers(self):
        return self.there

    def is_lost(self, patience):
        return self.lost

    def gone(self):
        return ClusterLost("it is gone")

    def run_everywhere(self, function, *args, pulse):
        pulse()
        return {one: self.answers.get(one) for one in self.there}


def test_without_workers_the_search_waits_and_says_so(monkeypatch):
    monkeypatch.setattr(crew, "ALONE", 0.0)
    monkeypatch.setattr(crew, "LOOK", 0.0)
    fake, remarks = Fake(), []
    wanted = wanted_for(Grid(3, 3), 0, manhattan.prepare(Grid(3, 3), 0), None)
    one = crew.Crew(fake, remarks.append)
    for _ in range(3):
        assert one.look(wanted)
    assert remarks == ["tcp://fake:1 has no workers: the search waits until there are some"]
    fake.there = {"a": 1}
    assert one.can(wanted, lambda: None) and one.places(wanted) is None
    one.look(wanted)
    for _ in range(2):
        one.leave_out(wanted, Unfit("a", "host", "a reason"))
    one.look(wanted)
    assert remarks[1:] == [
        "the worker a on host cannot take part: a reason; the search goes on without it",
        "tcp://fake:1 has no workers that can take part: the search waits until there are some",
    ]
    assert not one.can(wanted, lambda: None) and one.places(wanted) == []
    fake.there = {"a": 1, "b": 1}
    assert one.can(wanted, lambda: None) and one.places(wanted) == ["b"] and one.threads(wanted) == 1
    fake.lost = True
    with pytest.raises(ClusterLost):
        one.look(wanted)


def test_a_worker_that_cannot_be_asked():
    fake = Fake("a", "b", "c")
    fake.answers = {"a": ModuleNotFoundError("No module named 'solver'"), "b": OSError("it has left")}
    wanted = wanted_for(Grid(3, 3), 0, manhattan.prepare(Grid(3, 3), 0), None)
    with pytest.raises(InputError, match=r"the worker a .* No module named 'solver'.* install"):
        crew.Crew(fake, lambda text: None).insist(wanted, lambda: None)


def test_workers_that_do_not_answer(client, run, monkeypatch):
    """There is a notice, and the time limit holds."""
    monkeypatch.setattr(crew, "SILENT", 0.0)
    fake, remarks = Fake("a"), []
    wanted = wanted_for(Grid(3, 3), 0, manhattan.prepare(Grid(3, 3), 0), None)
    crew.Crew(fake, remarks.append).insist(wanted, lambda: None)
    assert remarks == ["some workers of tcp://fake:1 have yet to answer: the search waits for them"]
    process = client.run(os.getpid).popitem()[1]
    os.kill(process, signal.SIGSTOP)
    try:
        address = client.scheduler.address
        words = ("solve", "8 6 7 / 2 5 4 / 3 0 1", "--heuristic", "manhattan", "--cluster", address)
        code, output, errors = run(*words, "--time-limit", "1")
    finally:
        os.kill(process, signal.SIGCONT)
    assert (code, output, errors.count("\n")) == (3, "", 2) and "not answered within --time-limit" in errors


def test_workers_of_this_machine_that_cannot_start(tmp_path):
    """Dask gives up a worker that dies while it starts again: then there is nobody to wait for."""
    client = SimpleNamespace(status="running", cluster=SimpleNamespace(workers={0: "a nanny"}))
    local, other = Connection(client, "local:1", tmp_path), Connection(client, "tcp://fake:1")
    assert not local.is_lost(0)
    client.cluster.workers = {}
    assert local.is_lost(0) and not other.is_lost(0)  # workers of others may join
    assert str(local.gone()).startswith("local:1 has lost all of its workers")
    assert str(other.gone()).startswith("tcp://fake:1 is gone: start the scheduler")


# ---- addresses ----------------------------------------------------------------------------------


BAD = "local:0 local:x local: local:257 tcp://nowhere.invalid:1 tcp://127.0.0.1:1 tcp://127.0.0.1 tcp://127.0.0.1:x foo"
BAD_FILES = "file:/none/s.json file:{}/text.json file:{}/other.json file:{} file:/dev/zero"


@pytest.mark.parametrize("address", ["", *BAD.split(), *BAD_FILES.split()])
def test_bad_addresses(address, run, tmp_path):
    (tmp_path / "text.json").write_text("hello")
    (tmp_path / "other.json").write_text("[1]")
    code, output, errors = run("solve", "1 2 / 0 3", "--cluster", address.format(tmp_path))
    assert (code, output, errors.count("\n")) == (2, "", 1)


def test_what_is_refused(client, run, monkeypatch):
    board = "8 6 7 / 2 5 4 / 3 0 1"
    with pytest.raises(InputError, match=r"must be an address or a .*, got 8786"):
        solve(board, cluster=8786)
    with pytest.raises(InputError, match="a-star searches on one machine: leave out `cluster`"):
        solve(board, algorithm="a-star", cluster=client)
    closed = distributed.Client(client.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(InputError, match="a client that is closed"):
        solve(board, cluster=closed)
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, errors = run("solve", board, "--cluster", "local:2")
    assert code == 2 and errors.count("\n") == 1 and "pip install 'slidepdb[cluster]'" in errors


def test_dask_is_imported_for_clusters_only():
    script = (
        "import sys\nfrom solver.cli import main\n"
        "for words in sys.argv[1:]:\n    try:\n        main(words.split('|'))\n    except SystemExit:\n        pass\n"
        "sys.exit('distributed' in sys.modules)"
    )
    words = ("solve|1 2 / 3 0", "compare|1 2 / 3 0|--heuristics|manhattan", "solve|--help")
    with started("-c", script, *words) as process:
        assert ended(process)[0] == 0
