"""``pdb-solver serve``: the page in a browser, until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import webbrowser

from pdb_builder.base import ending
from pdb_builder.base.errors import InputError
from pdb_builder.shell import notice

from ..page.server import address_of, check_libraries, is_loopback, listen, serve

CLOSED = "the page is closed, and its searches are stopped"


def run(args: argparse.Namespace) -> int:
    check_libraries()
    alone = is_loopback(args.host)
    if not alone and not args.public:
        raise InputError(
            f"{args.host} can be reached from other machines: add --public if that is meant, or use 127.0.0.1"
        )
    listening = listen(args.host, args.port)
    address = address_of(args.host, listening)
    if not alone:
        notice(f"everybody who can reach {args.host} can use this page, and the cores of this machine with it")

    def begun() -> None:
        print(address, flush=True)
        notice("open this address in a browser; Ctrl-C ends the page")
        if args.browser and _has_browser():
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(listening, args.host, args.folder, notice, begun)
    if ending.end_command:  # at once, whatever threads are still doing: the compiler, for one, cannot be stopped
        ending.end_command(CLOSED, ending.INTERRUPTED)
    raise KeyboardInterrupt(CLOSED)


def _has_browser() -> bool:
    """Whether there is a browser with a window: one of the terminal would take it away."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
