"""Graphs in folders, which may be larger than memory and are read in windows."""

from .build import build_graph
from .graph import StoredGraph, open_graph
from .writing import save_graph

__all__ = ["StoredGraph", "build_graph", "open_graph", "save_graph"]
