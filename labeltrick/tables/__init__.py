"""People's own files: tables of edges and nodes in, tables of predictions out."""

from ._edge_stream import build_graph_folder
from ._frames import read_frame, write_frame
from ._ids import NodeIds
from ._kinds import ColumnKind
from ._problem import Problem, from_pyg, read_label_file, read_problem, with_labels
from ._roles import Roles

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
