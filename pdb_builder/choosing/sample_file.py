"""Samples as text: nodes to judge collections by, from our own search trees or anyone's.

A line is a node: its margin, the bound less its depth; how many nodes it stands for, which may be left out if that is
one; and its board, the tile on each cell, 0 for the blank, in the numbering of the canonical goal. Lines that begin
with # are remarks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.files import check_writable, output_file
from ..base.wording import counted
from .symmetry import Goal
from .tree_sample import TreeSample, is_solvable

HEADER = "# a node a line: its margin, how many nodes it stands for, the tile on each cell\n"


def check_sample_output(path: Path) -> None:
    """Raise ``InputError`` unless a sample can be written to a file: a new one, an empty one, or another sample."""
    check_writable(path)
    if path.exists():
        with path.open("rb") as file:
            beginning = file.read(len(HEADER))
        if beginning not in (b"", HEADER.encode()):
            raise InputError(f"{path} is not replaced: it is something else than a sample; choose another file")


def write_sample(path: Path, sample: TreeSample) -> None:
    """Write a sample; another sample is replaced."""
    check_sample_output(path)
    rows = np.column_stack([sample.margins, sample.weights, sample.boards]).tolist()
    with output_file(path) as file:
        file.write(HEADER.encode())
        file.writelines(f"{' '.join(map(str, row))}\n".encode() for row in rows)


def read_sample(path: Path, goal: Goal) -> TreeSample:
    """The sample in a file; raises ``InputError`` with the line that is wrong."""
    cells, nodes = goal.grid.cells, []
    try:
        with path.open(encoding="ascii", errors="replace", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                words = line.split()
                if words and not words[0].startswith("#"):
                    nodes.append(_node(words, goal, f"{path}, line {number}"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; choose another file") from None
    if not nodes:
        raise InputError(f"{path} has no nodes: write one a line, its margin and the {cells} tiles of its board")
    rows = np.array(nodes, dtype=np.int64)
    return TreeSample(rows[:, 2:].astype(np.uint8), rows[:, 0], rows[:, 1])


def _node(words: list[str], goal: Goal, where: str) -> list[int]:
    """The margin, the weight and the board of a line."""
    cells = goal.grid.cells
    expected = f"write a margin, a weight if it is not 1, and the {cells} tiles of {goal.grid.a_board}, 0 for the blank"
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise InputError(f"{where}: '{word[:20]}' is not a whole number from 0 to 999999999: {expected}")
    numbers = [int(word) for word in words]
    if len(numbers) == cells + 1:
        numbers.insert(1, 1)
    board = numbers[2:]
    if len(board) != cells:
        found = counted(len(words), "number")
        raise InputError(f"{where} has {found}, a node has {cells + 1} or {cells + 2}: {expected}")
    if sorted(board) != list(range(cells)):
        missing = min(set(range(cells)) - set(board))
        raise InputError(f"{where} has no tile {missing} among the last {cells} numbers, its board: {expected}")
    if numbers[1] == 0:
        raise InputError(f"{where}: its node stands for 0 nodes: give it a weight of 1 or more, or remove the line")
    if not is_solvable(goal, board):
        raise InputError(
            f"{where} has a board that cannot be solved: check the goal, its blank is on cell {goal.blank}"
        )
    return numbers
