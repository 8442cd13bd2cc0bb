"""The method `explain` of estimators. What it does is in the room above, ``explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...explain.explanation import Explanations


class Explained:
    """Base of estimators that explain their predictions."""

    def explain(
        self,
        nodes: Any,
        X: Any = None,
        y: Any = None,
        *,
        graph: Any = None,
        target: Any = None,
        top: int = 5,
        edges: bool | str = "auto",
    ) -> Explanations:
        """Explain predictions: which labels, columns and edges they rest on.

        A node's own label is left out of its prediction, and never contributes. See
        `explain.explain` for what is exact.

        Parameters
        ----------
        nodes : name, number or list of them
            The nodes to explain: names if the nodes of the graph have names, otherwise numbers.
        X : data frame, array-like, sparse matrix or None, default=None
            Features of all nodes. None uses those of the fit.
        y : array-like, Series, dict or None, default=None
            Known labels to predict from. None uses those of the fit.
        graph : Graph, networkx or igraph graph, default=None
            The graph to predict on. None uses that of the fit.
        target : object, default=None
            The class to explain, or the name or number of one of several labels or numbers. None
            explains the predicted class, or each label or number.
        top : int, default=5
            Number of contributions of each kind.
        edges : bool or "auto", default="auto"
            Whether to remove edges at the node, which takes predictions of the whole graph. "auto"
            does so on small graphs.

        Returns
        -------
        explanations : Explanations
            One explanation per node, and per label or number if there are several. Printed, each is
            a sentence; ``to_frame()`` gives a row per contribution.

        Examples
        --------
        >>> from labeltrick import Graph, LabelPropagation
        >>> graph = Graph.from_edges(["ann", "bob", "cem"], ["bob", "cem", "dia"])
        >>> model = LabelPropagation().fit(None, {"ann": "tea", "dia": "coffee"}, graph=graph)
        >>> model.explain("bob", edges=False).to_frame()["kind", "source"].rows()
        [('baseline', None), ('label', 'ann'), ('label', 'dia'), ('rest', None)]
        """
        from ...explain import explain  # the room above, imported when it is called

        options = {"graph": graph, "target": target, "top": top, "edges": edges}
        return explain(self, nodes, X, y, **options)
