"""``python -m pdb_builder`` is ``pdb-builder``."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
