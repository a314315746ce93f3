"""Answers at once: what can be chosen, and what a puzzle is, with the databases that fit it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pdb_builder import __version__

from ..frame import frame_of
from ..goals import GOALS
from ..heuristics import HEURISTICS
from ..heuristics.databases import fitting_databases
from ..search import SEARCHES
from ..settings import DEFAULT_WEIGHT
from ..show.colours import DARK, NIGHT, RAINBOW
from ..show.playback import FASTEST, SPEED
from .fields import Fields
from .puzzles import MOST_SEED, Puzzle, css, described, puzzle_of, shuffled

PARAMETERS = ("weight", "width", "depth")  # options of searches that the page offers


def about(fields: Fields, folder: Path) -> dict[str, Any]:
    """What can be chosen: the registries, goals, speeds and colours."""
    return {
        "version": __version__,
        "algorithms": [
            {
                "name": name,
                "summary": search.summary,
                "uninformed": search.uninformed,
                "optimal": search.optimal,
                "parameters": [option for option in PARAMETERS if option in search.options],
            }
            for name, search in SEARCHES.items()
        ],
        "heuristics": [{"name": name, "summary": summary} for name, summary in HEURISTICS.items()],
        "goals": GOALS,
        "weight": DEFAULT_WEIGHT,
        "most_seed": MOST_SEED,
        "speed": {"usual": SPEED, "fastest": FASTEST},
        "colours": {
            "night": css(NIGHT),
            "dark": css(DARK),
            "rainbow": [css(colour) for colour in RAINBOW],
        },
    }


def board(fields: Fields, folder: Path) -> dict[str, Any]:
    """The puzzle of a request, described."""
    return _described(puzzle_of(fields), folder)


def shuffle(fields: Fields, folder: Path) -> dict[str, Any]:
    """A random puzzle, described."""
    return _described(shuffled(fields), folder)


def _described(puzzle: Puzzle, folder: Path) -> dict[str, Any]:
    """All that the browser needs to know of a puzzle, and the databases that serve it."""
    frame = frame_of(puzzle.grid, puzzle.goal)
    names = [database.path.stem for database in fitting_databases(puzzle.grid, frame.blank, folder)]
    return described(puzzle) | {"databases": names}
