"""The base of both command lines: parsers, output, one-line errors, exit codes, clean ends.

A command raises whatever goes wrong, and ``run`` turns it into one line on stderr and an exit code:

    0     done, even if the reader of the output closed it early
    2     bad input or an unusable file
    70    a defect in the program, printed with its traceback
    130   interrupted by Ctrl-C or SIGTERM

Any other exit code is returned by the command itself.

*Start-up.* Help and errors in the arguments should appear at once, but importing numba takes a noticeable
part of a second. So a command is a module that is imported when it is called, and nothing that is imported
before that needs numpy or numba.

*Flags.* The library knows nothing about command lines. Its errors name parameters, in backticks, as in
"raise `max_memory`". ``with_flags`` turns them into flags when an error is printed.

*Streams.* A standard stream can be closed, full, or unable to encode a character. A program must not fail
with a traceback because of that, nor report success for output that was never written.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

from . import __version__
from .base import ending, interrupts
from .base.errors import SlidepdbError
from .base.folders import databases_folder
from .base.workers import MAX_THREADS

DEFECT = 70  # the exit code of a defect in the program
REMEDIES = {
    errno.ENOENT: "check the name",
    errno.EACCES: "check its permissions, or choose another",
    errno.EISDIR: "name a file",
    errno.ENOSPC: "make room, or use another disk",
}
FLAGS = {"every": "--all"}  # parameters whose flags have other names


# ---- output -------------------------------------------------------------------------------------


def notice(text: str) -> None:
    """Print one line on stderr, if it can be written."""
    with contextlib.suppress(OSError):
        print(" ".join(text.split()), file=sys.stderr, flush=True)


def with_flags(message: str) -> str:
    """A message of the library for the command line: `max_memory` in backticks becomes --max-memory."""
    return re.sub(
        r"(?<!')`([a-z_]+)`(?!')", lambda match: FLAGS.get(match[1], "--" + match[1].replace("_", "-")), message
    )


def bar_chart(levels: Iterable[tuple[int, int]], width: int = 40) -> Iterator[str]:
    """One line per (distance, count), with a bar proportional to the count."""
    levels = list(levels)
    most = max(count for _, count in levels)
    for distance, count in levels:
        eighths = round(8 * width * count / most)
        bar = "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]
        yield f"    {distance:3d} {count:15,d} {bar or '▏'}"


# ---- arguments ----------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str):
        message = " ".join(message.split())  # it may quote an argument of several lines
        self.exit(2, f"{self.prog}: error: {message} (see '{self.prog} --help')\n")


def new_parser(
    prog: str, package: str, description: str, example: str, exit_codes: str
) -> tuple[Parser, Callable[[str, str, str], Parser]]:
    """A parser, and a function that adds a command to it, given its name, a summary and an example.

    The command ``name`` is the function ``run`` of the module ``name`` in ``package``.
    """

    def with_epilog(example: str) -> dict:
        epilog = f"{exit_codes}\n\nexample: {example}"
        return {"epilog": epilog, "formatter_class": argparse.RawDescriptionHelpFormatter}

    parser = Parser(prog=prog, description=description, **with_epilog(example))
    parser.add_argument("--version", action="version", version=f"slidepdb {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add_command(name: str, summary: str, example: str) -> Parser:
        description = summary[0].upper() + summary[1:] + "."
        command = commands.add_parser(name, help=summary, description=description, **with_epilog(example))
        command.set_defaults(module=f"{package}.{name}")
        return command

    return parser, add_command


def parse_size(text: str) -> int:
    """The number of bytes written as 4G, 512M, 1.5GB or without a unit."""
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kmgt]?)i?b?", text.strip().lower())
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size: write it as 4G or 512M")
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2] or " "))


def positive(text: str) -> int:
    """A number from 1 to ``MAX_THREADS``: of threads, processes or repetitions."""
    if not re.fullmatch(r"0*[1-9][0-9]{0,2}", text) or int(text) > MAX_THREADS:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a number from 1 to {MAX_THREADS}")
    return int(text)


def absolute_path(text: str) -> Path:
    return Path(text).absolute()


def threads_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--threads", type=positive, metavar="N", help="threads to use (default: all cores)")


def folder_option(command: argparse.ArgumentParser) -> None:
    """``--folder``, an absolute path; ``run`` fills in the default, which help can do without."""
    command.add_argument(
        "--folder",
        type=absolute_path,
        help="the folder of databases (default: $SLIDEPDB_DATABASES; if that is not set, databases/ in the checkout or "
        "in the user's data folder)",
    )


# ---- running a command --------------------------------------------------------------------------


def run(prog: str, make_parser: Callable[[], Parser], argv: list[str] | None, after_interrupt: str) -> int:
    """Parse the arguments, run the command, and return its exit code.

    ``after_interrupt`` is what an interrupted command says unless it says something itself.
    """
    interrupts.end_command = _end_before_work

    def end_at_once(message: str, code: int) -> None:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # ends the line of the progress bar
        notice(f"{prog}: {message}")
        os._exit(code)

    ending.end_command = end_at_once
    prepare_streams()
    words = sys.argv[1:] if argv is None else argv
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM interrupts, like Ctrl-C

    def fail(error: object) -> int:
        notice(f"{prog}: error: {with_flags(str(error))}")
        return 2

    try:
        args = make_parser().parse_args(words)
        args.words = words
        if "folder" in args and args.folder is None:
            args.folder = databases_folder()
        with interrupts.compiling():  # numpy does not survive an interrupt of its import either
            command = import_module(args.module)
        code = command.run(args)
        sys.stdout.flush()
        return code
    except SlidepdbError as error:
        return fail(error)
    except MemoryError:
        return fail("out of memory: use a smaller board or smaller patterns, or close other programs")
    except KeyboardInterrupt as interrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # ends the line of the progress bar
        notice(f"interrupted: {str(interrupt) or after_interrupt}")
        return 130
    except BrokenPipeError:  # the reader of the output closed it: not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:  # stdout: what it still buffers cannot be written either
            with contextlib.suppress(OSError):
                sys.stdout.close()
        remedy = REMEDIES.get(error.errno or 0, "choose another")
        return fail(f"{error.filename or 'output'}: {error.strerror or error}: {remedy}")
    except Exception:
        traceback.print_exc()
        return DEFECT
    finally:
        interrupts.end_command = ending.end_command = None


def _end_before_work() -> None:
    """End the program while modules are imported or kernels are compiled, which an exception would break."""
    notice("interrupted: before the work began")
    os._exit(130)


def prepare_streams() -> None:
    """Make the standard streams usable: reopen closed ones, and let all of them print any file name or bar."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
            stream.reconfigure(errors="surrogateescape" if utf8 else "replace")
