"""The command line of the harness: ``python -m tests.chaos --seconds 600 --seed 1 --jobs 2``, or ``make chaos``.

The exit code is 1 if a rule was broken, or if a kind of fault never had an effect. Sandboxes are removed, apart from
those of failures.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from . import crowds, damage, inputs, kills, places  # noqa: F401, they register the kinds of trials
from .sandbox import Stock
from .session import Session, kept
from .trial import KINDS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m tests.chaos", description="Draw faults, and check four rules after each."
    )
    parser.add_argument("--seconds", type=float, default=30, help="how long to draw trials (default: %(default)s)")
    parser.add_argument("--seed", default=None, help="what to draw them from (default: a new one, which is printed)")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time (default: %(default)s)")
    parser.add_argument("--only", metavar="NUMBERS", help="run just these trials of the seed, as in 17,42")
    parser.add_argument("--kinds", metavar="NAMES", help=f"run just these kinds of trials: {', '.join(KINDS)}")
    parser.add_argument("--keep", action="store_true", help="keep the sandboxes of all trials")
    return parser


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    seed = secrets.randbelow(10**6) if args.seed is None else args.seed
    kinds = args.kinds.split(",") if args.kinds else []
    if unknown := set(kinds) - KINDS.keys():
        raise SystemExit(f"there is no kind of trial {', '.join(unknown)}: use {', '.join(KINDS)}")
    folder = Path(tempfile.mkdtemp(prefix="slidepdb-chaos-")).resolve()
    print(f"seed {seed}", flush=True)
    try:
        stock = Stock(folder)
        stock.prepare(lambda what: print(what, file=sys.stderr, flush=True))
        session = Session(seed, stock, keep=args.keep)
        if args.only:
            for number in map(int, args.only.split(",")):
                session.run_trial(number)
        else:
            session.run(args.seconds, args.jobs, kinds)
    except KeyboardInterrupt:  # before the trials, or a second one
        return 130
    finally:
        if not kept(folder):
            shutil.rmtree(folder)
    print("", *session.table(), sep="\n")
    if kept(folder):
        print(f"sandboxes are kept in {folder}")
    return 1 if session.failures or session.idle() else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C, it ends the run and leaves nothing behind
    sys.exit(main())
