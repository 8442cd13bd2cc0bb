"""Figures of the report."""

from types import SimpleNamespace

import numpy as np
import pytest

from labeltrick.app.report import figures
from labeltrick.models.boosting import importance_figure
from tests.support.hostile import NAMES, all_figures


@pytest.fixture(scope="module")
def importances(tmp_path_factory):
    path = tmp_path_factory.mktemp("importances") / "importances.html"
    n = len(NAMES)
    model = SimpleNamespace(
        feature_importances_=np.full(n, 1 / n),
        feature_names_=NAMES,
        feature_groups_=["own"] * n,
        group_importances_={"own": 1.0},
    )
    figure = importance_figure(model)
    figure.write_html(path, include_plotlyjs=True)
    return path


def test_charts_hold_no_markup_of_names():
    for name, figure in all_figures().items():
        text = figure.to_json()
        for word in ("<!--", "<a ", "<b>", "</script", "$", "\\u001b", "\x1b", "\u202e"):
            assert word not in text.replace("\\u003c", "<"), (name, word)


def test_classes_that_begin_alike_stay_apart():
    n = len(NAMES)
    figure = figures.confusion(np.eye(n), np.eye(n), NAMES)
    assert len(set(figure.data[0].x)) == n
    assert len(set(figures.homophily(NAMES, np.ones(n), np.ones(n)).data[0].y)) == n
