"""``pdb-builder verify``: a database proved right."""

from __future__ import annotations

import argparse
import json

from tqdm import tqdm

from ..verify import INVARIANTS, verify_database


def run(args: argparse.Namespace) -> int:

    bars: dict[str, tqdm] = {}

    def progress(stage: str, states: int) -> None:
        if stage not in bars:
            for bar in bars.values():
                bar.close()
            bars[stage] = tqdm(desc=stage, unit=" states", unit_scale=True, disable=None, leave=False)
        bars[stage].update(states)

    checks = []
    for check in verify_database(
        args.file, quick=args.quick, threads=args.threads, force=args.force, progress=progress
    ):
        for bar in bars.values():
            bar.close()
        checks.append(check)
        if not args.json:
            verdict = f"FAILED  {check.fault}" if check.fault else f"holds   {check.proves}"
            print(f"{check.number} {check.name:10} {verdict}", flush=True)
    failed = any(check.fault for check in checks)
    if args.json:
        rows = [
            {"number": c.number, "name": c.name, "holds": not c.fault, "fault": c.fault, "proves": c.proves}
            for c in checks
        ]
        print(
            json.dumps(
                {
                    "path": str(args.file),
                    "verified": not failed,
                    "complete": len(checks) == len(INVARIANTS),
                    "checks": rows,
                }
            )
        )
    elif failed:
        print(f"{args.file} is NOT a valid database")
    elif args.quick:
        print(f"{args.file} is whole; the entries were not searched again (leave out --quick for that)")
    else:
        print(f"{args.file} is proved right")
    return 1 if failed else 0
