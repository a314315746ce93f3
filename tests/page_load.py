"""Many browsers at once: ``python -m tests.page_load`` serves the page and has clients use it for a minute.

Each client does what a tab does, one thing after another, drawn at random: it asks for boards, looks inside a database,
has boards of 3x3 solved, and now and then closes the connection in the middle of a search that would take for years.
What counts: how many requests were answered and how soon, that none failed, and that the server's memory does not grow.
It is a script, not a test: its figures are in docs/benchmarks.md.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from pdb_builder import NAMED, Grid, Spec, build_database

from .pages import serving, until
from .test_page import EASY, ENDLESS

WARM_UP = 5  # seconds of one client, so that kernels are compiled before the clock starts


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.page_load", description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    if not (1 <= args.clients <= 200 and 1 <= args.seconds <= 3600):
        parser.error("use 1 to 200 clients for 1 to 3600 seconds")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_database(Spec(Grid(3, 3), NAMED["3x3-8"]), folder / "3x3-8.h5")
        with serving(folder) as server:
            load(server, 1, WARM_UP)
            sys.exit(report(*load(server, args.clients, args.seconds)))


def load(server, clients, seconds):
    """Times by what was asked for, the errors, and the server's memory once a second."""
    times, errors, memory = {name: [] for name in DEEDS}, Counter(), []
    end = time.monotonic() + seconds

    def client(number):
        chance = random.Random(number)
        while time.monotonic() < end:
            name = chance.choice(list(DEEDS))
            began = time.perf_counter()
            try:
                DEEDS[name](server, chance)
                times[name].append(time.perf_counter() - began)
            except Exception as error:
                errors[f"{name}: {type(error).__name__}: {error}"] += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        memory.append(resident(server.process.pid))
        time.sleep(1)
    return times, errors, memory


def resident(process):
    """Bytes of memory that a process has."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def report(times, errors, memory):
    """Print what came of it; returns the exit code."""
    print(f"{'':10} {'answered':>9} {'median ms':>10} {'95 % ms':>8}")
    for name, each in times.items():
        twentieths = statistics.quantiles(each, n=20)
        print(f"{name:10} {len(each):9,} {1000 * statistics.median(each):10.0f} {1000 * twentieths[-1]:8.0f}")
    third = max(1, len(memory) // 3)
    early, late = statistics.fmean(memory[:third]), statistics.fmean(memory[-third:])
    print(f"{sum(map(len, times.values())):,} answered, {sum(errors.values())} errors")
    print(f"memory {early / 1e6:.0f} MB in the first third, {late / 1e6:.0f} MB in the last")
    for error, count in errors.most_common(5):
        print(f"{count:6} {error}")
    return bool(errors)


# ---- what a tab does ----------------------------------------------------------------------------


def look(server, chance):
    board = server.ask("shuffle", shape=chance.choice(("3x3", "4x4", "10x10")), seed=chance.randrange(10**6))
    assert server.ask("board", board=board["text"])["board"] == board["board"]


def inside(server, chance):
    board = server.ask("shuffle", shape="3x3", seed=chance.randrange(10**6))
    assert server.ask("inside", board=board["text"])["value"] <= 31


def fewest(server, chance):
    board = server.ask("shuffle", shape="3x3", seed=chance.randrange(10**6))
    assert server.told("fewest", "fewest", board=board["text"])["optimal"]


def solve(server, chance):
    assert server.told("solve", "solution", board=EASY, heuristic="manhattan")["length"] == 2


def leave(server, chance):
    with server.stream("solve", **ENDLESS) as events:
        until(events, "place")


def files(server, chance):
    for name in ("", "main.js", "style.css"):
        assert server.request("GET", f"/{name}")[0] == 200


DEEDS = {deed.__name__: deed for deed in (look, inside, fewest, solve, leave, files)}

if __name__ == "__main__":
    main()
