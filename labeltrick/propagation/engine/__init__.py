"""How products with P are computed: fused steps on column blocks, from memory, from windows of a
graph on disk, or on a Dask cluster; with checkpoints for long runs.
"""
