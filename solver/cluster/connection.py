"""The connection to a cluster: all that the client knows of Dask.

    tcp://host:8786              the address of a scheduler (also tls:// and what else Dask knows)
    file:/shared/scheduler.json  the file that a scheduler has written its address to
    local:4                      worker processes on this machine, as long as the connection lasts

Workers of this machine use the client's folder of databases. All others have their own.

*Patience.* Dask waits for half a minute, or forever, where a user would rather be told. So whatever asks the scheduler
for something does that in a thread of its own, and the answer is awaited for a time of our choice.

*Ctrl-C* in a terminal reaches all processes of a command. Workers of this machine are not to see it: they are told by
the client, which ends them. They inherit that SIGINT is blocked from the thread that starts them, and from the threads
of Dask, which are started there as well.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from pdb_builder.base.errors import ClusterLost, InputError
from pdb_builder.base.folders import databases_folder

CONNECTING = 5.0  # seconds
STARTING = 120.0  # seconds for workers of this machine
ANSWERING = 2.0  # seconds for what a scheduler knows at once
EXAMINING = 600.0  # seconds for workers to open their databases
PULSE = 0.05  # seconds between looks at an answer
LOCAL, FILE = "local:", "file:"
LOOPBACK = "127.0.0.1"
SCHEMES = ("tcp", "tls", "ucx", "ws", "wss")
MOST_LOCAL = 256  # processes
WORDS = "write it as tcp://host:8786, file:/shared/scheduler.json or local:4"
SILENT = logging.CRITICAL + 1


def in_time(call: Callable[[], Any], seconds: float, pulse: Callable[[], object] = lambda: None) -> Any:
    """What a call returns, or raises, in another thread; ``TimeoutError`` if that takes too long.

    ``pulse`` is called now and then, and may end the waiting by an exception.
    """
    answer: Future = Future()

    def ask() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=ask, daemon=True).start()
    deadline = time.monotonic() + seconds
    while True:
        with suppress(TimeoutError):
            answer.exception(PULSE)
            return answer.result()
        if answer.done():  # by a TimeoutError of its own
            return answer.result()
        pulse()
        if time.monotonic() >= deadline:
            raise TimeoutError


class Connection:
    """A scheduler and its workers."""

    def __init__(self, client: Any, name: str, folder: Path | None = None) -> None:
        """``folder`` is that of the databases of workers of this machine; those of others have their own."""
        self.client, self.name, self.is_local = client, name, folder is not None
        self.folder = None if folder is None else str(folder)
        self.lost_since: float | None = None

    # ---- workers ------------------------------------------------------------------------------------

    def workers(self) -> dict[str, int]:
        """The addresses of the workers and their threads: none if the scheduler does not answer."""
        with suppress(Exception):
            if self.client.status == "running":
                return dict(in_time(self.client.nthreads, ANSWERING))
        return {}

    def threads(self) -> int:
        """How many tasks can run at a time: one at least."""
        return max(1, sum(self.workers().values()))

    def is_lost(self, patience: float) -> bool:
        """Whether for so many seconds there has been no connection to the scheduler, or no worker will come."""
        now = time.monotonic()
        if self.client.status == "running" and not self._is_deserted():
            self.lost_since = None
            return False
        if self.lost_since is None:
            self.lost_since = now
        return self.client.status == "closed" or now - self.lost_since >= patience

    def _is_deserted(self) -> bool:
        """Whether Dask has given up all workers of this machine: those that die while they start are not replaced."""
        return self.is_local and not self.client.cluster.workers

    def gone(self) -> ClusterLost:
        """The error that says that all is lost, and how it begins again."""
        if self._is_deserted():
            return ClusterLost(f"{self.name} has lost all of its workers: look for what ends them, memory perhaps")
        return ClusterLost(f"{self.name} is gone: start the scheduler and its workers again")

    def run_everywhere(self, function: Callable, *args: Any, pulse: Callable[[], object]) -> dict[str, Any]:
        """What a function returns, or raises, on each worker there is."""

        def still_there() -> None:
            pulse()
            if self.is_lost(ANSWERING):
                raise self.gone()

        try:
            return in_time(lambda: self.client.run(function, *args, on_error="return"), EXAMINING, still_there)
        except TimeoutError:
            raise InputError(f"the workers of {self.name} do not answer: look at their logs") from None

    # ---- tasks --------------------------------------------------------------------------------------

    def submit(self, function: Callable, *args: Any, workers: list[str] | None = None) -> Any:
        """A task: idempotent, but never the same as another one."""
        return self.client.submit(function, *args, pure=False, workers=workers)

    def submit_all(
        self, function: Callable, given: list, workers: list[str] | None = None, priority: int = 0
    ) -> list[Any]:
        """Tasks of one argument each, in one message. Those of higher priority come first."""
        return self.client.map(function, given, pure=False, workers=workers, priority=priority)

    def arrivals(self) -> Any:
        """Collects tasks as they end, with their results."""
        from distributed import as_completed

        return as_completed(with_results=True, raise_errors=False, loop=self.client.loop)

    def is_killed(self, error: BaseException) -> bool:
        """Whether a task was given up because several workers have died with it."""
        return type(error).__name__ == "KilledWorker"

    def abandon(self, tasks: list, note: Callable, *args: Any) -> None:
        """Take tasks back, and leave a note with all workers for those that run."""

        def tell() -> None:
            if tasks:
                self.client.cancel(tasks)
            self.client.run(note, *args, on_error="return")

        if self.client.status == "running":
            with suppress(Exception):  # nobody is there to be told
                in_time(tell, ANSWERING / 2)


@contextmanager
def connected(to: Any, folder: Path | None = None) -> Iterator[Connection]:
    """The connection to an address, or by a ``distributed.Client`` that is there already.

    Raises ``InputError`` if there is nobody, or no Dask.
    """
    try:
        import distributed
    except ImportError:
        raise InputError("a cluster needs Dask: install it with pip install 'slidepdb[cluster]'") from None
    if isinstance(to, distributed.Client):
        if to.asynchronous or to.status != "running":
            what = "asynchronous" if to.asynchronous else to.status
            raise InputError(f"`cluster` is a client that is {what}: give one that is connected, and waits for answers")
        yield Connection(to, str(to.scheduler and to.scheduler.address))
        return
    if not isinstance(to, str):
        raise InputError(f"`cluster` must be an address or a distributed.Client, got {to!r}: {WORDS}")
    with _silence():
        if to.startswith(LOCAL):
            with _local(distributed, to) as client:
                yield Connection(client, to, folder or databases_folder())
        else:
            address = _address_in(Path(to.removeprefix(FILE))) if to.startswith(FILE) else to
            with _client(distributed, address) as client:
                yield Connection(client, to)


def connected_if_given(to: Any, folder: Path | None = None) -> AbstractContextManager[Connection | None]:
    """``connected``, or no connection without an address."""
    return nullcontext() if to is None else connected(to, folder)


@contextmanager
def _silence() -> Iterator[None]:
    """What goes wrong is said in our words, not by the logs of Dask."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    loggers = [logging.getLogger(name) for name in {*names, "distributed", "tornado", "asyncio"}]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(SILENT)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


# ---- a scheduler ------------------------------------------------------------------------------------


def _address_in(path: Path) -> str:
    """The address in the file of a scheduler."""
    if path.exists() and not path.is_file():  # reading a device or a pipe may never end
        raise InputError(f"{path} is not a regular file: start a scheduler that writes one, or {WORDS}")
    try:
        return str(json.loads(path.read_text())["address"])
    except OSError as error:
        fact = (error.strerror or "it cannot be read").lower()
        raise InputError(f"{path}: {fact}: start a scheduler that writes it, or {WORDS}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path} was not written by a scheduler: start one that writes it, or {WORDS}") from None


async def _kind_of(distributed: Any, address: str) -> str:
    """What answers at an address: it should be a Scheduler."""
    arguments = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, timeout=CONNECTING, connection_args=arguments) as there:
        return str((await asyncio.wait_for(there.identity(), CONNECTING))["type"])


@contextmanager
def _client(distributed: Any, address: str) -> Iterator[Any]:
    """The client of a scheduler."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not (host and port and parts.scheme in SCHEMES):
        raise InputError(f"{address[:60]!r} is not the address of a cluster: {WORDS}")
    if parts.scheme == "tls" and not distributed.Security().get_connection_args("client").get("ssl_context"):
        raise InputError(f"{address} wants certificates, and none are set: see the security of docs/cluster.md")
    settings = {"timeout": CONNECTING, "set_as_default": False}
    try:
        # A client would try again and again, and what answers need not be a scheduler.
        if parts.scheme in ("tcp", "tls"):
            in_time(lambda: socket.create_connection((host, port), CONNECTING).close(), CONNECTING)
        kind = in_time(lambda: asyncio.run(_kind_of(distributed, address)), CONNECTING + 1)
        if kind != "Scheduler":
            raise ValueError(f"what answers there is a {kind}")
        client = in_time(lambda: distributed.Client(address, **settings), CONNECTING + 1)
    except Exception as error:  # whatever else answers there, Dask may stumble over in any way
        fact = getattr(error, "strerror", None) or str(error).partition("\n")[0][:200] or "no answer in time"
        if isinstance(error, MemoryError):  # the length of a message, read from what is none
            fact = "what answers there is something else"
        raise InputError(f"no scheduler answers at {address}: {fact}; start it with 'dask scheduler'") from None
    try:
        yield client
    finally:
        with suppress(Exception):
            in_time(lambda: client.close(timeout=1), ANSWERING)


# ---- processes of this machine ----------------------------------------------------------------------


@contextmanager
def _local(distributed: Any, to: str) -> Iterator[Any]:
    """The client of worker processes on this machine, each with one thread."""
    number = to.removeprefix(LOCAL)
    if not (number.isascii() and number.isdigit() and len(number) < 9 and 1 <= int(number) <= MOST_LOCAL):
        raise InputError(f"a cluster on this machine has 1 to {MOST_LOCAL} workers, got {to[:60]!r}: {WORDS}")
    unwanted = Event()

    def start() -> tuple[Any, Any]:
        resource_tracker.ensure_running()  # which unblocks signals after it has started, and is started once
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        # Tables that are mapped count as memory of every worker: a limit would end those that share a large one.
        cluster = distributed.LocalCluster(
            n_workers=int(number),
            threads_per_worker=1,
            memory_limit=0,
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",  # by default it would be seen from all machines, and so would others
            worker_dashboard_address=f"{LOOPBACK}:0",
            silence_logs=SILENT,
        )
        client = distributed.Client(cluster, set_as_default=False)
        if unwanted.is_set():
            _end(client, cluster)
        return client, cluster

    try:
        client, cluster = in_time(start, STARTING)
    except BaseException as error:
        unwanted.set()
        if isinstance(error, OSError | RuntimeError):
            fact = str(error).partition("\n")[0][:200] or "they did not answer in time"
            raise InputError(f"no workers could be started on this machine: {fact}; use fewer, or threads") from None
        raise
    try:
        yield client
    finally:
        _end(client, cluster)


def _end(client: Any, cluster: Any) -> None:
    """End the workers at once. Asked to, they would finish what they compile; they have nothing to lose."""
    for nanny in cluster.workers.values():
        with suppress(Exception):
            nanny.auto_restart = False
            os.kill(nanny.pid, signal.SIGKILL)
    for end in (client.close, cluster.close):
        with suppress(Exception):
            end(timeout=2)
