"""Progress on stderr: what is drawn on a terminal, and that nothing is drawn anywhere else."""

from types import SimpleNamespace

import pytest

from solver.commands import progress
from solver.commands.progress import BoardsBar, ComparisonBar, SearchMeter
from solver.search.outcome import Progress

from .comparisons import A, B, cell, filled
from .conftest import Stream


@pytest.fixture
def clock(monkeypatch):
    """The clock of the meters, which a test sets."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
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


def test_boards_are_counted(new_stderr):
    terminal = new_stderr(terminal=True)
    with BoardsBar(3, hidden=False) as bar:
        bar.report(Progress(0, 0, 0, 0.5, preparing="walking distance of 5x5"))
        bar.advance()
    assert "walking distance of 5x5: 50% done" in terminal.text() and "0/3" in terminal.text()


def test_the_bar_of_a_comparison_estimates_the_time_left(new_stderr, clock):
    terminal = new_stderr(terminal=True)
    comparison = filled(cell(1, A, seconds=300.0), cell(1, B, seconds=60.0))
    with ComparisonBar(comparison, jobs=1) as bar:
        bar.report(Progress(32, 10, 1000, 0.25))
        bar.advance()
    assert "2 of 4 searches" in terminal.text()
    assert "about 6 min left, bound 32, 25% done" in terminal.text()


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
