"""Shared by all rooms: checks and their error messages, threads, progress, optional dependencies,
atomic writes. Nothing here knows about graphs, models or specific file formats.
"""
