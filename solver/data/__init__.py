"""The published sets of boards, one CSV file per set: id, board, length of a shortest solution, generated nodes."""
