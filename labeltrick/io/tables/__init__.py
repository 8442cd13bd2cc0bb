"""People's own files: tables of edges and nodes in, tables of predictions out."""

from .edge_stream import build_graph_folder
from .frames import read_frame, write_frame
from .ids import NodeIds
from .kinds import ColumnKind
from .problem import Problem, from_pyg, read_label_file, read_problem, with_labels
from .roles import Roles

__all__ = [
    "ColumnKind",
    "NodeIds",
    "Problem",
    "Roles",
    "build_graph_folder",
    "from_pyg",
    "read_frame",
    "read_label_file",
    "read_problem",
    "with_labels",
    "write_frame",
]
