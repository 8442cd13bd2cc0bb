"""Tables as matrices: like scikit-learn's transformers, for frames, pipelines and other rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from labeltrick import SGC, Graph, TableEncoder
from tests.support.people import texts_and_dates

FRAMES = {"polars": texts_and_dates(120), "pandas": None}
FRAMES["pandas"] = pd.DataFrame(FRAMES["polars"].to_dict(as_series=False))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("sparse", [False, True])
def test_frames(kind, sparse):
    encoder = TableEncoder(sparse_output=sparse)
    found = encoder.fit_transform(FRAMES[kind])
    again = clone(encoder).fit(FRAMES["polars"]).transform(FRAMES[kind])
    if sparse:
        assert sp.issparse(found)
        found, again = found.toarray(), again.toarray()
    np.testing.assert_allclose(again, found, atol=1e-12)
    assert np.isfinite(found).all()
    names = encoder.get_feature_names_out().tolist()
    assert found.shape == (120, len(names))
    assert encoder.feature_names_in_.tolist() == ["text", "when", "number"]
    words = [name for name in names if name.startswith("text: ")]
    assert len(words) == (100 if sparse else 64)
    assert "when: age in days missing" in names
    at = names.index("number")
    np.testing.assert_array_equal(found[:, at], FRAMES["polars"]["number"])


def test_components_are_those_of_the_words():
    words = TableEncoder(sparse_output=True).fit_transform(FRAMES["polars"].select("text"))
    few = TableEncoder(n_components=5).fit_transform(FRAMES["polars"].select("text"))
    assert few.shape == (120, 5)
    best = np.linalg.svd(words.toarray(), compute_uv=False)[:5]
    assert np.sum(few**2) > 0.95 * np.sum(best**2)


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_set_output(form):
    encoder = TableEncoder(n_components=3).set_output(transform=form)
    found = encoder.fit_transform(FRAMES[form])
    assert list(found.columns) == encoder.get_feature_names_out().tolist()
    assert type(found).__module__.startswith(form)


def test_numeric_estimators_take_text_in_a_pipeline():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    text = [
        f"{('wind', 'oven')[k]} and {w}"
        for k, w in zip(y, texts_and_dates(150)["text"], strict=True)
    ]
    hidden = np.where(np.arange(150) % 3, y, -1)
    graph = Graph.from_edges([0, 1], [1, 2], n_nodes=150)
    model = make_pipeline(TableEncoder(n_components=20), SGC(max_epochs=100, progress=False))
    model.fit(pl.DataFrame({"text": text}), hidden, sgc__graph=graph)
    assert np.mean(model.predict(pl.DataFrame({"text": text})) == y) > 0.9


def test_unseen_categories_and_levels():
    table = pd.DataFrame({"kind": list("aaabbc"), "n": range(6)})
    encoder = TableEncoder(max_levels=2).fit(table)
    assert encoder.get_feature_names_out().tolist() == ["n", "kind=a", "kind=b"]
    other = pd.DataFrame({"n": [1.0], "kind": ["new"]})
    np.testing.assert_array_equal(encoder.transform(other), [[1, 0, 0]])
    with pytest.raises(ValueError, match="holds 'new'"):
        TableEncoder(unseen_categories="error").fit(table).transform(other)


def test_wrong_parameters_and_tables():
    frame = FRAMES["polars"]
    for wrong in ({"n_components": 0}, {"max_levels": True}, {"unseen_categories": "x"}):
        with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be"):
            TableEncoder(**wrong).fit(frame)
    with pytest.raises(TypeError, match="must be a data frame or an array; got a sparse matrix"):
        TableEncoder().fit(sp.eye_array(3))
    with pytest.raises(NotFittedError):
        TableEncoder().transform(frame)
    with pytest.raises(ValueError, match="'text' is missing"):
        TableEncoder().fit(frame).transform(frame.drop("text"))


def test_scikit_learns_checks():
    check_estimator(TableEncoder())
