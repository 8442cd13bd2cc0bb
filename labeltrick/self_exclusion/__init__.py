"""Labels as inputs, without a node seeing its own: self-excluded and random views of the labels,
the objective of the paper's theorems, and the audit that finds leaks in any model.
"""

from .._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "LabelSplit": "label_trick",
        "LeakageReport": "audit",
        "audit_leakage": "audit",
        "fold_view": "label_trick",
        "label_matrix": "label_trick",
        "label_trick_problem": "objective",
        "self_excluded_form": "label_trick",
        "penalty_matrix": "label_trick",
        "penalty_weights": "label_trick",
        "self_excluded": "label_trick",
        "split_labels": "label_trick",
        "stochastic_view": "label_trick",
    },
)
