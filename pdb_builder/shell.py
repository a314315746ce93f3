"""What the command lines of builder and solver share: options, one-line errors, exit codes, clean ends.

Commands raise; ``run`` translates. Bad input and unusable files are one line on stderr and exit code 2, an
interruption is 130, and a reader who has seen enough of our output is no error at all. Anything else is a
defect of ours: a traceback and exit code 70.
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
from .base import interrupts
from .base.errors import SlidepdbError
from .base.folders import databases_folder
from .base.workers import MAX_THREADS

DEFECT = 70  # the exit code of an error of ours, which no other outcome has
REMEDIES = {
    errno.ENOENT: "give the name of one that is there",
    errno.EACCES: "give another, or the right to use it",
    errno.EISDIR: "give the name of a file",
    errno.ENOSPC: "make room, or take another disk",
}
FLAGS = {"every": "--all"}  # parameters whose flags have other names


def notice(text: str) -> None:
    """One line on stderr, if anybody can read it."""
    with contextlib.suppress(OSError):
        print(" ".join(text.split()), file=sys.stderr, flush=True)


def with_flags(message: str) -> str:
    """A message of the library for the command line: `max_memory` in backticks becomes --max-memory."""
    return re.sub(r"`([a-z_]+)`", lambda match: FLAGS.get(match[1], "--" + match[1].replace("_", "-")), message)


def bar_chart(levels: Iterable[tuple[int, int]], width: int = 40) -> Iterator[str]:
    """A line for each (distance, count), with a bar as long as the count is large."""
    levels = list(levels)
    most = max(count for _, count in levels)
    for distance, count in levels:
        eighths = round(8 * width * count / most)
        bar = "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]
        yield f"    {distance:3d} {count:15,d} {bar or '▏'}"


def parse_size(text: str) -> int:
    """A number of bytes written as 4G, 512M, 1.5GB or plain."""
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kmgt]?)i?b?", text.strip().lower())
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size: write it as 4G or 512M")
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2] or " "))


def positive(text: str) -> int:
    if not re.fullmatch(r"0*[1-9][0-9]{0,2}", text) or int(text) > MAX_THREADS:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a number from 1 to {MAX_THREADS}")
    return int(text)


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line."""

    def error(self, message: str):
        message = " ".join(message.split())  # it may quote what was given
        self.exit(2, f"{self.prog}: error: {message} (see '{self.prog} --help')\n")


def new_parser(
    prog: str, package: str, description: str, example: str, exit_codes: str
) -> tuple[Parser, Callable[..., Parser]]:
    """A parser, and a function that adds a command to it: its name, a summary, an example.

    The command ``name`` is the function ``run`` of the module ``name`` in ``package``, imported when it is called.
    """
    parser = Parser(
        prog=prog,
        description=description,
        epilog=f"example: {example}\n\n{exit_codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"slidepdb {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, summary: str, example: str) -> Parser:
        sub = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog=f"example: {example}\n\n{exit_codes}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(module=f"{package}.{name}")
        return sub

    return parser, command


def threads_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--threads", type=positive, metavar="N", help="threads to use (default: all cores)")


def folder_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--folder",
        type=Path,
        default=databases_folder(),
        help="where databases are kept (default: %(default)s; $SLIDEPDB_DATABASES)",
    )


def _end_while_compiling() -> None:
    notice("interrupted: while code was compiled, before anything began")
    os._exit(130)


def run(prog: str, make_parser: Callable[[], Parser], argv: list[str] | None, after_interrupt: str) -> int:
    """Parse the arguments, run the command they name, and return its exit code."""
    interrupts.end_command = _end_while_compiling
    prepare_streams()
    words = sys.argv[1:] if argv is None else argv
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be told to stop is to be interrupted

    def fail(error: object) -> int:
        notice(f"{prog}: error: {with_flags(str(error))}")
        return 2

    try:
        args = make_parser().parse_args(words)
        args.words = words
        code = import_module(args.module).run(args)
        sys.stdout.flush()
        return code
    except SlidepdbError as error:
        return fail(error)
    except MemoryError:
        return fail("the memory ran out: take something smaller, or close other programs")
    except KeyboardInterrupt as stop:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # leave the line of the progress bar
        notice(f"interrupted: {str(stop) or after_interrupt}")
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:  # the output itself: what it still holds cannot be written either
            with contextlib.suppress(OSError):
                sys.stdout.close()
        remedy = REMEDIES.get(error.errno, "give another")
        return fail(f"{error.filename or 'output'}: {error.strerror or error}: {remedy}")
    except Exception:
        traceback.print_exc()
        return DEFECT
    finally:
        interrupts.end_command = None


def prepare_streams() -> None:
    """Make every standard stream usable: open if the caller closed it, and able to print any name or bar."""
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
