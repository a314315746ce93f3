"""The harness of ``make chaos`` itself: it notices every kind of defect, and draws what it says it draws.

Defects are planted: a small program stands in for ours and does one thing wrong.
"""

import codecs
import json
import os
import random
import signal
import tempfile
from itertools import count
from pathlib import Path

import pytest

from pdb_builder import Grid, InputError
from pdb_builder.base.folders import cache_folder
from solver.board import parse_board
from solver.board_files import read_boards
from solver.goals import goal_board
from solver.instances import load_set

from . import oracle
from .chaos import commands, kills, options, trial
from .chaos.__main__ import main
from .chaos.damage import damage
from .chaos.grammar import Text, draw_flawed, draw_text
from .chaos.sandbox import Sandbox, Stock
from .chaos.session import ENOUGH, Session
from .chaos.trial import KINDS, Impossible, Kind, Trial
from .chaos.truth import NAMES, Puzzle, _from_both_ends, distance, named_goal, parities_agree, solutions, solvable
from .chaos.truth import whole_shape as whole
from .helpers import scrambled

# The board needs two moves, LL.
PUZZLE = Puzzle(Grid(3, 3), (1, 2, 3, 4, 5, 6, 0, 7, 8), (1, 2, 3, 4, 5, 6, 7, 8, 0))
TEXT = Text(b"1 2 3 4 5 6 0 7 8", (PUZZLE,))
ANSWER = {
    **{"shape": "3x3", "wrap": False, "board": PUZZLE.board, "goal": PUZZLE.goal, "solvable": True, "solved": True},
    **{"optimal": True, "length": 2, "moves": "LL", "tiles": [7, 8], "lower_bound": 2, "h_start": 2, "stopped": None},
    "heuristic": "manhattan",
}
ERROR = "print('pdb-solver: error: bad', file=sys.stderr);"


def answer(**changes):
    """Code that prints a wrong answer."""
    return f"print({json.dumps(ANSWER | changes)!r})"


# What a program does wrong, the rule that this breaks, and words of the report.
DEFECTS = {
    "traceback": ("1 / 0", "ends", "Traceback"),
    "crash": ("os.kill(os.getpid(), signal.SIGSEGV)", "ends", "SIGSEGV"),
    "warning": ("import warnings; warnings.warn('odd')", "ends", "Warning"),
    "code": ("sys.exit(77)", "exit code", "77 is not documented"),
    "interrupted by nobody": ("sys.exit(130)", "exit code", "130 is not documented"),
    "no reason": ("sys.exit(2)", "exit code", "without an error"),
    "two reasons": (f"{ERROR * 2} sys.exit(2)", "exit code", "2 lines of errors"),
    "error and success": (f"{ERROR}", "exit code", "exit code 0 with an error"),
    "words after the error": (f"{ERROR} print('oh', file=sys.stderr); sys.exit(2)", "exit code", "not the last line"),
    "another file": ("open('notes.txt', 'w')", "files", "notes.txt was changed"),
    "a file is gone": ("os.remove('notes.txt')", "files", "notes.txt was removed"),
    "a touched file": ("os.utime('notes.txt')", "files", "notes.txt was changed"),
    "a new folder": ("os.mkdir(os.environ['HOME'] + '/.slidepdb')", "files", ".slidepdb was created"),
    "half an output": ("open('x.gif', 'wb').write(b'GIF89a')", "files", "x.gif is incomplete"),
    "a lost output": ("os.remove('x.gif')", "files", "x.gif was removed"),
    "a temporary file": ("open('.x.0123.tmp', 'w')", "files", ".x.0123.tmp was created"),
    "not the shortest": (
        answer(length=4, moves="LRLL", tiles=[7, 7, 7, 8], lower_bound=4),
        "answers",
        "needs 2 moves, but 4 are called proven shortest",
    ),
    "no solution": (answer(moves="LD", tiles=[7, 5]), "answers", "not to (1, 2, 3, 4, 5, 6, 7, 8, 0)"),
    "no moves": (answer(moves="RR"), "answers", "cannot be made"),
    "too high a bound": (answer(optimal=False, lower_bound=3), "answers", "its lower bound is 3"),
    "too high a value": (answer(h_start=4), "answers", "value at the start is 4"),
    "unsolvable": (answer(solvable=False, solved=False, error="no"), "answers", "the opposite is claimed"),
    "a count": (answer(solutions=["LL", "LL"], solution_count=2), "answers", "has 1 shortest solutions"),
    "another board": (
        answer(board=PUZZLE.goal, length=0, moves="", tiles=[], lower_bound=0, h_start=0),
        "answers",
        "were read as",
    ),
    "no JSON": ("print('{')", "answers", "cannot be read"),
    "a limit without its code": (answer(stopped="time"), "answers", "stand for exit code 3"),
}
FAKE = "import os, signal, sys, time\nexec(os.environ['DEED'])\n"


@pytest.fixture
def new_trial(tmp_path):
    """A trial whose programs are replaced by one that does as it is told."""
    fake = tmp_path / "fake.py"
    fake.write_text(FAKE)
    programs = {name: (str(fake),) for name in commands.PROGRAMS}
    made = Trial(1, 1, Stock(tmp_path / "run", programs))
    (made.sandbox.work / "notes.txt").write_text("precious")
    (made.sandbox.work / "x.gif").write_bytes(b"GIF8;")
    return made


def told(made, deed, **details):
    """A command that does a deed."""
    outputs = (made.sandbox.work / "x.gif",)
    return made.solver("solve", "--json", given=TEXT, outputs=outputs, variables={"DEED": deed}, **details)


@pytest.mark.subprocess
def test_an_honest_program_breaks_no_rule(new_trial):
    new_trial.succeeds(told(new_trial, f"open('x.gif', 'wb').write(b'GIF89a;'); {answer()}"))
    assert new_trial.breaches == []


@pytest.mark.subprocess
@pytest.mark.parametrize("name", DEFECTS)
def test_every_defect_is_noticed(name, new_trial):
    deed, rule, words = DEFECTS[name]
    new_trial.run_one(told(new_trial, deed))
    assert [one for one in new_trial.breaches if one.rule == rule and words in one.what], new_trial.breaches


@pytest.mark.subprocess
def test_commands_that_do_not_end_are_noticed(new_trial, monkeypatch):
    monkeypatch.setattr(commands, "DEADLINE", 0.5)
    monkeypatch.setattr(commands, "PROMPT", 0.3)
    new_trial.run_one(told(new_trial, "time.sleep(60)"))
    monkeypatch.setattr(commands, "DEADLINE", 60)
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    new_trial.run_one(told(new_trial, deaf, signal=signal.SIGTERM, delay=0.5))
    hung, late = (one.what for one in new_trial.breaches if one.rule == "ends")
    assert "did not end" in hung and "after SIGTERM" in late


@pytest.mark.subprocess
def test_what_a_kill_leaves_is_no_breach_and_what_an_interrupt_leaves_is(new_trial):
    deed = "open('.x.0123.tmp', 'w').close(); time.sleep(60)"
    new_trial.run_one(told(new_trial, deed, signal=signal.SIGKILL, delay=0.5))
    assert new_trial.breaches == [] and new_trial.runs[0].killed
    (new_trial.sandbox.work / ".x.0123.tmp").unlink()
    caught = f"signal.signal(signal.SIGTERM, lambda *_: sys.exit(130)); {deed}"
    new_trial.run_one(told(new_trial, caught, signal=signal.SIGTERM, delay=0.5))
    assert [(one.rule, one.command) for one in new_trial.breaches] == [("files", 2)]


@pytest.mark.subprocess
def test_a_failure_is_reported_with_all_that_repeats_it(new_trial, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(KINDS, "planted", Kind("planted", 1, lambda made: made.run_one(told(made, "sys.exit(77)"))))
    for name in KINDS.keys() - {"planted"}:
        monkeypatch.delitem(KINDS, name)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(
        Stock, "prepare", lambda stock, tell: setattr(stock, "programs", new_trial.sandbox.stock.programs)
    )
    assert main(["--seed", "7", "--only", "5"]) == 1
    output = capsys.readouterr().out
    for words in (
        *(
            "seed 7\n",
            "FAILURE in trial 5 of seed 7: planted",
            "exit code, command 1: the exit code 77 is not documented",
        ),
        *("-m solver solve --json", "DEED='sys.exit(77)'", "python -m tests.chaos --seed 7 --only 5"),
    ):
        assert words in output
    assert output.count("\nall ") == 1 and len(list(tmp_path.glob("slidepdb-chaos-*/trial-5"))) == 1
    monkeypatch.setitem(KINDS, "planted", Kind("planted", 1, lambda made: setattr(made, "effective", True)))
    assert main(["--seconds", "0.01"]) == 0
    assert len(list(tmp_path.glob("slidepdb-chaos-*"))) == 1, "nothing is left of a run without failures"


def test_a_kind_whose_faults_never_have_an_effect_is_a_failure(monkeypatch, tmp_path, capsys):
    def seldom(made):
        made.effective = made.number == ENOUGH

    def impossible(made):
        raise Impossible("there is no such thing")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Stock, "prepare", lambda stock, tell: None)
    for name in list(KINDS):
        monkeypatch.delitem(KINDS, name)
    for fault, trials, expected in (
        *((seldom, ENOUGH, 0), (impossible, ENOUGH, 0)),
        *((lambda made: None, ENOUGH, 1), (lambda made: None, ENOUGH - 1, 0)),
    ):
        monkeypatch.setitem(KINDS, "planted", Kind("planted", 1, fault))
        assert main(["--only", ",".join(map(str, range(1, trials + 1)))]) == expected
        output = capsys.readouterr().out
        assert ("planted had no effect in any of" in output) == bool(expected)
        assert ("planted: there is no such thing" in output) == (fault is impossible)


@pytest.mark.subprocess
def test_a_signal_that_comes_too_late_has_no_effect(new_trial, monkeypatch):
    monkeypatch.setattr(kills, "SIGNALS", (signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
    kills.stop(new_trial, told(new_trial, answer()), usual=10**6)
    assert not new_trial.effective and new_trial.runs[0].code == 0
    monkeypatch.setattr(kills, "SIGNALS", (signal.SIGKILL,))  # Python may not heed another when it has just started
    kills.stop(new_trial, told(new_trial, "time.sleep(60)"), usual=0)
    assert new_trial.effective


@pytest.mark.jit
@pytest.mark.subprocess
def test_real_programs_pass_some_trials(tmp_path, capsys):
    stock = Stock(tmp_path / "run")
    stock.kernels = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_folder())
    session = Session(2, stock)
    numbers = count(1)
    while session.trials["boards"] < 3:
        session.run_trial(next(numbers), kinds=["boards"])
    assert not session.failures, capsys.readouterr().out
    assert not list(stock.folder.glob("trial-*"))


# ---- what is drawn ------------------------------------------------------------------------------


def test_a_trial_is_drawn_from_its_seed_and_number(tmp_path):
    def drawn(seed, number, name):
        made = Trial(seed, number, Stock(tmp_path / name))
        return made.kind.name, options.draw_command(made.chance, made.sandbox).words

    assert drawn(1, 2, "a") == drawn(1, 2, "b")
    assert len({drawn(seed, number, f"{seed}-{number}") for seed in (1, 2) for number in range(5)}) == 10


def test_every_option_of_every_command_is_drawn(tmp_path):
    sandbox, chance, seen = Sandbox(tmp_path / "box", Stock(tmp_path / "run")), random.Random(1), set()
    for _ in range(4000):
        drawn = options.draw_command(chance, sandbox)
        seen |= {(drawn.program, drawn.words[0], word.partition("=")[0]) for word in drawn.words}
    for program in options.PARSERS:
        for name, command in options.commands_of(program).items():
            for action in command._actions:
                flags = action.option_strings
                assert not flags or any((program, name, flag) in seen for flag in flags), (program, name, action.dest)


def test_what_a_command_line_may_write_follows_from_its_options(tmp_path):
    for name in ("old.gif", "old.csv", "notes.txt"):
        (tmp_path / name).write_text("precious")
    (tmp_path / "link.gif").symlink_to("notes.txt")
    values = {"gif": "link.gif", "csv": "old.csv", "plot": "new.png", "report": "notes.txt", "output": "new.h5"}
    assert set(options._outputs(values, [], tmp_path)) == {tmp_path / "new.png", tmp_path / "new.h5"}
    assert options._outputs({"gif": "old.gif"}, [], tmp_path) == [tmp_path / "old.gif"]


def read_as_by_the_solver(text):
    """The boards of a text, and how many of them are none."""
    shape = dict(zip(text.options, text.options[1:], strict=False)).get("--shape")
    wrap = "--wrap" in text.options
    grid = Grid.parse(shape, wrap) if shape else None
    boards, faults = [], 0
    encoding = "utf-16" if text.content.startswith(codecs.BOM_UTF16) else "utf-8"
    for _, one in read_boards(text.content.decode(encoding, errors="replace").splitlines(), grid):
        try:
            boards.append(parse_board(one, grid, wrap))
        except InputError:
            faults += 1
    return boards, faults


@pytest.mark.parametrize("several", [False, True])
def test_texts_mean_what_the_grammar_says(several):
    chance = random.Random(1)
    for _ in range(150):
        text = draw_text(chance, several=several, large=True)
        if not text.unclear:
            assert read_as_by_the_solver(text) == ([puzzle[:2] for puzzle in text.puzzles], 0), text
        text = draw_flawed(chance, several=several)
        boards, faults = read_as_by_the_solver(text)
        assert faults or not boards, text
        assert not text.puzzles or boards == [puzzle[:2] for puzzle in text.puzzles], text


def test_damage_is_done(tmp_path):
    path, chance, kinds = tmp_path / "x", random.Random(1), set()
    for _ in range(200):
        before = chance.randbytes(9000)
        path.write_bytes(before)
        changed, after = damage(chance, path), path.read_bytes()
        assert changed == (after != before)
        kinds.add((len(after) > len(before)) - (len(after) < len(before)) if after else "empty")
    assert kinds == {-1, 0, 1, "empty"}


# ---- what is true -------------------------------------------------------------------------------


def test_distances_do_not_depend_on_how_they_are_found():
    chance = random.Random(1)
    for grid in (Grid(2, 4), Grid(3, 2, wrap=True), Grid(3, 3)):
        goal = grid.goal(0)
        for _ in range(5):
            puzzle = Puzzle(grid, scrambled(grid, goal, chance.randrange(12), chance), goal)
            assert distance(puzzle) == _from_both_ends(puzzle) == oracle.moves_between(*puzzle)
            assert solutions(puzzle) == oracle.count_shortest_solutions(*puzzle)
    grid, goal, instances = load_set("korf100")
    assert distance(Puzzle(grid, instances[0].board, goal)) == instances[0].length
    far = Puzzle(grid, scrambled(grid, goal, 500, chance), goal)
    assert solvable(far) and distance(far) is None, "too far to tell"


@pytest.mark.parametrize(
    "grid", [Grid(2, 2), Grid(2, 3), Grid(3, 2), Grid(2, 3, wrap=True), Grid(2, 4, wrap=True)], ids=str
)
def test_parity_decides_as_the_search_of_all_boards_does(grid):
    chance = random.Random(1)
    for _ in range(300):
        board = tuple(chance.sample(range(grid.cells), grid.cells))
        assert parities_agree(Puzzle(grid, board, grid.goal(0))) == (board in whole(grid, 0))


def test_named_goals_are_those_of_the_guide():
    for shape in ("2x2", "2x3", "3x2", "3x3", "4x4", "3x5", "5x3", "2x7"):
        for name in NAMES:
            assert named_goal(Grid.parse(shape), name) == goal_board(Grid.parse(shape), name)


def test_kinds_of_trials_have_weights():
    assert len(KINDS) >= 20 and all(one.weight > 0 for one in KINDS.values()) and trial.KINDS is KINDS
