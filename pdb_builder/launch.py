"""The start of both programs: Ctrl-C ends them quietly, however early it comes.

Importing a command line takes a few hundredths of a second, and an interrupt in that time would print a
traceback. So a program starts here, where next to nothing is imported, and its command line is imported
inside the ``try``.
"""

from importlib import import_module


def launch(command_line: str) -> int:
    """Run ``main`` of the module that holds a command line, and return the exit code."""
    try:
        return import_module(command_line).main()
    except KeyboardInterrupt:  # ``shell.run`` handles those that come later
        return 130
