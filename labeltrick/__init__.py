"""labeltrick: propagate labels and features in parallel, without a node seeing its own label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._utils.lazy import lazy_names
from ._utils.version import __version__

# Imported when first used, so that `import labeltrick` costs nothing.
__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "AutoModel": "models",
        "Calibration": "evaluation",
        "CorrectAndSmooth": "models",
        "GNN": "models",
        "Graph": "graph",
        "GraphBoosting": "models",
        "GraphSearch": "models",
        "GraphSummary": "graph",
        "HopSum": "propagation",
        "Hops": "propagation",
        "Iteration": "propagation",
        "LabelFeatureRegression": "models",
        "LabelPropagation": "models",
        "LabelSplit": "self_exclusion",
        "LeakageReport": "self_exclusion",
        "NormalizedAdjacency": "graph",
        "Power": "propagation",
        "Propagation": "propagation",
        "Resolvent": "propagation",
        "SGC": "models",
        "SIGN": "models",
        "SelfExcludedLabels": "models",
        "SelfWeight": "propagation",
        "Series": "propagation",
        "Spread": "models",
        "StoredGraph": "graph",
        "SuspiciousLabels": "evaluation",
        "TWIRLS": "models",
        "TableEncoder": "models",
        "TrainableCorrectAndSmooth": "models",
        "TrainableLabelPropagation": "models",
        "Unfolded": "propagation",
        "audit_leakage": "self_exclusion",
        "build_graph": "graph",
        "datasets": "io.datasets",
        "fold_view": "self_exclusion",
        "get_num_threads": "_utils.threads",
        "hop_diagonals": "propagation",
        "label_matrix": "self_exclusion",
        "self_excluded_form": "self_exclusion",
        "load_model": "io",
        "metrics": "evaluation.metrics",
        "open_graph": "graph",
        "penalty_matrix": "self_exclusion",
        "penalty_weights": "self_exclusion",
        "save_graph": "graph",
        "save_model": "io",
        "self_excluded": "self_exclusion",
        "set_num_threads": "_utils.threads",
        "split_labels": "self_exclusion",
        "split_nodes": "evaluation",
        "stochastic_view": "self_exclusion",
        "to_networkx": "models",
    },
    modules=(
        "evaluation",
        "explain",
        "graph",
        "io",
        "models",
        "nn",
        "propagation",
        "self_exclusion",
    ),
)

if TYPE_CHECKING:
    from ._utils.threads import get_num_threads, set_num_threads
    from .evaluation import metrics
    from .evaluation.calibration import Calibration
    from .evaluation.splits import split_nodes
    from .evaluation.suspicious_labels import SuspiciousLabels
    from .graph.graph import Graph
    from .graph.normalized import NormalizedAdjacency
    from .graph.statistics import GraphSummary
    from .graph.stored import StoredGraph, build_graph, open_graph, save_graph
    from .io import datasets
    from .io.model_files import load_model, save_model
    from .models.auto import AutoModel
    from .models.boosting import GraphBoosting, SelfExcludedLabels
    from .models.correct_smooth import CorrectAndSmooth, Spread, TrainableCorrectAndSmooth
    from .models.gnn import GNN
    from .models.label_propagation import LabelPropagation, TrainableLabelPropagation
    from .models.linear_gnn import SGC, SIGN, TWIRLS, LabelFeatureRegression
    from .models.networkx_predictions import to_networkx
    from .models.search import GraphSearch
    from .models.table_encoder import TableEncoder
    from .propagation.base import Propagation
    from .propagation.diagonal.self_weight import SelfWeight, hop_diagonals
    from .propagation.hops import Hops
    from .propagation.polynomials import HopSum, Iteration, Power, Series
    from .propagation.resolvent import Resolvent
    from .propagation.unfolded import Unfolded
    from .self_exclusion.audit import LeakageReport, audit_leakage
    from .self_exclusion.label_trick import (
        fold_view,
        self_excluded,
        self_excluded_form,
        stochastic_view,
    )
    from .self_exclusion.labels import LabelSplit, label_matrix, split_labels
    from .self_exclusion.objective import penalty_matrix, penalty_weights
