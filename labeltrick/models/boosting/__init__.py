"""Boosted trees on node tables, and the labels of other nodes as columns for any model."""

from .estimator import GraphBoosting
from .figure import importance_figure
from .self_excluded_labels import SelfExcludedLabels

__all__ = ["GraphBoosting", "SelfExcludedLabels", "importance_figure"]
