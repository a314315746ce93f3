"""The base layer: what everything else may import, and what itself imports nothing of ours from outside."""
