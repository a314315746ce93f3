"""The server: it listens on one address, and ends within a second whatever is under way.

uvicorn waits for open connections when it is told to end. Streams of events would keep it waiting, so they are ended
first, and the searches behind them with them.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path

from pdb_builder.base.errors import InputError

from . import USUAL_PORT
from .app import Page, make_app
from .gate import host_check

MOST_CONNECTIONS = 512


def check_libraries() -> None:
    """Raise ``InputError`` if the libraries that the page needs are not installed."""
    for library, name in (("starlette", "Starlette"), ("uvicorn", "uvicorn")):
        if find_spec(library) is None:
            raise InputError(f"the page needs {name}, which is not installed: run pip install 'slidepdb[web]'")


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on an address. Without a port it is the usual one, or any other that is free."""
    for number in (USUAL_PORT, 0) if port is None else (port,):
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
            listening = socket.socket(family, kind, protocol)
        except (OSError, UnicodeError) as error:
            raise InputError(f"there is no address {host[:60]!r} here: {error}: use 127.0.0.1") from None
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(MOST_CONNECTIONS)
            return listening
        except (OSError, OverflowError) as error:
            listening.close()
            if port is None and number and getattr(error, "errno", None) == errno.EADDRINUSE:
                continue
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{host}, port {number}, cannot be used: {reason}: choose another `port`") from None
    raise AssertionError("a free port is always found")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host.lower() == "localhost"


def address_of(host: str, listening: socket.socket) -> str:
    """The address to open in a browser."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host) or (f"[{host}]" if ":" in host else host)
    return f"http://{name}:{listening.getsockname()[1]}/"


def serve(
    listening: socket.socket,
    host: str,
    folder: Path,
    notify: Callable[[str], object],
    begun: Callable[[], object],
) -> None:
    """Serve the page of a folder of databases until Ctrl-C. Searches are asked to stop then, but not waited for.

    ``notify`` is told of defects, ``begun`` is called when the page can be opened.
    """
    import uvicorn

    page = Page(folder, notify)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            begun()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            page.close()
            await super().shutdown(sockets)

    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    logging.getLogger("uvicorn").propagate = False
    app = make_app(page, host_check(host, listening.getsockname()[1]))
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=0.5,  # type: ignore[arg-type]
    )
    with suppress(KeyboardInterrupt):
        asyncio.run(Server(config).serve([listening]))
