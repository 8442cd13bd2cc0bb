"""Labels as inputs, without any node seeing its own: self-excluded and random views of the labels,
the objective of the paper's theorems, and an audit that finds leaks in any model.
"""

from .._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "LabelSplit": "labels",
        "LeakageReport": "audit",
        "audit_leakage": "audit",
        "fold_view": "label_trick",
        "label_matrix": "labels",
        "label_trick_problem": "objective",
        "self_excluded_form": "label_trick",
        "penalty_matrix": "objective",
        "penalty_weights": "objective",
        "self_excluded": "label_trick",
        "split_labels": "labels",
        "stochastic_view": "label_trick",
    },
)
