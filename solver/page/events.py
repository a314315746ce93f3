"""Server-sent events: what a job has to say, on its way to the browser.

A job runs in a thread of its own and drops its events into a ``Mailbox``; the loop that talks to browsers picks them up
and writes them to the response, for as long as somebody reads it. A browser that reads slowly gets the latest progress
and the latest table, not all of them, and the stream of one that does not read at all is ended. When the browser is
gone, or the page is closed, the job is withdrawn.

Only the format is that of ``EventSource``: the browser reads it from the answer to a POST, which no other page can
send.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

PROGRESS, TABLE, END = "progress", "table", "end"
LATEST = (PROGRESS, TABLE)  # events of which only the last counts
MOST_EVENTS = 4000  # that wait for a browser
Asgi = Callable[..., Any]


class Mailbox:
    """The events of a job, which come from any thread and are read by one loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: list[tuple[str, dict]] = []
        self._filled, self.overfull = asyncio.Event(), asyncio.Event()

    def tell(self, event: str, facts: dict) -> None:
        """Drop an event; called by any thread."""
        try:
            self._loop.call_soon_threadsafe(self._put, event, facts)
        except RuntimeError:  # the loop is closed: nobody reads any more
            return

    def _put(self, event: str, facts: dict) -> None:
        if event in LATEST:
            self._events = [one for one in self._events if one[0] != event]
        if len(self._events) < MOST_EVENTS:
            self._events.append((event, facts))
        else:
            self.overfull.set()
        self._filled.set()

    async def collect(self) -> list[tuple[str, dict]]:
        """The events so far, once there is one."""
        await self._filled.wait()
        self._filled.clear()
        events, self._events = self._events, []
        return events


class EventStream:
    """The response that a job writes: an ASGI application. ``gone`` is called when it is over, however it ends."""

    def __init__(self, mailbox: Mailbox, gone: Callable[[], object]) -> None:
        self._mailbox, self._gone = mailbox, gone

    async def __call__(self, scope: dict, receive: Asgi, send: Asgi) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
        tasks: list[asyncio.Task] = []
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            ways = (self._write(send), _disconnected(receive), self._mailbox.overfull.wait())
            tasks += map(asyncio.ensure_future, ways)
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._gone()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, send: Asgi) -> None:
        over = False
        while not over:
            events = await self._mailbox.collect()
            over = any(event == END for event, _ in events)
            body = "".join(f"event: {event}\ndata: {json.dumps(facts)}\n\n" for event, facts in events)
            await send({"type": "http.response.body", "body": body.encode(), "more_body": not over})


async def _disconnected(receive: Asgi) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
