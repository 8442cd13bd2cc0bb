"""LightGBM's texts: what it writes is read, and no other text reaches it."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from labeltrick.models.boosting.tree_text import check_trees, read_booster, text_of

lightgbm = pytest.importorskip("lightgbm")


def table(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[:, 3] = rng.integers(0, 60, n)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng


def booster(objective="binary", **more):
    X, rng = table()
    signal = (
        np.nan_to_num(X[:, 0]) + (np.nan_to_num(X[:, 3]) % 7 < 3) + 0.1 * rng.normal(size=len(X))
    )
    y = {"binary": signal > 0.5, "multiclass": np.digitize(signal, [0, 1])}.get(objective, signal)
    parameters = {"objective": objective, "verbosity": -1, "num_threads": 1, "num_leaves": 8,
                  "cat_smooth": 1, "min_data_per_group": 5, **more}  # fmt: skip
    categorical = [] if more.get("linear_tree") else [3]
    data = lightgbm.Dataset(X, y.astype(float), categorical_feature=categorical)
    return lightgbm.train(parameters, data, 6)


KINDS = {
    "binary": {},
    "multiclass": {"objective": "multiclass", "num_class": 3},
    "regression": {"objective": "regression"},
    "square root": {"objective": "regression", "reg_sqrt": True},
    "one leaf": {"min_data_in_leaf": 10_000},
    "linear": {"objective": "regression", "linear_tree": True},
    "random forest": {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
    "dart": {"boosting": "dart"},
    "monotone": {"monotone_constraints": [1, 0, -1, 0]},
    "many categories": {"max_cat_to_onehot": 1},
}


def test_a_split_of_known_from_missing_values_is_at_infinity():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 1)) < 0.5, np.nan, rng.integers(0, 2, (300, 1)))
    data = lightgbm.Dataset(X, np.isnan(X[:, 0]).astype(float))
    made = lightgbm.train({"verbosity": -1, "num_threads": 1, "objective": "binary"}, data, 3)
    text = text_of(made)
    assert "threshold=inf" in text
    np.testing.assert_array_equal(read_booster(text).predict(X), made.predict(X))
    for wrong in ("1inf", "infinf", "nan", "in"):
        with pytest.raises(ValueError, match="threshold of tree 0"):
            check_trees(resized(text.replace("threshold=inf", f"threshold={wrong}", 1)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_lightgbm_writes_is_read_to_the_same_bits(kind):
    made = booster(**KINDS[kind])
    text = text_of(made)
    assert "parameters" not in text
    X, _ = table()
    again = read_booster(text)
    np.testing.assert_array_equal(again.predict(X), made.predict(X))
    np.testing.assert_array_equal(again.feature_importance("gain"), made.feature_importance("gain"))
    assert again.current_iteration() == made.current_iteration()
    assert text_of(again) == text


def resized(text):
    """The same text with sizes that fit its trees again."""
    head, _, body = text.partition("\n\n")
    trees, _end = body.split("end of trees")
    sizes = [len("Tree=" + part) for part in trees.split("Tree=")[1:]]
    lines = [line for line in head.split("\n") if not line.startswith("tree_sizes")]
    return "\n".join([*lines, "tree_sizes=" + " ".join(map(str, sizes))]) + "\n\n" + body


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("num_leaves=8", "num_leaves=9"),
        ("num_leaves=8", "num_leaves=2000000000"),
        ("num_leaves=8", "num_leaves=-1"),
        ("num_leaves=8", "num_leaves="),
        ("num_cat=1", "num_cat=5"),
        ("split_feature=0", "split_feature=9"),
        ("split_feature=0", "split_feature=-1"),
        ("left_child=4", "left_child=0"),
        ("left_child=4", "left_child=90"),
        ("left_child=4", "left_child=-90"),
        ("leaf_value=", "leaf_value=1 "),
        ("leaf_value=", "leaf_value=nan "),
        ("shrinkage=1", "shrinkage=x"),
        ("shrinkage=1", "shrinkage=1\nsurprise=1"),
        ("num_class=1", "num_class=7"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=0"),
        ("max_feature_idx=3", "max_feature_idx=1"),
        ("objective=binary sigmoid:1", "objective=multiclass num_class:9"),
        ("objective=binary sigmoid:1", "objective=lambdarank"),
        ("version=v4", "version=v9"),
        ("cat_boundaries=0", "cat_boundaries=1"),
        ("is_linear=0", "is_linear=1"),
        ("end of trees\n", ""),
        ("end of trees\n", "end of trees\n\nparameters:\n[output_model: x]\n"),
        ("tree\n", "tree\ninput_model=elsewhere\n"),
    ],
)
def test_changed_texts_are_refused(old, new):
    text = text_of(booster())
    check_trees(resized(text))
    assert old in text
    changed = text.replace(old, new, 1)
    with pytest.raises(ValueError, match=r"."):
        check_trees(changed)
    if "end of trees" in changed:
        with pytest.raises(ValueError, match=r"."):
            check_trees(resized(changed))


def test_no_damage_ends_the_process():
    """Whatever passes the check is read and used, in a process of its own."""
    code = """
    import random, sys
    import numpy as np
    from labeltrick.models.boosting.tree_text import read_booster, text_of
    from tests.models.boosting.test_tree_text import KINDS, booster, resized, table
    X, _ = table(50)
    draw = random.Random(0)
    texts = [text_of(booster(**KINDS[kind])) for kind in ("binary", "multiclass", "linear")]
    passed = 0
    for case in range(3000):
        text = draw.choice(texts)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(text))
            copied = text[at : at + 9]
            put = draw.choice(["", "9", "-", " ", "\\n", "1e9", "0", "e-320", "e300", copied])
            text = text[:at] + put + text[at + draw.randint(0, 4) :]
        try:
            text = resized(text) if draw.random() < 0.7 else text
            found = read_booster(text)
        except ValueError:
            continue
        passed += 1
        try:
            found.predict(X, num_threads=1)
        except Exception as error:
            assert "number of features" in str(error), error
    print(passed)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stderr[-800:])
    assert int(done.stdout.split()[-1]) > 50
