"""Ctrl-C while code is compiled."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

# How a command that is interrupted while code is compiled ends; None in a program that is no command of ours.
end_command: Callable[[], object] | None = None


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """While code is compiled: an interruption must not be raised there, the compiler does not survive it.

    A command ends at once, since nothing is lost; a caller from Python is interrupted when the code is ready.
    """
    signals = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) is signal.default_int_handler]
    if threading.current_thread() is not threading.main_thread():
        signals = []
    told = []

    def handle(number, frame) -> None:
        if end_command:
            end_command()
        told.append(number)

    for one in signals:
        signal.signal(one, handle)
    try:
        yield
    finally:
        for one in signals:
            signal.signal(one, signal.default_int_handler)
    if told:
        raise KeyboardInterrupt
