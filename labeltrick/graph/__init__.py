"""`Graph` and what describes one: constructors, normalization, statistics, node keys that do not
depend on node numbers, and graphs stored in folders on disk (``stored``).
"""

from .._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "Graph": "graph",
        "GraphSummary": "statistics",
        "NormalizedAdjacency": "normalized",
        "StoredGraph": "stored.graph",
        "build_graph": "stored.build",
        "open_graph": "stored.graph",
        "save_graph": "stored.writing",
    },
)
