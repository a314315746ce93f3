"""Progress on stderr: what is drawn on a terminal, and that nothing is drawn anywhere else."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from solver.commands import comparison_bar, progress
from solver.commands.comparison_bar import ComparisonBar
from solver.commands.progress import BoardsBar, SearchMeter
from solver.search.outcome import Progress

from .comparisons import A, B, cell, filled
from .conftest import Stream


@pytest.fixture
def clock(monkeypatch):
    """The clock of the meters, which a test sets."""
    clock = SimpleNamespace(now=100.0)
    for module in (progress, comparison_bar):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture
def new_stderr(monkeypatch):
    """Gives the program a new stderr, which may be a wide terminal. To be called in the test: pytest has its own."""

    def replace(terminal=False):
        stream = Stream()
        monkeypatch.setattr(stream, "isatty", lambda: terminal)
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setenv("LINES", "24")
        return stream

    return replace


@pytest.mark.parametrize(
    "found, line",
    [
        (Progress(32, 10, 3_001_000, 0.25), "bound 32  25% done: 3.0 M generated, 3.0 M/s"),
        (Progress(32, 10, 3_001_000, stored=5000), "bound 32: 3.0 M generated, 5,000 stored, 3.0 M/s"),
        (Progress(7, 10, 3_001_000, width=1000), "width 1,000, level 7: 3.0 M generated, 3.0 M/s"),
        (Progress(0, 0, 0, 0.5, preparing="walking distance of 5x5"), "walking distance of 5x5: 50% done"),
    ],
    ids=["ida-star", "a-star", "beam", "preparing"],
)
def test_a_search_is_one_line(found, line, new_stderr, clock):
    terminal = new_stderr(terminal=True)
    with SearchMeter() as meter:
        meter.report(Progress(30, 5, 1000))
        assert "bound" not in terminal.text(), "a short search shows nothing"
        clock.now += 1
        meter.report(found)
    assert f"\r{line}" in terminal.text()


@pytest.mark.parametrize("silent", [False, True])
def test_better_solutions_are_announced_even_without_a_terminal(silent, new_stderr, clock):
    stderr = new_stderr()
    with SearchMeter(silent) as meter:
        for seconds, length in ((0, None), (1, 50), (1, 50), (2.5, 44)):
            clock.now += seconds
            meter.report(Progress(1, 10, 1000, length=length, width=10))
    lines = ["50 moves after 1.0 s", "44 moves after 4.5 s"]
    assert stderr.text().splitlines() == ([] if silent else lines)


@pytest.mark.parametrize(
    "found, words",
    [
        (Progress(32, 10, 3_001_000, 0.25), "bound 32  25% done"),
        (Progress(7, 10, 3_001_000, length=50, width=1000), "width 1,000, level 7, 50 moves so far"),
        (Progress(0, 0, 0, 0.5, preparing="walking distance of 5x5"), "walking distance of 5x5: 50% done"),
    ],
    ids=["ida-star", "beam", "preparing"],
)
def test_boards_are_counted_and_a_long_search_is_shown_behind_the_bar(found, words, new_stderr, clock):
    terminal = new_stderr(terminal=True)
    with BoardsBar(3, hidden=False) as bar:
        bar.report(found)
        assert words not in terminal.text(), "a short search shows nothing"
        clock.now += 5
        bar.report(found)
        assert f"| 0 of 3 boards, 00:00, {words}" in terminal.text()
        bar.advance()
        before = terminal.text()
        bar.report(found._replace(bound=99))
        assert terminal.text() == before, "the next search has just begun"


def test_boards_of_a_pipe_are_counted_as_they_come(new_stderr):
    terminal = new_stderr(terminal=True)
    with BoardsBar(None, hidden=False) as bar:
        bar.advance()
    assert "boards: 0, 00:00" in terminal.text()


def test_of_several_searches_one_is_shown_until_it_falls_silent(new_stderr, clock):
    terminal = new_stderr(terminal=True)

    def elsewhere(found):
        with ThreadPoolExecutor(1) as other:
            other.submit(bar.report, found).result()

    with BoardsBar(3, hidden=False) as bar:
        clock.now += 5
        for number in range(10):
            clock.now += 0.2
            bar.report(Progress(30 + number, 10, 1000))
            elsewhere(Progress(60 + number, 10, 1000))
        assert "bound 39" in terminal.text() and "bound 6" not in terminal.text()
        clock.now += 2
        elsewhere(Progress(70, 10, 1000))
        assert "bound 70" in terminal.text()


def ten_and_more(count):
    """Ten boards of ``count``, each of 30 s by one method and of 6 s by the other."""
    cells = [cell(number, method, seconds=time) for number in range(1, 11) for method, time in ((A, 30.0), (B, 6.0))]
    return filled(*cells, count=count)


def test_the_bar_of_a_comparison_estimates_the_time_left(new_stderr, clock):
    terminal = new_stderr(terminal=True)
    with ComparisonBar(ten_and_more(20), jobs=1) as bar:
        bar.report(Progress(32, 10, 1000, 0.25))
        bar.advance()
    assert "20 of 40 searches" in terminal.text()
    assert "about 6 min left, bound 32  25% done" in terminal.text()


def test_the_estimate_is_a_range_if_times_vary_and_nothing_if_little_is_known(new_stderr, clock):
    terminal = new_stderr(terminal=True)
    varied = ten_and_more(20)
    varied.add(cell(11, A, seconds=60.0))
    with ComparisonBar(varied, jobs=1) as bar:
        bar.report(Progress(32, 10, 1000))
    assert "5 min to 7 min left, bound 32" in terminal.text()
    terminal = new_stderr(terminal=True)
    with ComparisonBar(ten_and_more(101), jobs=1) as bar:
        bar.report(Progress(32, 10, 1000))
    assert "searches" in terminal.text() and "bound 32" in terminal.text() and "left" not in terminal.text()


def test_a_search_that_takes_longer_than_all_that_are_left_refutes_the_estimate(new_stderr, clock):
    terminal = new_stderr(terminal=True)
    with ComparisonBar(ten_and_more(20), jobs=1) as bar:
        clock.now += 400
        bar.report(Progress(40, 10, 1000))
        assert "bound 40" in terminal.text() and "left" not in terminal.text()
        bar.advance()
        clock.now += 2
        bar.report(Progress(42, 10, 1000))
        assert "about 6 min left, bound 42" in terminal.text()


def test_nothing_is_drawn_without_a_terminal(new_stderr, clock):
    stderr = new_stderr()
    comparison = filled(cell(1, A), cell(1, B))
    for bar in (SearchMeter(), BoardsBar(3, hidden=False), ComparisonBar(comparison, jobs=2)):
        with bar:
            bar.report(Progress(30, 5, 1000))
            clock.now += 100
            bar.report(Progress(32, 10, 2000, 0.5))
            if not isinstance(bar, SearchMeter):
                bar.advance()
    assert stderr.text() == ""
