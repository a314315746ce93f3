"""Trials of input: boards of every notation, well and badly written; command lines of any options; all searches."""

from __future__ import annotations

from solver import SEARCHES

from .commands import Command
from .grammar import Text, draw_flawed, draw_goal, draw_grid, draw_text, line_of, scrambled
from .options import draw_command, furnish
from .sandbox import DATABASES
from .trial import Trial, kind
from .truth import Puzzle

# Searches and heuristics that most runs have compiled; any other pair costs seconds.
METHODS = (
    *(
        ("--algorithm", name, *["--heuristic", "manhattan"] * (not search.uninformed))
        for name, search in SEARCHES.items()
    ),
    *(("--heuristic", name) for name in ("manhattan", "linear-conflict", "walking-distance", "hamming")),
    ("--heuristic", "manhattan", "--pruning", "9"),
    (),
)
PLAIN_ONLY = (("linear-conflict",), ("walking-distance",))  # not valid on wrapped boards


@kind("boards", 20)
def boards(trial: Trial) -> None:
    """Boards as an argument, in a file or from a pipe."""
    chance = trial.chance
    name = chance.choice(("check", "check", "solve", "compare"))
    way = chance.choice(("argument", "file", "pipe"))
    several = way != "argument" and chance.random() < 0.7
    if chance.random() < 0.4:
        text = draw_flawed(chance, several=several)
    else:
        text = draw_text(chance, several=several, near=name != "check", large=name == "check")
    if way == "argument" and (b"\0" in text.content or len(text.content) > 100_000):
        way = "pipe"
    words = [name, *text.options, *["--json"] * chance.choice((0, 1))]
    if name != "check":
        words += ["--heuristic" + "s" * (name == "compare"), "manhattan", "--time-limit", "1"]
    trial.effective = trial.run_one(_given(trial, words, text, way)).code != 2 or text.flawed


def _given(trial: Trial, words: list[str], text: Text, way: str) -> Command:
    """A command that is given boards in one of three ways."""
    chance = trial.chance
    if way == "argument":
        return trial.solver(*words, "--", text.content.decode(errors="surrogateescape"), given=text)
    if way == "file":
        path = trial.sandbox.work / chance.choice(("boards.txt", "bo ards", "büro\n.txt"))
        path.write_bytes(text.content)
        return trial.solver(*words, "--file", path.name, given=text)
    reads = chance.choice((0, 1, 20)) if chance.random() < 0.15 and len(text.content) < 10_000 else None
    return trial.solver(*words, *["-"] * chance.choice((0, 1)), stdin=text.content, given=text, reads=reads)


@kind("options", 20)
def options(trial: Trial) -> None:
    """A command line of any options and values."""
    furnish(trial.sandbox, trial.chance)
    drawn = draw_command(trial.chance, trial.sandbox)
    stdin = draw_text(trial.chance, several=True, near=True).content if trial.chance.random() < 0.7 else b""
    run = trial.run_one(Command(drawn.program, drawn.words, stdin=stdin, outputs=drawn.outputs))
    trial.effective = run.code != 2


@kind("searches", 10)
def searches(trial: Trial) -> None:
    """Boards solved by any search, in any format of the answer."""
    chance = trial.chance
    grid = draw_grid(chance)
    goal, asked = draw_goal(chance, grid)
    trial.sandbox.fetch(*chance.sample(list(DATABASES), chance.randint(0, len(DATABASES))))
    moves = chance.choice((0, 1, 4, 12, 20)) if grid.cells > 9 else chance.choice((3, 40, 100))
    puzzles = [Puzzle(grid, scrambled(grid, goal, moves, chance), goal) for _ in range(chance.choice((1, 1, 4)))]
    lines = [line_of(chance, grid, puzzle.board) for puzzle in puzzles]
    text = Text("\n".join(lines).encode(), tuple(puzzles), options=(*asked, *["--wrap"] * grid.wrap))
    method = chance.choice(METHODS)
    if ("dfs" in method and grid.cells > 6) or (grid.wrap and method[-1:] in PLAIN_ONLY):
        method = ()
    words = ["solve", *text.options, *method, "--time-limit", "5", "--threads", chance.choice("123")]
    if "--algorithm" not in method and chance.random() < 0.2:
        words.append("--all")
    words += chance.choice((["--json"], ["--json"], [], ["--quiet"], ["--show"], ["--moves", "blank", "--json"]))
    way = "argument" if len(puzzles) == 1 else chance.choice(("file", "pipe"))
    trial.effective = trial.run_one(_given(trial, words, text, way)).code == 0


@kind("comparisons", 4)
def comparisons(trial: Trial) -> None:
    """Methods compared on the same boards, with files of every kind."""
    chance, work = trial.chance, trial.sandbox.work
    trial.sandbox.fetch("3x3-8")
    shape = chance.choice(("3x3", "2x3", "2x4", "3x2"))
    heuristics = chance.sample(("manhattan", "linear-conflict", "hamming", "walking-distance"), chance.choice((1, 2)))
    algorithms = chance.sample(
        ("ida-star", "a-star", "bfs", "greedy", "weighted-a-star:2", "dfs:20"), chance.choice((1, 2))
    )
    words = ["compare", "--random", shape, "-n", chance.choice("159"), "--seed", chance.randrange(1000), "--json"]
    words += ["--heuristics", ",".join(heuristics), "--algorithms", ",".join(algorithms)]
    outputs = []
    for option, ending in (
        ("--csv", ".csv"),
        ("--resume", ".csv"),
        ("--plot", ".png"),
        ("--plot", ".svg"),
        ("--report", ".html"),
    ):
        if chance.random() < 0.2 and option not in words and not (option == "--resume" and "--csv" in words):
            outputs.append(work / f"out{ending}")
            words += [option, f"out{ending}"]
    first = trial.run_one(trial.solver(*words, outputs=tuple(outputs)))
    trial.effective = first.code == 0
    if "--csv" in words:
        words[words.index("--csv")] = "--resume"
    if "--resume" in words:
        again = trial.run_one(trial.solver(*words, outputs=tuple(outputs)))
        trial.require(again.code == first.code, "exit code", "a comparison that is complete must be resumed")
