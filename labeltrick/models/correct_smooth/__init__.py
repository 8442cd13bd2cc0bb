"""Correct & Smooth: the original method and the trainable one, on any base predictions."""

from .classic import CorrectAndSmooth
from .steps import Spread
from .trainable import TrainableCorrectAndSmooth

__all__ = ["CorrectAndSmooth", "Spread", "TrainableCorrectAndSmooth"]
