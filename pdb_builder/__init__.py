"""Pattern databases for sliding-tile puzzles."""
__version__ = "0.1.0"
