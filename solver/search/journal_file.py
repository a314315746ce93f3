"""The file of a journal: lines that are only ever appended, and believed only if none before them was changed.

A line is a JSON object. Its last member, ``check``, is a checksum of the text before it and of the checksum of the line
before: so no line can be changed, removed, inserted or exchanged with another without notice. The first line says what
the journal is of.

A process that is killed, or a disk that is full, can leave an incomplete last line, one without its end. That line is
dropped. Any other that does not match its checksum was damaged, and the file is refused as a whole. If the only line is
incomplete, it may be anybody's: it is dropped if it is the beginning of the very line that is to be written.

A lock keeps two programs from writing to the same journal. It does not keep anybody from removing, replacing or
truncating the file, so before each line is written the file is compared with what it should be: what is written to a
file that has no name any more is lost.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from io import FileIO
from pathlib import Path

from pdb_builder.base.errors import InputError

BEGINNING = b'{"journal":'  # of every journal
LONGEST = 1 << 32  # bytes of a file that is read
AT_ONCE = 1 << 30  # bytes that are read by one call: the system reads less than 2 GiB
CHECK, CHECK_BYTES = re.compile(rb',"check":"([0-9a-f]{16})"\}'), 28  # the end of every line
SHOWN = 40  # bytes of a line in messages
SYNC = 2.0  # seconds after which lines are flushed to the disk
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def read_journal(path: Path) -> list[dict]:
    """The records of a journal, which may be in use, the first of which says what it is of. Raises ``InputError``."""
    try:
        with _opened(path, os.O_RDONLY) as file:
            content = _content(path, file)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; check the name") from None
    records, _, _ = _records(path, content)
    if not records:
        raise _without_a_line(path, content)
    return records


class JournalFile:
    """A journal open for writing, created if there is none; ``records`` are those it held.

    ``header`` is the first line that is to be written if there is none: an incomplete one is dropped if it is the
    beginning of that. Raises ``InputError`` if the file cannot be used, or if another program does.
    """

    def __init__(self, path: Path, header: dict | None = None) -> None:
        self.path = path
        try:
            self.file = _opened(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise self._unusable(error) from None
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            content = _content(path, self.file)
            self.records, self.end, self.check = _records(path, content)
            if content and not self.records and (header is None or not _line("", header)[0].startswith(content)):
                raise _without_a_line(path, content)
            self._drop_the_rest()
        except BlockingIOError:
            self.file.close()
            raise InputError(f"another program is writing to {path}: wait for it, or choose another journal") from None
        except OSError as error:
            self.file.close()
            raise self._unusable(error) from None
        except BaseException:
            self.file.close()
            raise
        self.synced, self.unsynced = time.monotonic(), False

    def _unusable(self, error: OSError) -> InputError:
        return InputError(f"{self.path} cannot be used: {error.strerror or error}; choose another journal")

    def _drop_the_rest(self) -> None:
        """Remove what comes after the last whole line."""
        self.file.truncate(self.end)
        self.file.seek(self.end)

    def append(self, records: Iterable[dict]) -> None:
        """Write records. Raises ``InputError`` if that fails; then the lines before them are kept."""
        lines, check = [], self.check
        for record in records:
            line, check = _line(check, record)
            lines.append(line)
        rest = b"".join(lines)
        end = self.end + len(rest)
        self.look()
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
            self.end, self.check = end, check
        except OSError as error:
            with suppress(OSError):  # whoever reads it next drops it
                self._drop_the_rest()
            raise self._unwritten(error) from None
        self.unsynced = True

    def look(self) -> None:
        """Raise ``InputError`` if the file is no longer where it was, or as it was left."""
        try:
            here = os.fstat(self.file.fileno())
            there = os.stat(self.path)
        except FileNotFoundError:
            raise InputError(
                f"{self.path} was removed or renamed while the search was running: put it back, or begin another "
                "journal; what was searched since is lost"
            ) from None
        except OSError as error:
            raise self._unwritten(error) from None
        if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
            raise InputError(
                f"{self.path} was replaced by another file while the search was running: put the journal back, or "
                "begin another one; what was searched since is lost"
            )
        if here.st_size != self.end:
            raise InputError(
                f"{self.path} was changed while the search was running, it has {here.st_size:,} bytes instead of "
                f"{self.end:,}: go on with a copy from before, or begin another journal"
            )

    def _unwritten(self, error: OSError) -> InputError:
        remedy = "make room" if error.errno in FULL else "see to the disk"
        return InputError(
            f"{self.path}: {error.strerror or error}: {remedy}, and go on with `journal` {self.path}; what was "
            "searched before is kept"
        )

    def sync_if_due(self) -> None:
        """``sync``, if there is anything to flush, and the last time was seconds ago."""
        if self.unsynced and time.monotonic() - self.synced >= SYNC:
            self.sync()

    def sync(self) -> None:
        """Flush what is written to the disk. Raises ``InputError`` if that fails."""
        try:
            os.fsync(self.file.fileno())
        except OSError as error:
            raise self._unwritten(error) from None
        self.synced, self.unsynced = time.monotonic(), False

    def close(self) -> None:
        self.file.close()


def _opened(path: Path, flags: int) -> FileIO:
    """A regular file, without a buffer, which would try to write again, and fail again, when it is closed."""
    if path.exists() and not path.is_file():  # reading a device or a pipe may never end
        raise InputError(f"{path} is not a regular file: choose another journal")
    return FileIO(os.open(path, flags | os.O_CLOEXEC, 0o666), "r+" if flags & os.O_RDWR else "r")


def _content(path: Path, file: FileIO) -> bytes:
    """All bytes of a file that begins like a journal. Raises ``InputError`` for any other."""
    size = os.fstat(file.fileno()).st_size
    parts = [file.read(min(size, len(BEGINNING))) or b""]
    if not parts[0].startswith(BEGINNING[: len(parts[0])]):
        raise _not_a_journal(path, parts[0] + (file.read(SHOWN) or b""))
    if size > LONGEST:
        raise InputError(f"{path} has {size:,} bytes, and a journal at most {LONGEST:,}: choose another file")
    left = size - len(parts[0])
    while left > 0 and (part := file.read(min(left, AT_ONCE))):  # another program may append, or truncate
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _shown(text: bytes) -> str:
    """The beginning of a text, in a message."""
    return repr(text[:SHOWN]) + ("..." if len(text) > SHOWN else "")


def _not_a_journal(path: Path, content: bytes) -> InputError:
    return InputError(f"{path} is not a journal, it begins with {_shown(content)}: choose another file")


def _without_a_line(path: Path, content: bytes) -> InputError:
    """Why a file without a whole line is not read."""
    if not content:
        return InputError(f"{path} is empty: a search with `journal` {path} begins it")
    return InputError(
        f"{path} is not a journal, or was ended before its first line was written: {_shown(content)} is all there is: "
        "choose another file"
    )


def _line(before: str, record: dict) -> tuple[bytes, str]:
    """The line of a record after the one with the checksum ``before``, and its own checksum."""
    text = json.dumps(record, separators=(",", ":")).encode()[:-1]
    check = _check(before, text)
    return text + f',"check":"{check}"}}\n'.encode(), check


def _check(before: str, text: bytes) -> str:
    return hashlib.sha256(before.encode() + text).hexdigest()[:16]


def _records(path: Path, content: bytes) -> tuple[list[dict], int, str]:
    """The records of all whole lines, where these end, and the last checksum."""
    end = content.rfind(b"\n") + 1
    records, check = [], ""
    for number, line in enumerate(content[:end].split(b"\n")[:-1], 1):
        match, text = CHECK.fullmatch(line[-CHECK_BYTES:]), line[:-CHECK_BYTES]
        check = _check(check, text)
        if not match and number == 1:
            raise _not_a_journal(path, line)
        if not match or match[1].decode() != check:
            raise InputError(
                f"{path}, line {number}: {_shown(line)} does not match its checksum, so the journal was changed: "
                "choose another one, or a copy from before"
            )
        records.append(_record(path, number, text + b"}"))
    return records, end, check


def _record(path: Path, number: int, text: bytes) -> dict:
    """The record that a line holds. A checksum that matches does not say that it is one."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no number")

    try:
        record = json.loads(text.decode(), parse_constant=refuse)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise InputError(f"{path}, line {number}: {_shown(text)} is not a record: choose another journal")
    return record
