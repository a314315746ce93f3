"""The connection to a cluster: all that is known here of Dask.

    tcp://host:8786             the address of a scheduler (also tls://, ucx:// and what else Dask knows)
    file:/shared/scheduler.json  the file that a scheduler has written its address to
    local:4                     worker processes on this machine, as long as the connection lasts

Workers of this machine use the client's folder of databases. All others have their own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pdb_builder.base.errors import InputError
from pdb_builder.base.folders import databases_folder

CONNECTING = 10  # seconds
LOCAL = "local:"
MOST_LOCAL = 256  # processes
WORDS = "write it as tcp://host:8786, file:/shared/scheduler.json or local:4"


class Connection:
    """A scheduler and its workers."""

    def __init__(self, client: Any, name: str, folder: Path | None = None) -> None:
        """``folder`` is that of the databases, if all workers are to use the same."""
        self.client, self.name = client, name
        self.folder = None if folder is None else str(folder)
        self.lost_since: float | None = None

    # ---- workers ------------------------------------------------------------------------------------

    def workers(self) -> list[str]:
        """The addresses of the workers, as far as the scheduler has told."""
        with suppress(Exception):
            if self.client.status == "running":  # or there would be no answer for long
                return list(self.client.scheduler_info(n_workers=-1)["workers"])
        return []

    def threads(self) -> int:
        """How many tasks can run at a time: one at least."""
        with suppress(Exception):
            return max(1, sum(self.client.nthreads().values()))
        return 1

    def is_lost(self, patience: float) -> bool:
        """Whether there has been no connection to the scheduler for so many seconds."""
        now = time.monotonic()
        if self.client.status == "running":
            self.lost_since = None
            return False
        if self.lost_since is None:
            self.lost_since = now
        return self.client.status == "closed" or now - self.lost_since >= patience

    def run_everywhere(self, function: Callable, *args: Any) -> dict[str, Any]:
        """What a function returns on each worker there is."""
        return self.client.run(function, *args)

    # ---- tasks --------------------------------------------------------------------------------------

    def submit(self, function: Callable, *args: Any, workers: list[str] | None = None) -> Any:
        """A task: idempotent, but never the same as another one."""
        return self.client.submit(function, *args, pure=False, workers=workers)

    def arrivals(self) -> Any:
        """Collects tasks as they end, with their results."""
        from distributed import as_completed

        return as_completed(with_results=True, raise_errors=False, loop=self.client.loop)

    def is_killed(self, error: BaseException) -> bool:
        """Whether a task was given up because several workers have died with it."""
        return type(error).__name__ == "KilledWorker"

    def abandon(self, tasks: list, note: Callable, *args: Any) -> None:
        """Take tasks back, and leave a note with all workers for those that run."""
        if self.client.status == "running":
            with suppress(Exception):  # nobody is there to be told
                self.client.cancel(tasks)
                self.client.run(note, *args, wait=False)


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
        yield Connection(to, str(to.scheduler and to.scheduler.address))
        return
    if not isinstance(to, str):
        raise InputError(f"`cluster` must be an address or a distributed.Client, got {to!r}: {WORDS}")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said in our words
    if to.startswith(LOCAL):
        with _local(distributed, to) as client:
            yield Connection(client, to, folder or databases_folder())
        return
    where = {"scheduler_file": to.removeprefix("file:")} if to.startswith("file:") else {"address": to}
    if "scheduler_file" in where and not Path(where["scheduler_file"]).is_file():
        raise InputError(f"there is no file {where['scheduler_file']}: start a scheduler that writes it, or {WORDS}")
    try:
        client = distributed.Client(**where, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        fact = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise InputError(f"no scheduler answers at {to}: {fact}; start it with 'dask scheduler', or {WORDS}") from None
    try:
        yield Connection(client, to)
    finally:
        with suppress(Exception):
            client.close(timeout=1)


@contextmanager
def _local(distributed: Any, to: str) -> Iterator[Any]:
    """The client of worker processes on this machine, each with one thread."""
    number = to.removeprefix(LOCAL)
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= MOST_LOCAL):
        raise InputError(f"a cluster on this machine has 1 to {MOST_LOCAL} workers, got {to[:60]!r}: {WORDS}")
    with (
        distributed.LocalCluster(
            n_workers=int(number), threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
