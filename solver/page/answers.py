"""What the browser asks for at the start: the registries, the limits, and the databases that fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pdb_builder import __version__

from ..frame import frame_of
from ..goals import GOALS
from ..heuristics import HEURISTICS
from ..heuristics.databases import fitting_databases
from ..search import SEARCHES
from ..settings import DEFAULT_SECONDS, DEFAULT_WEIGHT
from ..show.colours import DARK, LIGHT, NIGHT, RAINBOW
from ..show.playback import FASTEST, SPEED
from .fields import Fields
from .puzzles import MOST_SEED, css, described, puzzle_of, shuffled
from .tasks import MOST_BOARDS, MOST_SECONDS

PARAMETERS = ("weight", "width", "depth")  # options of searches that the page offers


def about(fields: Fields, folder: Path) -> dict[str, Any]:
    """What can be chosen, and within which limits."""
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
        "beam_seconds": DEFAULT_SECONDS,
        "most": {"seconds": MOST_SECONDS, "boards": MOST_BOARDS, "seed": MOST_SEED},
        "speed": {"usual": SPEED, "fastest": FASTEST},
        "colours": {
            "night": css(NIGHT),
            "dark": css(DARK),
            "light": css(LIGHT),
            "rainbow": [css(colour) for colour in RAINBOW],
        },
    }


def board(fields: Fields, folder: Path) -> dict[str, Any]:
    """The puzzle of a request, described."""
    return _with_databases(described(found := puzzle_of(fields)), found, folder)


def shuffle(fields: Fields, folder: Path) -> dict[str, Any]:
    """A random puzzle, described."""
    return _with_databases(described(found := shuffled(fields)), found, folder)


def _with_databases(answer: dict[str, Any], found: Any, folder: Path) -> dict[str, Any]:
    frame = frame_of(found.grid, found.goal)
    names = [database.path.stem for database in fitting_databases(found.grid, frame.blank, folder)]
    return answer | {"databases": names}
