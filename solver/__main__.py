"""``python -m solver`` is ``pdb-solver``."""

import sys

from pdb_builder.launch import launch


def main() -> int:
    return launch("solver.cli")


if __name__ == "__main__":
    sys.exit(main())
