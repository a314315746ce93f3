"""The fields of a request, read from JSON that anybody may have written.

What is wrong with the form is said here, in one line; what is wrong with the values, by the library.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from pdb_builder.base.errors import InputError
from pdb_builder.base.numeric import as_flag, as_integer

MOST_NAMES = 50  # in a list
MOST_NAME = 200  # characters of a name


class Fields:
    """A JSON object. A field that is missing, or null, has its default; one that nobody reads is a mistake."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._read: set[str] = set()

    def raw(self, name: str, default: Any = None) -> Any:
        """Any value, for a part of the library that judges it."""
        self._read.add(name)
        value = self._values.get(name)
        return default if value is None else value

    def text(self, name: str, default: str | None = None) -> str:
        value = self.raw(name, default)
        if value is None:
            raise InputError(f"`{name}` is missing: send it as text")
        if not isinstance(value, str):
            raise InputError(f"`{name}` must be text, got {shown(value)}: write it in quotation marks")
        return value

    def check_all_read(self) -> None:
        """Raise ``InputError`` if there is a field that has not been read, once all that count have been."""
        for name in self._values:
            if name not in self._read:
                raise InputError(f"the field {shown(name)} means nothing here: leave it out, or mend its name")

    def flag(self, name: str) -> bool:
        return as_flag(name, self.raw(name, False))

    def whole(self, name: str, default: int | None, least: int, most: int) -> int:
        value = self.raw(name, default)
        number = None if isinstance(value, bool) else as_integer(value)
        if number is None or not least <= number <= most:
            raise InputError(f"`{name}` must be a whole number from {least} to {most:,}, got {shown(value)}")
        return number

    def names(self, name: str) -> list[str]:
        values = self.raw(name, [])
        if not isinstance(values, list) or len(values) > MOST_NAMES:
            raise InputError(f"`{name}` must be a list of at most {MOST_NAMES} names, got {shown(values)}")
        for value in values:
            if not isinstance(value, str) or len(value) > MOST_NAME:
                raise InputError(f"`{name}` must be a list of names, got {shown(value)} in it")
        return values


def fields_of(body: bytes) -> Fields:
    """The fields in the body of a request. Raises ``InputError`` unless it is a JSON object."""
    try:
        values = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InputError('the request is not JSON: send an object, as in {"board": "1 2 3 / 4 5 6 / 7 0 8"}') from None
    if not isinstance(values, dict):
        raise InputError(f"the request is JSON, but not an object: {shown(values)}")
    return Fields(values)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def shown(value: object) -> str:
    """A value for a message: short, and on one line."""
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
