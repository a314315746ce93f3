"""The larger of two heuristics, which may themselves be maxima: as informed as the better of the two on every board.

It is admissible if both are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .contract import (
    Board,
    Heuristic,
    apply,
    body_of,
    evaluate,
    load,
    prefetch,
    prefetches,
    restore,
    save,
    write_parts,
)


class Maximum(NamedTuple):
    """What the kernels work on."""

    first: Any
    second: Any
    first_parts: int
    first_words: int
    values: np.ndarray  # [slot, which of the two]


def prepare(first: Heuristic, second: Heuristic) -> Heuristic:
    """The maximum of two heuristics for the same goal."""

    def workspace(slots: int) -> Maximum:
        values = np.zeros((slots, 2), dtype=np.int64)
        return Maximum(first.workspace(slots), second.workspace(slots), first.parts, first.saved_words, values)

    def measure(board: Board) -> list[int]:
        return first.measure(board) + second.measure(board)

    return Heuristic(
        f"max:{first.name.removeprefix('max:')}+{second.name}",
        workspace,
        measure,
        parts=first.parts + second.parts,
        saved_words=first.saved_words + second.saved_words,
        databases=first.databases + second.databases,
        consistent=first.consistent and second.consistent,
        by_value=first.by_value or second.by_value,
        admissible=first.admissible and second.admissible,
    )


@body_of(load, Maximum)
def _load(heuristic, board, parts, at):
    load(heuristic.first, board, parts, at)
    load(heuristic.second, board, parts, at + heuristic.first_parts)


@body_of(prefetches, Maximum)
def _prefetches(heuristic):
    return prefetches(heuristic.first) or prefetches(heuristic.second)


@body_of(prefetch, Maximum)
def _prefetch(heuristic, slot, tile, source, target, via, via_tile):
    prefetch(heuristic.first, slot, tile, source, target, via, via_tile)
    prefetch(heuristic.second, slot, tile, source, target, via, via_tile)


@body_of(evaluate, Maximum)
def _evaluate(heuristic, slot, tile, source, target):
    first = evaluate(heuristic.first, slot, tile, source, target)
    second = evaluate(heuristic.second, slot, tile, source, target)
    heuristic.values[slot, 0] = first
    heuristic.values[slot, 1] = second
    return max(first, second)


@body_of(apply, Maximum)
def _apply(heuristic, slot, tile, source, target):
    apply(heuristic.first, slot, tile, source, target)
    apply(heuristic.second, slot, tile, source, target)


@body_of(write_parts, Maximum)
def _write_parts(heuristic, slot, value, parts, at):
    write_parts(heuristic.first, slot, heuristic.values[slot, 0], parts, at)
    write_parts(heuristic.second, slot, heuristic.values[slot, 1], parts, at + heuristic.first_parts)


@body_of(save, Maximum)
def _save(heuristic, words, at):
    save(heuristic.first, words, at)
    save(heuristic.second, words, at + heuristic.first_words)


@body_of(restore, Maximum)
def _restore(heuristic, words, at):
    restore(heuristic.first, words, at)
    restore(heuristic.second, words, at + heuristic.first_words)
