"""Boards and solutions to look at."""
