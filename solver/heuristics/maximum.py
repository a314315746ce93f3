"""The larger of two heuristics, which may themselves be maxima: a lower bound as good as its best part.

If one of the two is no lower bound, neither is the larger.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .contract import Board, Heuristic, aim, body_of, fetches, keep, look, note, resume, settle, step


class Maximum(NamedTuple):
    """What the kernels work on."""

    first: Any
    second: Any
    first_parts: int
    first_words: int
    values: np.ndarray  # [slot, which of the two]


def prepare(first: Heuristic, second: Heuristic) -> Heuristic:
    """The maximum of two heuristics for the same goal."""

    def fresh(slots: int) -> Maximum:
        sizes = (first.parts, first.words)
        return Maximum(first.fresh(slots), second.fresh(slots), *sizes, np.zeros((slots, 2), dtype=np.int64))

    def measure(board: Board) -> list[int]:
        return first.measure(board) + second.measure(board)

    name = f"max:{first.name.removeprefix('max:')}+{second.name}"
    return Heuristic(
        name,
        f"({first.kind}, {second.kind})",
        first.parts + second.parts,
        fresh,
        measure,
        first.words + second.words,
        first.mapped + second.mapped,
        first.by_value or second.by_value,
        first.admissible and second.admissible,
    )


@body_of(fetches, Maximum)
def _fetches(heuristic):
    return fetches(heuristic.first) or fetches(heuristic.second)


@body_of(aim, Maximum)
def _aim(heuristic, slot, tile, source, target, via, via_tile):
    aim(heuristic.first, slot, tile, source, target, via, via_tile)
    aim(heuristic.second, slot, tile, source, target, via, via_tile)


@body_of(look, Maximum)
def _look(heuristic, slot, tile, source, target):
    first = look(heuristic.first, slot, tile, source, target)
    second = look(heuristic.second, slot, tile, source, target)
    heuristic.values[slot, 0] = first
    heuristic.values[slot, 1] = second
    return max(first, second)


@body_of(step, Maximum)
def _step(heuristic, slot, tile, source, target):
    step(heuristic.first, slot, tile, source, target)
    step(heuristic.second, slot, tile, source, target)


@body_of(settle, Maximum)
def _settle(heuristic, board, parts, at):
    settle(heuristic.first, board, parts, at)
    settle(heuristic.second, board, parts, at + heuristic.first_parts)


@body_of(note, Maximum)
def _note(heuristic, slot, value, parts, at):
    note(heuristic.first, slot, heuristic.values[slot, 0], parts, at)
    note(heuristic.second, slot, heuristic.values[slot, 1], parts, at + heuristic.first_parts)


@body_of(keep, Maximum)
def _keep(heuristic, words, at):
    keep(heuristic.first, words, at)
    keep(heuristic.second, words, at + heuristic.first_words)


@body_of(resume, Maximum)
def _resume(heuristic, words, at):
    resume(heuristic.first, words, at)
    resume(heuristic.second, words, at + heuristic.first_words)
