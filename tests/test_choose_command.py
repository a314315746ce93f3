"""``pdb-builder choose``: what it prints, keeps, builds and refuses."""

import json
import random

import numpy as np
import pytest

from pdb_builder import Grid, Spec, open_database
from pdb_builder.build import build_table
from pdb_builder.choosing import column_file
from pdb_builder.choosing.catalogue import Catalogue
from pdb_builder.choosing.collection import CollectionSearch
from pdb_builder.choosing.column_file import ColumnFile
from pdb_builder.choosing.reference import reference_partition
from pdb_builder.choosing.sample_file import read_sample, write_sample
from pdb_builder.choosing.symmetry import Goal
from pdb_builder.choosing.tree_sample import Tree
from pdb_builder.cli import main
from pdb_builder.index import index_of
from pdb_builder.pattern import parse_collection
from pdb_builder.store import table_bytes

from .helpers import images_of
from .test_choosing_collections import sample_of

pytestmark = pytest.mark.jit

SMALL = ("--boards", "8", "--nodes", "200", "--sample", "300", "--candidates", "2", "--max-memory", "20k")
SMALL += ("--threads", "1")


@pytest.fixture
def choose(run, tmp_path, monkeypatch):
    """Runs ``pdb-builder choose``: (code, output, errors)."""
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path))
    return lambda *words: run("choose", *words, main=main)


def tables_bytes(spec):
    return sum(table_bytes(index_of(spec.grid, len(tiles)), "bits") for tiles in spec.patterns)


def facts_of(answer):
    code, output, errors = answer
    assert code == 0, errors
    return json.loads(output)


# ---- what it finds ------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("3x3",), ("2x5", "--blank", "last"), ("3x3", "--blank", "4"), ("2x4", "--wrap")])
def test_the_collection_fits_and_is_worth_what_is_predicted(words, choose, tmp_path):
    facts = facts_of(choose(*words, *SMALL, "--save-samples", str(tmp_path / "nodes.txt"), "--json"))
    goal = Goal(Grid.parse(facts["board"], facts["wrap"]), facts["blank"])
    spec = Spec(goal.grid, parse_collection(facts["collection"]), goal.blank, "bits")
    assert [list(map(list, partition)) for partition in spec.partitions] == facts["partitions"]
    assert list(spec.patterns) == list(map(tuple, facts["patterns"]))
    assert facts["sums"] == len({image for partition in spec.partitions for image in images_of(goal, partition)})
    assert facts["bytes"] == tables_bytes(spec) <= 20_000
    sample = read_sample(tmp_path / "nodes.txt", goal)
    assert len(sample) == facts["nodes"]

    def left(partition):
        tables = [build_table(goal.grid, tiles, blank=goal.blank, threads=1) for tiles in partition]
        return Tree(goal, tables).leaves(sample)

    reference = reference_partition(goal)
    assert facts["reference"] == "/".join(",".join(map(str, tiles)) for tiles in reference)
    alive = np.logical_and.reduce([left(partition) for partition in spec.partitions])
    back = slice(len(sample) - len(sample) // 4, None)  # the part that was kept back
    share = sample.weights[back][alive[back]].sum() / sample.weights[back][left(reference)[back]].sum()
    assert facts["share_of_nodes"] == pytest.approx(share, abs=1e-4)


def test_the_same_seed_gives_the_same_answer_and_the_command_that_is_printed_builds_it(choose, run, tmp_path):
    answers = [choose("3x4", *SMALL, "--seed", seed) for seed in ("5", "5", "6")]
    assert answers[0] == answers[1] != answers[2]
    assert answers[0][0] == 0
    *_, command = answers[0][1].splitlines()
    program, *words = command.replace("'", "").split()
    assert program == "pdb-builder"
    code, output, errors = run(*words, main=main)
    assert code == 0, errors
    path = tmp_path / output.strip()
    built = open_database(path).spec
    path.unlink()
    code, output, errors = choose("3x4", *SMALL, "--seed", "5", "--build")
    assert code == 0 and output.splitlines()[-1] == str(path)
    assert open_database(path).spec == built == Spec(Grid(3, 4), parse_collection(words[-1]))


def test_a_partition_of_images_counts_as_build_stores_it(choose, tmp_path):
    """Alone, each of its patterns has a table, even if one is the mirror image of another."""
    start = "1,2,5/3,6,7/4,8"  # tile 1 is beside the blank, 3 below it: 1,2,5 and 3,6,7 are images
    words = ("3x3", *SMALL, "--start", start, "--seconds", "0.001")
    facts = facts_of(choose(*words, "--json"))
    spec = Spec(Grid(3, 3), parse_collection(start))
    assert facts["collection"] == start and facts["patterns"] == [[1, 2, 5], [3, 6, 7], [4, 8]]
    assert facts["bytes"] == tables_bytes(spec)
    code, output, errors = choose(*words, "--build")
    assert code == 0, errors
    tables = open_database(tmp_path / output.splitlines()[-1]).tables
    assert sum(table.values.nbytes for table in tables) == facts["bytes"]
    tight = facts_of(choose(*words[:-2], "--max-memory", str(facts["bytes"] - 1), "--json"))
    chosen = Spec(Grid(3, 3), parse_collection(tight["collection"]))
    assert tight["bytes"] == tables_bytes(chosen) < facts["bytes"]


def test_a_start_is_kept_if_nothing_better_is_found(choose):
    start = "1,2,3/4,5,6/7,8"
    begun = facts_of(choose("3x3", *SMALL, "--start", start, "--seconds", "0.001", "--json"))
    assert begun["collection"] == start
    better = facts_of(choose("3x3", *SMALL, "--start", start, "--json"))
    assert better["collection"] != start and better["share_of_time"] < begun["share_of_time"]


def test_samples_and_columns_are_used_again(choose, tmp_path):
    nodes, columns = tmp_path / "nodes.txt", tmp_path / "columns"
    first = choose("3x3", *SMALL, "--save-samples", str(nodes), "--columns", str(columns))
    kept = columns.read_bytes()
    again = choose("3x3", *SMALL, "--samples", str(nodes), "--columns", str(columns))
    assert first[0] == again[0] == 0 and columns.read_bytes() == kept
    code, _, errors = choose("3x3", *SMALL, "--seed", "2", "--columns", str(columns))
    assert code == 2 and "does not hold columns of this sample: choose another file" in errors
    assert columns.read_bytes() == kept


# ---- files --------------------------------------------------------------------------------------


def test_samples_survive_the_way_through_a_file(tmp_path):
    goal = Goal(Grid(3, 3), 0)
    _, sample = sample_of(goal)
    write_sample(tmp_path / "nodes", sample)
    again = read_sample(tmp_path / "nodes", goal)
    assert again.fingerprint == sample.fingerprint
    (tmp_path / "short").write_text("# without weights\n\n7 0 1 2 3 4 5 6 7 8\n")
    short = read_sample(tmp_path / "short", goal)
    assert (short.margins.tolist(), short.weights.tolist(), short.boards.tolist()) == ([7], [1], [list(range(9))])


def columns_of(path, goal, sample):
    catalogue = Catalogue(goal, sample, 3, 1, ColumnFile(path, goal, sample))
    return {catalogue.patterns[at]: catalogue.excess[at].tolist() for at in np.flatnonzero(catalogue.known)}


def test_columns_survive_every_end_of_their_file(tmp_path):
    """Whatever is cut off or changed, what is read is right, and what is missing can be added."""
    goal, path, chance = Goal(Grid(3, 3), 0), tmp_path / "columns", random.Random(8)
    _, sample = sample_of(goal, wanted=100)
    catalogue = Catalogue(goal, sample, 3, 1, ColumnFile(path, goal, sample))
    for number in range(20):
        catalogue.add(number)
    catalogue.file._file.close()
    whole, expected = path.read_bytes(), columns_of(path, goal, sample)
    label = whole.index(b"\n") + 1
    for at in [label, len(whole) - 1, *(chance.randrange(label, len(whole)) for _ in range(60))]:
        damaged = bytearray(whole[:at]) if chance.random() < 0.5 else bytearray(whole)
        if len(damaged) == len(whole):
            damaged[at] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        found = columns_of(path, goal, sample)
        assert len(found) < len(expected) and found.items() <= expected.items()
    path.write_bytes(whole[:-7])
    catalogue = Catalogue(goal, sample, 3, 1, ColumnFile(path, goal, sample))
    for number in range(20):
        catalogue.add(number)
    catalogue.file._file.close()
    assert path.read_bytes() == whole


def test_damage_of_columns_is_said_in_one_line(choose, tmp_path):
    path = tmp_path / "columns"
    first = choose("3x3", *SMALL, "--columns", str(path))
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    path.write_bytes(damaged)
    code, output, errors = choose("3x3", *SMALL, "--columns", str(path))
    assert (code, output) == (0, first[1]) and len(errors.splitlines()) == 1
    assert "columns is damaged after" in errors and "built again" in errors
    assert choose("3x3", *SMALL, "--columns", str(path))[2] == first[2] == ""


def test_a_file_of_columns_has_one_user(tmp_path):
    goal, path = Goal(Grid(3, 3), 0), tmp_path / "columns"
    _, sample = sample_of(goal, wanted=100)
    first = ColumnFile(path, goal, sample)
    with pytest.raises(column_file.InputError, match="used by another process"):
        ColumnFile(path, goal, sample)
    first._file.close()
    ColumnFile(path, goal, sample)


# ---- refusals and interruptions -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("3x3", "--wrap"), "has an odd side"),
        (("9x9",), "at most 64"),
        (("3",), "is not a board shape"),
        (("3x3", "--blank", "9"), "cells 0 to 8"),
        (("3x3", "--max-memory", "3"), "raise --max-memory"),
        (("3x3", "--max-memory", "40", "--seconds", "1"), "no collection was found within 40 bytes"),
        (("3x3", "--start", "1,2/3"), "tiles are in no pattern"),
        (("3x3", "--start", "1,2;"), "empty partition"),
        (("3x3", "--candidates", "0"), "whole number from 1"),
        (("3x3", "--samples", "missing.txt"), "cannot be read"),
        (("3x3", "--samples", "empty.txt"), "has no nodes"),
        (("3x3", "--samples", "words.txt"), "words.txt, line 3: 'nine' is not a whole number"),
        (("3x3", "--samples", "short.txt"), "short.txt, line 1 has 4 numbers, a node has 10 or 11"),
        (("3x3", "--samples", "twice.txt"), "twice.txt, line 1 has no tile 4 among the last 9 numbers"),
        (("3x3", "--samples", "none.txt"), "none.txt, line 1: its node stands for 0 nodes"),
        (("3x3", "--samples", "long.txt"), "long.txt, line 1: '10000000000' is not a whole number from 0 to 999999999"),
        (("3x3", "--samples", "unsolvable.txt"), "cannot be solved"),
        (("3x3", "--samples", "pruned.txt"), "prunes every node of a part of the sample, which has 1 node"),
        (("3x3", "--save-samples", "words.txt"), "is not replaced"),
        (("3x3", "--save-samples", "."), "is a folder"),
        (("3x3", "--columns", "words.txt"), "does not hold columns"),
        (("3x3", "--columns", "no/such/file"), "there is no folder"),
    ],
)
def test_bad_input_is_one_line(words, fact, choose, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "empty.txt": "",
        "words.txt": "# a remark\n9 0 1 2 3 4 5 6 7 8\r\nnine\n",
        "twice.txt": "9 1 0 1 2 3 3 5 6 7 8\n",
        "none.txt": "9 0 0 1 2 3 4 5 6 7 8\n",
        "long.txt": "10000000000 0 1 2 3 4 5 6 7 8\n",
        "short.txt": "9 0 1 2\n",
        "unsolvable.txt": "9 0 2 1 3 4 5 6 7 8\n",
        "pruned.txt": "1 8 0 6 5 4 7 2 3 1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    texts_before = {name: (tmp_path / name).read_bytes() for name in texts}
    code, output, errors = choose(*SMALL, *words)
    assert (code, output, len(errors.splitlines())) == (2, "", 1) and fact in errors, errors
    assert {name: (tmp_path / name).read_bytes() for name in texts} == texts_before


def test_ctrl_c_ends_the_search_and_prints_the_best_so_far(choose, monkeypatch):
    def interrupted(self, candidate):
        raise KeyboardInterrupt

    monkeypatch.setattr(CollectionSearch, "shaken", interrupted)
    code, output, errors = choose("3x3", *SMALL, "--start", "1,2,3/4,5,6/7,8")
    assert code == 130 and output.endswith("--collection '1,2,3/4,5,6/7,8'\n")
    assert errors == "interrupted: the best collection so far is printed\n"
    monkeypatch.setattr(Catalogue, "add", interrupted)
    code, output, errors = choose("3x3", *SMALL)
    assert (code, output) == (130, "") and "before a collection was found" in errors
