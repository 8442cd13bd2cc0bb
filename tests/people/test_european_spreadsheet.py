"""Semicolons, decimal commas, Windows-1252 and prices in euros."""

import numpy as np
import pytest

from tests.support.stories import BOOSTING, accuracy, assert_same, fit_files, fit_plain, make_world

N = 150


def euros(value):
    """1234.5 as it is written in Germany: 1.234,50 €."""
    return f"{value:,.2f} €".translate(str.maketrans(",.", ".,"))


@pytest.fixture(scope="module")
def kunden(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kunden")
    world = make_world(N, seed=3)
    name = np.array([f"Müller {k}" if k % 2 else f"Groß {k}" for k in world.rng.permutation(N)])
    truth, known = world.classes("kündigt", "bleibt")
    sales = np.round(np.maximum(5, 1500 + 900 * world.hint), 2)
    share = np.round(world.rng.random(N), 3)
    lines = ["Kunde;Umsatz;Anteil;Status"] + [
        ";".join([name[k], euros(sales[k]), f"{share[k]:.3f}".replace(".", ","), known[k] or ""])
        for k in range(N)
    ]
    (folder / "kunden.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
    links = ["Von;Nach", *map(";".join, zip(name[world.source], name[world.target], strict=True))]
    (folder / "kontakte.csv").write_bytes("\r\n".join(links).encode("cp1252"))
    files = ("--nodes", "kunden.csv", "--edges", "kontakte.csv", "--target", "Status")
    done = fit_files(folder, *files, *BOOSTING)
    plain = fit_plain(
        folder,
        {"id": name, "Umsatz": sales, "Anteil": share, "answer": known},
        {"source": name[world.source], "target": name[world.target]},
        *BOOSTING,
    )
    return done, plain, name[world.hidden], truth[world.hidden]


def test_predictions_are_those_of_plain_files(kunden):
    done, plain, ids, truth = kunden
    assert_same(done.predictions, plain)
    assert accuracy(done.predictions, ids, truth) > 0.9


def test_what_was_decided_is_said(kunden):
    said = kunden[0].said
    assert "kunden.csv: semicolons, decimal comma, Windows-1252" in said
    assert "kontakte.csv: semicolons, Windows-1252" in said
    assert "Umsatz" in said
    assert "2 features" in said
