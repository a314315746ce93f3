"""``python -m solver`` is ``pdb-solver``."""

import sys

if __name__ == "__main__":
    try:
        from .cli import main

        sys.exit(main())
    except KeyboardInterrupt:  # so early that nothing had begun
        sys.exit(130)
