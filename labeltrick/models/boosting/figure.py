"""A figure of the columns that matter most to the trees of `GraphBoosting`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._utils.escaping import chart_categories

_GROUPS = {
    "own": ("#4477aa", "the node's own columns"),
    "neighbor": ("#ccbb44", "means of its neighbors"),
    "label": ("#ee6677", "labels of other nodes"),
}


def importance_figure(model: Any, n: int = 15) -> Any:
    """Plot the most important columns of a fitted `GraphBoosting` model.

    Parameters
    ----------
    model : GraphBoosting
        A fitted model.
    n : int, default=15
        Number of columns to show.

    Returns
    -------
    plotly.graph_objects.Figure
        Bars colored by group: the node's own columns, means of its neighbors, and labels of other
        nodes. Use ``.show()`` or ``.write_html("importances.html")``.
    """
    import plotly.graph_objects as go

    shares, names = model.feature_importances_, np.array(chart_categories(model.feature_names_))
    groups = np.array(model.feature_groups_)
    top = np.argsort(-shares, kind="stable")[:n][::-1]
    figure = go.Figure()
    for group, (color, meaning) in _GROUPS.items():
        some = [k for k in top if groups[k] == group]
        if some:
            total = model.group_importances_[group]
            figure.add_bar(
                x=100 * shares[some],
                y=names[some],
                orientation="h",
                marker_color=color,
                name=f"{meaning} ({100 * total:.0f} %)",
            )
    figure.update_layout(
        xaxis_title="share of the trees' total gain, %",
        yaxis={"categoryorder": "array", "categoryarray": names[top], "type": "category"},
        template="plotly_white",
        legend={"orientation": "h", "y": 1.1},
        margin={"l": 10, "r": 10, "t": 40, "b": 40},
    )
    return figure
