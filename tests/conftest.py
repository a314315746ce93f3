"""Shared fixtures. Databases are built into temporary folders, never into the checkout."""

import numba
import pytest

from pdb_builder import NAMED, Grid, Spec, build_database


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


@pytest.fixture(scope="session")
def small(database_of):
    """The path of a small database with two tables."""
    return database_of(Spec(Grid(3, 3), NAMED["3x3-4-4"]))
