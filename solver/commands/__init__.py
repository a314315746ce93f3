"""The commands of ``pdb-solver``, one module each, loaded when called; and what they share."""
