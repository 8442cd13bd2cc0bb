"""A questionnaire that writes what is not known as -999, "k. Angabe" and "nobody asked"."""

import polars as pl
import pytest

from labeltrick.app.runs.settings import read_settings
from tests.support.people import invoke
from tests.support.stories import BOOSTING, accuracy, fit_files, fit_plain, make_world

N = 160
MISSING = ("--missing", "k. Angabe,nobody asked,-999", "--missing", "never")
UNUSED = "not used, because no cell holds it: --missing 'never'"


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questionnaire")
    world = make_world(N, seed=5)
    truth, known = world.classes("stays", "moves")
    ids = [f"h{k:03}" for k in range(N)]
    gap = world.rng.random(N) < 0.2
    tenure = ["rents" if hint > 0.5 else "owns" for hint in world.hint]
    table = {
        "household": ids,
        "rent": [
            -999 if lost else round(500 + 300 * h) for h, lost in zip(world.hint, gap, strict=True)
        ],
        "tenure": ["k. Angabe" if lost else word for word, lost in zip(tenure, gap, strict=True)],
        "plan": ["nobody asked" if value is None else value for value in known],
    }
    clean = {
        name: [None if value in (-999, "k. Angabe", "nobody asked") else value for value in column]
        for name, column in table.items()
    }
    edges = {"source": [ids[k] for k in world.source], "target": [ids[k] for k in world.target]}
    pl.DataFrame(table).write_csv(folder / "households.csv")
    pl.DataFrame(edges).write_csv(folder / "visits.csv")
    files = ("--nodes", "households.csv", "--edges", "visits.csv", "--target", "plan")
    done = fit_files(folder, *files, *BOOSTING, *MISSING)
    names = {"household": "id", "plan": "answer"}
    plain = fit_plain(folder, {names.get(k, k): v for k, v in clean.items()}, edges, *BOOSTING)
    return folder, done, plain, [ids[k] for k in range(N) if world.hidden[k]], truth[world.hidden]


def test_predictions_are_those_of_blank_cells(answers):
    _, done, plain, ids, truth = answers
    # `boosting` names its columns of probabilities by class; nothing else is different.
    assert done.predictions.drop("household").equals(plain.drop("id"))
    assert accuracy(done.predictions, ids, truth) > 0.9
    assert "households.csv: read as missing: 'k. Angabe'" in done.said
    assert done.said.count(UNUSED) == 1


def test_the_run_uses_them_for_new_rows(answers):
    folder, done, *_ = answers
    assert read_settings(done.run / "config.toml").missing == (
        "k. Angabe", "nobody asked", "-999", "never",
    )  # fmt: skip
    (folder / "new.csv").write_text("household,rent,tenure,plan\nx1,-999,k. Angabe,nobody asked\n")
    (folder / "blank.csv").write_text("household,rent,tenure,plan\nx1,,,\n")
    (folder / "more.csv").write_text("source,target\nx1,h000\n")
    for name in ("new", "blank"):
        files = ("--nodes", folder / f"{name}.csv", "--edges", folder / "more.csv")
        said = invoke("predict", done.run, *files, "--out", folder / f"{name}.parquet")
        assert "not used, because" not in said
    written = [pl.read_parquet(folder / f"{name}.parquet") for name in ("new", "blank")]
    assert written[0].equals(written[1])
    assert not written[0]["labeled"].any()
    said = invoke("predict", done.run, *files, "--missing", "n.b.", "--out", folder / "x.csv")
    assert "not used, because no cell holds it: --missing 'n.b.'" in " ".join(said.split())


def test_other_commands_take_them(answers):
    folder, done, _, ids, truth = answers
    files = ("--nodes", folder / "households.csv", "--edges", folder / "visits.csv")
    said = " ".join(invoke("inspect", *files, "--target", "plan", *MISSING).split())
    assert UNUSED in said
    assert "households.csv: read as missing: " in said
    rows = list(zip(ids, truth.tolist(), strict=True))
    later = pl.DataFrame(rows, schema=["household", "plan"], orient="row")
    later = pl.concat([later[:9].with_columns(plan=pl.lit("lost")), later[9:]])
    later.write_csv(folder / "later.csv")
    said = invoke("evaluate", done.run, "--nodes", folder / "later.csv", "--missing", "lost,gone")
    said = " ".join(said.split())
    assert f"{len(ids) - 9} nodes whose label the run did not know" in said
    assert "later.csv: read as missing: 'lost' (9)" in said
    assert "not used, because no cell holds it: --missing 'gone'" in said
