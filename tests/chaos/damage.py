"""Trials of damage: bits flipped, ends lost, stretches zeroed or overwritten, in every kind of file that we write.

No command may believe what is left of such a file: it is refused in one line, or built again where that takes nobody's
decision, and what is called proven is right all the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

from pdb_builder.base.code_files import ENDING
from pdb_builder.base.folders import APPLICATION
from pdb_builder.checking import COARSE
from pdb_builder.grid import Grid

from .kills import BUILDS
from .sandbox import DATABASES
from .trial import Trial, kind
from .truth import whole_shape

COMPILED_AGAIN = "was damaged: compiling it again"
NOTED = ("3x3-8", "3x3-4-4")


def boards(chance: random.Random, count: int = 30) -> str:
    """Boards of 3x3 that can be solved, one per line, the farthest among them."""
    drawn = chance.sample(list(whole_shape(Grid(3, 3), 8)), count)
    return "\n".join(" ".join(map(str, board)) for board in [(8, 6, 7, 2, 5, 4, 3, 0, 1), *drawn])


def damage(chance: random.Random, path: Path) -> bool:
    """Change a file in place, as a failing disk or a wrong command does. Whether it is another than before."""
    before = path.read_bytes()
    content = bytearray(before)
    size = len(content)
    kind = chance.choice(("bits", "bits", "truncated", "zeroes", "noise", "longer", "empty", "page"))
    at = chance.randrange(max(1, size))
    length = min(size - at, chance.choice((1, 16, 512, 4096, size)))
    if kind == "bits":
        for _ in range(chance.choice((1, 1, 10, 200)) if size else 0):
            content[chance.randrange(size)] ^= 1 << chance.randrange(8)
    elif kind == "truncated":
        del content[at:]
    elif kind == "zeroes":
        content[at : at + length] = bytes(length)
    elif kind == "noise":
        content[at : at + length] = chance.randbytes(length)
    elif kind == "longer":
        content += chance.choice((b"\0", b"\n", chance.randbytes(100), before))
    elif kind == "empty":
        content.clear()
    else:  # a page of the disk is written to the wrong place
        there = chance.randrange(max(1, size))
        content[at : at + 4096] = before[there : there + len(content[at : at + 4096])]
    with open(path, "r+b") as file:
        file.write(content)
        file.truncate(len(content))
    return bytes(content) != before


# ---- databases ----------------------------------------------------------------------------------


@kind("damaged database", 5)
def database(trial: Trial) -> None:
    """A damaged database is refused wherever it is used, and nothing that was computed with it is wrong."""
    chance = trial.chance
    name = chance.choice(("3x3-8", "3x3-4-4", "3x3-4-4-bytes", "3x3-collection"))
    (path,) = map(Path, trial.sandbox.fetch(name))
    file = trial.sandbox.work / "boards.txt"
    file.write_text(boards(chance))
    used = chance.random() < 0.5
    solve = trial.solver("solve", "--file", file, "--json", "--heuristic", f"pdb:{name}")
    if used:
        trial.succeeds(solve)  # which may remember that the file was sound
    changed = trial.effective = damage(chance, path)
    for command in chance.sample(("solve", "default", "verify", "quick", "build", "list", "info", "compare"), 3):
        if command == "solve":
            run = trial.run_one(solve)
            trial.require(run.code in (0, 2), "exit code", f"a damaged database cannot lead to {run.code}")
        elif command == "default":
            run = trial.run_one(trial.solver("solve", "--file", file, "--json"))
            trial.require(run.code in (0, 2), "exit code", f"a damaged database cannot lead to {run.code}")
        elif command in ("verify", "quick"):
            run = trial.run_one(trial.builder("verify", path, *["--quick"] * (command == "quick")))
            trial.require(run.code != 0 or not changed, "answers", f"{path.name} was changed, but is called whole")
        elif command == "build":
            run = trial.run_one(trial.builder("build", *DATABASES[name], "--output", path))
            trial.require(run.code == 2 or not changed, "answers", f"{path.name} was changed, but is called built")
        elif command == "list":
            run = trial.succeeds(trial.builder("list", "--json", *_encoding(name)))
            built = {row["name"]: row["built"] for row in json.loads(run.output)} if run.code == 0 else {}
            named = built.get(name.removesuffix("-bytes"))
            trial.require(named != "yes" or not changed, "answers", f"{path.name} was changed, but is listed as built")
        elif command == "info":
            trial.run_one(trial.builder("info", path))
        else:
            words = ("--heuristics", f"manhattan,pdb:{name}", "--json")
            trial.run_one(trial.solver("compare", "--random", "3x3", "-n", "20", *words))
    trial.succeeds(trial.builder("build", *DATABASES[name], "--output", path, "--overwrite", outputs=(path,)))
    trial.check_database(path, DATABASES[name])
    trial.succeeds(solve)


def _encoding(name: str) -> tuple[str, ...]:
    return ("--encoding", "bytes") if name.endswith("-bytes") else ()


@kind("damaged in use", 2)
def in_use(trial: Trial) -> None:
    """A database is damaged or replaced while a search looks boards up in it."""
    chance = trial.chance
    (path,) = map(Path, trial.sandbox.fetch("4x4-5-5-5"))
    words = chance.choice(
        (
            ("solve", "--set", "korf100", "--heuristic", "pdb:4x4-5-5-5", "--json"),
            ("solve", "--set", "korf100", "--heuristic", "pdb:4x4-5-5-5", "--json", "--jobs", "2"),
            ("compare", "--set", "korf100", "--only", "1-30", "--heuristics", "pdb:4x4-5-5-5", "--json"),
            ("verify", str(path)),
        )
    )
    way = chance.choice(("in place", "in place", "zeroed", "truncated", "removed", "replaced"))
    delay, done = chance.uniform(0.5, 4), 0.0

    def meanwhile() -> None:
        nonlocal done
        time.sleep(delay)
        if way == "in place":
            damage(chance, path)
        elif way == "zeroed":
            with open(path, "r+b") as file:
                file.seek(4096)
                file.write(bytes(path.stat().st_size - 4096))
        elif way == "truncated":
            os.truncate(path, chance.randrange(path.stat().st_size))
        elif way == "removed":
            path.unlink()
        else:
            other = path.with_name("other.h5")
            shutil.copy(trial.sandbox.stock.databases / "4x4-5-5-5.h5", other)
            other.rename(path)
        done = time.monotonic() - begun

    command = (trial.builder if words[0] == "verify" else trial.solver)(*words)
    begun = time.monotonic()
    run = trial.run_one(command, meanwhile, touched=(path,))
    trial.effective = run.seconds > done
    trial.require(run.code in (0, 1, 2), "exit code", f"a file that was {way} cannot lead to {run.code}")


@kind("damaged walking distance", 2)
def walking_distance(trial: Trial) -> None:
    """A damaged table of walking distances is built again."""
    chance = trial.chance
    command = trial.solver("solve", "--json", "--heuristic", "walking-distance", stdin=boards(chance).encode())
    trial.succeeds(command)
    for path in trial.sandbox.databases.iterdir():
        trial.effective |= damage(chance, path)
    trial.succeeds(command)
    trial.succeeds(command)


@kind("damaged forbidden words", 2)
def forbidden_words(trial: Trial) -> None:
    """A damaged list of forbidden words is made again, and never believed."""
    chance = trial.chance
    # Long enough to find for the list to be kept, unless the machine is very fast.
    board = "5 2 6 3 9 11 10 1 4 7 0 20 19 8 17 16 12 24 14 23 21 15 18 13 22"
    words = ("solve", board, "--goal", "first", "--heuristic", "linear-conflict", "--pruning", "16", "--threads", "1")
    command = trial.solver(*words, "--json")
    trial.succeeds(command)
    for path in trial.sandbox.databases.glob("pruning-*.h5"):
        trial.effective |= damage(chance, path)
    trial.succeeds(command)
    trial.succeeds(command)


# ---- other files --------------------------------------------------------------------------------


@kind("damaged workshop", 2)
def workshop(trial: Trial) -> None:
    """What an interrupted build has left is damaged: the build continues without it."""
    chance, path = trial.chance, trial.sandbox.work / "x.h5"
    words = chance.choice([one for one in BUILDS if one != ("3x3-4-4",)])
    command = trial.builder("build", *words, "--output", path, outputs=(path,))
    trial.run_one(command._replace(signal=signal.SIGKILL, delay=chance.uniform(1, 2.5)))
    for left in path.parent.glob(".x.h5.building/*"):
        if chance.random() < 0.7:
            trial.effective |= damage(chance, left)
    trial.finishes(command, path, words)


@kind("damaged results", 3)
def results(trial: Trial) -> None:
    """A damaged file of results is refused and left alone, or continued to the right results."""
    chance, path = trial.chance, trial.sandbox.work / "results.csv"
    words = ["compare", "--random", "3x3", "-n", "12", "--heuristics", "manhattan", "--algorithms", "ida-star,a-star"]
    command = trial.solver(*words, "--json", "--resume", path, outputs=(path,))
    cells, sound = _cells(trial.succeeds(command).output), path.read_bytes()
    if chance.random() < 0.4:
        _forge(chance, path)
    else:
        damage(chance, path)
    before = path.read_bytes()
    trial.effective = before != sound
    run = trial.run_one(command)
    trial.require(run.code in (0, 2), "exit code", f"damaged results cannot lead to {run.code}")
    if run.code == 2:
        trial.require(path.read_bytes() == before, "files", "results that are refused must be left alone")
    else:
        trial.require(_cells(run.output) == cells, "answers", "the results are not those of before the damage")


def _forge(chance: random.Random, path: Path) -> None:
    """Change one figure, line or word of a results file as an editor does."""
    lines = path.read_text().split("\n")
    at = chance.randrange(1, len(lines) - 1)
    fields = lines[at].split(",")
    field = chance.randrange(len(fields))
    way = chance.choice(("figure", "figure", "lost", "twice", "swapped", "blank"))
    if way == "figure":
        fields[field] = str(chance.choice((1, 7, 10**6))) if field else "2"
        lines[at] = ",".join(fields)
    elif way == "lost":
        del lines[at]
    elif way == "twice":
        lines.insert(at, lines[at])
    elif way == "swapped":
        lines[1], lines[at] = lines[at], lines[1]
    else:
        lines.insert(at, "")
    path.write_text("\n".join(lines))


def _cells(output: str) -> list[dict]:
    """The cells of a comparison, without what differs from run to run."""
    cells = json.loads(output)["cells"] if output.strip() else []
    differ = ("seconds", "machine", "revision")
    return [{key: value for key, value in cell.items() if key not in differ} for cell in cells]


@kind("results in use", 1)
def results_in_use(trial: Trial) -> None:
    """A file of results is damaged or removed while a comparison adds lines to it."""
    chance, path = trial.chance, trial.sandbox.work / "results.csv"
    words = ["compare", "--random", "3x3", "-n", "60", "--heuristics", "manhattan", "--algorithms", "ida-star,a-star"]
    command = trial.solver(*words, "--json", "--resume", path, outputs=(path,))
    delay, removed = chance.uniform(0.5, 4), chance.random() < 0.3

    def meanwhile() -> None:
        time.sleep(delay)
        if path.exists():
            path.unlink() if removed else damage(chance, path)
            trial.effective = True

    for run in trial.run_one(command, meanwhile, touched=(path,)), trial.run_one(command, touched=(path,)):
        trial.require(run.code in (0, 2), "exit code", f"damaged results cannot lead to {run.code}")


@kind("damaged cache", 2)
def cache(trial: Trial) -> None:
    """Compiled code that is damaged is compiled again, with a notice, and never run."""
    chance = trial.chance
    variables = trial.sandbox.own_kernels()
    files = sorted(trial.sandbox.cache.rglob(f"*{ENDING}"))
    needed = [path for path in files if "depth_first.search_below" in path.name]  # the command runs one of them
    trial.require(bool(needed), "harness", "there is no compiled code to damage")
    chosen = chance.choice((files, needed, needed, chance.sample(files, min(len(files), 5))))
    damaged = {path: path.read_bytes() for path in chosen if damage(chance, path)}
    words = ["solve", "--json", "--heuristic", chance.choice(("manhattan", "hamming"))]
    command = trial.solver(*words, stdin=boards(chance).encode(), variables=variables)
    told = trial.effective = COMPILED_AGAIN in trial.succeeds(command).errors
    used = [path for path, content in damaged.items() if path.read_bytes() != content]
    trial.require(told or not used, "answers", f"nothing is said of damaged code that was replaced: {used}")
    trial.require(told or not damaged.keys() >= {*needed}, "answers", "nothing is said of damaged code that is needed")
    again = trial.succeeds(command)
    trial.require(COMPILED_AGAIN not in again.errors, "files", "damaged code is still there after it was noticed")


@kind("cache in use", 1)
def cache_in_use(trial: Trial) -> None:
    """Compiled code is damaged or removed while commands read it."""
    chance = trial.chance
    variables = trial.sandbox.own_kernels()
    files = sorted(trial.sandbox.cache.rglob(f"*{ENDING}"))
    command = trial.solver("solve", "--json", "--heuristic", "manhattan", stdin=boards(chance).encode())
    command = command._replace(variables=variables)
    delay, removed = chance.uniform(0.2, 1.5), chance.random() < 0.3

    def meanwhile() -> None:
        time.sleep(delay)
        for path in files:
            with contextlib.suppress(FileNotFoundError):  # it is just being replaced
                path.unlink() if removed else damage(chance, path)
                trial.effective = True

    for run in trial.run(command, command, meanwhile=meanwhile):
        trial.require(run.code == 0, "exit code", f"a search must succeed without its cache, but ends with {run.code}")
    trial.succeeds(command)


@kind("damaged notes", 2)
def notes(trial: Trial) -> None:
    """Notes about sound databases vouch for nothing once they are damaged, and stand in nobody's way."""
    chance = trial.chance
    paths = dict(zip(NOTED, map(Path, trial.sandbox.fetch(*NOTED)), strict=True))
    commands = [
        trial.solver("solve", "--json", "--heuristic", f"pdb:{name}", stdin=boards(chance).encode()) for name in NOTED
    ]
    time.sleep(COARSE)  # there are no notes about files that were only just written
    for command in commands:
        trial.succeeds(command)
    sound = {path: path.read_bytes() for path in (trial.sandbox.cache / APPLICATION / "checked").glob("*.json")}
    trial.require(len(sound) == len(NOTED), "harness", f"there are {len(sound)} notes about {len(NOTED)} databases")
    for path in sound:
        path.write_bytes(_damaged_note(chance, sound, path))
        trial.effective = True
    for command in commands:
        trial.succeeds(command)
    for path, content in sound.items():
        trial.require(json.loads(path.read_bytes()) == json.loads(content), "files", f"{path.name} is not as before")
    name = chance.choice(NOTED)
    if damage(chance, paths[name]):
        for path in sound:  # each is said to be the note about the other
            path.write_bytes(_note_of_another(sound, path))
        run = trial.run_one(commands[NOTED.index(name)])
        trial.require(run.code == 2, "answers", f"{name}.h5 was changed, but is used: the exit code is {run.code}")


def _damaged_note(chance: random.Random, sound: dict[Path, bytes], path: Path) -> bytes:
    content = sound[path]
    return chance.choice(
        (
            chance.randbytes(len(content)),
            content[: chance.randrange(len(content))],
            _note_of_another(sound, path),
            *(b"", b"[]", b"{}", b"null", b'{"path": null}', b"[" * 10**5),
        )
    )


def _note_of_another(sound: dict[Path, bytes], path: Path) -> bytes:
    return next(content for other, content in sound.items() if other != path)
