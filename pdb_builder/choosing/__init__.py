"""Choosing collections: which partitions leave the fewest nodes, or rather the least time, within a memory limit.

symmetry       the symmetries that a goal leaves, and what they make of patterns
reference      the partition that others are compared with
tree_sample    nodes drawn from its search trees; ``sample_file`` keeps them as text
columns        the distances of these nodes in a table; ``column_file`` keeps them
catalogue      all patterns, with columns that are known or guessed
covers         partitions of high value
collection     the search for a collection
"""
