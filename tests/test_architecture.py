"""The import graph of both packages: layers without cycles, command lines on top, no import hidden in a function.

The import statements are read from the syntax trees, at the top level and in functions. Imports for type checkers
alone never run, so they may point upwards; they count only where a package must not know another at all.
"""

import argparse
import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import pdb_builder.cli
import solver.cli
from pdb_builder.shell import with_flags

ROOT = Path(__file__).parent.parent
PACKAGES = ("pdb_builder", "solver")

# The modules that make up the command lines. Everything else is the library.
COMMAND_LINES = (
    *("pdb_builder.__main__", "pdb_builder.argument_types", "pdb_builder.cli", "pdb_builder.commands"),
    *("pdb_builder.launch", "pdb_builder.shell"),
    *("solver.__main__", "solver.argument_types", "solver.arguments", "solver.cli", "solver.commands"),
)

# Libraries that a module imports in functions because they are optional dependencies.
OPTIONAL = {
    "solver.cluster.fitness": "distributed",
    "solver.cluster.connection": "distributed",
    "solver.comparison.plots": "matplotlib",
    "solver.page.app": "starlette",
    "solver.page.server": "uvicorn",
    "solver.show.gif": "PIL",
}


class Import(NamedTuple):
    """An import of one module by another."""

    by: str
    of: str
    when: str = "start"  # or "call", in a function; or "types", for type checkers alone


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}


def is_in(module, packages):
    """Whether a module is one of the packages or inside one. A top-level package stands for its ``__init__`` alone."""
    return any(
        module == package or (package not in PACKAGES and module.startswith(f"{package}.")) for package in packages
    )


def imported_names(node, module, package, known):
    """The modules that an import statement names, ``module`` being the one that holds it, inside ``package``."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    parents = package.split(".")
    base = ".".join([*parents[: len(parents) - node.level + 1], *([node.module] if node.module else [])])
    origin = base if node.level else node.module
    return [f"{origin}.{alias.name}" if f"{origin}.{alias.name}" in known else origin for alias in node.names]


def imports_of(module, tree, package, known):
    """Every import in a syntax tree, once per module that it names."""

    def visit(node, when):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in imported_names(node, module, package, known):
                yield Import(module, name, when)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            when = "call"
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            when = "types"
        for child in ast.iter_child_nodes(node):
            yield from visit(child, when)

    return set(visit(tree, "start"))


@cache
def all_imports():
    found = set()
    for module, path in MODULES.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        found |= imports_of(module, ast.parse(path.read_text()), package, MODULES)
    return found


def own_imports():
    """The imports of our modules that run, at the start or later."""
    return [one for one in all_imports() if one.of in MODULES and one.when != "types"]


# ---- the reader of imports ----------------------------------------------------------------------


def test_every_form_of_import_is_read():
    text = """
import sys, a.b
from . import c, CONSTANT
from .c import function
from .. import b
if TYPE_CHECKING:
    from a.d import Type
class C:
    def method(self):
        from a import d
        return lambda: 1
"""
    known = ("a", "a.b", "a.d", "a.e", "a.e.c")
    assert imports_of("a.e.f", ast.parse(text), "a.e", known) == {
        Import("a.e.f", "sys"),
        Import("a.e.f", "a.b"),
        Import("a.e.f", "a.e.c"),
        Import("a.e.f", "a.e"),
        Import("a.e.f", "a.d", "types"),
        Import("a.e.f", "a.d", "call"),
    }


def test_the_imports_of_all_modules_are_read():
    assert len(MODULES) > 50 and Import("solver.cli", "solver.arguments") in all_imports()
    assert all(one.of in MODULES for one in all_imports() if one.of.split(".")[0] in PACKAGES)


# ---- layers -------------------------------------------------------------------------------------


def test_no_module_imports_itself_through_others():
    below = {module: {one.of for one in own_imports() if one.by == module} for module in MODULES}
    while below:
        leaves = {module for module, others in below.items() if not others & below.keys()}
        assert leaves, f"there is a cycle among {sorted(below)}"
        below = {module: others for module, others in below.items() if module not in leaves}


def layers(page):
    """The layers in the fenced block of a page that begins with ```layers, from top to bottom."""
    _, found, rest = page.partition("\n```layers\n")
    assert found, "there is no block of layers"
    return [line.split() for line in rest.partition("\n```")[0].splitlines()]


def test_the_layers_in_the_design_document_are_those_of_the_imports():
    """A module imports only from its own layer and those below."""
    lines = layers((ROOT / "docs" / "design.md").read_text())
    names = [name for line in lines for name in line]
    assert set(names) <= set(MODULES) and len(set(names)) == len(names)
    places = {}
    for module in MODULES:
        named = [(len(name), place) for place, line in enumerate(lines) for name in line if is_in(module, [name])]
        assert named, f"{module} is in no layer"
        places[module] = max(named)[1]  # its own name counts more than that of its package
    upwards = [one for one in own_imports() if places[one.by] > places[one.of]]
    assert not upwards


@pytest.mark.parametrize(
    ("package", "foreign"),
    [
        ("pdb_builder.base", lambda module: not is_in(module, ["pdb_builder.base"])),
        ("pdb_builder", lambda module: module.startswith("solver")),
    ],
    ids=["base", "builder"],
)
def test_lower_packages_know_nothing_of_higher_ones(package, foreign):
    """The base layer imports nothing of ours, the builder nothing of the solver, not even for types."""
    assert not [
        one
        for one in all_imports()
        if one.by.startswith(package) and one.of.split(".")[0] in PACKAGES and foreign(one.of)
    ]


def test_the_library_knows_nothing_of_command_lines():
    above = (*COMMAND_LINES, "tqdm")
    assert not [one for one in all_imports() if is_in(one.of, above) and not is_in(one.by, COMMAND_LINES)]


def test_only_optional_dependencies_are_imported_in_functions():
    found = {(one.by, one.of.split(".")[0]) for one in all_imports() if one.when == "call"}
    assert found == set(OPTIONAL.items())


# ---- words --------------------------------------------------------------------------------------


def texts_of(tree):
    """The texts in a syntax tree that are not docstrings."""
    docstrings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield node.value


def flags_of(main):
    """All flags that the parser of a program knows."""
    (commands,) = (action for action in main._parser()._actions if isinstance(action, argparse._SubParsersAction))
    return {flag for command in commands.choices.values() for flag in command._option_string_actions}


def test_the_library_names_parameters_and_all_of_them_have_flags():
    named = set()
    for module, path in MODULES.items():
        if not is_in(module, COMMAND_LINES):
            for text in texts_of(ast.parse(path.read_text())):
                text = re.sub(r"var\(--\w+\)|--\w+: ", "", text)  # variables of a style sheet
                named |= set(re.findall(r"--[a-z-]+", with_flags(text)))
                names_flags = re.search("--[a-z]", text) and module != "solver.heuristics.databases"  # says what to run
                assert not names_flags, (module, text)
    assert "--max-memory" in named and named <= flags_of(pdb_builder.cli) | flags_of(solver.cli)
