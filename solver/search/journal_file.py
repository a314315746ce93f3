"""The file of a journal: lines that are only ever appended, and believed only if none before them was changed.

A line is a JSON object. Its last member, ``check``, is a checksum of the text before it and of the checksum of the line
before: so no line can be changed, removed, inserted or exchanged with another without notice. The first line says what
the journal is of.

A process that is killed, or a disk that is full, can leave an incomplete last line, one without its end. That line is
dropped. Any other that does not match its checksum was damaged, and the file is refused as a whole. A lock keeps two
programs from writing to the same journal.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

from pdb_builder.base.errors import InputError

BEGINNING = b'{"journal":'  # of every journal
LONGEST = 1 << 32  # bytes of a file that is read
CHECK, CHECK_BYTES = re.compile(rb',"check":"([0-9a-f]{16})"\}'), 28  # the end of every line
SYNC = 2.0  # seconds after which lines are flushed to the disk


def read_journal(path: Path) -> list[dict]:
    """The records of a journal, which may be in use, the first of which says what it is of. Raises ``InputError``."""
    try:
        with _opened(path, os.O_RDONLY) as file:
            records, _, _ = _records(path, file.read(LONGEST))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; check the name") from None
    if not records:
        raise InputError(f"{path} is empty: a search with `journal` {path} begins it")
    return records


class JournalFile:
    """A journal open for writing, created if there is none; ``records`` are those it held.

    Raises ``InputError`` if it cannot be used, or if another program does.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.file = _opened(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise self._unusable(error) from None
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            content = self.file.read(LONGEST)
            self.records, self.end, self.check = _records(path, content)
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
        self.synced = time.monotonic()

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
            text = json.dumps(record, separators=(",", ":")).encode()[:-1]
            check = _check(check, text)
            lines.append(text + f',"check":"{check}"}}\n'.encode())
        rest = b"".join(lines)
        end = self.end + len(rest)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
            self.end, self.check = end, check
            if time.monotonic() - self.synced >= SYNC:
                self.sync()
        except OSError as error:
            self._drop_the_rest()
            raise InputError(
                f"{self.path}: {error.strerror or error}: make room, and go on with `journal` {self.path}; what was "
                "searched before is kept"
            ) from None

    def sync(self) -> None:
        """Flush what is written to the disk."""
        os.fsync(self.file.fileno())
        self.synced = time.monotonic()

    def close(self) -> None:
        self.file.close()


def _opened(path: Path, flags: int):
    """A regular file, without a buffer, which would try to write again, and fail again, when it is closed."""
    if path.exists() and not path.is_file():  # reading a device or a pipe may never end
        raise InputError(f"{path} is not a regular file: choose another journal")
    return open(os.open(path, flags | os.O_CLOEXEC, 0o666), "r+b" if flags & os.O_RDWR else "rb", buffering=0)


def _check(before: str, text: bytes) -> str:
    return hashlib.sha256(before.encode() + text).hexdigest()[:16]


def _records(path: Path, content: bytes) -> tuple[list[dict], int, str]:
    """The records of all whole lines, where these end, and the last checksum."""
    if not content.startswith(BEGINNING[: len(content)]):
        raise InputError(f"{path} is not a journal, it begins with {content[:20]!r}: choose another file")
    end = content.rfind(b"\n") + 1
    records, check = [], ""
    for number, line in enumerate(content[:end].split(b"\n")[:-1], 1):
        match, text = CHECK.fullmatch(line[-CHECK_BYTES:]), line[:-CHECK_BYTES]
        check = _check(check, text)
        if not match or match[1].decode() != check:
            raise InputError(
                f"{path}, line {number}: {line[:60]!r} does not match its checksum, so the journal was changed: choose "
                "another one, or a copy from before"
            )
        records.append(json.loads(text + b"}"))
    return records, end, check
