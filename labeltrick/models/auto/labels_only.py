"""Label propagation as a learner of `AutoModel`, and as its baseline without features."""

from __future__ import annotations

import numpy as np

from ..._utils.targets import Targets
from ...graph.graph import Graph
from ...self_exclusion.label_views import label_columns
from ..base.node_inputs import NodeInputs
from ..base.weights import tidy
from ..correct_smooth.base import with_gaps
from ..label_propagation.plain import LabelPropagation
from ..search import GraphSearch

_DAMPINGS = (0.3, 0.6, 0.8, 0.9, 0.97)


def search_damping(known: Targets, validation: Targets, graph: Graph) -> GraphSearch:
    """Choose λ on the validation nodes if there are any, else on labels left out."""
    model = LabelPropagation(task=known.task, calibrate=False, class_weight=None, norm="row")
    search = GraphSearch(model, {"damping": list(_DAMPINGS)}, progress=False)
    nodes = np.flatnonzero(validation.labeled)
    y = with_gaps(known, validation)
    return search.fit(None, y, graph=graph, validation=nodes if len(nodes) else None)


def propagated(model: LabelPropagation, inputs: NodeInputs, prior: np.ndarray) -> np.ndarray:
    """Propagated labels of all nodes; no node sees its own label."""
    known, views = inputs.targets, model.views_of(inputs.graph)
    seen = views.inputs(label_columns(known.Y, known.weight), blank=prior, progress=False)
    return tidy(seen.values[:, 0], known.task)
