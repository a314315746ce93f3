"""Command lines drawn from the parsers themselves.

A command and its options are found by looking into the parser, so a new option is drawn as soon as it exists. Values
come from generators by the option's name or type. Half of the command lines are sober, so that they get somewhere; the
others take any value, however strange. What a command line may write follows from its options. The work that it asks
for is kept small by further words at its end, which win over earlier ones: a harness that waits for a long search finds
little.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pdb_builder.cli
import solver.cli
from pdb_builder import NAMED
from pdb_builder.argument_types import number_above_0, seconds_above_0, whole_number
from pdb_builder.shell import absolute_path, parse_size, positive
from solver import HEURISTICS, SEARCHES
from solver.argument_types import moves_per_second, number_from_1, number_list

from .grammar import draw_flawed, draw_text
from .sandbox import DATABASES, Sandbox
from .truth import NAMES

ENDLESS = ("serve",)  # it ends when it is told to: tests/test_page.py
PARSERS = {"pdb-solver": solver.cli._parser, "pdb-builder": pdb_builder.cli._parser}

STRANGE = (
    *("", " ", "-", "--", "-1", "0", "-0", "00", "1e400", "9" * 40, "0x10", "1.5", ".5", "NaN", "inf", "∞", "١٢", "１"),
    *("a\nb", "\n", "\t", "'", '"', "`id`", "$(id)", "%s", "{0}", "\\", "*", "?", "~", "a" * 5000, "1" * 300, "💥"),
    *("\udcff", "é", "e\u0301", "\u202e", "1,2,,3", ",", "/", ";", "#", "None", "true", "max:", "pdb:", "last", "4x4"),
)

# Values by type; the first half of them is sound.
BY_TYPE: dict[object, tuple[str, ...]] = {
    positive: ("1", "2", "3", "8", "256", "257", "0", "007"),
    parse_size: ("512M", "4G", "1T", "1.5GB", "1k", "1M", "20M", "0", "999999T"),
    number_above_0: ("1", "2", "10", "1000", "5k", "1e3", "1e15", "1_000", "0.5k"),
    number_from_1: ("1", "1.5", "3", "1000", "1001", "0.5", "1."),
    whole_number: ("0", "1", "-5", "7", "+3", "9" * 18, "9" * 19),
    seconds_above_0: ("0.1", "1", "1e9", "0.000001", "0", ".5", "5."),
    moves_per_second: ("0.1", "4", "25", "25.1", "0.05"),
    number_list: ("1", "1-3", "1,2", "3-1", "2-2,1", "1-999999", "0"),
}

SHAPES = ("2x2", "2x3", "3x2", "3x3", "2x4", "4x4", "3X3", "3×3", "1x9", "0x0", "3", "3x", "99x99", "10x10", "2x50")
SMALL_BUILDS = ("3x3-8", "3x3-4-4", "3x4-6-5", "4x4-5-5-5", "2x2", "2x3", "3x2", "3x3", "2x4")
HEAVY_BUILDS = {*NAMED, *SHAPES, "5x5", "8x8", "9x9"} - set(SMALL_BUILDS)
PARTITIONS = (
    "1,2,3,4/5,6,7,8",
    "1 2 3 4 5 6 7 8",
    "1,2/3",
    "1/2/3",
    "1,2,3,4/5,6,7",
    "1,2/2,3",
    "0,1",
    "1,2,99",
    "/",
    "",
)
COLLECTIONS = (
    "1,2,3,4/5,6,7,8;1,2,5/3,4,6,7,8",
    "1 2 5/3 4 6 7 8; 3 6 7/1 2/4 5 8; 1 2 5/3 6 7/4 8",
    "1/2/3;1,2/3",
    "1,2,3,4/5,6,7,8",
    "1,2,3,4/5,6,7,8;1,3,4,6/2,5,7,8",
    "1,2,3,4/5,6,7,8;",
    ";",
    "1,2/3;1,2/2,3",
    "1,2;3",
    ";".join(["1,2,3,4/5,6,7,8"] * 101),
    "",
)
ENDINGS = {
    "gif": ".gif",
    "svg": ".svg",
    "csv": ".csv",
    "resume": ".csv",
    "plot": ".png",
    "report": ".html",
    "output": ".h5",
}
# The endings of existing files that an option may replace. It never replaces a file of another kind.
REPLACED = {"gif": (".gif",), "svg": (".svg",), "plot": (".png", ".svg"), "report": (".html", ".htm")}


Draw = Callable[[random.Random, bool], str]  # whether the value is to be sober


class Drawn(NamedTuple):
    """A command line."""

    program: str
    words: tuple[str, ...]
    outputs: tuple[Path, ...]  # what it may create or replace


# ---- values -------------------------------------------------------------------------------------


def _pick(chance: random.Random, values: Sequence[str], sober: bool) -> str:
    """One of some values, whose first half is sound."""
    return chance.choice(values[: len(values) // 2] if sober else values)


def _heuristic(chance: random.Random, sober: bool) -> str:
    if chance.random() < 0.45:
        return "manhattan"
    named = list(HEURISTICS)
    databases = [f"pdb:{name}" for name in (*DATABASES, "no-such", "damaged.h5", "pipe.h5", "folder.d")]
    joint = ["max:manhattan+hamming", "max:manhattan", "max:manhattan+", "max:" + "manhattan+" * 39 + "hamming"]
    return chance.choice(named if sober or chance.random() < 0.5 else (*databases, *joint))


def _algorithm(chance: random.Random, sober: bool) -> str:
    if sober or chance.random() < 0.5:
        return chance.choice(list(SEARCHES))
    return chance.choice(
        (
            "ida-star:value",
            "ida-star:pruning=12",
            "dfs:12:pruning=6",
            "ida-star:pruning=99",
            "weighted-a-star:2",
            "beam:20",
            "dfs:12",
            "beam:0",
            "a-star:1",
            "none",
            "",
        )
    )


def _list_of(one: Draw) -> Draw:
    return lambda chance, sober: ",".join(one(chance, sober) for _ in range(chance.choice((1, 1, 2, 2, 3))))


def _target(chance: random.Random, sober: bool) -> str:
    return chance.choice(SMALL_BUILDS if sober else (*NAMED, *SHAPES, "5x5", "8x8", "9x9"))


def _one_of(*values: str) -> Draw:
    return lambda chance, sober: _pick(chance, values, sober)


BY_NAME: dict[str, Draw] = {
    "heuristic": _heuristic,
    "heuristics": _list_of(_heuristic),
    "algorithms": _list_of(_algorithm),
    "goal": _one_of(*NAMES, "LAST", "0 1 2 3 4 5 6 7 8", "1 2 3 / 8 0 4 / 7 6 5", "1 2 3", "3 2 1 0"),
    "shape": _one_of(*SHAPES),
    "random": _one_of(*SHAPES),
    "targets": _target,
    "patterns": _one_of(*PARTITIONS),
    "collection": _one_of(*COLLECTIONS),
    "start": _one_of(*COLLECTIONS),
    "blank": _one_of("first", "last", "0", "3", "8", "15", "99", "4.0", "middle"),
    "pruning": _one_of("2", "3", "8", "12", "14", "16", "1", "18", "24", "25", "1000", "1e15", "9" * 18, "14.5"),
    "database": _one_of(*DATABASES, "precious.h5", "junk.h5", "pipe.h5", "folder.d", "loop.h5", "dangling.h5"),
    "rank": _one_of("auto", "classic", "learned", "classic", "no.h5", "junk.h5", "precious.h5", "best"),
    "walk": _one_of("0", "1000", "10-200", "200-10", "1e3", "-5", "9999999999"),
    "partners": _one_of("4", "8", "24", "5", "0", "1e9"),
    "rows": _one_of("3x3:3", "2x3:2:bytes", "4x4:3", "3x3:99", "9x9:1", "3x3", "3x3:2:bits:x"),
}


def furnish(sandbox: Sandbox, chance: random.Random) -> None:
    """Put into the working folder what paths can lead to."""
    work = sandbox.work
    sandbox.fetch(*DATABASES)
    (work / "boards.txt").write_bytes(draw_text(chance, several=True, near=True).content)
    shutil.copy(sandbox.stock.databases / "3x3-4-4.h5", work / "precious.h5")
    for name in ("notes.txt", "junk.h5", "old.gif", "old.svg", "old.png", "old.html", "old.csv"):
        (work / name).write_text("precious\n")
    (work / "empty.csv").touch()
    (work / "folder.d").mkdir()
    for name, target in {"loop.h5": "loop.h5", "dangling.h5": "nowhere.h5", "link.gif": "notes.txt"}.items():
        (work / name).symlink_to(target)
    os.mkfifo(work / "pipe.h5")


def _path(chance: random.Random, option: str, sober: bool) -> str:
    if sober or chance.random() < 0.5:
        if option == "file":
            return "boards.txt"
        return chance.choice(("new", "new", "ünï ☃", "a\nb", "-x")) + ENDINGS.get(option, "")
    paths = [
        *("notes.txt", "precious.h5", "junk.h5", "old.gif", "old.svg", "old.png", "old.html", "old.csv"),
        *("empty.csv", "link.gif"),
        *("folder.d", "folder.d/new.h5", "folder.d/new.csv", "no/such/folder.csv", "loop.h5", "dangling.h5"),
        *("", ".", "..", "/dev/null", "/dev/null/x.h5", "/proc/x.h5", "/proc/x.csv", "new.svg", "new.PNG", "n" * 300),
        f"{'n' * 248}.{ENDINGS.get(option, '.txt')[1:]}",
    ]
    if option not in ("file", "samples"):  # a reader of these would wait forever, as the user has asked for
        paths += ["pipe.h5", "/dev/full"]
    return chance.choice(paths)


def value_of(chance: random.Random, action: argparse.Action, sober: bool = False) -> str:
    """A value for an option or an argument; a sober one is usually valid."""
    if not sober and chance.random() < 0.1:
        return chance.choice(STRANGE)
    if action.choices:
        return chance.choice(list(action.choices))
    if action.dest in BY_NAME:
        return BY_NAME[action.dest](chance, sober)
    if action.type in (Path, absolute_path):
        return _path(chance, action.dest, sober)
    return _pick(chance, BY_TYPE.get(action.type, STRANGE), sober)


# ---- command lines ------------------------------------------------------------------------------


@cache
def commands_of(program: str) -> dict[str, argparse.ArgumentParser]:
    """The commands of a program, each with its parser."""
    parser = PARSERS[program]()
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {name: command for name, command in commands.choices.items() if name not in ENDLESS}


def draw_command(chance: random.Random, sandbox: Sandbox) -> Drawn:
    """A command line of either program."""
    program = chance.choice(("pdb-solver", "pdb-solver", "pdb-builder"))
    commands = commands_of(program)
    name = chance.choice(list(commands))
    optional = [action for action in commands[name]._actions if action.option_strings]
    chosen = chance.sample(optional, min(len(optional), chance.choice((0, 1, 1, 2, 2, 3, 4, 6))))
    if chance.random() < 0.9:
        chosen = [action for action in chosen if not isinstance(action, argparse._HelpAction)]
    sober = chance.random() < 0.6
    values: dict[str, str] = {}
    words = _arguments(chance, commands[name], sober)
    for action in chosen:
        flag = chance.choice(action.option_strings)
        if action.nargs == 0:
            words.append(flag)
            continue
        value = values[action.dest] = value_of(chance, action, sober)
        words += [f"{flag}={value}"] if flag.startswith("--") and chance.random() < 0.3 else [flag, value]
    if not sober and chance.random() < 0.5:
        chance.shuffle(words)
        values = {}  # which are now anyone's guess, so nothing may be written
        words = [word for word in words if word.partition("=")[0].removeprefix("--") not in ENDINGS]
    if name == "build" and (HEAVY_BUILDS.intersection(words) or not set(SMALL_BUILDS).intersection(words)):
        words = [word for word in words if word != "--force"]
    if name == "choose":  # whose reference for 4x4 has eight tiles
        words = ["3x4" if word == "4x4" else word for word in words]
    words = [name, *words, *_bounds(program, name, words)]
    return Drawn(program, tuple(words), tuple(_outputs(values, words, sandbox.work)))


def _arguments(chance: random.Random, command: argparse.ArgumentParser, sober: bool) -> list[str]:
    """The words of a command that belong to no option."""
    words: list[str] = []
    for action in command._actions:
        if not action.option_strings:
            if action.dest == "board":
                words += _board(chance, sober)
            else:
                count = 1 if sober or action.dest == "rows" else chance.choice((0, 1, 1, 1, 2))
                words += [value_of(chance, action, sober) for _ in range(count)]
    return words


def _board(chance: random.Random, sober: bool) -> list[str]:
    kind = chance.random()
    if kind < 0.2:
        return []
    text = (draw_text if sober or kind < 0.6 else draw_flawed)(chance, several=False, **{"near": True} if sober else {})
    board = text.content.replace(b"\0", b"").decode(errors="surrogateescape")[:10_000]
    return board.split() if kind < 0.3 else [board]


def _bounds(program: str, name: str, words: list[str]) -> list[str]:
    """Words that keep the work of a command small, whatever else it says."""
    given = " ".join(words)
    if name == "build":
        return ["--max-memory", "215M"]
    if name == "choose":
        return ["--max-memory", "50k", "--boards", "2", "--nodes", "50", "--sample", "100", "--candidates", "1"]
    if name == "bench":
        return ["--repeat", "1"] if program == "pdb-builder" else ["no-such-row"]
    if name == "random":
        return ["-n", "5"]
    if name == "learn":
        return ["--boards", "2", "--rounds", "1", "--width", "30"]
    if name in ("solve", "compare"):
        bounds = ["--time-limit", "0.2", "--node-limit", "50k"]
        if name == "compare" and "--random" in given:
            bounds += ["-n", "3"]
        elif name == "compare" and "--set" in given:
            bounds += ["--only", "1-2"]
        return bounds
    return []


def _outputs(values: dict[str, str], words: list[str], folder: Path) -> list[Path]:
    """The files that a command line may create or replace."""
    found = []
    for option, value in values.items():
        try:
            path = (folder / value).resolve()
            exists = path.exists()
        except (OSError, ValueError, RuntimeError):
            continue
        if option in REPLACED:
            may = not exists or path.suffix.lower() in REPLACED[option]
        elif option in ("resume", "columns", "save_samples"):
            may = not exists or path.stat().st_size == 0
        else:
            may = option in ("csv", "output") and (not exists or (option == "output" and "--overwrite" in words))
        if may:
            found.append(path)
            if option == "output":
                found.append(folder / value)  # a link is replaced itself
    return found
