"""The exception that ends a search early, wherever it is: at a limit, or because what it finds cannot be kept.

What it was is noted in the outcome by ``outcome.noting_stop``.
"""

from __future__ import annotations


class Stopped(Exception):
    """The search was told to stop: its argument is the limit that was reached."""
