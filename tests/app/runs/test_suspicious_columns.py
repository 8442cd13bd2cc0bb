"""Columns that give the answer away are found, and clean columns are not accused."""

import numpy as np
import polars as pl
import pytest

from labeltrick.app.runs.suspicious_columns import (
    GIVES_AWAY,
    WORTH_A_LOOK,
    Rows,
    columns_to_doubt,
    suspicious_columns,
)
from labeltrick.io import datasets
from labeltrick.io.datasets import make_minesweeper

N = 400


def verdicts(X, values, task, known, *, used=None, listed=None, times=()):
    everything = np.ones(len(known), bool)
    rows = Rows(known if used is None else used, known, everything if listed is None else listed)
    return {
        c.column: c.verdict for c in suspicious_columns(X, values, task, rows, ["label"], times)
    }


@pytest.fixture(params=["classification", "regression"])
def people(request):
    """Task, targets, mask of the known ones, and an honest column."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, N)
    numbers = group + 0.3 * rng.normal(size=N)
    values = numbers if request.param == "regression" else np.array(list("abc"), object)[group]
    known = rng.random(N) < 0.5
    return request.param, values, known, group + rng.normal(size=N)


def codes_of(values):
    return np.unique(values, return_inverse=True)[1].astype(float)


def column_of(task, values):
    return values.astype(float) if task == "regression" else codes_of(values)


def table(honest, x):
    return pl.DataFrame({"height": honest, "told": pl.Series(x).fill_nan(None)})


# -- columns that give the answer away -----------------------------------------------------------
@pytest.mark.parametrize(("n_labels", "verdict"), [(5, WORTH_A_LOOK), (20, GIVES_AWAY)])
def test_a_copy_with_few_labels(people, n_labels, verdict):
    task, values, _, honest = people
    known = np.arange(N) < n_labels
    x = np.where(known, column_of(task, values), np.nan)
    assert verdicts(table(honest, x), values, task, known) == {"told": verdict}


def test_few_unequal_labels_with_a_filler_that_is_also_a_class():
    """24 right predictions of which 15 are of one class are no evidence, but not nothing."""
    rng = np.random.default_rng(0)
    known = np.arange(N) < 24
    y = np.where(known, np.arange(N) >= 15, rng.integers(0, 2, N)).astype(int)
    X = table(rng.normal(size=N), np.where(known, y, 0).astype(float))
    assert verdicts(X, y.astype(object), "classification", known) == {"told": WORTH_A_LOOK}


@pytest.mark.parametrize("elsewhere", [np.nan, 0.0, -1.0])
def test_a_copy_that_is_blank_or_constant_elsewhere(people, elsewhere):
    task, values, known, honest = people
    x = np.where(known, column_of(task, values), elsewhere)
    assert verdicts(table(honest, x), values, task, known) == {"told": GIVES_AWAY}


def test_it_is_found_as_the_only_column_too(people):
    task, values, known, honest = people
    x = np.where(known, column_of(task, values), np.nan)
    assert verdicts(table(honest, x)[["told"]], values, task, known) == {"told": GIVES_AWAY}


def test_a_copy_with_noise(people):
    task, values, known, honest = people
    rng = np.random.default_rng(2)
    x = column_of(task, values)
    wrong = rng.random(N) < 0.1
    x = x + 0.2 * rng.normal(size=N) if task == "regression" else np.where(wrong, (x + 1) % 3, x)
    x = np.where(known, x, np.nan)
    assert verdicts(table(honest, x), values, task, known) == {"told": GIVES_AWAY}


def test_a_few_stale_cells_elsewhere_do_not_hide_a_copy(people):
    task, values, known, honest = people
    rng = np.random.default_rng(2)
    stale = rng.random(N) < 0.05
    x = np.where(known | stale, column_of(task, values), np.nan)
    assert verdicts(table(honest, x), values, task, known) == {"told": GIVES_AWAY}


def test_texts_that_repeat_the_target(people):
    task, values, known, honest = people
    if task == "regression":
        pytest.skip("numbers are not texts")
    words = pl.Series([f"is {v}" if k else None for v, k in zip(values, known, strict=True)])
    X = pl.DataFrame({"height": honest, "told": words.cast(pl.Categorical)})
    assert verdicts(X, values, task, known) == {"told": GIVES_AWAY}


def test_a_copy_in_the_labeled_rows_that_is_blank_in_test_rows(people):
    task, values, known, honest = people
    x = np.where(known, column_of(task, values), np.nan)
    everything = np.ones(N, bool)
    found = verdicts(table(honest, x), values, task, everything, used=known)
    assert found == {"told": GIVES_AWAY}


def test_a_date_that_was_written_only_with_one_of_the_labels():
    """Blank means "no" in the labeled rows, and it is blank in all others."""
    rng = np.random.default_rng(0)
    left = rng.random(N) < 0.3
    known = rng.random(N) < 0.5
    date = np.where(left & known, rng.uniform(0, 300, N), np.nan)
    values = np.where(left, "left", "stayed").astype(object)
    X = table(rng.normal(size=N), date)
    assert verdicts(X, values, "classification", known, times=["told"]) == {"told": GIVES_AWAY}


def test_a_date_that_was_written_with_the_label(people):
    """Labels were entered one class after another: the date of entry tells the class."""
    task, values, known, honest = people
    rng = np.random.default_rng(0)
    order = np.argsort(np.argsort(column_of(task, values) + 0.01 * rng.normal(size=N)))
    X = table(honest, np.where(known, order + rng.random(N), np.nan))
    assert verdicts(X, values, task, known, times=["told"]) == {"told": GIVES_AWAY}
    anywhen = table(honest, np.where(known, rng.uniform(0, N, N), np.nan))
    assert verdicts(anywhen, values, task, known, times=["told"]) == {"told": WORTH_A_LOOK}


def test_dates_that_end_where_the_labels_end(people):
    task, values, _, honest = people
    day = np.argsort(np.argsort(column_of(task, values))) + 0.5
    known = np.arange(N) % 2 == 0
    day = np.where(known, day, day + 2 * N)
    assert verdicts(table(honest, day), values, task, known, times=["told"]) == {"told": GIVES_AWAY}


def test_an_id_that_orders_the_target(people):
    task, values, known, honest = people
    number = 1000.0 + np.argsort(np.argsort(column_of(task, values), kind="stable"))
    assert verdicts(table(honest, number), values, task, known) == {"told": GIVES_AWAY}
    rng = np.random.default_rng(0)
    assert verdicts(table(honest, rng.permutation(N) + 0.0), values, task, known) == {}


def test_a_copy_without_unlabeled_rows():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 900)
    values = np.array(list("abc"), object)[group]
    everything, honest = np.ones(900, bool), rng.normal(size=900)
    X = table(honest, np.array([7.0, 2.0, 5.0])[group])
    assert verdicts(X, values, "classification", everything) == {"told": GIVES_AWAY}
    numbers = rng.normal(size=900)
    X = table(honest, 1.8 * numbers + 32)
    assert verdicts(X, numbers, "regression", everything) == {"told": GIVES_AWAY}


@pytest.mark.parametrize("kind", ["dense", "sparse", "wide"])
def test_columns_without_names(kind):
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    known = rng.random(N) < 0.5
    X = rng.integers(0, 2, (N, 300 if kind == "wide" else 5)).astype(float)
    X[:, 3] = np.where(known, y, 0)
    given = sp.csr_matrix(X) if kind != "dense" else X
    found = verdicts(given, y.astype(object), "classification", known)
    assert found == {"column 3": GIVES_AWAY}


# -- clean columns -------------------------------------------------------------------------------
def test_an_honest_strong_column_is_only_worth_a_look(people):
    task, values, known, honest = people
    rng = np.random.default_rng(5)
    x = column_of(task, values)
    wrong = rng.random(N) < 0.01
    x = x + 0.05 * rng.normal(size=N) if task == "regression" else np.where(wrong, (x + 1) % 3, x)
    X = table(honest, x)
    assert verdicts(X, values, task, known) == {"told": WORTH_A_LOOK}
    assert verdicts(X, values, task, np.ones(N, bool)) == {"told": WORTH_A_LOOK}
    gaps = np.where(rng.random(N) < 0.05, np.nan, x)  # blank here and there, everywhere alike
    assert GIVES_AWAY not in verdicts(table(honest, gaps), values, task, known).values()


def test_a_column_that_is_often_blank_in_all_rows(people):
    task, values, known, honest = people
    rng = np.random.default_rng(5)
    x = np.where(rng.random(N) < 0.9, np.nan, column_of(task, values))
    assert verdicts(table(honest, x), values, task, known) == {}


def test_a_column_that_is_blank_elsewhere_but_tells_nothing_is_worth_a_look(people):
    task, values, known, honest = people
    rng = np.random.default_rng(5)
    x = np.where(known, rng.normal(size=N), np.nan)
    assert verdicts(table(honest, x), values, task, known) == {"told": WORTH_A_LOOK}


def test_an_honest_column_that_decides_who_is_labeled(people):
    """Only buyers are labeled; others bought nothing. What they bought tells something."""
    task, values, known, honest = people
    rng = np.random.default_rng(5)
    bought = np.where(known, 2 + column_of(task, values) + 0.6 * rng.normal(size=N), 0.0)
    assert verdicts(table(honest, bought), values, task, known) == {"told": WORTH_A_LOOK}


def test_nodes_that_the_table_does_not_list_are_not_blank_cells(people):
    task, values, _, honest = people
    x = column_of(task, values) + 0.05 * np.random.default_rng(0).normal(size=N)
    known = np.arange(N) < 200
    x[~known] = np.nan
    honest = np.where(known, honest, np.nan)
    found = verdicts(table(honest, x), values, task, known, listed=known)
    assert GIVES_AWAY not in found.values()


def test_evenly_drawn_labels_of_a_rare_class_do_not_accuse_an_honest_test():
    """Half of the labeled rows are ill, as in a case-control study; 2 % of the others are."""
    rng = np.random.default_rng(0)
    known = np.arange(2000) < 200
    ill = np.where(known, np.arange(2000) % 2 == 0, rng.random(2000) < 0.02)
    test = np.where(rng.random(2000) < 0.02, ~ill, ill).astype(float)
    values = np.where(ill, "ill", "well").astype(object)
    assert GIVES_AWAY not in verdicts(table(rng.normal(size=2000), test), values,
                                      "classification", known).values()  # fmt: skip


@pytest.mark.parametrize("n_labels", [8, 12, 20, 40])
def test_few_labels_and_noise_accuse_no_column(n_labels):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = pl.DataFrame(rng.normal(size=(200, 10)), schema=[f"x{k}" for k in range(10)])
        known = np.arange(200) < n_labels
        y = rng.integers(0, 2, 200)
        assert verdicts(X, y.astype(object), "classification", known) == {}
        assert verdicts(X, rng.normal(size=200), "regression", known) == {}


def test_a_rare_class_is_not_predicted_by_any_column():
    """Guessing the frequent class is right in 99.8 % of the rows."""
    rng = np.random.default_rng(0)
    values = np.full(1000, "usual", object)
    values[:2] = "rare"
    X = pl.DataFrame({"x": rng.normal(size=1000)})
    assert verdicts(X, values, "classification", np.ones(1000, bool)) == {}


def test_the_quickstart_board_is_clean():
    board = make_minesweeper(30)
    known = np.zeros(len(board.y), bool)
    known[board.train] = True
    assert verdicts(board.X, board.y.astype(object), "classification", known) == {}


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_sets_of_sklearn_are_clean(name, share):
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    task = "regression" if name == "diabetes" else "classification"
    known = np.random.default_rng(0).random(len(y)) < share
    values = y if task == "regression" else y.astype(object)
    assert verdicts(X, values, task, known) == {}


@pytest.mark.parametrize("name", ["county-2016", "chameleon", "house", "minesweeper", "cora-ml"])
@pytest.mark.parametrize("labeled", ["all", "random", "largest degree"])
def test_public_sets_are_clean(data_dir, name, labeled):
    data = datasets.load(name, data_dir)
    n = data.graph.n_nodes
    known = np.ones(n, bool)
    if labeled == "random":
        known = np.random.default_rng(0).random(n) < 0.2
    elif labeled == "largest degree":
        known = np.arange(n) < n // 5
        known[np.argsort(-data.graph.degrees, kind="stable")] = known.copy()
    task = "regression" if data.metric == "rmse" else "classification"
    values = data.y.astype(float) if task == "regression" else data.y.astype(object)
    known &= ~np.isnan(values) if task == "regression" else data.y >= 0
    assert GIVES_AWAY not in verdicts(data.X, values, task, known).values()
    if labeled != "largest degree":
        assert verdicts(data.X, values, task, known) == {}


def test_a_sentence_names_column_target_and_option(tmp_path):
    from labeltrick.app.runs.settings import FitSettings
    from tests.support.people import write_files

    folder = write_files(tmp_path, split=False)
    nodes = pl.read_csv(folder / "nodes.csv").with_columns(
        pl.col("label").alias("final {grade}").cast(pl.String)
    )
    nodes.write_csv(folder / "nodes.csv")
    problem = FitSettings(
        str(folder / "edges.csv"), str(folder / "nodes.csv"), target="label"
    ).read()
    (found,) = columns_to_doubt(problem)
    assert str(found) == (
        "column 'final {grade}' gives the answer away: alone it predicts 'label' with 100.0% "
        "accuracy on labeled rows that were left out, but it is blank in 100.0% of the rows "
        "without a label (0.0% of the labeled ones). Pass --ignore 'final {grade}'"
    )


def test_spellings_of_the_labels_do_not_hide_a_column():
    rng = np.random.default_rng(0)
    yes, known = rng.random(N) < 0.4, rng.random(N) < 0.6
    clean = np.where(yes, "Yes", "No").astype(object)
    other = np.where(yes, "yes", "no ").astype(object)
    values = np.where(rng.random(N) < 0.3, other, clean)
    X = table(rng.normal(size=N), np.where(known & yes, rng.normal(size=N), np.nan))
    found = verdicts(X, values, "classification", known)
    assert found == verdicts(X, clean, "classification", known) == {"told": GIVES_AWAY}
    # Classes that differ in nothing else are different classes.
    letters = np.where(yes, "A", "a").astype(object)
    assert verdicts(X, letters, "classification", known) == {"told": GIVES_AWAY}
