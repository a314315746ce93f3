"""The start and the end of both programs, where an interruption must not be an exception.

Importing a command line takes some hundredths of a second, and its libraries do not expect an exception in the middle
of that: they would print a traceback, or swallow it. So Ctrl-C and SIGTERM end the process at once, until ``shell.run``
lets them raise ``KeyboardInterrupt`` instead. When a command is done they come too late to change anything, and end the
process as it would have ended: the interpreter, too, prints a traceback if it is interrupted while it shuts down. A
program starts here, where next to nothing is imported.
"""

import os
import signal
from contextlib import suppress
from importlib import import_module

SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = 130  # the exit code


def launch(command_line: str) -> int:
    """Run ``main`` of the module that holds a command line, and return the exit code, which must end the process."""
    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heeded:
        signal.signal(number, end_at_once)
    try:
        code = import_module(command_line).main()
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:  # one more while the first one was handled
        code = INTERRUPTED
    for number in heeded:
        signal.signal(number, lambda *_: os._exit(code))
    return code


def end_at_once(*_: object) -> None:
    """End a process that has not begun its work: a handler of signals."""
    with suppress(OSError):  # nobody listens
        os.write(2, b"interrupted: before the work began\n")
    os._exit(INTERRUPTED)
