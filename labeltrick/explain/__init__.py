"""Why a node is predicted what it is: contributions of labels, columns and edges, as a frame and as
a sentence. A node's own label never contributes.
"""

from .._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "Contribution": "explanation",
        "Explanation": "explanation",
        "Explanations": "explanation",
        "explain": "explaining",
    },
)
