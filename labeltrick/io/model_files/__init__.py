"""Saving and loading fitted models. ``registry`` lists the classes that a file may name."""

from .writing import load_model, save_model

__all__ = ["load_model", "save_model"]
