"""Checkpoints of AutoModel: fits that continue, and folders that are left alone."""

import numpy as np
import pytest

from labeltrick.models.auto import crossfit
from tests.support.auto import quick
from tests.support.graphs import blocks


def test_an_interrupted_fit_goes_on_to_the_same_result(tmp_path, monkeypatch):
    graph, X, _, y = blocks(2, n=80)
    whole = quick(n_folds=2, resume_from=tmp_path / "a").fit(X, y, graph=graph)
    calls = []
    fit_member = crossfit.CrossFitter.fit_member

    def interrupted(self, spec, k):
        calls.append((spec.name, k))
        if len(calls) == 5:
            raise KeyboardInterrupt
        return fit_member(self, spec, k)

    monkeypatch.setattr(crossfit.CrossFitter, "fit_member", interrupted)
    broken = quick(n_folds=2, resume_from=tmp_path / "b")
    with pytest.raises(KeyboardInterrupt):
        broken.fit(X, y, graph=graph)
    assert not hasattr(broken, "targets_")
    done = set(calls[:4])
    resumed = quick(n_folds=2, resume_from=tmp_path / "b").fit(X, y, graph=graph)
    assert not done & set(calls[5:])  # nothing was made twice
    np.testing.assert_array_equal(resumed.predict_proba(), whole.predict_proba())
    kept = contents(tmp_path / "b")
    with pytest.raises(ValueError, match="belongs to another fit"):
        quick(n_folds=2, resume_from=tmp_path / "b", random_state=1).fit(X, y, graph=graph)
    assert contents(tmp_path / "b") == kept


def contents(folder):
    """Every file below a folder, with its bytes."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("marker", [None, "not JSON", "[]", '{"format": "labeltrick checkpoint"}'])
def test_a_folder_that_no_fit_made_is_left_untouched(tmp_path, marker):
    graph, X, _, y = blocks(2, n=40)
    precious = tmp_path / "mydata"
    (precious / "deep").mkdir(parents=True)
    (precious / "deep" / "thesis.txt").write_text("years of work")
    (precious / "signature.txt").write_text("a name that a fit might use")
    if marker is not None:
        (precious / "labeltrick-checkpoint.json").write_text(marker)
    before = contents(precious)
    with pytest.raises(ValueError, match="which were not changed"):
        quick(resume_from=precious).fit(X, y, graph=graph)
    assert contents(precious) == before
    with pytest.raises(ValueError, match="which were not changed"):
        quick(resume_from=precious / "signature.txt").fit(X, y, graph=graph)
    assert contents(precious) == before


def test_an_empty_folder_serves_as_a_checkpoint_and_a_damaged_part_is_made_again(tmp_path):
    graph, X, _, y = blocks(2, n=40)
    folder = tmp_path / "empty"
    folder.mkdir()
    first = quick(n_folds=2, resume_from=folder).fit(X, y, graph=graph)
    part = next(folder.glob("*/model.json"))
    part.write_text("damaged")
    again = quick(n_folds=2, resume_from=folder).fit(X, y, graph=graph)
    np.testing.assert_array_equal(first.predict_proba(), again.predict_proba())
    assert (part.parent.with_name(part.parent.name + "-1") / "model.json").is_file()
    third = quick(n_folds=2, resume_from=folder).fit(X, y, graph=graph)
    np.testing.assert_array_equal(first.predict_proba(), third.predict_proba())
