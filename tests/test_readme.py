"""What the README says is so: its commands run as written, its answers are those they give."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pdb_builder import NAMED, Grid, Spec
from solver import HEURISTICS, SEARCHES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = {
    "pdb-builder": ["build", "info", "list", "verify", "bench"],
    "pdb-solver": ["solve", "compare", "check", "distribution", "random", "bench"],
}


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_it_names_every_command_and_make_target():
    for program, commands in COMMANDS.items():
        for command in commands:
            assert f"{program} {command}" in README
    for name in [*SEARCHES, *HEURISTICS]:
        assert f"`{name}" in README
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split())
    assert targets == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)), "make help shows every target"
    for target in targets - {"help", "clean"}:
        assert f"make {target}" in README


@pytest.mark.jit
def test_its_commands_run_as_written_and_answer_what_it_shows(tmp_path, database_of):
    (tmp_path / "databases").mkdir()
    shutil.copytree(ROOT / "docs" / "results", tmp_path / "docs" / "results")
    (tmp_path / "databases" / "4x4-7-8.h5").symlink_to(database_of(Spec(Grid(4, 4), NAMED["4x4-7-8"])))
    scripts = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": scripts + os.pathsep + os.environ["PATH"], "SLIDEPDB_DATABASES": "databases"}
    commands = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]
    assert len(commands) >= 15
    # The databases first: the page speaks of solving before it speaks of building.
    printed = ""
    for command in sorted(commands, key=lambda line: not line.startswith("pdb-builder build")):
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == (3 if "node-limit" in command else 0), (command, done.stderr)
        assert "Traceback" not in done.stderr
        printed += done.stdout
    for block in blocks("text"):
        for line in block.splitlines():
            assert timeless(line) in timeless(printed) or line.strip() == "...", line


def timeless(text):
    """Without what depends on the machine and the hour."""
    text = re.sub(r"(built in|built by|built at).*", "", text)
    return re.sub(r" +[0-9]+\.[0-9]{3}$|[0-9.]+ [MG] generated/s", "", text, flags=re.MULTILINE).rstrip()


@pytest.mark.jit
def test_its_python_runs_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(blocks("python")) >= 2
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "databases" / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
