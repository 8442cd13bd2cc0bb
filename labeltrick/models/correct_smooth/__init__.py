"""Correct & Smooth: base predictions corrected and smoothed along the edges, as it was, and
trainable."""

from .classic import CorrectAndSmooth
from .steps import Spread
from .trainable import TrainableCorrectAndSmooth

__all__ = ["CorrectAndSmooth", "Spread", "TrainableCorrectAndSmooth"]
