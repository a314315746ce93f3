"""What the library says, in the words of a page.

Its messages name parameters, which a page has none of, and files. Where the folder of databases is concerns nobody who
only opens the page, so files are called by their names in it. A message may quote what was sent: it becomes one line,
of characters that can be sent back, and what is too long is cut.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

MOST_WORDS, MOST_WORD = 1000, 80  # characters of a message, and of a part of it without a space


def in_words(message: object, folder: Path) -> str:
    """A message for a page: `time_limit` becomes time limit, and a file in the folder its name."""
    text = re.sub(r"`([a-z_]+)`", lambda match: match[1].replace("_", " "), without_folder(str(message), folder))
    words = (word if len(word) <= MOST_WORD else f"{word[:MOST_WORD]}…" for word in text.split())
    return " ".join(words)[:MOST_WORDS].encode(errors="replace").decode()


def without_folder(text: str, folder: Path) -> str:
    """A text that does not say where the folder of databases is."""
    for path in sorted({str(folder), str(folder.absolute()), str(folder.resolve())}, key=len, reverse=True):
        text = text.replace(f"folder {shlex.quote(path)}", "folder FOLDER")  # in a command
        if path.startswith("/") and path != "/":
            text = re.sub(rf"(?<![\w.-]){re.escape(path)}/", "", text)
            text = re.sub(rf"(?<![\w.-]){re.escape(path)}(?![\w.-])", "its folder", text)
    return text
