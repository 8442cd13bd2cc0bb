"""People's own files: tables of edges and nodes in, tables of predictions out."""

from ._frames import read_frame, write_frame
from ._kinds import ColumnKind
from ._problem import Problem, Roles, from_pyg, read_problem

__all__ = [
    "ColumnKind",
    "Problem",
    "Roles",
    "from_pyg",
    "read_frame",
    "read_problem",
    "write_frame",
]
