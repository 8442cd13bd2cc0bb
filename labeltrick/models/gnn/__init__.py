"""Graph neural networks of PyTorch Geometric with the stochastic label trick."""

from .estimator import GNN

__all__ = ["GNN"]
