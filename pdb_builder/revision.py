"""The revision of this program: its version and, in a checkout, the commit, as in ``0.2.0+6d25550``.

Between two releases a version stands for hundreds of commits, some of them twice as fast as others, so what is measured
in a checkout is filed under the commit. Git need not be installed for that, nor be started: ``HEAD`` names a branch or
a commit, and the commit of a branch is in a file of its own, or in a list of all that have not moved for a while. What
cannot be read leaves the version alone, which is right for an installed package and harmless otherwise.

The commit is the one that is checked out when somebody first asks, so long runs ask before they begin. Changes that are
not committed do not show.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from . import __version__

CHECKOUT = Path(__file__).parent.parent  # if this is one
SHORT = 7  # digits of a commit
COMMIT = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")  # SHA-1 or SHA-256
LINKS = 5  # names that stand for other names, one after the other


@cache
def revision() -> str:
    """The version and, in a checkout, the short name of the commit."""
    commit = commit_of(CHECKOUT)
    return f"{__version__}+{commit[:SHORT]}" if commit else __version__


def commit_of(checkout: Path) -> str | None:
    """The commit that is checked out in this folder, or None if that cannot be told."""
    try:
        own = checkout / ".git"
        if own.is_file():  # a working tree beside the first one, or a submodule
            own = checkout / own.read_text().removeprefix("gitdir:").strip()
        shared = own
        if (own / "commondir").is_file():
            shared = own / (own / "commondir").read_text().strip()
        text = (own / "HEAD").read_text().strip()
        for _ in range(LINKS):
            if not text.startswith("ref:"):
                break
            text = _commit_named(text.removeprefix("ref:").strip(), own, shared)
    except (OSError, ValueError):  # a folder that is no checkout, or a file that is not text
        return None
    return text if COMMIT.fullmatch(text) else None


def _commit_named(name: str, own: Path, shared: Path) -> str:
    """What a name such as ``refs/heads/main`` stands for: a commit, or ``ref:`` and another name, or nothing."""
    for folder in (own, shared):
        if (folder / name).is_file():
            return (folder / name).read_text().strip()
    for line in (shared / "packed-refs").read_text().splitlines():
        commit, _, packed = line.partition(" ")
        if packed == name:
            return commit
    return ""
