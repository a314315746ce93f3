"""``pdb-builder choose``: find a good collection of partitions for a goal, within a memory limit and a time.

The answer goes to stdout: what was found, what it is predicted to leave of the reference's nodes and time, and the
command that builds it. Ctrl-C ends the search, not the command: the best so far is the answer.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from math import comb, factorial

from tqdm import tqdm

from ..assemble import build_database
from ..base.errors import InputError
from ..base.files import check_writable
from ..base.machine import available_memory, readable_size
from ..base.wording import counted
from ..build import build_table
from ..choosing.catalogue import Catalogue, connected_patterns
from ..choosing.collection import Choice, CollectionSearch, Enough
from ..choosing.column_file import ColumnFile
from ..choosing.reference import reference_partition
from ..choosing.sample_file import check_sample_output, read_sample, write_sample
from ..choosing.symmetry import Goal
from ..choosing.tree_sample import Tree, TreeSample, draw_sample, random_board
from ..grid import Grid
from ..index import index_of
from ..memory import build_memory, check_build_memory, least_build_memory, require_memory
from ..pattern import MAX_TILES, Collection, Partition, Spec, check_pattern_board, collection_text, parse_collection
from ..shell import notice
from ..store import table_bytes
from .build import ProgressBars, blank_cell

DEFAULT_SECONDS = 600.0
MOST_PATTERNS = 15_000  # in a catalogue: each has a byte per node
BAR = "{desc}: {percentage:3.0f}% |{bar}| {elapsed}"


def run(args: argparse.Namespace) -> int:
    grid = check_pattern_board(Grid.parse(args.shape, args.wrap))
    if not grid.bipartite:
        raise InputError(f"{grid.a_board} has an odd side and no tables of bits, which this needs: leave out --wrap")
    goal = Goal(grid, blank_cell(args.blank, grid))
    largest = _largest(goal, args)
    if args.save_samples:
        check_sample_output(args.save_samples)
    if args.columns:
        check_writable(args.columns)
    reference = reference_partition(goal)
    start = Spec(grid, parse_collection(args.start) if args.start else (reference,), goal.blank, "bits").partitions
    given = read_sample(args.samples, goal) if args.samples else None
    patterns = {tiles for partition in (reference, *start) for tiles in partition}
    require_memory(
        f"building the {'reference' if not args.start else 'collection to begin with'}",
        build_memory(grid, max(map(len, patterns)), "bits", args.threads),
        "close other programs" if not args.start else "`start` with smaller patterns",
    )
    with tqdm(reference, desc="building the reference", disable=None, leave=False, bar_format=BAR) as bar:
        tree = Tree(goal, [build_table(grid, tiles, blank=goal.blank, threads=args.threads) for tiles in bar])
    chance = random.Random(args.seed)
    try:
        sample = given or _drawn(tree, chance, args)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            "while nodes were drawn from search trees: --boards, --nodes and --sample say how many"
        ) from None
    if args.save_samples:
        write_sample(args.save_samples, sample)
    leaves = tree.leaves(sample)
    del tree
    file = ColumnFile(args.columns, goal, sample, notice) if args.columns else None
    catalogue = Catalogue(goal, sample, largest, args.threads, file, patterns)
    search = CollectionSearch(catalogue, args.max_memory, chance)
    for part in (search.kept_back, ~search.kept_back):
        if not (part & leaves).any():
            raise InputError(
                f"the reference prunes every node of a part of the sample, which has {counted(len(sample), 'node')}: "
                "use more nodes, or larger trees"
            )
    left = float(sample.weights[leaves & ~search.kept_back].sum())
    interrupted = _search(search, start, left, args)
    if search.best.empty:
        if interrupted:
            raise KeyboardInterrupt("before a collection was found: give it more time, or raise --max-memory")
        raise InputError(f"no collection was found within {readable_size(args.max_memory)}: raise `max_memory`")
    choice = search.choice(reference, leaves)
    _print(choice, goal, reference, sample, catalogue, args)
    if interrupted:
        raise KeyboardInterrupt("the best collection so far is printed")
    if args.build:
        _build(Spec(grid, choice.partitions, goal.blank, "bits"), args)
    return 0


def _largest(goal: Goal, args: argparse.Namespace) -> int:
    """The largest number of tiles of a pattern whose table can be built here and fits into the collection's memory."""
    grid, most_memory = goal.grid, args.max_memory
    available = available_memory() or most_memory

    def possible(size: int) -> bool:  # estimates first: the index of a large pattern takes time and memory itself
        return (
            comb(grid.cells, size) * factorial(size) // 8 <= most_memory
            and least_build_memory(grid, size, "bits") <= available
            and table_bytes(index_of(grid, size), "bits") <= most_memory
            and build_memory(grid, size, "bits", args.threads) <= available
            and sum(map(len, connected_patterns(goal, size))) <= MOST_PATTERNS
        )

    if table_bytes(index_of(grid, 1), "bits") > most_memory:
        raise InputError(f"no table of {grid.a_board} fits into {readable_size(most_memory)}: raise `max_memory`")
    largest = 1
    while largest < min(args.largest or MAX_TILES, MAX_TILES, grid.cells - 1) and possible(largest + 1):
        largest += 1
    return largest


def _drawn(tree: Tree, chance: random.Random, args: argparse.Namespace) -> TreeSample:
    """A sample of the trees of random boards."""
    boards = [random_board(tree.goal, chance) for _ in range(args.boards)]
    with tqdm(total=1, desc="drawing nodes from search trees", disable=None, leave=False, bar_format=BAR) as bar:
        return draw_sample(
            tree,
            boards,
            nodes=args.nodes,
            wanted=args.sample,
            chance=chance,
            progress=lambda share: bar.update(share - bar.n),
        )


def _search(search: CollectionSearch, start: Collection, left: float, args: argparse.Namespace) -> bool:
    """Search until the budget is spent; returns whether it was interrupted."""
    seconds = args.seconds if args.seconds or args.candidates else DEFAULT_SECONDS
    catalogue, started = search.catalogue, time.monotonic()
    with tqdm(bar_format="{desc}", disable=None, leave=False) as line:

        def pulse() -> None:
            if search.best.empty:
                found = "no collection yet"
            else:
                found = f"the best leaves {search.best.left / left:.3f} of the nodes"
            elapsed = time.monotonic() - started
            line.set_description_str(f"{counted(catalogue.tried, 'table')} in {elapsed:.0f} s, {found}")
            if seconds is not None and elapsed > seconds and not search.best.empty:
                raise Enough

        search.pulse = pulse
        try:
            search.run(start, args.candidates)
        except KeyboardInterrupt:
            return True
        finally:
            search.pulse = lambda: None
    return False


def _print(
    choice: Choice, goal: Goal, reference: Partition, sample: TreeSample, catalogue: Catalogue, args: argparse.Namespace
) -> None:
    grid = goal.grid
    named = collection_text((reference,))
    if args.json:
        facts = {
            "board": grid.shape,
            "wrap": grid.wrap,
            "blank": goal.blank,
            "nodes": len(sample),
            "tables_tried": catalogue.tried,
            "reference": named,
            "collection": choice.text,
            "partitions": choice.partitions,
            "patterns": choice.patterns,
            "bytes": choice.bytes,
            "sums": choice.sums,
            "views_per_tile": round(choice.views_per_tile, 3),
            "share_of_nodes": round(choice.nodes, 4),
            "share_of_time": round(choice.time, 4),
        }
        print(json.dumps(facts, indent=2))
        return
    options = f"{' --wrap' * grid.wrap}{f' --blank {goal.blank}' * bool(goal.blank)}"
    print(f"{grid}, blank on cell {goal.blank}: {counted(catalogue.tried, 'table')} tried on {len(sample):,} nodes")
    print(
        f"{counted(len(choice.patterns), 'table')} ({readable_size(choice.bytes)}), "
        f"{counted(len(choice.partitions), 'partition')}, {counted(choice.sums, 'sum')} with all images, "
        f"{choice.views_per_tile:.2f} views per tile"
    )
    print(f"nodes {choice.nodes:.3f}, time {choice.time:.3f}, where {named} has 1")
    for partition in choice.partitions:
        print("    " + " / ".join(" ".join(map(str, tiles)) for tiles in partition))
    print(f"pdb-builder build {grid.shape}{options} --collection '{choice.text}'", flush=True)


def _build(spec: Spec, args: argparse.Namespace) -> None:
    """Build the database of the collection."""
    path = args.folder / f"{spec.name}.h5"
    check_build_memory(spec.grid, map(len, spec.patterns), spec.encoding, threads=args.threads)
    watcher = ProgressBars(f"{path}: {counted(len(spec.patterns), 'table')}")
    build_database(spec, path, threads=args.threads, watcher=watcher, command=["pdb-builder", *args.words])
    print(path)
