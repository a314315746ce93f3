"""Interruptions (Ctrl-C, or a request to terminate) while code is being compiled.

A signal becomes a ``KeyboardInterrupt`` wherever the main thread happens to be, and the compiler does not survive one
raised inside it. So while it runs, signals are only noted.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

from . import ending


@contextlib.contextmanager
def compiling(at_once: bool = True) -> Iterator[None]:
    """Surrounds compilation. An interruption ends a command at once; elsewhere it is raised when the block ends.

    A command has nothing to lose at that point, unless it is in the middle of its work: then it is not to end
    ``at_once``. A program that calls us from Python may have something to lose at any time.
    """
    interrupting = [
        number
        for number in (signal.SIGINT, signal.SIGTERM)
        if threading.current_thread() is threading.main_thread()  # no other thread may set handlers, or gets signals
        and signal.getsignal(number) is signal.default_int_handler
    ]
    interrupted = False

    def handle(number, frame) -> None:
        nonlocal interrupted
        if ending.end_command and at_once:
            ending.end_command("before the work began", ending.INTERRUPTED)
        interrupted = True

    for number in interrupting:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in interrupting:
            signal.signal(number, signal.default_int_handler)
    if interrupted:
        raise KeyboardInterrupt
