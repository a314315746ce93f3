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
with a traceback because of that, nor report success for output that was never written. What a stream cannot encode is
printed in ASCII, where there is something like it: ``PLAIN`` is the only place that knows.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import errno
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from . import __version__
from .base import compile_cache, ending, interrupts
from .base.errors import SlidepdbError
from .base.files import remove_unfinished
from .base.folders import databases_folder
from .base.workers import MAX_THREADS
from .launch import INTERRUPTED, SIGNALS, end_at_once

MOST_WRITTEN, MOST_TEXT = 10**18, "10^18"  # beyond any size, limit or number that makes sense
DEFECT = 70  # the exit code of a defect in the program
REMEDIES = {
    errno.ENOENT: "check the name",
    errno.EACCES: "check its permissions, or choose another",
    errno.EISDIR: "name a file",
    errno.ENOSPC: "make room, or use another disk",
}
FLAGS = {"every": "--all"}  # parameters whose flags have other names

# What is printed instead of a character that a stream cannot encode, and for any other.
PLAIN = dict.fromkeys("▏▎▍", "|") | dict.fromkeys("▌▋▊▉█", "#") | {"×": "x", "…": "..."}
UNKNOWN = "?"


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
    """An argument parser that takes options by their whole names, and whose errors are one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

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
    match = re.fullmatch(r"([0-9]{1,99}(?:\.[0-9]{1,99})?)\s*([kmgt]?)i?b?", text.strip().lower())
    size = float(match[1]) * 1000 ** " kmgt".index(match[2] or " ") if match else -1
    if not 0 <= size <= MOST_WRITTEN:
        raise argparse.ArgumentTypeError(
            f"'{text[:20]}' is not a size of up to {MOST_TEXT} bytes: write it as 4G or 512M"
        )
    return int(size)


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

    told = threading.Lock()  # held by the first of several threads that meet the same error

    def end_in_the_middle(message: str, code: int) -> None:
        if not told.acquire(blocking=False):
            time.sleep(1)
            os._exit(code)
        remove_unfinished()
        text = f"interrupted: {message}" if code == INTERRUPTED else f"{prog}: error: {message}"
        after_bar = "\n" if sys.stderr.isatty() else ""
        with contextlib.suppress(OSError):  # not by the stream, which may be in the middle of something itself
            os.write(2, f"{after_bar}{text}\n".encode(errors="replace"))
        os._exit(code)

    def fail(error: object) -> int:
        if told.acquire(blocking=False):
            notice(f"{prog}: error: {with_flags(str(error))}")
        return 2

    try:
        ending.end_command, compile_cache.notify = end_in_the_middle, notice
        prepare_streams()
        _raise_interrupts()
        words = sys.argv[1:] if argv is None else argv
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
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output closed it: not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None and error.errno in (errno.ENOENT, errno.EACCES):  # no output fails like this
            return fail("the current folder was removed, or cannot be read: change to another one")
        if error.filename is None:  # stdout: what it still buffers cannot be written either
            with contextlib.suppress(OSError):
                sys.stdout.close()
        remedy = REMEDIES.get(error.errno or 0, "choose another")
        return fail(f"{error.filename or 'output'}: {error.strerror or error}: {remedy}")
    except Exception:
        traceback.print_exc()
        return DEFECT
    finally:
        ending.end_command = compile_cache.notify = None


def _raise_interrupts() -> None:
    """Let Ctrl-C and SIGTERM raise ``KeyboardInterrupt``, unless whoever called us handles or ignores them."""
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) in (signal.SIG_DFL, end_at_once):
                signal.signal(number, signal.default_int_handler)


# ---- streams ------------------------------------------------------------------------------------


def prepare_streams() -> None:
    """Make the standard streams usable: reopen closed ones, and let all of them print any file name or bar."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
    codecs.register_error("plain", _in_plain)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="plain")


def _in_plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """What is printed for the first character that cannot be encoded, and where to go on."""
    assert isinstance(error, UnicodeEncodeError), "nothing is decoded in this way"
    character, go_on = error.object[error.start], error.start + 1
    if "\udc80" <= character <= "\udcff":  # a byte of a file name that is not text: print just that
        return bytes([ord(character) - 0xDC00]), go_on
    return PLAIN.get(character, UNKNOWN), go_on
