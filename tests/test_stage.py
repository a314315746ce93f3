"""The terminal while a solution is played and afterwards: the cursor, the echo of keys, and what signals do to them."""

import io
import os
import pty
import select
import signal
import termios

import pytest

from solver.show import terminal as module
from solver.show.terminal import HIDE, LOCAL_MODES, SHOW, Stage

FRAME = ["first line", "second line"]
UP = "\x1b[2A"  # to the beginning of such a frame


class Terminal:
    """A pseudo-terminal: ``stream`` is what a program prints to, and ``read()`` is what it has printed meanwhile."""

    def __init__(self):
        self.ours, theirs = pty.openpty()
        self.stream = os.fdopen(theirs, "w", encoding="utf-8")

    def read(self):
        printed = b""
        while select.select([self.ours], [], [], 0)[0]:
            printed += os.read(self.ours, 65536)
        return printed.decode()

    def typed(self):
        """What a program would read."""
        if not select.select([self.stream.fileno()], [], [], 0)[0]:
            return ""
        return os.read(self.stream.fileno(), 1000).decode()

    @property
    def echoes(self):
        return bool(termios.tcgetattr(self.ours)[LOCAL_MODES] & termios.ECHO)


@pytest.fixture
def terminal():
    terminal = Terminal()
    yield terminal
    terminal.stream.close()
    os.close(terminal.ours)


@pytest.fixture(autouse=True)
def usual_signals():
    """The default action for every signal that matters here, and afterwards whatever it was before."""
    numbers = (*Stage.SIGNALS, signal.SIGCONT)
    before = {number: signal.signal(number, signal.SIG_DFL) for number in numbers}
    yield
    assert all(signal.getsignal(number) in (signal.SIG_DFL, signal.SIG_IGN) for number in numbers)
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_cursor_and_the_echo_come_back(terminal):
    with Stage(terminal.stream) as stage:
        assert terminal.read() == HIDE and not terminal.echoes
        stage.draw(FRAME)
        assert UP not in terminal.read()
        stage.draw(FRAME)
        assert UP in terminal.read()
    assert terminal.read().endswith(SHOW) and terminal.echoes


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_they_come_back_after_an_error(error, terminal):
    with pytest.raises(error), Stage(terminal.stream):
        raise error
    assert terminal.read().endswith(SHOW) and terminal.echoes


def test_they_come_back_after_an_interruption_at_the_beginning(terminal, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(Stage, "_write", interrupted)
    with pytest.raises(KeyboardInterrupt), Stage(terminal.stream):
        pass
    assert terminal.echoes


def test_what_was_printed_before_comes_first(terminal):
    terminal.stream.write("before")
    with Stage(terminal.stream):
        assert terminal.read() == "before" + HIDE


@pytest.mark.parametrize("keep_input", [False, True])
def test_keys_are_not_echoed_and_forgotten_unless_somebody_reads_them(keep_input, terminal):
    with Stage(terminal.stream, keep_input):
        terminal.read()
        os.write(terminal.ours, b"keys\n")
        assert terminal.read() == ""
    assert terminal.typed() == ("keys\n" if keep_input else "")


@pytest.mark.parametrize("number", Stage.SIGNALS)
def test_a_signal_finds_the_terminal_as_it_was(number, terminal, monkeypatch):
    """What stops or ends the process happens here: it is the last thing we do, until we are continued."""
    found = []

    def act(raised):
        found.append((raised, terminal.read().endswith(SHOW), terminal.echoes, signal.getsignal(raised)))

    monkeypatch.setattr(signal, "raise_signal", act)
    with Stage(terminal.stream) as stage:
        for _ in range(2):
            stage.draw(FRAME)
            terminal.read()
            os.kill(os.getpid(), number)
            assert found.pop() == (number, True, True, signal.SIG_DFL)
            assert terminal.read() == HIDE and not terminal.echoes
            stage.draw(FRAME)
            assert UP not in terminal.read(), "it is drawn below whatever was printed meanwhile"
    assert terminal.echoes


def test_a_process_that_was_stopped_by_force_takes_the_terminal_again(terminal):
    with Stage(terminal.stream) as stage:
        stage.draw(FRAME)
        settings = termios.tcgetattr(terminal.ours)
        settings[LOCAL_MODES] |= termios.ECHO  # as a shell does
        termios.tcsetattr(terminal.ours, termios.TCSANOW, settings)
        terminal.read()
        os.kill(os.getpid(), signal.SIGCONT)
        assert terminal.read() == HIDE and not terminal.echoes
        stage.draw(FRAME)
        assert UP not in terminal.read()


def test_signals_that_are_ignored_or_handled_stay_so(terminal):
    handled = []
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: handled.append("SIGTERM"))
    with Stage(terminal.stream):
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
    assert handled == ["SIGTERM"]
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_in_the_background_the_settings_of_the_terminal_are_left_alone(terminal, monkeypatch):
    """To change them would stop the process."""
    monkeypatch.setattr(os, "tcgetpgrp", lambda handle: os.getpgrp() + 1)
    with Stage(terminal.stream):
        assert terminal.echoes


def test_a_stream_without_a_terminal_behind_it():
    stream = io.StringIO()
    with Stage(stream) as stage:
        stage.draw(FRAME)
    assert stream.getvalue().startswith(HIDE) and stream.getvalue().endswith(SHOW)


def test_a_terminal_that_is_gone_is_no_reason_to_fail(terminal, monkeypatch):
    def gone(*args):
        raise OSError(5, "Input/output error")

    def refused(*args):
        raise termios.error(5, "Input/output error")

    with Stage(terminal.stream):
        monkeypatch.setattr(module.os, "write", gone)
        monkeypatch.setattr(module.termios, "tcsetattr", refused)
