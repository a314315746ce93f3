"""Choosing partitions."""
