"""Papers and citations that pandas has written with its index: row numbers look like papers."""

import numpy as np
import pandas as pd
import pytest

from tests.support.stories import (
    PROPAGATION,
    accuracy,
    assert_same,
    fit_files,
    fit_here,
    fit_plain,
    make_world,
)

N = 180


@pytest.fixture(scope="module")
def citations(tmp_path_factory):
    folder = tmp_path_factory.mktemp("citations")
    world = make_world(N, n_groups=3, seed=2)
    paper = world.rng.permutation(N)  # row numbers are numbers of papers, of other ones
    truth, known = world.classes("biology", "history", "physics")
    year = 1990 + world.rng.integers(0, 30, N)
    cites = {"citing": paper[world.source], "cited": paper[world.target]}
    pd.DataFrame({"paper": paper, "year": year, "field": known}).to_csv(folder / "papers.csv")
    pd.DataFrame(cites).to_csv(folder / "cites.csv")
    files = ("--nodes", "papers.csv", "--edges", "cites.csv", "--target", "field")
    done = fit_files(folder, *files, *PROPAGATION)
    plain = fit_plain(
        folder,
        {"id": paper, "year": year, "answer": known},
        {"source": cites["citing"], "target": cites["cited"]},
        *PROPAGATION,
    )
    # The wrong turn: row numbers as papers. Then labels belong to others than the edges say.
    table = pd.read_csv(folder / "papers.csv", index_col=0).drop(columns="paper")
    table.rename_axis("paper").to_csv(folder / "numbered.csv")
    options = ("--target", "field", *PROPAGATION)
    wrong = fit_here(folder, "numbered.csv", "cites.csv", *options, out="wrong")
    return done, plain, wrong, paper, truth, world.hidden


def test_predictions_are_those_of_plain_files(citations):
    done, plain, *_ = citations
    assert done.predictions.columns[0] == "paper"
    assert_same(done.predictions, plain)


def test_row_numbers_as_papers_would_have_been_worse(citations):
    done, _, wrong, paper, truth, hidden = citations
    assert accuracy(done.predictions, paper[hidden], truth[hidden]) > 0.9  # a third by chance
    assert accuracy(wrong, np.flatnonzero(hidden), truth[hidden]) < 0.6


def test_what_was_decided_is_said(citations):
    said = citations[0].said
    assert "edges: citing → cited" in said
    assert "labeltrick: the nodes are called" not in said  # rows were matched by their ids
    assert "nodes: id paper; target field" in said
    assert "row numbers" in said
