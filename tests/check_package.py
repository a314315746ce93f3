"""Builds the package, installs it outside the checkout and uses it there: ``make package``.

The tests run in the checkout, where every file is at hand. A user has only what the wheel holds, other working
folders and an empty home. So this script builds the source distribution and, from it, the wheel; compares what they
hold with the checkout; installs the wheel into a new virtual environment in a temporary folder; and runs the
commands there as a user would. What passes is put into the output folder, what fails is not.

It is a script, not a test: pytest does not collect it, because it needs a package index and installs everything anew.

    python tests/check_package.py [OUTPUT]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Patterns of the files that each distribution must hold. Each must match at least one file of the checkout.
PACKAGES = (
    *("pdb_builder/**/*.py", "pdb_builder/py.typed", "solver/**/*.py", "solver/py.typed"),
    *("solver/data/*.csv", "solver/data/*.h5", "solver/page/static/*"),
)
PROJECT = (
    *(".ci/*", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in", "Makefile", "README.md"),
    *("databases/README.md", "docs/**/*", "pyproject.toml", "tests/**/*.py", "tests/*.h5.gz"),
)
HARDEST = "8 6 7 / 2 5 4 / 3 0 1"  # one of the two 3x3 boards farthest from the goal
FARTHEST = 31  # moves
EASY = "12,79"  # of Korf's 100 boards


class Failure(Exception):
    """The package is not as it should be."""


def main(output: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="slidepdb-package-") as name:
        folder = Path(name).resolve()
        wheel, source = build(folder / "dist")
        check_contents(wheel, source)
        print(f"built {wheel.name} and {source.name}", flush=True)
        user = User(folder, wheel)
        print("installed the wheel into a new virtual environment", flush=True)
        check_commands(user, version=wheel.name.split("-")[1])
        print("the commands work outside the checkout", flush=True)
        output.mkdir(parents=True, exist_ok=True)
        for path in (wheel, source):
            shutil.copy(path, output)
    print(f"{wheel.name} and {source.name} are in {output}")


def build(folder: Path) -> tuple[Path, Path]:
    """Build both distributions, the wheel from the unpacked source distribution."""
    shutil.rmtree(ROOT / "slidepdb.egg-info", ignore_errors=True)  # its list of files would be added to the new one
    run([sys.executable, "-m", "build", "--outdir", folder, ROOT], ROOT)
    [wheel], [source] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    run([sys.executable, "-m", "twine", "check", "--strict", wheel, source], ROOT)
    return wheel, source


def check_contents(wheel: Path, source: Path) -> None:
    """Compare what the distributions hold with the checkout."""
    packages, project = set(files(PACKAGES)), set(files(PROJECT))
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    metadata = {name for name in held if name.split("/")[0].endswith(".dist-info")}
    require_none(f"{wheel.name} lacks", packages - held)
    require_none(f"{wheel.name} should not hold", held - packages - metadata)
    if not any(name.endswith("/LICENSE") for name in metadata):
        raise Failure(f"{wheel.name} lacks LICENSE")
    with tarfile.open(source) as archive:
        held = {member.name.partition("/")[2] for member in archive if member.isfile()}
    metadata = {name for name in held if name in ("PKG-INFO", "setup.cfg") or name.startswith("slidepdb.egg-info/")}
    require_none(f"{source.name} lacks", (packages | project) - held)
    require_none(f"{source.name} should not hold", held - packages - project - metadata)


def files(patterns: Iterable[str]) -> Iterator[str]:
    """The files of the checkout that match, as paths relative to it."""
    for pattern in patterns:
        found = [path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern) if path.is_file()]
        if not found:
            raise Failure(f"there is no {pattern} in {ROOT}")
        yield from found


def require_none(complaint: str, names: set[str]) -> None:
    if names:
        first, *others = sorted(names)
        raise Failure(f"{complaint} {first}" + (f" and {len(others)} more" if others else ""))


class User:
    """Somebody who has installed the wheel: an environment, a home, and two folders to work in, all empty."""

    def __init__(self, folder: Path, wheel: Path):
        self.home, self.here, self.there = folder / "home", folder / "here", folder / "there"
        for path in (self.home, self.here, self.there):
            path.mkdir()
        self.programs = folder / "environment" / "bin"
        run([sys.executable, "-m", "venv", self.programs.parent], folder)
        run([self.programs / "python", "-m", "pip", "install", "--quiet", wheel], folder)
        ours = ("NUMBA_", "PYTHON", "SLIDEPDB_", "XDG_")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_DATA_HOME": str(self.home / "data"),
        }

    def runs(self, folder: Path, program: str, *arguments: str) -> str:
        """Run a program in a folder; returns what it prints."""
        return run([self.programs / program, *arguments], folder, self.environment).stdout

    def is_refused(self, folder: Path, program: str, *arguments: str) -> str:
        """Run a program with arguments that it must refuse; returns its error."""
        return run([self.programs / program, *arguments], folder, self.environment, expected=2).stderr


def check_commands(user: User, version: str) -> None:
    """Use both command lines as a user would."""
    printed = user.runs(user.here, "pdb-builder", "--version").split()[-1]
    require(printed, version, "the version of pdb-builder")
    for package in ("pdb_builder", "solver"):
        user.runs(user.here, "python", "-m", package, "--help")

    user.runs(user.here, "pdb-builder", "build", "3x3-8")
    require(len(list(user.home.rglob("3x3-8.h5"))), 1, "the number of databases below the home folder")
    require([path.name for path in user.here.iterdir()], [], "what a build leaves in the working folder")

    # From another folder: the database must be found where it was built.
    solution = json.loads(user.runs(user.there, "pdb-solver", "solve", HARDEST, "--json", "--heuristic", "pdb"))
    require((solution["length"], solution["optimal"]), (FARTHEST, True), f"the solution of {HARDEST}")

    # Published boards, which are data of the package. Their published lengths are compared by the command.
    options = ("--set", "korf100", "--only", EASY, "--heuristics", "manhattan,linear-conflict", "--json")
    comparison = json.loads(user.runs(user.there, "pdb-solver", "compare", *options))
    require(len(comparison["cells"]), 4, "the number of searches compared")

    # Only here are the optional dependencies missing: the errors must name the extras.
    for extra, *arguments in (
        ("gif", "solve", HARDEST, "--gif", "a.gif"),
        ("plot", "compare", HARDEST, "--plot", "a.png"),
        ("web", "serve", "--no-browser"),
    ):
        error = user.is_refused(user.there, "pdb-solver", *arguments)
        require(f"slidepdb[{extra}]" in error, True, f"whether '{error.strip()}' names slidepdb[{extra}]")


def require(value: object, expected: object, what: str) -> None:
    if value != expected:
        raise Failure(f"{what}: got {value}, expected {expected}")


def run(
    command: list[str | Path], folder: Path, environment: dict[str, str] | None = None, expected: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a command. If its exit code is not the expected one, show everything it printed and fail."""
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != expected:
        sys.stderr.write(done.stdout + done.stderr)
        words = " ".join(str(word) for word in command)
        raise Failure(f"'{words}' exited with {done.returncode}, expected {expected}: see its output above")
    return done


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist"))
    except Failure as failure:
        sys.exit(f"check_package: error: {failure}")
    except (OSError, LookupError, ValueError) as error:  # a program is missing, or its output has another form
        sys.exit(f"check_package: error: {type(error).__name__}: {error}")
