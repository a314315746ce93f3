"""Shared fixtures. Databases are built into temporary folders, never into the checkout."""

import io
import shutil

import numba
import pytest

import solver.cli
from pdb_builder import NAMED, Grid, Spec, build_database

pytest.register_assert_rewrite("tests.helpers")


def pytest_collection_modifyitems(items):
    if numba.config.DISABLE_JIT:
        skip = pytest.mark.skip(reason="needs compiled kernels")
        for item in items:
            if "jit" in item.keywords:
                item.add_marker(skip)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("databases")


@pytest.fixture(scope="session")
def database_of(folder):
    """Builds a database once per test run: ``database_of(Spec(...))`` is its path."""
    built = {}

    def build(spec):
        if spec not in built:
            built[spec] = build_database(spec, folder / f"{spec.name}.h5").path
        return built[spec]

    return build


@pytest.fixture
def databases(tmp_path_factory, monkeypatch):
    """An empty folder, where databases are looked for by default."""
    folder = tmp_path_factory.mktemp("default")
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(folder))
    return folder


@pytest.fixture
def shelf(tmp_path, database_of):
    """A folder with just these databases: ``shelf(Spec(...), ...)``."""

    def filled(*specs):
        for spec in specs:
            shutil.copy(database_of(spec), tmp_path / f"{spec.name}.h5")
        return tmp_path

    return filled


@pytest.fixture(scope="session")
def small(database_of):
    """The path of a small database with two tables."""
    return database_of(Spec(Grid(3, 3), NAMED["3x3-4-4"]))


class Stream(io.TextIOWrapper):
    """What a program writes, byte for byte; it can be read even if the program closes it."""

    closings = 0

    def __init__(self):
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="utf-8", write_through=True)

    def close(self):
        self.flush()
        self.closings += 1

    def text(self):
        self.flush()
        return self.bytes.getvalue().decode("utf-8", "surrogateescape")


@pytest.fixture
def run(monkeypatch):
    """Runs ``pdb-solver`` in this process: ``run("solve", ..., stdin="...")`` is (code, output, errors).

    Another program is given by its function ``main``.
    """

    def go(*words, stdin="", main=solver.cli.main):
        output, errors = Stream(), Stream()
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        monkeypatch.setattr("sys.stdout", output)
        monkeypatch.setattr("sys.stderr", errors)
        try:
            code = main(list(words))
        except SystemExit as stop:
            code = stop.code
        return code, output.text(), errors.text()

    return go
