"""The lines of a file, a pipe or a terminal, as they come, and whether the next one is there yet.

A board should be answered as soon as it is written, even if the pipe stays open. Most lines say by themselves that they
are a board; where the next line decides (``board_files``), it is waited for only if it is already on its way. The
streams of Python cannot tell that, since they read ahead, so the bytes are read and cut into lines here.

The text is UTF-8, or UTF-16 if it begins with the byte order mark of that, as files of some Windows programs do. What
cannot be decoded is replaced by a character that no board has.
"""

from __future__ import annotations

import codecs
import io
import os
import select
from collections.abc import Iterator

from pdb_builder.base.errors import InputError

READ_AT_ONCE = 1 << 16  # bytes
LONGEST = 1 << 20  # characters of a line, far more than any board has; what follows is cut off
PATIENCE = 0.1  # seconds between two lines that were written together, even on a busy machine
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class InputLines:
    """The lines of an open file, without their ends. Reading raises ``InputError``, which calls the file ``name``."""

    def __init__(self, handle: int, name: object) -> None:
        self._handle, self._name = handle, name
        self._decoder: io.IncrementalNewlineDecoder | None = None  # known once the first bytes are
        self._lines: list[str] = []  # whole ones, the next one last
        self._rest = ""  # of the text: the beginning of a line
        self._ended = False

    def __iter__(self) -> Iterator[str]:
        while True:
            while not self._lines and not self._ended:
                self._read()
            if not self._lines:
                return
            yield self._lines.pop()

    def awaited(self) -> bool:
        """Whether the next line has yet to be written. The end of the input counts as a line."""
        waiting = select.poll()
        waiting.register(self._handle, select.POLLIN)
        while not self._lines and not self._ended:
            if not waiting.poll(1000 * PATIENCE):
                return True
            self._read()
        return False

    def _read(self) -> None:
        data = self._bytes()
        if self._decoder is None:
            if len(data) == 1:  # half of a byte order mark, perhaps
                data += self._bytes()
            encoding = "utf-16" if data.startswith(UTF_16_MARKS) else "utf-8"
            self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)("replace"), True)
        self._ended = not data
        first, *others = self._decoder.decode(data, final=self._ended).split("\n")
        if len(self._rest) < LONGEST:
            self._rest += first
        if others:
            *whole, rest = others
            self._lines, self._rest = [self._rest, *whole][::-1], rest
        elif self._ended and self._rest:
            self._lines = [self._rest]

    def _bytes(self) -> bytes:
        try:
            return os.read(self._handle, READ_AT_ONCE)
        except OSError as error:
            raise InputError(f"{self._name} cannot be read: {error.strerror or error}: name another file") from None
