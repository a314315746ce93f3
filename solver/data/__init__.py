"""The published sets of boards, as CSV files."""
