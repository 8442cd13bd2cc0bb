"""Movies with several genres in one cell, in Parquet files."""

import numpy as np
import polars as pl
import pytest

from tests.support.stories import BOOSTING, by_id, fit_files, inspect_here, make_world

N = 150


@pytest.fixture(scope="module")
def movies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("movies")
    world = make_world(N, n_groups=3, seed=9)
    genres = np.array(["drama|comedy", "comedy", "horror"], dtype=object)
    truth, known = world.classes(*genres)
    title = np.array([f"Movie {k}" for k in world.rng.permutation(N)])
    pl.DataFrame({"title": title, "minutes": 90 + world.hint, "genres": known}).write_parquet(
        folder / "movies.parquet"
    )
    edges = pl.DataFrame({"seen": title[world.source], "seen_next": title[world.target]})
    edges.write_parquet(folder / "seen.parquet")
    files = ("--nodes", "movies.parquet", "--edges", "seen.parquet", "--target", "genres")
    many = fit_files(folder, *files, "--task", "multilabel", *BOOSTING)
    one = inspect_here(folder, "movies.parquet", "seen.parquet", "--target", "genres")
    return many, one, title[world.hidden], truth[world.hidden]


def test_each_genre_is_predicted(movies):
    many, _, ids, truth = movies
    found = by_id(many.predictions)
    assert many.metrics["task"] == "multilabel"
    assert {"p_comedy", "p_drama", "p_horror"} <= set(found.columns)
    table = dict(zip(found["id"], found["prediction"], strict=True))
    right = [set(table[i].split("|")) == set(t.split("|")) for i, t in zip(ids, truth, strict=True)]
    assert np.mean(right) > 0.75
    # "drama|comedy" as a class of its own would share nothing with "comedy".
    p_comedy = dict(zip(found["id"], found["p_comedy"], strict=True))
    both = [p_comedy[i] for i, t in zip(ids, truth, strict=True) if t == "drama|comedy"]
    assert np.median(both) > 0.8
    assert "'genres' holds 3 labels (split at '|'): 'comedy', 'drama', 'horror'" in many.said


def test_lists_are_not_taken_as_classes_without_a_warning(movies):
    said = movies[1]
    assert "classes of 'genres' look like lists of labels, such as 'drama|comedy'" in said
    assert "Pass --task multilabel" in said
