"""Numbers of things in words."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number of things, as in ``1 move`` and ``2 moves``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
