"""``pdb-builder verify``: prove a database correct, or report the first invariant that fails."""

from __future__ import annotations

import argparse
import contextlib
import json
from pathlib import Path

from tqdm import tqdm

from ..base.folders import database_path
from ..shell import notice
from ..verify import INVARIANTS, Check, verify_database


def run(args: argparse.Namespace) -> int:
    path, checks = database_path(args.database, args.folder), []
    with contextlib.closing(StageBars()) as bars:
        for check in verify_database(
            path,
            quick=args.quick,
            sample=args.sample,
            seed=args.seed,
            threads=args.threads,
            force=args.force,
            progress=bars.update,
            notify=notice,
        ):
            bars.close()
            checks.append(check)
            if not args.json:
                verdict = f"FAILED  {check.fault}" if check.fault else f"holds   {check.proves}"
                print(f"{check.number} {check.name:10} {verdict}", flush=True)
    failed = any(check.fault for check in checks)
    if args.json:
        print(json.dumps(_describe(path, checks, failed)))
    elif failed:
        print(f"{path} is NOT a valid database")
    elif args.sample:
        print(f"{path} is whole, and what was drawn of its entries is right (leave out --sample to prove all)")
    elif args.quick:
        print(f"{path} is whole; the entries were not searched again (leave out --quick for that)")
    else:
        print(f"{path} is proved correct")
    return 1 if failed else 0


class StageBars:
    """A progress bar per stage of the search, on stderr if that is a terminal."""

    def __init__(self) -> None:
        self.stage = ""
        self.bar: tqdm | None = None

    def update(self, stage: str, states: int) -> None:
        if stage != self.stage:
            self.close()
            self.stage = stage
            self.bar = tqdm(desc=stage, unit=" states", unit_scale=True, disable=None, leave=False)
        if self.bar is not None:
            self.bar.update(states)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _describe(path: Path, checks: list[Check], failed: bool) -> dict:
    """The outcome, for programs."""
    return {
        "path": str(path),
        "verified": not failed,
        "complete": len(checks) == len(INVARIANTS),
        "checks": [
            {
                "number": c.number,
                "name": c.name,
                "holds": not c.fault,
                "fault": c.fault,
                "proves": c.proves,
                "sample": c.sample,
            }
            for c in checks
        ],
    }
