"""The files of learned ranks: weights, what they were fitted to, and what they were found to be worth.

Such a file is a sealed one (docs/format.md), replaced atomically. The rank of boards of one size is in the folder of
databases, if ``pdb-solver learn`` has been there; one for all sizes comes with the package. Nothing in a file depends
on when, where or how fast it was made: learning again from the same seed gives the same bytes.

What a file holds cannot be proven right, since there is no right rank. A forgery that passes the checks would make a
beam worse, and no answer wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import h5py
import numpy as np

from pdb_builder.base.errors import DatabaseError, MissingDatabase, UnusableFile, WriteError
from pdb_builder.base.files import replaced
from pdb_builder.base.mapped_file import MappedFile
from pdb_builder.base.sealed import Kind, Region, attribute, open_sealed, require, stored, write_sealed
from pdb_builder.grid import Grid

from .learned_rank import AROUND, DISPLACEMENTS, PARTNERS, REACH, ROW, STEPS, Weights, is_symmetric

FORMAT = "slidepdb learned rank"
KIND = Kind(
    name="learned rank",
    version=1,
    aligned=False,
    if_foreign="learn one with 'pdb-solver learn'",
    if_newer="update slidepdb, or learn the rank again",
    if_damaged="delete it and learn the rank again",
)
MOST = 10**9  # that any figure can be
SEAL = re.compile("[0-9a-f]{64}")
PACKAGED = "rank.h5"  # the file that comes with the package


class Lesson(NamedTuple):
    """What weights were fitted to, and what came of it. Lengths are means over the boards that were solved."""

    by: str  # the program
    shape: str
    seed: int
    boards: int  # in each round
    rounds: int
    width: int
    partners: int
    begun_with: str  # the seal of the file that learning began with, or nothing
    round_moves: tuple[float, ...] = ()  # of each round's solutions, with the rank learned before it
    loss: float = 0.0  # on boards kept back in the last round: with these weights, and of the classic rank
    classic_loss: float = 0.0
    behind: float = 0.0  # the share of rivals that are ranked behind the board of the solution, there
    classic_behind: float = 0.0
    checked: int = 0  # boards solved both ways in the end
    moves: float = 0.0  # of their solutions
    classic_moves: float = 0.0


class LearnedRank(NamedTuple):
    """The contents of a file."""

    weights: Weights
    lesson: Lesson
    seal: str


def rank_path(folder: Path, grid: Grid) -> Path:
    """Where the rank of a grid's boards is kept."""
    return folder / f"rank-{grid.shape}.h5"


def write_rank(path: Path, weights: Weights, lesson: Lesson, folder: Path | None = None) -> None:
    """Write a rank to a file that appears under ``path`` complete or not at all; as for ``replaced``."""

    def build(root: h5py.File) -> tuple[()]:
        root.attrs["format"], root.attrs["format_version"] = FORMAT, KIND.version
        root.attrs["reach"], root.attrs["steps"] = REACH, STEPS
        for name, value in lesson._asdict().items():
            root.attrs[name] = np.array(value, dtype=np.float64) if isinstance(value, tuple) else value
        root.create_dataset("single", data=weights.single.astype("<i2"))
        root.create_dataset("around", data=weights.around.astype("<i2"))
        root.create_dataset("pairs", data=weights.pairs.astype("<i2"), compression="gzip", shuffle=True)
        return ()  # no regions: the seal covers everything

    try:
        with replaced(path, folder=folder) as file:
            write_sealed(file, KIND, build)
    except OSError as error:
        raise WriteError(
            f"cannot write {path}: {error.strerror or error}: make room or choose another folder"
        ) from error


def read_rank(path: Path) -> LearnedRank:
    """The rank in a file; raises a ``DatabaseError`` that says what is wrong with the file."""

    def read(root: h5py.File, file: MappedFile, regions: list[Region], seal: str) -> LearnedRank:
        require(root.attrs["format"] == FORMAT and not regions, "format")
        for name, value in {"reach": REACH, "steps": STEPS}.items():
            require(attribute(root, name, np.int64) == value, name)
        lesson = _read_lesson(root)
        weights = Weights(*(_read_weights(root, name) for name in Weights._fields))
        require(weights.single.shape == (DISPLACEMENTS,), "single")
        require(weights.pairs.shape[0] == PARTNERS.get(lesson.partners), "pairs")
        require(weights.pairs.shape[1:] == (DISPLACEMENTS, DISPLACEMENTS), "pairs")
        require(weights.around.shape == (len(AROUND), ROW), "around")
        require(is_symmetric(weights), "the symmetry of the weights")
        return LearnedRank(weights, lesson, seal)

    try:
        return open_sealed(path, KIND, read)
    except FileNotFoundError:
        if path.is_symlink():
            raise DatabaseError(f"{path} is a link to nothing: remove it") from None
        raise MissingDatabase(f"there is no learned rank {path}: make one with 'pdb-solver learn'") from None
    except OSError as error:
        raise DatabaseError(f"cannot read {path}: {error.strerror or error}: choose another file") from error


@cache
def packaged_rank() -> LearnedRank:
    """The rank that comes with the package."""
    with as_file(files("solver.data") / PACKAGED) as path:
        try:
            return read_rank(path)
        except UnusableFile as error:
            raise error.with_remedy("install slidepdb again") from None


def _read_weights(root: h5py.File, name: str) -> np.ndarray:
    dataset = stored(root, name)
    require(dataset.dtype == np.dtype("<i2"), name)
    require(dataset.size <= max(PARTNERS.values()) * DISPLACEMENTS**2, name)  # before it is read
    return dataset[...].astype(np.int16)


def _read_lesson(root: h5py.File) -> Lesson:
    """The lesson in a file, after checking that it makes sense."""

    def text(name: str) -> str:
        value = root.attrs[name]
        require(isinstance(value, str) and value.isprintable() and len(value) <= 100, name)
        return value

    def number(name: str) -> int:
        value = int(attribute(root, name, np.int64))
        require(0 <= value <= MOST, name)
        return value

    def figure(name: str) -> float:
        value = float(attribute(root, name, np.float64))
        require(0 <= value <= MOST, name)
        return value

    def figures(name: str) -> tuple[float, ...]:
        values = attribute(root, name, np.float64, dimensions=1)
        require(bool(((values >= 0) & (values <= MOST)).all()), name)
        return tuple(values.tolist())

    readers: dict[Any, Callable[[str], Any]] = {str: text, int: number, float: figure, tuple[float, ...]: figures}
    lesson = Lesson(*(readers[kind](name) for name, kind in get_type_hints(Lesson).items()))
    Grid.parse(lesson.shape)
    require(lesson.begun_with == "" or bool(SEAL.fullmatch(lesson.begun_with)), "begun_with")
    require(len(lesson.round_moves) == lesson.rounds, "round_moves")
    require(lesson.checked == 0 or min(lesson.moves, lesson.classic_moves) > 0, "moves")
    return lesson
