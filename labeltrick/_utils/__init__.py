"""What every room uses: checks and their error texts, threads, progress, optional dependencies,
files that are written whole. Nothing here knows about graphs, models or files of a certain kind.
"""
