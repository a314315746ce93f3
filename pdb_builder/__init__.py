"""Pattern databases for sliding-tile puzzles: build them, open them, look up distances.

>>> import tempfile
>>> from pathlib import Path
>>> from pdb_builder import NAMED, Grid, Spec, build_database, open_database
>>> path = Path(tempfile.mkdtemp()) / "3x3-8.h5"
>>> database = build_database(Spec(Grid(3, 3), NAMED["3x3-8"]), path)
>>> database = open_database(path)
>>> database.distance([8, 0, 6, 5, 4, 7, 2, 3, 1])
31
>>> table = database.tables[0]
>>> table.maximum, table.entries
(31, 181440)
>>> list(table.levels())[:4]
[(0, 1), (1, 2), (2, 4), (3, 8)]

The names below are imported when they are first used, so that importing the package does not import numba.
"""

from .base.lazy import lazy_names

TYPE_CHECKING = False  # importing it from ``typing`` would take most of the time
if TYPE_CHECKING:  # the same names, for type checkers
    from .assemble import build_database as build_database
    from .base.errors import DatabaseError as DatabaseError
    from .base.errors import InputError as InputError
    from .base.errors import SlidepdbError as SlidepdbError
    from .build import build_table as build_table
    from .database import Database as Database
    from .database import Table as Table
    from .grid import Grid as Grid
    from .memory import partition_within as partition_within
    from .pattern import NAMED as NAMED
    from .pattern import Spec as Spec
    from .store import check_tables as check_tables
    from .store import open_database as open_database
    from .verify import verify_database as verify_database

__version__ = "0.2.0"

_HOMES = {
    "Grid": "pdb_builder.grid",
    "NAMED": "pdb_builder.pattern",
    "Spec": "pdb_builder.pattern",
    "build_database": "pdb_builder.assemble",
    "build_table": "pdb_builder.build",
    "partition_within": "pdb_builder.memory",
    "open_database": "pdb_builder.store",
    "check_tables": "pdb_builder.store",
    "Database": "pdb_builder.database",
    "Table": "pdb_builder.database",
    "verify_database": "pdb_builder.verify",
    "SlidepdbError": "pdb_builder.base.errors",
    "InputError": "pdb_builder.base.errors",
    "DatabaseError": "pdb_builder.base.errors",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
