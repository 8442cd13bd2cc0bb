"""The charts of a report, as plotly figures."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..._utils.escaping import chart_categories, for_chart
from ...evaluation import metrics

ACCENT, SECOND, MUTED = "#2f7de1", "#e07b39", "#9aa4b2"
_DIAGONAL = {"dash": "dot", "color": MUTED}
_MOST_CLASSES = 30
_WIDE, _MIDDLE, _NARROW = 34, 24, 18  # characters of a name that is shown beside a chart


def _figure(height: int, x: dict[str, Any], y: dict[str, Any], **layout: Any) -> go.Figure:
    """An empty chart with the settings of its axes."""
    axis = {"automargin": True, "gridcolor": "rgba(128,128,128,0.2)", "zeroline": False}
    return go.Figure(
        layout={
            "height": height,
            "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": "system-ui, sans-serif", "size": 13, "color": "#6b7684"},
            "showlegend": False,
            "xaxis": axis | x,
            "yaxis": axis | y,
            **layout,
        }
    )


def score_bars(names: list[str], scores: list[Any]) -> go.Figure:
    """The scores of the model and its baselines, with intervals."""
    figure = _figure(
        70 + 45 * len(names), {"title": for_chart(scores[0].metric)}, {"type": "category"}
    )
    return figure.add_bar(
        x=[score.value for score in scores][::-1],
        y=chart_categories(names[::-1], _MIDDLE),
        orientation="h",
        marker_color=[MUTED] * (len(names) - 1) + [ACCENT],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [score.high - score.value for score in scores][::-1],
            "arrayminus": [score.value - score.low for score in scores][::-1],
            "color": "#6b7684",
        },
    )


def calibration(y: np.ndarray, proba: np.ndarray) -> go.Figure:
    """Accuracy against confidence, from class numbers or indicators."""
    bins = metrics.reliability_bins(proba, y, 10)
    there = bins.size > 0
    share = {"tickformat": ".0%", "range": [0, 1.02]}
    # No zero on the vertical axis: it would overlap the zero of the other.
    ticks = {"tickvals": [0.25, 0.5, 0.75, 1.0]}
    figure = _figure(320, {"title": "confidence"} | share, {"title": "accuracy"} | share | ticks)
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line=_DIAGONAL)
    size = np.sqrt(bins.size[there] / bins.size.max())
    return figure.add_scatter(
        x=bins.confidence[there],
        y=bins.accuracy[there],
        mode="lines+markers",
        marker={"size": 6 + 14 * size, "color": ACCENT},
        line={"color": ACCENT},
        text=[f"{n:,} nodes" for n in bins.size[there]],
        hovertemplate="confidence %{x:.0%}, accuracy %{y:.0%}<br>%{text}<extra></extra>",
    )


def confusion(Y: np.ndarray, proba: np.ndarray, classes: list[str]) -> go.Figure:
    """Confusion matrix of the most frequent classes: true classes in rows, predicted in columns."""
    seen = Y.any(axis=1)
    true, predicted = Y[seen].argmax(axis=1), proba[seen].argmax(axis=1)
    count = np.bincount(true, minlength=len(classes))
    kept = np.sort(np.argsort(-count, kind="stable")[:_MOST_CLASSES])
    place = np.full(len(classes), -1)
    place[kept] = np.arange(len(kept))
    both = (place[true] >= 0) & (place[predicted] >= 0)
    table = np.zeros((len(kept), len(kept)))
    np.add.at(table, (place[true[both]], place[predicted[both]]), 1)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    names = chart_categories([classes[k] for k in kept], _NARROW)
    full = [for_chart(classes[k]) for k in kept]
    few = len(kept) <= 12
    figure = _figure(
        max(300, 70 + 24 * len(kept)),
        {"title": "predicted", "type": "category"},
        {"title": "true", "type": "category", "autorange": "reversed"},
    )
    return figure.add_heatmap(
        z=share,
        x=names,
        y=names,
        zmin=0,
        zmax=1,
        colorscale=[[0, "rgba(47,125,225,0.05)"], [1, ACCENT]],
        showscale=False,
        text=table.astype(int) if few else None,
        texttemplate="%{text}" if few else None,
        hovertext=[
            [f"{full[a]} predicted as {full[b]}: {value:.0%}" for b, value in enumerate(row)]
            for a, row in enumerate(share)
        ],
        hoverinfo="text",
    )


def residuals(truth: np.ndarray, predicted: np.ndarray) -> go.Figure:
    """Predicted against true numbers."""
    some = np.arange(len(truth))
    if len(some) > 3000:
        some = np.random.default_rng(0).choice(some, 3000, replace=False)
    ends = [float(min(truth.min(), predicted.min())), float(max(truth.max(), predicted.max()))]
    figure = _figure(360, {"title": "true"}, {"title": "predicted"})
    figure.add_scatter(x=ends, y=ends, mode="lines", line=_DIAGONAL)
    dots = {"size": 5, "color": ACCENT, "opacity": 0.5}
    return figure.add_scatter(x=truth[some], y=predicted[some], mode="markers", marker=dots)


def degrees(degree: np.ndarray) -> go.Figure:
    """Histogram of the degrees, on logarithmic axes."""
    top = max(int(degree.max(initial=1)), 1)
    edges = np.unique(np.round(np.geomspace(1, top + 1, 24)).astype(int))
    edges = np.concatenate([[0], edges])
    count, _ = np.histogram(degree, bins=edges)
    names = [str(a) if b - a == 1 else f"{a}–{b - 1}" for a, b in itertools.pairwise(edges)]
    figure = _figure(
        280,
        {"title": "neighbors", "type": "category", "nticks": 8},
        {"title": "nodes", "type": "log", "dtick": 1},
    )
    return figure.add_bar(x=names, y=count, marker_color=ACCENT)


def homophily(names: list[str], share: np.ndarray, chance: np.ndarray) -> go.Figure:
    """Share of labeled neighbors with the same class, and its value by chance, for each class."""
    title = "labeled neighbors of the same class"
    axis = {"title": title, "tickformat": ".0%", "rangemode": "tozero"}
    figure = _figure(90 + 26 * len(names), axis, {"type": "category"}, barmode="overlay")
    bars = chart_categories(names[::-1], _MIDDLE)
    figure.add_bar(x=share[::-1], y=bars, orientation="h", marker_color=ACCENT)
    mark = {"symbol": "line-ns", "size": 14, "line": {"width": 2, "color": SECOND}}
    return figure.add_scatter(x=chance[::-1], y=bars, mode="markers", marker=mark)


def importances(entries: list[tuple[str, str, float]]) -> go.Figure:
    """Shares of the columns in the gain of the trees, colored by group."""
    color = {"own": ACCENT, "neighbor": "#3fa66b", "label": SECOND}
    entries = entries[:15][::-1]
    axis = {"title": "share of the trees' gain", "tickformat": ".0%"}
    return _figure(60 + 26 * len(entries), axis, {"type": "category"}).add_bar(
        x=[share for *_, share in entries],
        y=chart_categories([name for name, *_ in entries], _WIDE),
        orientation="h",
        marker_color=[color.get(group, MUTED) for _, group, _ in entries],
        hovertext=[f"{for_chart(name)} ({group})" for name, group, _ in entries],
    )


def curve(x: list[Any], y: list[float], x_title: str, y_title: str) -> go.Figure:
    """Scores against the values of a parameter: on a linear axis if they are numbers."""
    numbers = are_numbers(x)
    places = x if numbers else chart_categories(x, _NARROW)
    axis = {"title": for_chart(x_title), "type": "linear" if numbers else "category"}
    figure = _figure(260, axis, {"title": for_chart(y_title)})
    return figure.add_scatter(x=places, y=y, mode="lines+markers", line={"color": ACCENT})


def are_numbers(values: list[Any]) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
