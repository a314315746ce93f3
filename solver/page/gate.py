"""The gate: what is refused before anything looks at it, and what every answer carries.

Any page that is open in the browser can send requests to this machine. Two things give it away. A name of its own that
it lets point here (DNS rebinding) stays in the header ``Host``, which must be ours. And every request that does
anything is a POST, with which a browser sends the ``Origin`` of the page, which must be ours as well, and says itself
in ``Sec-Fetch-Site`` whether it comes from the page.

A body has a limit, in bytes and in seconds. Every answer forbids the browser to load anything from elsewhere, and says
in one line what is wrong. An exception that nobody expected ends here: the browser learns that there is a defect, and
``notify`` which one.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Callable
from typing import Any

from .events import Asgi

MOST_BODY = 64_000  # bytes
BODY_SECONDS = 10.0
HEADERS = (
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
EVERYWHERE = ("0.0.0.0", "::")
DEFECT = "a defect in the program: see where it was started"


def in_one_line(error: Exception) -> str:
    """A defect, for whoever has started the page."""
    return f"a defect in the page: {type(error).__name__}: {error}"


class Refusal(Exception):
    """A request that is not answered: a status, and why, in one line."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def host_check(host: str, port: int) -> Callable[[str], bool]:
    """What says whether a ``Host`` header is ours, if we listen to an address or a name, and a port.

    Who listens to all addresses is called by any of them, but only by numbers: names can be made to lead here.
    """
    names = {*LOOPBACK, host.lower(), f"[{host.lower()}]"}
    ends = {f":{port}"} | ({""} if port == 80 else set())

    def is_ours(header: str) -> bool:
        name, colon, digits = header.lower().rpartition(":")
        if not colon or not digits.isdigit():
            name, digits = header.lower(), ""
        if (f":{digits}" if digits else "") not in ends:
            return False
        return name in names or (host in EVERYWHERE and _is_number(name.strip("[]")))

    return is_ours


def _is_number(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class Gate:
    """An ASGI application around another one."""

    def __init__(self, app: Asgi, is_ours: Callable[[str], bool], notify: Callable[[str], object]) -> None:
        self._app, self._is_ours, self._notify = app, is_ours, notify

    async def __call__(self, scope: dict[str, Any], receive: Asgi, send: Asgi) -> None:
        begun = False

        async def guarded(message: dict[str, Any]) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, guarded)
        except Refusal as refusal:
            await _refuse(guarded, refusal.status, str(refusal))
        except Exception as error:
            self._notify(in_one_line(error))
            if not begun:
                await _refuse(guarded, 500, DEFECT)

    def _check(self, scope: dict[str, Any]) -> None:
        """Raise ``Refusal`` for a request that does not come from the page itself."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        names = [name for name, _ in scope["headers"]]
        if names.count(b"host") != 1 or not self._is_ours(headers[b"host"]):
            raise Refusal(421, "this page has another address: open the one that it was started with")
        if scope["method"] == "POST":
            origin = headers.get(b"origin")
            foreign = origin is not None and not (
                origin.startswith("http://") and self._is_ours(origin.removeprefix("http://"))
            )
            site = headers.get(b"sec-fetch-site", "none")
            if foreign or names.count(b"origin") > 1 or site not in ("same-origin", "none"):
                raise Refusal(403, "requests from other pages are not answered: open this one by its own address")
            if headers.get(b"content-type", "").partition(";")[0].strip().lower() != "application/json":
                raise Refusal(415, "a request must be JSON: send it with Content-Type: application/json")


async def body_of(headers: Any, receive: Asgi) -> bytes:
    """The body of a request; raises ``Refusal`` if it is too large, or does not come."""
    too_large = Refusal(413, f"the request is too large: at most {MOST_BODY:,} bytes")
    announced = headers.get("content-length", "0")
    if not announced.isdigit() or len(announced) > 15 or int(announced) > MOST_BODY:
        raise too_large
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refusal(400, "the request was given up")
                body += message.get("body", b"")
                if len(body) > MOST_BODY:
                    raise too_large
                if not message.get("more_body"):
                    return body
    except TimeoutError:
        raise Refusal(408, f"the request did not arrive within {BODY_SECONDS:g} seconds") from None


async def _refuse(send: Asgi, status: int, reason: str) -> None:
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
