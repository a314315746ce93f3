"""Every error that the toolkit raises on purpose, under one root.

``except SlidepdbError`` catches them all, and the command lines do just that. Anything else that escapes is a defect.

A message is one line: the fact, the value, the remedy, as in ``threads must be between 1 and 256, got 300``. A remedy
that lies in a parameter names it in backticks, as Python code does: ``raise `max_memory` ``. The command lines print
the flag instead.
"""

from __future__ import annotations


class SlidepdbError(Exception):
    """The root of all errors below."""


class InputError(SlidepdbError, ValueError):
    """A parameter, a board or a file of input that cannot be used."""


class Unsolvable(InputError):
    """No moves lead from the board to the goal."""


class WrongAnswer(InputError):
    """The moves that a search found do not lead to the goal: a damaged database, or a defect."""


class Disagreement(InputError):
    """The methods of a comparison contradict each other about the shortest solution of a board."""


class ClusterError(InputError):
    """A cluster is of no use, whatever the board: for one, because a worker cannot take part."""


class ClusterLost(ClusterError):
    """The scheduler of a cluster is gone, or its workers do not answer."""


class DatabaseError(SlidepdbError):
    """A file that cannot be used as a database, or as another table that we keep."""


class MissingDatabase(DatabaseError):
    """There is no such file."""


class UnusableFile(DatabaseError):
    """A file is there, but cannot be used: a fact, and a remedy that depends on what the file was wanted for."""

    def __init__(self, fact: str, remedy: str) -> None:
        super().__init__(f"{fact}: {remedy}")
        self.fact = fact

    def with_remedy(self, remedy: str) -> UnusableFile:
        """The same error with another remedy."""
        return type(self)(self.fact, remedy)


class NotADatabase(UnusableFile):
    """The file is something else."""


class NewerFormat(UnusableFile):
    """The file was written by a later version of the toolkit."""


class DamagedDatabase(UnusableFile):
    """The file was truncated or changed."""


class WriteError(DatabaseError):
    """The file could not be written, and nothing of it is left."""


class NothingLearned(InputError):
    """Nothing can come of a plan for learning."""
