"""Tables of edges and nodes are read here, and tables of predictions written."""

from ...graph.node_ids import NodeIds
from .edge_stream import build_graph_folder
from .frames import read_frame, write_frame
from .kinds import ColumnKind, Roles
from .label_files import read_label_file, with_labels
from .problem import Problem, from_pyg, read_problem
from .text_formats import TextFormat

__all__ = [
    "ColumnKind", "NodeIds", "Problem", "Roles", "TextFormat", "build_graph_folder", "from_pyg",
    "read_frame", "read_label_file", "read_problem", "with_labels", "write_frame",
]  # fmt: skip
