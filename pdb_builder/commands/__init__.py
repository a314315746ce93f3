"""The commands of ``pdb-builder``, one module per command, imported when it is called."""
