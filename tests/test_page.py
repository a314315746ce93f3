"""The server of the page: what it answers is what the library says, and what it refuses is refused in one line."""

import asyncio
import http.client
import json
import random
import re
import signal
import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from pdb_builder import NAMED, Grid, Spec, open_database
from solver import HEURISTICS, SEARCHES, goal_board, random_board, solve
from solver.frame import frame_of
from solver.heuristics import linear_conflict, manhattan, pattern_database
from solver.page import events, gate, server, telling
from solver.page import workers as threads
from solver.page.fields import Fields
from solver.page.tasks import comparing
from solver.page.workers import Busy, Job, Workers
from solver.solvability import facts_of

from .helpers import HARD, random_goal
from .oracle import boards_after
from .pages import PATIENCE, serving, until
from .processes import ended

pytestmark = [pytest.mark.subprocess, pytest.mark.jit]

HARDEST = "8 6 7 2 5 4 3 0 1"
EASY = "1 2 3 4 5 6 0 7 8"
ENDLESS = {"board": " ".join(map(str, HARD)), "goal": "first", "heuristic": "manhattan"}  # for years


@pytest.fixture(scope="module")
def shelf_of_three(tmp_path_factory, database_of):
    folder = tmp_path_factory.mktemp("page")
    for name in ("3x3-4-4", "3x3-8"):
        spec = Spec(Grid(3, 3), NAMED[name])
        (folder / f"{spec.name}.h5").symlink_to(database_of(spec))
    (folder / "3x3-damaged.h5").write_text("not a database")
    return folder


@pytest.fixture(scope="module")
def page(shelf_of_three):
    with serving(shelf_of_three) as served:
        yield served
        code, _, errors = ended(served.process, signal.SIGINT)
        assert code == 130 and errors.splitlines()[1:] == [
            "interrupted: the page is closed, and its searches are stopped"
        ]


# ---- answers ------------------------------------------------------------------------------------


def test_what_can_be_chosen_is_what_the_registries_hold(page):
    about = page.ask("about")
    assert [(one["name"], one["summary"]) for one in about["algorithms"]] == [
        (name, search.summary) for name, search in SEARCHES.items()
    ]
    assert [(one["name"], one["summary"]) for one in about["heuristics"]] == list(HEURISTICS.items())


@pytest.mark.parametrize(
    "fields",
    [
        {"board": EASY},
        {"board": "1 2 3\n4 5 6\n8 7 0"},
        {"board": "4 5 0 1 2 3", "shape": "2x3", "goal": "first", "wrap": True},
        {"board": "2,5,6;_,8,4;7,1,3", "goal": "spiral"},
    ],
)
def test_a_board_is_described_by_what_the_library_knows(page, fields):
    described = page.ask("board", **fields)
    grid = Grid(described["rows"], described["cols"], described["wrap"])
    facts = facts_of(grid, described["board"], described["goal"])
    assert goal_board(grid, fields.get("goal", "last")) == tuple(described["goal"])
    assert described["solvable"] == facts.solvable and len(described["colours"]) == grid.cells
    assert page.ask("board", board=described["text"], shape=grid.shape, wrap=grid.wrap)["board"] == described["board"]


def test_a_seed_gives_the_board_of_the_command_line(page, run):
    for shape, seed in (("4x4", 7), ("2x5", 0), ("10x10", 3)):
        _, printed, _ = run("random", shape, "--seed", str(seed))
        assert page.ask("shuffle", shape=shape, seed=seed)["text"] == printed.strip()


def test_databases_that_fit_the_goal_are_offered(page):
    assert page.ask("board", board=EASY)["databases"] == ["3x3-4-4", "3x3-8"]
    assert page.ask("board", board=EASY, goal="spiral")["databases"] == []
    assert page.ask("shuffle", shape="9x9", seed=1)["databases"] == []


# ---- searches -----------------------------------------------------------------------------------


def test_a_solution_is_that_of_the_library(page, shelf_of_three):
    found = page.told("solve", "solution", board=HARDEST, heuristic="pdb:3x3-8")
    expected = solve(HARDEST, heuristic="pdb:3x3-8", folder=shelf_of_three).as_dict()
    fleeting = ("seconds", "iterations", "databases")
    assert {key: found.get(key) for key in expected if key not in fleeting} == {
        key: value for key, value in expected.items() if key not in fleeting
    }
    assert found["length"] == 31 and found["optimal"] and "databases" not in found


def test_what_a_search_refuses_comes_with_the_reason(page):
    told = page.told("solve", "error", board=HARDEST, algorithm="ida-star", heuristic="inversions")
    assert told["error"].startswith("inversions is inadmissible, so ida-star cannot guarantee a shortest solution")
    told = page.told("solve", "error", board="2 1 3 4 5 6 7 8 0")
    assert told["error"].startswith("the board cannot be solved: its order is an odd number of exchanges")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"algorithm": "a*"}, "unknown algorithm 'a*': use ida-star"),
        ({"heuristic": "best"}, "unknown heuristic 'best': use manhattan"),
        ({"heuristic": 7}, "heuristic must be a name or a function, got 7"),
        ({"algorithm": "greedy", "weight": 2}, "greedy has no weight: leave out weight"),
        ({"algorithm": "weighted-a-star", "weight": "much"}, "weight must be between 1 and 1000, got 'much'"),
        ({"time_limit": 601}, "the time limit must be above 0 and at most 600 seconds"),
        ({"time_limit": 0}, "the time limit must be above 0"),
        ({"time_limit": True}, "the time limit must be above 0"),
        ({"node_limit": -1}, "node limit must be above 0"),
        ({"board": "1 2 3"}, "3 numbers cannot be a board"),
        ({"board": [1, 2]}, "board must be text, got [1, 2]"),
        ({"board": None}, "board is missing: send it as text"),
        ({"boards": "x"}, 'the field "boards" means nothing here: leave it out'),
        ({"time_limit": "9" * 99}, "the time limit must be above 0"),
        ({"board": "☃" * 999}, "'☃☃☃☃☃☃☃☃☃☃☃☃☃☃☃☃☃☃☃☃…' is not a number"),
        ({"shape": "4x4"}, "9 numbers for the 16 cells of a 4x4 board"),
        ({"shape": "1x9"}, "a board of 1x9 is too small"),
        ({"shape": "4\nx\ud8004"}, "'4 x?4' is not a board shape"),
        ({"shape": "x" * 9999}, "'xxxx"),
        ({"goal": "top"}, "the goal is neither last, first, spiral nor a board"),
        ({"wrap": "yes"}, "wrap must be True or False"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_the_search(page, fields, error):
    assert page.refusal("solve", {"board": HARDEST} | fields).startswith(error)


@pytest.mark.parametrize("name", ["/etc/passwd.h5", "../3x3-8", "3x3-8.h5", "no-such", "./3x3-8"])
def test_only_databases_of_the_folder_are_opened(page, shelf_of_three, name):
    for heuristic in (f"pdb:{name}", f"max:manhattan+pdb-unreflected:{name}"):
        assert "the page has no database" in page.refusal("solve", {"board": HARDEST, "heuristic": heuristic})
        fields = {"board": HARDEST, "algorithms": ["ida-star"], "heuristics": [heuristic]}
        assert "the page has no database" in page.refusal("compare", fields)
    assert "the page has no database" in page.refusal("inside", {"board": HARDEST, "database": name})


def test_the_fewest_moves_are_the_distance(page, shelf_of_three):
    distances = open_database(shelf_of_three / "3x3-8.h5")
    grid, chance = Grid(3, 3), random.Random(1)
    goal = goal_board(grid, "first")
    for _ in range(5):
        board = random_board(grid, goal, chance)
        told = page.told("fewest", "fewest", board=" ".join(map(str, board)), goal="first")
        assert (told["length"], told["optimal"]) == (distances.distance(board), True)
        assert after(grid, board, told["tiles"]) == goal and len(told["tiles"]) == told["length"]


@pytest.mark.beam
def test_on_a_board_too_hard_to_prove_there_are_bounds_and_a_way(page):
    grid = Grid(6, 6)
    board = random_board(grid, grid.goal(35), random.Random(2))
    told = page.told("fewest", "fewest", board=" ".join(map(str, board)))
    assert 0 < told["lower_bound"] < told["length"] == len(told["tiles"]) and not told["optimal"]
    assert told["lower_bound"] >= manhattan.prepare(grid, 35).measure(board)[0]
    assert after(grid, board, told["tiles"]) == grid.goal(35)


def after(grid, board, tiles):
    """The board after some tiles have moved. Every one must be a move."""
    for tile in tiles:
        (board,) = (one for one in boards_after(grid, board) if one[board.index(0)] == tile)
    return board


def test_a_search_that_is_stopped_says_what_it_has_proven(page):
    with page.stream("solve", **ENDLESS) as events:
        place = until(events, "place", place=0)
        first = until(events, "progress", preparing=None)
        assert page.ask("stop", id="of another")["stopped"] is False
        assert page.ask("stop", id=place["id"])["stopped"] is True
        solution = until(events, "solution")
    assert (solution["solved"], solution["stopped"]) == (False, "interrupt")
    assert solution["lower_bound"] >= first["bound"] > 0 and solution["generated"] >= first["generated"]


def test_two_searches_run_the_others_wait_and_a_closed_tab_makes_room(page):
    with ExitStack() as tabs:
        first = tabs.enter_context(ExitStack())
        until(first.enter_context(page.stream("solve", **ENDLESS)), "place", place=0)
        until(tabs.enter_context(page.stream("solve", **ENDLESS)), "place", place=0)
        third = tabs.enter_context(page.stream("solve", board=EASY, heuristic="manhattan"))
        assert next(third)[1]["place"] == 1
        with page.stream("solve", **ENDLESS) as fourth:
            assert next(fourth)[1]["place"] == 2
        with page.stream("solve", **ENDLESS) as fifth:  # the fourth has left the queue
            until(fifth, "place", place=2)
            page.ask("board", board=EASY)  # an answer at once does not wait for searches
            first.close()
            assert until(third, "solution")["length"] == 2


def test_a_search_that_waits_is_stopped_without_being_begun(page):
    with ExitStack() as tabs:
        for _ in range(2):
            until(tabs.enter_context(page.stream("solve", **ENDLESS)), "place", place=0)
        third, fourth = (tabs.enter_context(page.stream("solve", **ENDLESS)) for _ in range(2))
        place, _ = until(third, "place", place=1), until(fourth, "place", place=2)
        assert page.ask("stop", id=place["id"])["stopped"] is True
        assert list(third) == [("stopped", {}), ("end", {})]
        until(fourth, "place", place=1)
        assert page.ask("stop", id=place["id"])["stopped"] is False


def test_where_the_folder_is_stays_on_the_machine(page, shelf_of_three, tmp_path):
    told = page.events("solve", board=HARDEST, heuristic="pdb:3x3-damaged")
    assert str(shelf_of_three) not in str(told) and "3x3-damaged.h5" in dict(told)["error"]["error"]
    assert str(shelf_of_three) not in page.ask("inside", board="1 2 3 4 5 0", shape="2x3")["advice"]
    words = telling.in_words(f"{tmp_path}/a.h5 in {tmp_path}: build with --folder {tmp_path}: `node_limit`", tmp_path)
    assert words == "a.h5 in its folder: build with --folder FOLDER: node limit"
    for folder, text in ((Path("/"), "/a/b in /"), (Path("/a"), "/b/a/c /ab /b/a"), (Path("a"), "a/a a")):
        assert telling.in_words(text, folder) == text, "other paths"
    assert len(telling.in_words("x" * 9999 + " y" * 9999, tmp_path)) <= telling.MOST_WORDS


def test_only_databases_are_called_databases(page, shelf_of_three):
    page.told("solve", "solution", board=HARDEST, heuristic="walking-distance")
    assert any(path.name.startswith("walking-distance-") for path in shelf_of_three.iterdir())
    refusal = page.refusal("solve", {"board": HARDEST, "heuristic": "pdb:walking-distance-3x3-home-0"})
    assert refusal.endswith("those in its folder are 3x3-4-4, 3x3-8, 3x3-damaged")


# ---- inside -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["3x3-4-4", "3x3-8"])
def test_inside_adds_up_to_what_the_library_measures(page, shelf_of_three, name):
    grid, chance, database = Grid(3, 3), random.Random(name), open_database(shelf_of_three / f"{name}.h5")
    for blank in (0, 2, 6, 8):
        goal = random_goal(grid, chance, blank)
        board = random_board(grid, goal, chance)
        frame = frame_of(grid, goal)
        inner = frame.enter(board)
        fields = {"board": " ".join(map(str, board)), "goal": " ".join(map(str, goal)), "database": name}
        found = page.ask("inside", **fields)
        parts = pattern_database.prepare(grid, frame.blank, database).measure(inner)
        assert [one["value"] for one in found["sums"]] == parts and found["value"] == max(parts)
        assert found["beside"] == {
            "manhattan": manhattan.prepare(grid, frame.blank).measure(inner)[0],
            "linear-conflict": linear_conflict.prepare(grid, frame.blank).measure(inner)[0],
        }
        for one in found["sums"]:
            patterns = [found["patterns"][number] for number in one["patterns"]]
            assert sum(pattern["distance"] for pattern in patterns) == one["value"]
            assert sorted(tile for pattern in patterns for tile in pattern["tiles"]) == list(range(1, 9))
        assert [one["mirrored"] for one in found["sums"]] == [False, True][: len(parts)]
        for pattern in found["patterns"] if name == "3x3-4-4" else ():
            first, second, third, *_ = (tile for tile in range(1, 9) if tile not in pattern["tiles"])
            turned = {first: second, second: third, third: first}  # an even permutation: the board can still be solved
            fields["board"] = " ".join(str(turned.get(tile, tile)) for tile in board)
            assert pattern in page.ask("inside", **fields)["patterns"], "other tiles do not count"


def test_the_histogram_is_that_of_the_pattern_s_table(page, shelf_of_three):
    (table,) = open_database(shelf_of_three / "3x3-8.h5").tables
    found = page.ask("histogram", board=EASY, database="3x3-8", pattern=0)
    assert found["counts"] == table.counts.tolist() and sum(found["counts"]) == found["entries"] == 181440
    assert page.refusal("histogram", {"board": EASY, "database": "3x3-8", "pattern": 9}).startswith("pattern must be")


def test_without_a_database_inside_says_how_to_build_one(page):
    found = page.ask("inside", board="1 2 3 4 5 0", shape="2x3")
    assert found["database"] is None and found["advice"].startswith("build one with 'pdb-builder build 2x3")
    assert found["beside"] == {"manhattan": 0, "linear-conflict": 0}
    assert set(page.ask("inside", board="1 2 3 4 5 0", shape="2x3", wrap=True)["beside"]) == {"manhattan"}
    assert "cannot be solved" in page.refusal("inside", {"board": "2 1 3 4 5 6 7 8 0"})


# ---- comparisons --------------------------------------------------------------------------------


def test_a_comparison_is_that_of_the_command_line(page, shelf_of_three, tmp_path, run):
    methods = {"algorithms": ["ida-star", "a-star"], "heuristics": ["manhattan", "pdb:3x3-8"]}
    events = page.events("compare", board=EASY, number=3, seed=5, **methods)
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    header = next(facts["header"] for name, facts in events if name == "methods")
    cells = [facts for name, facts in events if name == "cell"]
    ours.write_text(header + "".join(cell["line"] for cell in cells))
    words = ["compare", "--random", "3x3", "-n", "3", "--seed", "5", "--folder", str(shelf_of_three)]
    words += ["--algorithms", "ida-star,a-star", "--heuristics", "manhattan,pdb:3x3-8"]
    assert run(*words, "--csv", str(theirs))[0] == 0

    def lasting(path):
        lines = [line.split(",") for line in path.read_text().splitlines()]
        return sorted(line[: lines[0].index("seconds")] for line in lines)

    assert lasting(ours) == lasting(theirs) and len(cells) == 12
    code, resumed, errors = run(*words, "--resume", str(ours))
    assert (code, errors) == (0, ""), "the file can be gone on with"
    table = [facts for name, facts in events if name == "table"][-1]
    shown = [" ".join(row) for row in (table["headings"], *table["rows"])]
    assert shown == [" ".join(line.split()) for line in resumed.splitlines()[1:]]


def test_a_comparison_grows_method_by_method_and_then_board_by_board(page, shelf_of_three):
    fields = {"board": EASY, "number": 2, "algorithms": ["ida-star"], "heuristics": ["manhattan", "pdb:3x3-8"]}
    told = []
    comparing(Fields(fields), shelf_of_three)(lambda name, facts: told.append((name, facts)), threading.Event())

    def sizes(found):
        return [(len(table["rows"]), table["boards"]) for name, table in found if name == "table"]

    assert sizes(told)[0] == (1, 0) and sizes(told) == sorted(sizes(told)) and sizes(told)[-1] == (2, 2)
    found = list(page.events("compare", **fields))  # where a table that was not read in time is left out
    assert sizes(found) == sorted(sizes(found)) and sizes(found)[-1] == (2, 2)
    assert [facts["done"] for name, facts in found if name == "cell"] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"heuristics": []}, "ida-star needs a heuristic"),
        ({"heuristics": ["manhattan", "manhattan"]}, "ida-star with manhattan is named twice"),
        ({"algorithms": ["ida-star:7"]}, "ida-star:7: unknown order '7'"),
        ({"algorithms": []}, "no algorithm to compare is given"),
    ],
)
def test_methods_that_cannot_be_compared_are_refused(page, fields, error):
    methods = {"algorithms": ["ida-star"], "heuristics": ["manhattan"]}
    assert page.told("compare", "error", board=EASY, **(methods | fields))["error"].startswith(error)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"number": 1001}, "number must be a whole number from 1 to 1,000, got 1001"),
        ({"number": 3, "seed": "x"}, "seed must be a whole number"),
        ({"seed": 3}, 'the field "seed" means nothing here'),
        ({"number": 1000, "heuristics": ["x"] * 6}, "unknown heuristic 'x'"),
        ({"number": 1000, "algorithms": ["ida-star"] * 6}, "6,000 searches are too many for the page"),
        ({"heuristics": "manhattan"}, "heuristics must be a list of at most 50 names"),
        ({"heuristics": [1]}, "heuristics must be a list of names, got 1 in it"),
        ({"board": "2 1 3 4 5 6 7 8 0"}, "the board cannot be solved"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(page, fields, error):
    request = {"board": EASY, "algorithms": ["ida-star"], "heuristics": ["manhattan"]}
    assert page.refusal("compare", request | fields).startswith(error)


# ---- the gate -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "0.0.0.0:{port}"]
)
def test_a_foreign_host_is_refused(page, host):
    headers = {"Host": host.format(port=page.port)}
    for method, path in (("GET", "/"), ("GET", "/main.js"), ("POST", "/api/about")):
        status, _, body = page.request(method, path, "{}", headers | {"Content-Type": "application/json"})
        assert status == 421 and set(json.loads(body)) == {"error"}


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_names_of_this_machine_are_ours(page, host):
    assert page.request("GET", "/", headers={"Host": host.format(port=page.port)})[0] == 200


def test_requests_without_a_host_or_with_two_are_refused(page):
    for hosts in (b"", f"Host: 127.0.0.1:{page.port}\r\nHost: evil.example\r\n".encode()):
        with socket.create_connection(("127.0.0.1", page.port), PATIENCE) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n" + hosts + b"Connection: close\r\n\r\n")
            assert connection.recv(1000).split()[1] in (b"400", b"421")


def test_the_host_of_a_public_page_is_a_number():
    everywhere, named = gate.host_check("0.0.0.0", 80), gate.host_check("box.local", 8015)
    assert all(map(everywhere, ("10.1.2.3:80", "10.1.2.3", "[fe80::1]:80", "localhost", "127.0.0.1:80")))
    assert not any(map(everywhere, ("box.local", "evil.example:80", "10.1.2.3:8015", "", ":80", "10.1.2.3.evil:80")))
    assert all(map(named, ("box.local:8015", "127.0.0.1:8015")))
    assert not any(map(named, ("box.local", "10.1.2.3:8015", "box.local.evil:8015")))


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
def test_requests_of_other_pages_are_refused(page, origin):
    status, answer = page.post("about", {}, Origin=origin.format(port=page.port))
    assert (status, set(answer)) == (403, {"error"})
    assert page.post("about", {}, Origin=page.address.rstrip("/"))[0] == 200
    assert page.post("about", {}, **{"Content-Type": "text/plain"})[0] == 415


def test_a_browser_that_says_where_a_request_comes_from_is_believed(page):
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        assert page.post("about", {}, **{"Sec-Fetch-Site": site})[0] == status
    ours = f"Origin: {page.address.rstrip('/')}\r\n"
    for origins, status in ((ours, b"200"), (ours + ours, b"403"), ("Origin: http://evil.example\r\n" + ours, b"403")):
        with socket.create_connection(("127.0.0.1", page.port), PATIENCE) as connection:
            head = f"POST /api/about HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n{origins}"
            connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode())
            assert connection.recv(1000).split()[1] == status


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/../app.py",
        "/%2e%2e/app.py",
        "/..%2fapp.py",
        "//etc/passwd",
        "/api/nothing",
        "/static/",
        "/%00",
        "/main.js/",
        "/api/about/",
    ],
)
def test_there_is_nothing_at_other_addresses(page, path):
    for method in ("GET", "POST"):
        status, _, body = page.request(method, path, "{}", {"Content-Type": "application/json"})
        assert (status, set(json.loads(body))) == (404, {"error"})


def test_addresses_are_used_in_one_way(page):
    for method, path in (("GET", "/api/about"), ("DELETE", "/api/stop"), ("PUT", "/")):
        status, _, body = page.request(method, path)
        assert (status, set(json.loads(body))) == (405, {"error"})


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"7", b"nonsense", b"\xff\xfe", b'{"a": NaN}', b"[" * 60_000, b'{"a":' * 9_999, b"9" * 9_999],
    ids=repr,
)
def test_what_is_not_a_json_object_is_refused(page, body):
    assert page.refusal("board", body).startswith("the request is ")


def test_a_large_request_is_refused_whatever_it_announces(page):
    status, answer = page.post("board", b" " * 64_001)
    assert (status, answer["error"]) == (413, "the request is too large: at most 64,000 bytes")
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE)
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    connection.request("POST", "/api/board", (b" " * 1000 for _ in range(65)), headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    with socket.create_connection(("127.0.0.1", page.port), PATIENCE) as connection:
        head = f"POST /api/board HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {10**15}\r\n\r\n".encode())
        assert connection.recv(1000).split()[1] == b"413"


def test_every_answer_forbids_what_comes_from_elsewhere(page):
    for method, path, status in (("GET", "/", 200), ("GET", "/nothing", 404), ("GET", "/style.css", 200)):
        got, headers, _ = page.request(method, path)
        assert got == status and headers["content-security-policy"].startswith("default-src 'self';")
        assert headers["x-content-type-options"] == "nosniff" and "server" not in headers
    assert "content-security-policy" in page.request("GET", "/", headers={"Host": "evil.example"})[1]


def test_the_page_names_no_other_site(page):
    static = Path(gate.__file__).parent / "static"
    for path in static.iterdir():
        name = path.name.replace("index.html", "")
        assert page.request("GET", f"/{name}")[2] == path.read_bytes()
        assert set(re.findall(r"https?://[^\"']*", path.read_text())) <= {"http://www.w3.org/2000/svg"}


def test_a_defect_is_told_in_one_line_without_a_traceback():
    async def defective(scope, receive, send):
        raise ZeroDivisionError("by nothing")

    async def send(message):
        sent.append(message)

    sent, told = [], []
    scope = {"method": "GET", "headers": [(b"host", b"localhost:1")]}
    asyncio.run(gate.Gate(defective, gate.host_check("127.0.0.1", 1), told.append)(scope, None, send))
    assert told == ["a defect in the page: ZeroDivisionError: by nothing"]
    assert sent[0]["status"] == 500 and "nothing" not in sent[1]["body"].decode()


# ---- the server ---------------------------------------------------------------------------------


def test_ctrl_c_ends_the_page_with_searches_and_streams_open(shelf_of_three):
    with serving(shelf_of_three) as served, served.stream("solve", **ENDLESS) as events:
        until(events, "progress", preparing=None)
        with served.stream("fewest", board=HARDEST), served.stream("solve", **ENDLESS):
            code, output, errors = ended(served.process, signal.SIGINT)
        assert list(events)[-1] == ("end", {}), "the tab is told"
    assert (code, output) == (130, "")
    assert errors.splitlines()[-1] == "interrupted: the page is closed, and its searches are stopped"


def test_a_port_that_is_taken_is_refused_but_the_usual_one_gives_way(run, monkeypatch, tmp_path):
    with server.listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        code, output, errors = run("serve", "--port", str(port), "--no-browser", "--folder", str(tmp_path))
        assert (code, output) == (2, "") and f"127.0.0.1, port {port}, cannot be used" in errors
        assert "choose another --port" in errors and len(errors.splitlines()) == 1
        monkeypatch.setattr(server, "USUAL_PORT", port)
        with server.listen("127.0.0.1", None) as other:
            assert other.getsockname()[1] not in (0, port)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--host", "0.0.0.0"], "0.0.0.0 can be reached from other machines: add --public"),
        (["--host", "no.such.host.invalid", "--public"], "there is no address 'no.such.host.invalid' here"),
        (["--host", "\udcff", "--public"], "there is no address"),
        (["--port", "65536"], "'65536' is not a port from 0 to 65535"),
    ],
)
def test_addresses_that_make_no_sense_are_refused(run, words, error):
    code, output, errors = run("serve", "--no-browser", *words)
    assert (code, output) == (2, "") and error in errors.splitlines()[-1]


def test_the_page_names_the_extra_that_it_needs(run, monkeypatch):
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    code, output, errors = run("serve")
    assert (code, output) == (2, "")
    assert errors == (
        "pdb-solver: error: the page needs Starlette, which is not installed: run pip install 'slidepdb[web]'\n"
    )


@pytest.mark.parametrize(
    ("host", "alone"), [("127.0.0.1", True), ("::1", True), ("LocalHost", True), ("10.0.0.1", False)]
)
def test_what_only_this_machine_can_reach(host, alone):
    assert server.is_loopback(host) is alone


# ---- workers ------------------------------------------------------------------------------------


def test_jobs_wait_for_their_turn_and_are_told_their_place():
    workers, places, go = Workers(1, 2), [], threading.Event()
    begun, done = threading.Event(), threading.Event()
    first = Job(lambda interrupt: (begun.set(), go.wait(PATIENCE)))
    second, third = (Job(lambda interrupt: done.set(), lambda place, n=n: places.append((n, place))) for n in (2, 3))
    workers.submit(first)
    assert begun.wait(PATIENCE)
    workers.submit(second)
    workers.submit(third)
    with pytest.raises(Busy):
        workers.submit(Job(print))
    workers.withdraw(second)
    go.set()
    assert done.wait(PATIENCE)
    assert places == [(2, 1), (3, 2), (3, 1), (3, 0)]
    workers.close()
    with pytest.raises(Busy):
        workers.submit(Job(print))


def test_a_job_held_up_that_nobody_wants_makes_room_a_few_times(monkeypatch):
    monkeypatch.setattr(threads, "GRACE", 0.0)
    workers, free = Workers(1, 9), threading.Event()

    def held_up(begun):
        job = Job(lambda interrupt: (begun.set(), free.wait(PATIENCE)))
        workers.submit(job)
        return job

    first, second, done = threading.Event(), threading.Event(), threading.Event()
    job = held_up(first)
    assert first.wait(PATIENCE)
    workers.withdraw(job)
    job = held_up(second)
    assert second.wait(PATIENCE), "another thread has taken its place"
    workers.withdraw(job)
    workers.submit(Job(lambda interrupt: done.set()))
    assert not done.wait(0.2), "but not without end"
    free.set()
    assert done.wait(PATIENCE)
    workers.close()


def test_a_stream_that_nobody_reads_is_ended():
    async def run():
        async def send(message):
            if message["type"] == "http.response.body":
                await asyncio.Event().wait()  # a browser that does not read

        mailbox, gone = events.Mailbox(), []
        stream = events.EventStream(mailbox, lambda: gone.append(True))
        running = asyncio.create_task(stream({}, asyncio.Event().wait, send))
        for number in range(events.MOST_EVENTS + 10):
            mailbox.tell(events.PROGRESS, {"number": number})  # only the last counts
        await asyncio.sleep(0.05)
        assert not gone
        for number in range(2 * events.MOST_EVENTS):
            mailbox.tell("cell", {"number": number})
        await asyncio.wait_for(running, PATIENCE)
        assert gone

    asyncio.run(run())


def test_closing_interrupts_what_runs_and_forgets_what_waits():
    workers, begun, stopped = Workers(1, 9), threading.Event(), threading.Event()

    def work(interrupt):
        begun.set()
        assert interrupt.wait(PATIENCE)
        stopped.set()

    waiting = Job(lambda interrupt: pytest.fail("it was forgotten"))
    workers.submit(Job(work))
    assert begun.wait(PATIENCE)
    workers.submit(waiting)
    workers.close()
    assert stopped.wait(PATIENCE) and not workers.stop(waiting.id)
