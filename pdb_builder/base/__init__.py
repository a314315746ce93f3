"""The base layer: what everything else may import, and which imports nothing of ours."""
