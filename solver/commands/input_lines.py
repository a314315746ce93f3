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

READ_AT_ONCE = 1 << 16  # bytes
PATIENCE = 0.1  # seconds between two lines that were written together, even on a busy machine
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class InputLines:
    """The lines of an open file, without their ends."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
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
        while not self._lines and not self._ended:
            if not select.select([self._handle], [], [], PATIENCE)[0]:
                return True
            self._read()
        return False

    def _read(self) -> None:
        data = os.read(self._handle, READ_AT_ONCE)
        if self._decoder is None:
            encoding = "utf-16" if data.startswith(UTF_16_MARKS) else "utf-8"
            self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)("replace"), True)
        self._ended = not data
        *lines, self._rest = (self._rest + self._decoder.decode(data, final=self._ended)).split("\n")
        if self._ended and self._rest:
            lines.append(self._rest)
        self._lines = lines[::-1]
