"""Labels in files of their own, beside edges and a table of columns that holds no labels."""

import polars as pl
import pytest

from tests.support.people import invoke
from tests.support.stories import (
    BOOSTING,
    PROPAGATION,
    assert_same,
    fit_here,
    labeltrick,
    make_world,
)

N = 120


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    world = make_world(N, seed=4)
    _, known = world.classes("yes", "no")
    ids = [f"h{k:03}" for k in range(N)]
    pl.DataFrame(
        {"from": [ids[k] for k in world.source], "to": [ids[k] for k in world.target]}
    ).write_csv(folder / "visits.csv")
    columns = pl.DataFrame({"house": ids, "rooms": world.hint})
    columns.write_csv(folder / "houses.csv")
    columns.with_columns(answer=None).write_csv(folder / "blank.csv")
    columns.with_columns(pl.Series("answer", known)).write_csv(folder / "whole.csv")
    answers = pl.DataFrame({"house": ids, "answer": known}).drop_nulls()
    for k in range(2):
        answers[k * 20 : (k + 1) * 20 if k == 0 else None].write_csv(folder / f"answers-{k}.csv")
    return folder


LABELS = ("--target", "answer", "--labels", "answers-0.csv", "--labels", "answers-1.csv")


@pytest.fixture(autouse=True)
def _here(survey, monkeypatch):
    monkeypatch.chdir(survey)


@pytest.mark.parametrize("table", ["houses.csv", "blank.csv"])
def test_a_table_without_labels(survey, table):
    whole = ("--target", "answer", *BOOSTING)
    expected = fit_here(survey, "whole.csv", "visits.csv", *whole, out=f"whole-{table}")
    found = fit_here(survey, table, "visits.csv", *LABELS, *BOOSTING, out=f"run-{table}")
    assert_same(found, expected)


def test_no_table_at_all(survey):
    said = invoke("fit", "--edges", "visits.csv", *LABELS, *PROPAGATION, "--out", "edges")
    assert "labels came from answers-0.csv and answers-1.csv" in said
    (survey / "more.csv").write_text("from,to\nx1,h003\n")
    (survey / "later.csv").write_text("id,answer\nx1,no\n")
    more = ("--edges", "more.csv", "--labels", "later.csv", "--unknown-nodes", "add")
    said = invoke("predict", "edges", *more, "--out", "p.csv", "--overwrite")
    assert "1 label came from later.csv" in said
    assert "labels.parquet" not in said  # the fit has said what is to be said about its labels
    assert pl.read_csv("p.csv").row(0)[:2] == ("x1", "no")


def test_new_rows_for_a_run_without_labels_in_its_table(survey):
    fit_here(survey, "houses.csv", "visits.csv", *LABELS, *BOOSTING, out="base")
    (survey / "new.csv").write_text("house,rooms\nx1,0.5\n")
    (survey / "new-edges.csv").write_text("from,to\nx1,h003\n")
    given = ("--nodes", "new.csv", "--edges", "new-edges.csv", "--all", "--out", "p.csv")
    invoke("predict", "base", *given, "--overwrite")
    found = pl.read_csv("p.csv")
    assert found.height == N + 1
    expected = pl.read_parquet("base/predictions.parquet")["labeled"].to_list()
    assert found["labeled"].to_list() == [*expected, False]


@pytest.mark.parametrize("command", ["inspect", "compare", "sweep"])
def test_other_commands_take_them(command):
    given = {
        "inspect": (),
        "compare": ("--models", "label-propagation", "--repeats", "1"),
        "sweep": ("--parameter", "damping", "--values", "0.5,0.9"),
    }[command]
    said = invoke(command, "--edges", "visits.csv", "--nodes", "houses.csv", *LABELS, *given)
    assert "labels came from answers-0.csv and answers-1.csv" in " ".join(said.split())


def test_a_label_of_a_node_that_no_edge_names_is_explained(survey):
    (survey / "lonely.csv").write_text("house,answer\nh001,yes\nx9,no\n")
    given = ("--edges", "visits.csv", "--target", "answer", "--labels", "lonely.csv")
    done = labeltrick(survey, "fit", *given, *PROPAGATION, "--out", "lonely")
    assert done.code == 2
    assert "row 3, column 'house' must be a node of the graph; got 'x9'" in done.said
    assert "Drop the row, or pass a table of all nodes with --nodes" in done.said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("house,answer\nh000,no\n", "must hold each id once; 'h000' is in row "),
        ("house,reply\nx1,no\n", "must have the columns of 'answers-0.csv', in any order"),
    ],
)
def test_files_of_labels_that_do_not_agree_are_refused(survey, text, said):
    first = pl.read_csv(survey / "answers-0.csv")["house"][0]
    (survey / "other.csv").write_text(text.replace("h000", first))
    files = ("--labels", "answers-0.csv", "--labels", "other.csv")
    done = labeltrick(survey, "fit", "--edges", "visits.csv", *files, "--target", "answer",
                      *PROPAGATION, "--out", "two")  # fmt: skip
    assert done.code == 2
    assert said.replace("h000", first) in done.said


def test_rows_that_pandas_has_numbered_are_no_trouble(survey):
    labels = pl.read_csv(survey / "answers-0.csv").with_row_index("")
    labels.write_csv(survey / "numbered.csv")
    said = invoke("fit", "--edges", "visits.csv", "--target", "answer", "--labels", "numbered.csv",
                  *PROPAGATION, "--out", "numbered")  # fmt: skip
    assert "numbered.csv: columns that are not used: (no name)" in " ".join(said.split())


def test_a_class_called_na_is_not_lost_without_a_word(survey):
    labels = pl.read_csv(survey / "answers-0.csv")
    labels = labels.with_columns(pl.col("answer").replace("no", "NA"))
    labels.write_csv(survey / "na.csv")
    given = ("--edges", "visits.csv", "--target", "answer", "--labels", "na.csv")
    done = labeltrick(survey, "fit", *given, *PROPAGATION, "--out", "na")
    assert done.code == 2
    n = int((labels["answer"] == "NA").sum())
    assert f"The cells of column 'answer' are read as missing: 'NA' ({n})." in done.said
    assert "Write them in other words if they are labels." in done.said
