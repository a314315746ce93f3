"""The commands of ``pdb-solver``, one file each, loaded when called."""
