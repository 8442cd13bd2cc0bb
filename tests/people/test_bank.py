"""Customers of a bank and their transactions: numbers of transactions and amounts look like ids."""

import numpy as np
import polars as pl
import pytest

from tests.support.stories import (
    BOOSTING,
    accuracy,
    assert_same,
    fit_files,
    fit_here,
    fit_plain,
    make_world,
)

N = 200


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bank")
    world = make_world(N, seed=1)
    customer = world.rng.permutation(np.arange(1, N + 1))
    truth, known = world.classes("no", "yes")
    m = len(world.source)
    money = np.round(1000 + 400 * world.hint, 2)
    pl.DataFrame(
        {
            "customer_id": customer,
            "phone": world.rng.permutation(np.arange(4_915_100_000, 4_915_100_000 + N)),
            "balance": [f"${value:,.2f}" for value in money],
            "churn": known,
        }
    ).write_csv(folder / "customers.csv")
    # The numbers of transactions and the amounts are numbers of customers, too.
    pl.DataFrame(
        {
            "tx_id": np.arange(m) % N + 1,
            "from_customer": customer[world.source],
            "to_customer": customer[world.target],
            "amount": world.rng.integers(1, N + 1, m),
            "date": [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(m)],
        }
    ).write_csv(folder / "transactions.csv")
    files = ("--nodes", "customers.csv", "--edges", "transactions.csv", "--target", "churn")
    done = fit_files(folder, *files, *BOOSTING)
    plain = fit_plain(
        folder,
        {"id": customer, "balance": money, "answer": known},
        {"source": customer[world.source], "target": customer[world.target]},
        *BOOSTING,
    )
    wrong = fit_here(
        folder, "customers.csv", "transactions.csv", "--target", "churn", *BOOSTING,
        *("--src", "tx_id", "--dst", "amount"), out="wrong",
    )  # fmt: skip
    return done, plain, wrong, customer[world.hidden], truth[world.hidden]


def test_predictions_are_those_of_plain_files(bank):
    done, plain, _, _, _ = bank
    assert done.predictions.columns[0] == "customer_id"
    assert_same(done.predictions, plain)


def test_numbers_of_transactions_would_have_been_worse(bank):
    done, _, wrong, ids, truth = bank
    assert accuracy(done.predictions, ids, truth) > 0.9
    assert accuracy(wrong, ids, truth) < 0.75


def test_what_was_decided_is_said(bank):
    said = bank[0].said
    assert (
        "edges: from_customer → to_customer; time date (not used); not used: tx_id, amount" in said
    )
    assert "edges are not weighted; pass --weight amount to weight them" in said
    assert "nodes: id customer_id; target churn; 1 feature; not used: phone" in said
    assert "balance" in said
