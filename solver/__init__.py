"""Optimal solutions of sliding-tile puzzles with pattern databases."""
