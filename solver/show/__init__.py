"""Solutions to watch: played in the terminal, or drawn as a GIF."""
