"""Everything that can be wrong, in one place."""

from __future__ import annotations


class InputError(ValueError):
    """Something the user asked for cannot be: the message gives the fact, the value, the remedy."""


class DatabaseError(Exception):
    """A file that cannot be used as a database; the message says why and what to do."""


class MissingDatabase(DatabaseError):
    """There is no such file."""


class NotADatabase(DatabaseError):
    """The file is something else."""


class NewerFormat(DatabaseError):
    """The file was written by a later version of the toolkit."""


class DamagedDatabase(DatabaseError):
    """The file is a database that was cut short or changed."""


class WriteError(DatabaseError):
    """The file could not be written; nothing of it is left."""


class Unsolvable(InputError):
    """No moves lead from the board to the goal."""


class WrongAnswer(InputError):
    """The moves a search found did not lead to the goal: a damaged database, or a defect of ours."""


class Disagreement(InputError):
    """What methods say of the shortest solution of a board cannot all be true."""
