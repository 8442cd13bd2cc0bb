"""labeltrick: propagate labels and features in parallel, without a node seeing its own label."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# name → module. Imported when first used, so that `import labeltrick` costs nothing.
_HOME = {
    "Graph": "graph",
    "GraphSummary": "graph_statistics",
    "StoredGraph": "stored",
    "open_graph": "stored",
    "save_graph": "stored",
    "build_graph": "stored",
    "NormalizedAdjacency": "normalized",
    "Propagation": "propagation",
    "Resolvent": "resolvent",
    "Iteration": "polynomials",
    "Series": "polynomials",
    "Power": "polynomials",
    "HopSum": "polynomials",
    "Hops": "hops",
    "Unfolded": "unfolded",
    "SelfWeight": "diagonal",
    "hop_diagonals": "diagonal",
    "LabelSplit": "label_trick",
    "label_matrix": "label_trick",
    "self_excluded": "label_trick",
    "split_labels": "label_trick",
    "stochastic_view": "label_trick",
    "fold_view": "label_trick",
    "linear_form": "label_trick",
    "penalty_weights": "label_trick",
    "penalty_matrix": "label_trick",
    "LabelPropagation": "label_propagation",
    "TrainableLabelPropagation": "trainable",
    "SGC": "linear_gnn",
    "SIGN": "linear_gnn",
    "TWIRLS": "linear_gnn",
    "LabelFeatureRegression": "linear_gnn",
    "GNN": "gnn",
    "CorrectAndSmooth": "correct_smooth",
    "TrainableCorrectAndSmooth": "correct_smooth",
    "Spread": "correct_smooth",
    "GraphBoosting": "boosting",
    "SelfExcludedLabels": "boosting",
    "AutoModel": "auto",
    "save_model": "model_file",
    "load_model": "model_file",
    "Calibration": "calibration",
    "SuspiciousLabels": "suspicious",
    "audit_leakage": "audit",
    "LeakageReport": "audit",
    "ConvergenceWarning": "resolvent",
    "get_num_threads": "_threads",
    "set_num_threads": "_threads",
    "datasets": "datasets",
    "features": "features",
    "objective": "objective",
    "metrics": "metrics",
    "selection": "selection",
    "label_trick": "label_trick",
    "linear_gnn": "linear_gnn",
    "correct_smooth": "correct_smooth",
    "boosting": "boosting",
}

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from . import (
        boosting,
        correct_smooth,
        datasets,
        features,
        label_trick,
        linear_gnn,
        metrics,
        objective,
        selection,
    )
    from ._threads import get_num_threads, set_num_threads
    from .audit import LeakageReport, audit_leakage
    from .auto import AutoModel
    from .boosting import GraphBoosting, SelfExcludedLabels
    from .calibration import Calibration
    from .correct_smooth import CorrectAndSmooth, Spread, TrainableCorrectAndSmooth
    from .diagonal import SelfWeight, hop_diagonals
    from .gnn import GNN
    from .graph import Graph
    from .graph_statistics import GraphSummary
    from .hops import Hops
    from .label_propagation import LabelPropagation
    from .label_trick import (
        LabelSplit,
        fold_view,
        label_matrix,
        linear_form,
        penalty_matrix,
        penalty_weights,
        self_excluded,
        split_labels,
        stochastic_view,
    )
    from .linear_gnn import SGC, SIGN, TWIRLS, LabelFeatureRegression
    from .model_file import load_model, save_model
    from .normalized import NormalizedAdjacency
    from .polynomials import HopSum, Iteration, Power, Series
    from .propagation import Propagation
    from .resolvent import ConvergenceWarning, Resolvent
    from .stored import StoredGraph, build_graph, open_graph, save_graph
    from .suspicious import SuspiciousLabels
    from .trainable import TrainableLabelPropagation
    from .unfolded import Unfolded


def __getattr__(name: str) -> Any:
    if name == "nn":  # not in __all__: a star import must not need torch
        return import_module(".nn", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'labeltrick' has no attribute {name!r}")
    module = import_module(f".{_HOME[name]}", __name__)
    value = module if name == _HOME[name] else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
