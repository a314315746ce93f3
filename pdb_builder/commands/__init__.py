"""The commands of ``pdb-builder``, one file each, loaded when called."""
