"""The estimators, one folder per family, and the search over their parameters. ``base`` holds what
they share.
"""

from .._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "AutoModel": "auto.estimator",
        "CorrectAndSmooth": "correct_smooth.classic",
        "GNN": "gnn.estimator",
        "GraphBoosting": "boosting.estimator",
        "GraphSearch": "search",
        "LabelFeatureRegression": "linear_gnn.regression",
        "LabelPropagation": "label_propagation.plain",
        "SGC": "linear_gnn.sgc",
        "SIGN": "linear_gnn.sign",
        "SelfExcludedLabels": "boosting.self_excluded_labels",
        "Spread": "correct_smooth.steps",
        "TableEncoder": "table_encoder",
        "TWIRLS": "linear_gnn.twirls",
        "TrainableCorrectAndSmooth": "correct_smooth.trainable",
        "TrainableLabelPropagation": "label_propagation.trainable",
        "to_networkx": "networkx_predictions",
    },
)
