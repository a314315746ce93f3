"""Other processes, to measure what must not depend on what this one has done before."""

from __future__ import annotations

import subprocess
import sys


def run_python(*words: str) -> subprocess.CompletedProcess[bytes]:
    """Run Python with these arguments, and keep what it prints on stdout.

    Ctrl-C in a terminal does not reach it, or it would print a traceback; it is killed if this process is interrupted.
    """
    return subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, process_group=0)
