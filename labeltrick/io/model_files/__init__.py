"""Saving and loading fitted models. ``registry`` lists the classes that a file may name."""

from .reading import load_model, load_parts
from .writing import save_model, save_parts

__all__ = ["load_model", "load_parts", "save_model", "save_parts"]
