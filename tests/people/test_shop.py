"""A shop: customers and products in two files of nodes, purchases and views in two of edges."""

import numpy as np
import polars as pl
import pytest

from tests.support.stories import (
    BOOSTING,
    accuracy,
    assert_same,
    fit_files,
    fit_plain,
    inspect_here,
    make_world,
)

N = 160


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    world = make_world(N, seed=4)
    product = np.arange(N) >= 100
    # Customer 7 and product 7 are different things, and have different ids.
    ids = np.where(product, [f"P{k - 99}" for k in range(N)], [f"C{k + 1}" for k in range(N)])
    truth, known = world.classes("sport", "garden")
    kind = np.where(product, "product", "customer")
    nodes = pl.DataFrame({"id": ids, "kind": kind, "size": world.hint, "interest": known})
    nodes.filter(~product).write_csv(folder / "customers.csv")
    nodes.filter(product).select("interest", "size", "id", "kind").write_csv(
        folder / "products.csv"
    )
    edges = pl.DataFrame({"from": ids[world.source], "to": ids[world.target]})
    edges[::2].write_csv(folder / "bought.csv")
    edges[1::2].select("to", "from").write_csv(folder / "viewed.csv")
    files = ("--nodes", "customers.csv", "--nodes", "products.csv", "--edges", "bought.csv",
             "--edges", "viewed.csv", "--target", "interest")  # fmt: skip
    done = fit_files(folder, *files, *BOOSTING)
    plain = fit_plain(
        folder,
        nodes.rename({"interest": "answer"}),
        edges.rename({"from": "source", "to": "target"}),
        *BOOSTING,
    )
    return folder, done, plain, ids[world.hidden], truth[world.hidden]


def test_predictions_are_those_of_one_table(shop):
    _, done, plain, ids, truth = shop
    assert_same(done.predictions, plain)
    assert accuracy(done.predictions, ids, truth) > 0.9


def test_what_was_decided_is_said(shop):
    said = shop[1].said
    assert "edges: from → to" in said
    assert shop[1].metrics["nodes"] == N


def test_a_forgotten_file_is_not_overlooked(shop):
    with pytest.raises(ValueError, match=r"bought.csv`.* must be a node of the node table; got 'P"):
        inspect_here(shop[0], "customers.csv", "bought.csv", "--target", "interest")


def test_a_customer_and_a_product_of_the_same_id_are_not_merged(shop):
    folder = shop[0]
    for name in ("customers", "products"):
        table = pl.read_csv(folder / f"{name}.csv").with_columns(pl.col("id").str.slice(1))
        table.write_csv(folder / f"numbers_of_{name}.csv")
    with pytest.raises(
        ValueError, match=r"'1' is in row 2 of .*of_customers.csv' and row 2 of .*of_p"
    ):
        inspect_here(
            folder, "numbers_of_customers.csv", "bought.csv", "--target", "interest",
            *("--nodes", folder / "numbers_of_products.csv"),
        )  # fmt: skip
