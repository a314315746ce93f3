"""Worker threads for kernels, which run without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from .errors import InputError
from .machine import default_threads
from .numeric import as_integer

MAX_THREADS = 256
RANGES_PER_THREAD = 8  # so that no thread idles while another works on a slow range


def check_threads(threads: int | None) -> int:
    """The number of threads to use, None meaning one per core; raises ``InputError`` if it is out of range."""
    if threads is None:
        return min(default_threads(), MAX_THREADS)
    number = as_integer(threads)
    if number is not None and 1 <= number <= MAX_THREADS:
        return number
    raise InputError(f"threads must be between 1 and {MAX_THREADS}, got {threads!r}")


class Workers:
    """A pool of threads that share out ranges of numbers. None means one thread per core."""

    def __init__(self, threads: int | None = None):
        self.threads = check_threads(threads)
        self._pool = ThreadPoolExecutor(self.threads)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *exception) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def over(self, ranges: Iterable[tuple[int, int]], function: Callable, *args) -> list:
        """The results of ``function(*args, low, high)`` for all ranges, in order.

        After an error, ranges that have not begun are dropped.
        """
        try:
            futures = [self._pool.submit(function, *args, low, high) for low, high in ranges]
        except RuntimeError as error:  # a limit of memory or of processes, as by ``ulimit``
            raise InputError(f"{self.threads} threads cannot be started here ({error}): use fewer `threads`") from None
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise

    def split(self, count: int, least: int = 1) -> list[tuple[int, int]]:
        """0 … ``count`` cut into ranges to share out, each of at least ``least`` numbers if there are several."""
        parts = max(1, min(RANGES_PER_THREAD * self.threads, count // least))
        cuts = [count * part // parts for part in range(parts + 1)]
        return [(low, high) for low, high in pairwise(cuts) if low < high]
