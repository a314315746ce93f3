"""Pattern databases for sliding-tile puzzles: build them, open them, look things up.

>>> from pdb_builder import NAMED, Grid, Spec, build_database, open_database
>>> import tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> spec = Spec(Grid(3, 3), NAMED["3x3-8"])
>>> database = build_database(spec, folder / "3x3-8.h5")
>>> database = open_database(folder / "3x3-8.h5")
>>> database.distance([8, 0, 6, 5, 4, 7, 2, 3, 1])
31
>>> table = database.tables[0]
>>> table.maximum, table.entries
(31, 181440)
>>> list(table.levels())[:4]
[(0, 1), (1, 2), (2, 4), (3, 8)]
"""

from .base.lazy import lazy_names

__version__ = "0.1.0"

_HOMES = {
    "Grid": "pdb_builder.grid",
    "InputError": "pdb_builder.base.errors",
    "NAMED": "pdb_builder.pattern",
    "Spec": "pdb_builder.pattern",
    "Database": "pdb_builder.database",
    "Table": "pdb_builder.database",
    "DatabaseError": "pdb_builder.base.errors",
    "open_database": "pdb_builder.store",
    "check_tables": "pdb_builder.store",
    "build_table": "pdb_builder.build",
    "build_database": "pdb_builder.assemble",
    "partition_within": "pdb_builder.memory",
    "verify_database": "pdb_builder.verify",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
