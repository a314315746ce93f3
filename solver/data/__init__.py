"""The published sets of boards, one CSV file per set: id, board, length of a shortest solution, generated nodes.

And ``rank.h5``, the learned rank for beams on boards of all sizes (``solver.search.rank_files``).
"""
