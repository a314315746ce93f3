"""How a command ends at once, from where an exception would not reach its top: the compiler, or a signal handler.

Nothing is unwound. What a command has under way when that happens must be safe to leave as it is, as temporary files
are, which the command line removes.
"""

from __future__ import annotations

from collections.abc import Callable

BAD_INPUT, INTERRUPTED = 2, 130  # exit codes

# Prints why, and ends the process with an exit code; None in a program that is not a command of ours.
end_command: Callable[[str, int], object] | None = None
