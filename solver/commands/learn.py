"""``pdb-solver learn``: learn the rank of a beam for boards of one size, and say what it is worth.

The file is put beside the databases, where ``solve`` finds it. Ctrl-C, or a kill, loses what is being solved or fitted
just then.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from tqdm import tqdm

from pdb_builder.base.machine import readable_size
from pdb_builder.grid import Grid
from pdb_builder.shell import notice

from ..learning import NOTHING, PACKAGE
from ..learning.fitting import Marks
from ..learning.rounds import CHECKED, Watcher, learn, plan_of
from ..search.rank_files import LearnedRank, packaged_rank, rank_path, read_rank

BAR = "{desc}: {percentage:3.0f}% |{bar}| {elapsed}, about {remaining} left"


def run(args: argparse.Namespace) -> int:
    grid = Grid.parse(args.shape)
    given = {name: getattr(args, name) for name in ("boards", "rounds", "width", "partners")}
    given = {name: value for name, value in given.items() if value is not None}
    plan = plan_of(grid, args.seed, start=_start(args.begin_with, args.partners), **given)
    path = rank_path(args.folder, grid)
    try:
        with _Bar(plan.rounds) as bar:
            rank = learn(plan, path, threads=args.threads, overwrite=args.overwrite, watcher=bar)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("what is done is kept: run the same command again to continue") from None
    if args.json:
        print(json.dumps({"file": str(path), "seal": rank.seal} | rank.lesson._asdict()))
    else:
        print(*_in_words(path, rank), sep="\n")
    return 0


def _start(asked: str | None, partners: int | None) -> LearnedRank | None:
    """The rank to begin with, which is to be that of the package unless it is told how many partners there are."""
    if asked == NOTHING or (asked is None and partners is not None):
        return None
    return packaged_rank() if asked in (None, PACKAGE) else read_rank(Path(asked))


def _in_words(path: Path, rank: LearnedRank) -> list[str]:
    """What there is to say about a rank."""
    lesson, tried = rank.lesson, min(CHECKED, rank.lesson.boards)
    worth = f"beams of {lesson.width:,} boards solve none of {tried} others, or not by both ranks"
    if lesson.checked:
        others = f"{lesson.checked} others" if lesson.checked == tried else f"{lesson.checked} of {tried} others"
        saved = 100 * (1 - lesson.moves / lesson.classic_moves)
        worth = (
            f"beams of {lesson.width:,} boards solve {others} in {lesson.moves:.1f} moves on average, with the classic "
            f"rank in {lesson.classic_moves:.1f}, {abs(saved):.1f} % "
            + ("fewer" if saved >= 0 else "more: the classic rank is better here")
        )
    return [
        f"{path}: {readable_size(path.stat().st_size)}",
        f"{lesson.boards:,} boards of {lesson.shape} in each of {lesson.rounds} rounds, seed {lesson.seed}",
        worth,
    ]


class _Bar(Watcher):
    """Progress on stderr: a bar with an estimate on a terminal, and a line for every round."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._bar = tqdm(total=1.0, desc="learning", disable=None, leave=False, bar_format=BAR)
        self._began: tuple[float, float] | None = None  # when the first work was done here, and how much there was then
        self._share = 0.0

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *exception) -> None:
        self._bar.close()

    def waiting(self, path: Path) -> None:
        notice(f"{path} is being learned by another process: waiting for it")

    def advanced(self, share: float, what: str) -> None:
        now = time.monotonic()
        self._began, self._share = self._began or (now, share), share
        if what:
            self._bar.set_description_str(what, refresh=False)
        self._bar.update(share - self._bar.n)

    def round_ended(self, number: int, taught: int, moves: float, learned: Marks, classic: Marks) -> None:
        self._bar.clear()
        text = (
            f"round {number} of {self._rounds}: {taught} boards solved in {moves:.1f} moves; of the rivals of other "
            f"solutions {learned.behind:.1%} are ranked behind, {classic.behind:.1%} by the classic rank"
        )
        if self._began and self._share > self._began[1]:
            left = (time.monotonic() - self._began[0]) * (1 - self._share) / (self._share - self._began[1])
            text += f"; about {left / 60:.0f} min left"
        notice(text)
