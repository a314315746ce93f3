"""Programs started, watched and ended by tests."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
DEADLINE = 60  # seconds after which a process is killed, so that no test waits forever


def environment(**variables):
    return os.environ | {"PYTHONPATH": str(ROOT)} | variables


@contextmanager
def started(*words, before=lambda: None, variables=None, deadline=DEADLINE, **options):
    """``python`` with these arguments, in a new session. It is killed at the end of the block if it still runs."""

    def prepare():
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell starts jobs in the background with it ignored
        before()

    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    settings = {"text": True, "bufsize": 1, "start_new_session": True, "env": environment(**variables or {})}
    command = [sys.executable, *map(str, words)]
    with subprocess.Popen(command, preexec_fn=prepare, **(streams | settings | options)) as process:
        watchdog = threading.Timer(deadline, process.kill)
        watchdog.start()
        try:
            yield process
        finally:
            watchdog.cancel()
            process.kill()


def ended(process, number=None, traceback=False):
    """Send a signal, if one is given, and wait for the end: exit code, output and errors, of which none is ours."""
    if number is not None:
        process.send_signal(number)
    output, errors = process.communicate()
    assert traceback or "Traceback" not in (errors or ""), errors
    return process.returncode, output, errors
