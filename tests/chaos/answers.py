"""The fourth rule: what a command answers is true.

Answers are read as a user or a program would read them, from the text or from JSON, and compared with ``truth``. A
board that is too far from the goal for an independent search is judged by what can be told: its moves lead to the goal,
and no claim contradicts another.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pdb_builder.grid import Grid
from solver.search import SEARCHES

from ..helpers import followed
from .commands import Run
from .truth import MOST_CELLS, Board, Puzzle, distance, solutions, solvable, whole_shape

SOLVED, NO_SOLUTION, BAD_INPUT, LIMIT, INTERRUPTED = 0, 1, 2, 3, 130
SEVEREST = (INTERRUPTED, BAD_INPUT, LIMIT, NO_SOLUTION, SOLVED)  # first, as the guide orders them

# One board of several: its line, the length, what is proven of it unless it is optimal, the moves.
IN_LINE = re.compile(r"line \d+: ([\d,]+) moves?(?:, [\d,]+ solutions)?(, .+,)? ([UDLR]*) \(")
IN_FULL = re.compile(
    r"^(\d+) moves?, (.*) \((?:tiles move|the blank moves) U D L R\):\n([UDLR]*|none: .*)$", re.MULTILINE
)


def wrong_answers(run: Run) -> Iterator[str]:
    """What is wrong with the answers of a command."""
    judge = JUDGES.get((run.command.program, run.command.name))
    if judge and "--help" not in run.command.words and "-h" not in run.command.words:
        try:
            yield from judge(run)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            yield f"the answer cannot be read: {error!r}"


# ---- single claims ------------------------------------------------------------------------------


def wrong_moves(puzzle: Puzzle, letters: str, of: str) -> Iterator[str]:
    """What is wrong with moves that are said to solve a board."""
    try:
        end = followed(puzzle.grid, puzzle.board, letters, of)
    except AssertionError as error:
        yield f"the moves {letters} of {puzzle.board} cannot be made: {error}"
    else:
        if end != puzzle.goal:
            yield f"the moves {letters} of {puzzle.board} lead to {end}, not to {puzzle.goal}"


def wrong_length(puzzle: Puzzle, length: int, proven: bool) -> Iterator[str]:
    """What is wrong with the length of a solution."""
    shortest = distance(puzzle)
    if not solvable(puzzle):
        yield f"{puzzle.board} has no solution, but one of {length} moves is claimed"
    elif shortest is not None and length < shortest:
        yield f"{puzzle.board} needs {shortest} moves, but a solution of {length} is claimed"
    elif shortest is not None and proven and length > shortest:
        yield f"{puzzle.board} needs {shortest} moves, but {length} are called proven shortest"


def wrong_bound(puzzle: Puzzle, bound: int, what: str) -> Iterator[str]:
    shortest = distance(puzzle)
    if shortest is not None and bound > shortest:
        yield f"{puzzle.board} needs {shortest} moves, but its {what} is {bound}"


def wrong_verdict(puzzle: Puzzle, claimed: bool) -> Iterator[str]:
    if claimed != solvable(puzzle):
        yield f"{puzzle.board} {'cannot' if claimed else 'can'} be solved, the opposite is claimed"


def _puzzle(record: dict) -> Puzzle:
    """The puzzle of a JSON object."""
    return Puzzle(Grid.parse(record["shape"], record["wrap"]), tuple(record["board"]), tuple(record["goal"]))


def _admissible(heuristic: str) -> bool:
    return "inversions" not in heuristic


def _records(run: Run) -> list[dict]:
    """The JSON objects, one per line. The last may be incomplete if the command was stopped, or not read to the end."""
    lines = run.output.split("\n")
    last = lines.pop()
    if last and run.complete:
        lines.append(last)
    return [json.loads(line) for line in lines]


# ---- solve --------------------------------------------------------------------------------------


def _judge_solve(run: Run) -> Iterator[str]:
    words, given = run.command.words, run.command.given
    of = "blank" if re.search(r"--moves[ =]blank", " ".join(words)) else "tile"
    if "--json" in words:
        records = _records(run)
        for record in records:
            yield from _wrong_record(record, of)
        answered = [_puzzle(record) for record in records if record["board"] is not None]
        yield from _wrong_code(run, [_code_of(record) for record in records])
    elif given is None or "--animate" in words or "--show" in words or "--quiet" in words:
        return
    else:
        answered = list(given.puzzles)
        found = IN_LINE.findall(run.output) or IN_FULL.findall(run.output)
        solved = [puzzle for puzzle in given.puzzles if solvable(puzzle)]
        for puzzle, (length, proof, letters) in zip(solved, found, strict=False):
            proven = not proof or proof == "proven shortest"
            if len(found) == len(solved):  # none was given up
                yield from wrong_moves(puzzle, "" if letters.startswith("none") else letters, of)
                yield from wrong_length(puzzle, int(length.replace(",", "")), proven)
    yield from _wrong_reading(run, answered)


def _wrong_record(record: dict, of: str) -> Iterator[str]:
    """What is wrong with the JSON object of a board."""
    if record["board"] is None:
        if not record["error"]:
            yield f"{record} is neither an answer nor an error"
        return
    puzzle = _puzzle(record)
    if record["solvable"] is not None:
        yield from wrong_verdict(puzzle, record["solvable"])
    if record.get("error"):
        return
    length, bound = record["length"], record["lower_bound"]
    yield from wrong_bound(puzzle, bound, "lower bound")
    if _admissible(record["heuristic"]):
        yield from wrong_bound(puzzle, record["h_start"], "value at the start")
    if record["solved"]:
        yield from wrong_moves(puzzle, record["moves"], of)
        yield from wrong_length(puzzle, length, record["optimal"])
        if not (len(record["moves"]) == len(record["tiles"]) == length and record["optimal"] == (length == bound)):
            yield f"the parts of {record} contradict each other"
        if "solutions" in record and record["optimal"] and puzzle.grid.cells <= MOST_CELLS:
            count = solutions(puzzle)
            if not count == record["solution_count"] == len(set(record["solutions"])):
                yield f"{puzzle.board} has {count} shortest solutions, {record['solution_count']} are claimed"
            for letters in record["solutions"]:
                yield from wrong_moves(puzzle, letters, of)
    elif record["optimal"] or record["moves"] or not record["stopped"]:
        yield f"the parts of {record} contradict each other"


def _code_of(record: dict) -> int:
    """The exit code that an answer stands for."""
    if record.get("error"):
        return NO_SOLUTION if record["solvable"] is False else BAD_INPUT
    if record["stopped"] == "interrupt":
        return INTERRUPTED
    return LIMIT if record["stopped"] else SOLVED


def _wrong_code(run: Run, codes: list[int]) -> Iterator[str]:
    """Whether the exit code is the most severe of all answers, which is documented."""
    if run.complete and codes and run.code in SEVEREST:
        expected = next(code for code in SEVEREST if code in codes)
        if run.code != expected and "pdb-solver: error: " not in run.errors:
            yield f"the answers stand for exit code {expected}, but it is {run.code}"


def _wrong_reading(run: Run, answered: list[Puzzle]) -> Iterator[str]:
    """Whether the boards were read as they are meant."""
    given = run.command.given
    if given is None or not run.complete or "pdb-solver: error: " in run.errors:
        return
    expected = list(given.puzzles)
    if given.flawed and not expected:
        return
    if answered != expected and not (given.unclear and not answered):
        meant = [(str(grid), board, goal) for grid, board, goal in expected]
        read = [(str(grid), board, goal) for grid, board, goal in answered]
        yield f"the boards are {meant}, but were read as {read}"


# ---- the other commands of the solver -----------------------------------------------------------


def _judge_check(run: Run) -> Iterator[str]:
    given = run.command.given
    if "--json" in run.command.words:
        records = _records(run)
        known = [record for record in records if record["board"] is not None]
        for record in known:
            yield from wrong_verdict(_puzzle(record), record["solvable"])
        verdicts = {True: SOLVED, False: NO_SOLUTION, None: BAD_INPUT}
        yield from _wrong_code(run, [verdicts[record["solvable"]] for record in records])
        yield from _wrong_reading(run, [_puzzle(record) for record in known])
    elif given and run.complete:
        verdicts = re.findall(r"^(?:line \d+: )?(can|cannot) be solved", run.output, re.MULTILINE)
        expected = ["can" if solvable(puzzle) else "cannot" for puzzle in given.puzzles]
        refused = "pdb-solver: error: " in run.errors or (given.unclear and run.code == BAD_INPUT)
        if expected and not refused and verdicts != expected:
            yield f"the verdicts are {verdicts}, but should be {expected}"


def _judge_compare(run: Run) -> Iterator[str]:
    whole = run.command.reads is None and not run.killed  # one object, of which no part can be read by itself
    if "--json" in run.command.words and run.output.strip() and whole:
        record = json.loads(run.output)
        grid, goal = Grid.parse(record["shape"], record["wrap"]), tuple(record["goal"])
        yield from wrong_cells(record["cells"], grid, goal)
        boards = {cell["instance"]: _board(cell) for cell in record["cells"]}
        if run.code in (SOLVED, LIMIT):
            yield from _wrong_reading(run, [Puzzle(grid, board, goal) for board in boards.values()])


def _board(cell: dict) -> Board:
    """The board of a cell, which may say after a # that its edges are joined."""
    return tuple(map(int, cell["board"].partition("#")[0].replace("/", " ").split()))


def wrong_cells(cells: Iterable[dict], grid: Grid, goal: Board) -> Iterator[str]:
    """What is wrong with the cells of a comparison, from JSON or from the lines of a CSV file."""
    for cell in cells:
        puzzle = Puzzle(grid, _board(cell), goal)
        name, _, parameter = cell["algorithm"].partition(":")
        if _admissible(cell["heuristic"]):
            yield from wrong_bound(puzzle, int(cell["h_start"]), "value at the start")
        if cell["length"] not in (None, ""):
            proven = SEARCHES[name].optimal and not cell["limit_hit"] and not (name == "dfs" and parameter)
            yield from wrong_length(puzzle, int(cell["length"]), proven)


def wrong_results(path: Path, grid: Grid, goal: Board, complete: bool = True) -> Iterator[str]:
    """What is wrong with a CSV file of results, which may lack the end of its last line unless it is complete."""
    text = path.read_text(errors="surrogateescape")
    if complete and not text.endswith("\n"):
        yield f"the last line of {path.name} is incomplete"
    yield from wrong_cells(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()), grid, goal)


def _judge_distribution(run: Run) -> Iterator[str]:
    if run.code or "--json" not in run.command.words:
        return
    record = json.loads(run.output)
    grid, goal = Grid.parse(record["shape"], record["wrap"]), tuple(record["goal"])
    if grid.cells > MOST_CELLS:
        return
    counted = Counter(whole_shape(grid, goal.index(0)).values())
    if record["counts"] != [counted[moves] for moves in range(len(counted))]:
        yield f"there are {dict(counted)} boards by distance, not {record['counts']}"
    for board in record["farthest"]:
        if distance(Puzzle(grid, tuple(board), goal)) != record["maximum"]:
            yield f"{board} is not {record['maximum']} moves from the goal"


def _judge_random(run: Run) -> Iterator[str]:
    for line in run.output.split("\n")[:-1]:
        rows = [row.split() for row in line.split("/")]
        board = tuple(int(word) for row in rows for word in row)
        if sorted(board) != list(range(len(board))):
            yield f"{line} is not a board"


JUDGES = {
    ("pdb-solver", "solve"): _judge_solve,
    ("pdb-solver", "check"): _judge_check,
    ("pdb-solver", "compare"): _judge_compare,
    ("pdb-solver", "distribution"): _judge_distribution,
    ("pdb-solver", "random"): _judge_random,
}
