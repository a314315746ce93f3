"""Files that are kept because their contents take long to make: read if they are there, and made again if not.

Nobody has asked for such a file, so nothing else may be lost on its account. One of ours that was cut short or changed
is replaced, and so is an empty one. Whatever else has its name is left alone: a file of another kind or of a later
version, a folder, a link to nothing, a file that cannot be read. Its contents are then made for one run at a time, and
the remark about it says what to do. Nor does a run end because nothing can be written. Whatever is in the way, there is
one remark.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from .errors import DamagedDatabase, NotADatabase, UnusableFile, WriteError
from .sealed import Kind

Contents = TypeVar("Contents")
Notify = Callable[[str], object]  # is told in words


def read_or_make(
    path: Path,
    kind: Kind,
    read: Callable[[], Contents],
    make: Callable[[], tuple[Contents, bool]],
    write: Callable[[Contents], object],
    notify: Notify,
) -> Contents:
    """What ``read`` finds in the file, or else what ``make`` makes, together with whether that is worth keeping.

    ``read`` raises ``OSError`` or ``UnusableFile``, ``write`` raises ``OSError`` or ``WriteError``. A damaged file is
    replaced whether its contents are worth keeping or not.
    """
    in_the_way = damaged = False
    try:
        return read()
    except FileNotFoundError:
        if path.is_symlink():
            in_the_way = True
            notify(str(kind.foreign(path, "a link to a file that does not exist")))
    except OSError as error:
        in_the_way = True
        notify(f"cannot read {path}: {error.strerror or error}: {kind.if_unkept}")
    except UnusableFile as error:
        damaged = isinstance(error, DamagedDatabase) or (isinstance(error, NotADatabase) and _is_empty(path))
        in_the_way = not damaged
        notify(str(error.with_remedy(kind.if_damaged) if damaged else error))
    contents, worth_keeping = make()
    if damaged or (worth_keeping and not in_the_way):
        try:
            write(contents)
        except (OSError, WriteError) as error:
            notify(f"cannot write {path}: {getattr(error, 'strerror', None) or error}: {kind.if_unkept}")
    return contents


def _is_empty(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == 0
