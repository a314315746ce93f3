"""``python -m pdb_builder`` is ``pdb-builder``."""

import sys

from .launch import launch


def main() -> int:
    return launch("pdb_builder.cli")


if __name__ == "__main__":
    sys.exit(main())
