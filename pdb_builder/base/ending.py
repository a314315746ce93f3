"""How a command ends at once, from where an exception would not reach its top: the compiler, or a signal handler.

Nothing that the command has under way is undone, so whoever ends it like this has nothing under way.
"""

from __future__ import annotations

from collections.abc import Callable

# Prints a message and ends the process with an exit code; None in a program that is not a command of ours.
end_command: Callable[[str, int], object] | None = None
