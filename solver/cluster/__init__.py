"""Searches on many machines, by way of Dask: a client shares work out, workers do it.

``connection`` finds the scheduler, or starts a cluster of processes on this machine, and ``crew`` knows which workers
can take part. ``bundles`` has the bundles of one iteration searched by them (``bundle_tasks`` is what they run),
``boards`` has them solve whole boards (``board_tasks``).

What a task is given says all about it, and what it returns is all that counts: a task that was lost with its worker is
simply run again. Databases are not sent. A worker opens its own, by name, and must have the same, by checksum
(``fitness``).
"""
