"""The documentation is true: its commands and its Python run as written, and print what it shows.

A page is a sequence of fenced blocks. Every line of a ``console`` block that begins with ``$`` is run, in one folder
for the whole page; a backslash continues it. Every line of a ``text`` block must be in the output of the ``console``
block before it, in the same order, apart from lines of dots. Every ``python`` block is executed. Where an answer is
JSON, the page names its keys.
"""

import contextlib
import json
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pdb_builder.cli
import solver.cli
from pdb_builder import NAMED, Grid, Spec
from solver import HEURISTICS, SEARCHES
from solver.heuristics import manhattan
from solver.search.outcome import Limits, Problem, unreported
from solver.solution import replay

from .conftest import Stream
from .oracle import board_distances

ROOT = Path(__file__).parent.parent
README, GUIDE, CONTRIBUTING = ROOT / "README.md", ROOT / "docs" / "guide.md", ROOT / "CONTRIBUTING.md"
TESTED = [README, GUIDE, CONTRIBUTING, ROOT / "docs" / "format.md"]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("databases/*.md")]
PROGRAMS = {"pdb-builder": pdb_builder.cli, "pdb-solver": solver.cli}
HERE = "/home/me/slidepdb"  # what the pages call the folder that their commands run in
# What depends on the machine and the hour: times, speeds, and how a database was built.
FLEETING = re.compile(
    r"(built in|built by) .*"
    r"|[0-9.,]+( [MG])? generated/s"
    r"| (> )?[0-9]+\.[0-9]{3,6}( s\)| [0-9.,]+( [MG])?(?= ))?(?= |$)"  # seconds, and in tables the speed after them
)


def blocks(page):
    """The language and the text of each fenced block, which may be part of a list."""
    found = re.findall(r"^ *```(\w+)\n(.*?)^ *```$", page.read_text(), re.DOTALL | re.MULTILINE)
    return [(language, textwrap.dedent(text)) for language, text in found]


@pytest.mark.jit
@pytest.mark.subprocess
@pytest.mark.parametrize("page", TESTED, ids=lambda page: page.name)
def test_examples_run_as_written_and_print_what_is_shown(page, tmp_path, monkeypatch, database_of):
    shutil.copytree(ROOT / "docs" / "results", tmp_path / "docs" / "results")
    folder = tmp_path / "databases"
    folder.mkdir()
    (folder / "4x4-7-8.h5").symlink_to(database_of(Spec(Grid(4, 4), NAMED["4x4-7-8"])))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(folder))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    printed, names = "", {}
    for language, text in blocks(page):
        if language == "console":
            printed = "".join(outputs_of(text, page)).replace(str(tmp_path), HERE)
        elif language == "text":
            check_shown(text, printed)
        elif language == "python":
            exec(compile(text, page.name, "exec"), names)


def outputs_of(console, page):
    """What the commands of a block print."""
    lines = re.sub(r"\\\n +", "", console).splitlines()
    for command in (line[2:] for line in lines if line.startswith("$ ")):
        output = output_of(command)
        if "--json" in command:
            missing = [key for key in keys_of(output) if f"`{key}`" not in page.read_text()]
            assert not missing, f"{command}: {missing}"
        yield output


def output_of(command):
    """What a command prints. It runs in this process, unless it needs a shell."""
    if re.search(r"[|>;]", re.sub(r'"[^"]*"', "", command)):
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        code, output, errors = done.returncode, done.stdout, done.stderr
    else:
        program, *words = shlex.split(command)
        with contextlib.redirect_stdout(Stream()) as out, contextlib.redirect_stderr(Stream()) as err:
            code = PROGRAMS[program].main(words)
        output, errors = out.text(), err.text()
    assert code == 0 and "Traceback" not in errors, f"{command}: {errors}"
    return output


def check_shown(text, printed):
    """Whether every line of ``text`` was printed, in this order."""
    rest = lasting(printed)
    for line in lasting(text):
        if line != "...":
            assert line in rest, f"{line!r} is not in\n{printed}"
            rest = rest[rest.index(line) + 1 :]


def lasting(text):
    """The lines of a text, without what depends on the machine and the hour, and without the width of columns."""
    return [FLEETING.sub("", " ".join(line.split())).strip() for line in text.splitlines()]


def keys_of(answer):
    """The keys of the objects in an answer: one JSON text, or one per line."""
    try:
        values = [json.loads(answer)]
    except json.JSONDecodeError:
        values = [json.loads(line) for line in answer.splitlines()]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            yield from value
            values += value.values()
        elif isinstance(value, list):
            values += value


def test_the_search_that_is_the_example_finds_shortest_solutions():
    search, grid = example("def search")["search"], Grid(2, 3)
    heuristic = manhattan.prepare(grid, 0)
    for start, distance in list(board_distances(grid, 0).items())[::7]:
        problem = Problem(grid, 0, start, heuristic)
        outcome = search(problem, threads=1, limits=Limits(), progress=unreported)
        assert len(replay(grid, start, grid.goal(0), outcome.paths[0])) == outcome.lower_bound == distance
    assert search(problem, threads=1, limits=Limits(nodes=10), progress=unreported).stopped == "nodes"


def example(words, page=CONTRIBUTING):
    """The names that the example of a page which contains some words defines."""
    names = {}
    exec(next(text for language, text in blocks(page) if words in text), names)
    return names


def test_the_readme_is_for_the_first_minute():
    lines = README.read_text().splitlines()
    assert len(lines) <= 180
    assert max(map(len, lines)) <= 120


def test_every_command_search_heuristic_and_make_target_is_named():
    readme, guide = README.read_text(), GUIDE.read_text()
    for program, cli in PROGRAMS.items():
        for module in (Path(cli.__file__).parent / "commands").glob("*.py"):
            if "def run(args" in module.read_text():
                assert f"{program} {module.stem}" in guide
    for name in [*SEARCHES, *HEURISTICS]:
        assert f"`{name}" in guide
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split())
    assert targets == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)), "make help shows every target"
    for target in targets:
        assert f"`make {target}`" in guide
    assert "make solve" in readme and "make test" in readme


def test_every_public_name_is_in_the_guide():
    for name in [*pdb_builder.__all__, *solver.__all__]:
        assert f"`{name}`" in GUIDE.read_text(), name


def test_modules_that_are_named_exist():
    """Files as in ``search/beam.py``, modules and their names as in ``solver.frame`` or ``pdb_builder.base.errors``."""
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in ROOT.glob("*/**/*.py")]
    for page in PAGES:
        if page.name == "CHANGELOG.md":  # it names what is gone
            continue
        for name in re.findall(r"`([\w/]+\.py)`", page.read_text()):
            assert any(file.endswith(f"/{name}") for file in files), f"{page.name}: {name}"
        for name in re.findall(r"`((?:solver|pdb_builder)(?:\.\w+)+)`", page.read_text()):
            assert pkgutil.resolve_name(name), f"{page.name}: {name}"


def test_links_lead_somewhere():
    for page in PAGES:
        text = page.read_text()
        for link, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", text):
            target = page.parent / link if link else page
            assert target.exists(), f"{page.name}: {link}"
            if anchor:
                headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
                anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
                assert anchor in anchors, f"{page.name}: {link}#{anchor}"
