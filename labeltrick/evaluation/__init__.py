"""How good predictions are: metrics, calibrated probabilities, prediction intervals, suspicious
labels, and splits of nodes.
"""

from .._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "Calibration": "calibration",
        "NodeSplit": "splits",
        "SuspiciousLabels": "suspicious_labels",
        "metrics": "metrics",
        "split_nodes": "splits",
    },
)
