"""Numbers as text for people: counts, times, rates and ratios, each to the precision that is worth reading."""

from __future__ import annotations


def format_count(number: float) -> str:
    """A number rounded to an integer, in full."""
    return f"{number:,.0f}"


def format_large(number: float) -> str:
    """A number that may be large, in millions or billions, as in ``16.2 M``."""
    return f"{number / 1e9:.2f} G" if number >= 1e9 else f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number:,.0f}"


def format_seconds(number: float) -> str:
    """Seconds, with more digits the fewer they are."""
    return f"{number:,.2f}" if number >= 1 else f"{number:.4f}" if number >= 0.001 else f"{number:.6f}"


def format_duration(seconds: float) -> str:
    """A rough duration, in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def format_ratio(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
