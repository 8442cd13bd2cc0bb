"""Predictions from labels and edges only: plain label propagation, and its trainable form."""

from .plain import LabelPropagation
from .trainable import TrainableLabelPropagation

__all__ = ["LabelPropagation", "TrainableLabelPropagation"]
