"""Which request leads where: an ASGI application made with Starlette.

Everything that is asked or done is a POST of JSON. An answer at once is worked out by one set of workers, so that it
does not wait behind searches, which have another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from importlib.resources import files
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from pdb_builder.base.errors import SlidepdbError

from ..search.outcome import INTERRUPT, Stopped
from . import answers, tasks
from .events import END, Asgi, EventStream, Mailbox
from .fields import Fields, fields_of
from .gate import DEFECT, Gate, Refusal, body_of, in_one_line
from .inside import histogram, inside
from .tasks import AT_ONCE, Task
from .telling import in_words
from .workers import Busy, Job, Workers

if TYPE_CHECKING:
    from starlette.requests import Request

ANSWERS: dict[str, Callable[[Fields, Path], dict[str, Any]]] = {
    "about": answers.about,
    "board": answers.board,
    "shuffle": answers.shuffle,
    "inside": inside,
    "histogram": histogram,
}
TASKS: dict[str, Callable[[Fields, Path], Task]] = {
    "solve": tasks.solving,
    "fewest": tasks.fewest,
    "compare": tasks.comparing,
}
KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
MOST_WAITING = 100  # requests of each kind
BUSY = "too many requests are waiting: try again in a moment"


class Page:
    """The page of a folder of databases: what its requests share."""

    def __init__(self, folder: Path, notify: Callable[[str], object]) -> None:
        self.folder, self.notify = folder, notify
        self.searches = Workers(AT_ONCE, MOST_WAITING)
        self.looks = Workers(AT_ONCE, MOST_WAITING)
        self.streams: set[Mailbox] = set()

    def close(self) -> None:
        """Stop all searches and end all streams."""
        for mailbox in self.streams:
            mailbox.tell(END, {})
        self.searches.close()
        self.looks.close()

    async def answer(self, work: Callable[[Fields, Path], dict[str, Any]], fields: Fields) -> dict[str, Any]:
        """What a function answers to a request."""
        future: Future[dict[str, Any]] = Future()

        def run(interrupt: Event) -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work(fields, self.folder))
            except Exception as error:
                future.set_exception(error)

        _submit(self.looks, Job(run))
        return await asyncio.wrap_future(future)

    def stream(self, task: Task) -> EventStream:
        """The events of a task, which begins when it is its turn."""
        mailbox = Mailbox()

        def run(interrupt: Event) -> None:
            try:
                if interrupt.is_set():
                    raise Stopped(INTERRUPT)
                task(mailbox.tell, interrupt)
            except Stopped:
                mailbox.tell("stopped", {})
            except SlidepdbError as error:
                mailbox.tell("error", {"error": in_words(error, self.folder)})
            except MemoryError:
                mailbox.tell("error", {"error": "out of memory: use a smaller board, or close other programs"})
            except Exception as error:
                self.notify(in_one_line(error))
                mailbox.tell("error", {"error": DEFECT})
            finally:
                mailbox.tell(END, {})

        job = Job(run, lambda place: mailbox.tell("place", {"id": job.id, "place": place}))
        _submit(self.searches, job)
        self.streams.add(mailbox)

        def gone() -> None:
            self.streams.discard(mailbox)
            self.searches.withdraw(job)

        return EventStream(mailbox, gone)


def _submit(workers: Workers, job: Job) -> None:
    try:
        workers.submit(job)
    except Busy:
        raise Refusal(503, BUSY) from None


def _static_files() -> Iterator[tuple[str, bytes, str]]:
    """What the browser is given: names, contents and types. They are read once, so no request reaches a file."""
    for file in (files(__package__) / "static").iterdir():
        kind = KINDS[file.name.rpartition(".")[2]]
        yield "" if file.name == "index.html" else file.name, file.read_bytes(), kind


def make_app(page: Page, is_ours: Callable[[str], bool]) -> Asgi:
    """The application that serves a page to those who call it by a name that ``is_ours``."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    async def fields_in(request: Request) -> Fields:
        return fields_of(await body_of(request.headers, request.receive))

    def answered(work: Callable[[Fields, Path], dict[str, Any]]) -> Callable:
        async def endpoint(request: Request) -> Response:
            fields = await fields_in(request)
            answer = await page.answer(work, fields)
            fields.check_all_read()
            return JSONResponse(answer, headers={"cache-control": "no-store"})

        return endpoint

    def streamed(task: Callable[[Fields, Path], Task]) -> Callable:
        async def endpoint(request: Request) -> EventStream:
            fields = await fields_in(request)
            prepared = task(fields, page.folder)
            fields.check_all_read()
            return page.stream(prepared)

        return endpoint

    async def stop(request: Request) -> Response:
        fields = await fields_in(request)
        id = fields.text("id")
        fields.check_all_read()
        return JSONResponse({"stopped": page.searches.stop(id)})

    async def wrong_input(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": in_words(error, page.folder)}, status_code=400)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return JSONResponse({"error": str(error)}, status_code=error.status)

    async def not_here(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        reason = {404: "there is nothing at this address", 405: "this address is not used in this way"}
        text = reason.get(error.status_code, "this request cannot be answered")
        return JSONResponse({"error": text}, status_code=error.status_code, headers=error.headers)

    def shown(content: bytes, kind: str) -> Callable:
        async def endpoint(request: Request) -> Response:
            return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

        return endpoint

    routes = [
        *(Route(f"/api/{name}", answered(work), methods=["POST"]) for name, work in ANSWERS.items()),
        *(Route(f"/api/{name}", streamed(task), methods=["POST"]) for name, task in TASKS.items()),
        Route("/api/stop", stop, methods=["POST"]),
        *(Route(f"/{name}", shown(content, kind)) for name, content, kind in _static_files()),
    ]
    handlers: Any = {SlidepdbError: wrong_input, Refusal: refused, HTTPException: not_here}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False  # an address with a slash too many is none
    return Gate(app, is_ours, page.notify)
