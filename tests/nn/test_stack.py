"""Networks trained side by side: each is what it would be alone."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labeltrick.nn import MLP, training  # noqa: E402
from labeltrick.nn.sparse_rows import network_rows  # noqa: E402
from labeltrick.nn.stack import MLPStack, train_stack  # noqa: E402
from labeltrick.nn.training import RowData, TrainingOptions  # noqa: E402
from tests.support.stacks import WIDTH, N, dense, one_hot, table  # noqa: E402


def perceptrons(n_members, seed=0, words=True):
    torch.manual_seed(seed)
    sizes = {"hidden": 8, "n_layers": 3, "dropout": 0.0, "norm": "layer", "words": words}
    members = [MLP(WIDTH, 3, **sizes) for _ in range(n_members)]
    with torch.no_grad():  # norms that are not all alike
        for member in members:
            for value in member.parameters():
                value += 0.1 * torch.randn_like(value)
    return members


@pytest.mark.parametrize("words", [True, False])
def test_a_stack_says_what_its_members_say(words):
    members, rows = perceptrons(3, words=words), table()
    inputs = network_rows(rows if words else dense(rows))
    together = MLPStack(members).eval()
    for scores, member in zip(together(inputs), members, strict=True):
        torch.testing.assert_close(scores, member.eval()(inputs), atol=1e-5, rtol=1e-4)
    others = perceptrons(3, seed=9, words=words)
    for k, other in enumerate(others):
        together.copy_to(k, other)
        torch.testing.assert_close(other.eval()(inputs), together(inputs)[k], atol=1e-5, rtol=1e-4)


def run(members, learns, Y, *, link="softmax", validation=None, epochs=5, patience=3, words=True):
    rows = table() if words else dense(table())
    options = TrainingOptions(learning_rate=0.02, max_epochs=epochs, patience=patience)
    generator = torch.Generator().manual_seed(4)
    weight = np.linspace(0.5, 2, N)
    args = (validation, link, options, generator)
    best = train_stack(members, lambda: rows, np.asarray(learns), Y, weight, *args)
    inputs = network_rows(rows)
    return best, [member.eval()(inputs).detach().numpy() for member in members]


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("link", ["softmax", "sigmoid", "identity"])
def test_a_member_is_what_it_would_be_alone(link, words):
    learns = np.random.default_rng(1).random((3, N)) < [[1.1], [0.5], [0.5]]
    options = {"link": link, "words": words}
    together = run(perceptrons(3, words=words), learns, one_hot(), **options)[1]
    inputs = network_rows(table() if words else dense(table()))
    before = [m.eval()(inputs).detach().numpy() for m in perceptrons(3, words=words)]
    for k in range(3):
        assert np.abs(together[k] - before[k]).max() > 0.1  # it learnt
        alone = [perceptrons(3, words=words)[k]]
        np.testing.assert_allclose(
            run(alone, learns[k : k + 1], one_hot(), **options)[1][0], together[k], atol=2e-3
        )


def test_rows_that_a_member_does_not_learn_from_have_no_say():
    learns = np.array([np.ones(N, bool), np.arange(N) % 2 == 0])
    Y, other = one_hot(), one_hot()
    other[1::2] = one_hot(7)[1::2]
    first = run(perceptrons(2), learns, Y)[1]
    second = run(perceptrons(2), learns, other)[1]
    np.testing.assert_array_equal(first[1], second[1])
    assert np.abs(first[0] - second[0]).max() > 0.1


def test_each_member_goes_back_to_its_own_best_epoch():
    Y, learns = one_hot(), np.array([np.ones(N, bool), np.zeros(N, bool)])
    learns[1, :10] = True
    validation = RowData(table(40, seed=5), one_hot(8)[:40], np.ones(40))
    best, rows = run(perceptrons(2), learns, Y, validation=validation, epochs=30, patience=4)
    assert all(1 <= epoch <= 30 for epoch in best)
    for k in range(2):  # the same training, ended at that epoch
        again = run(perceptrons(2), learns, Y, epochs=best[k])[1]
        np.testing.assert_array_equal(again[k], rows[k])


def test_a_member_that_runs_away_stops_alone():
    Y = one_hot()
    Y[3] = np.nan
    learns = np.array([np.ones(N, bool), np.arange(N) != 3])
    members = perceptrons(2)
    before = [value.detach().clone() for value in members[0].parameters()]
    best, rows = run(members, learns, Y, link="identity")
    assert best == [0, 5]
    for value, same in zip(members[0].parameters(), before, strict=True):
        assert torch.equal(value, same)
    alone = run(perceptrons(2)[1:], learns[1:], Y, link="identity")[1]
    np.testing.assert_allclose(alone[0], rows[1], atol=2e-3)


def test_a_batch_without_a_row_of_a_member_teaches_it_nothing_wrong():
    learns = np.zeros((2, N), bool)
    learns[0], learns[1, :2] = True, True  # of batches of 32, one at least has neither
    found = run(perceptrons(2), learns, one_hot())[1]
    assert np.isfinite(found).all()
    alone = run(perceptrons(2)[1:], learns[1:], one_hot())[1]
    np.testing.assert_allclose(found[1], alone[0], atol=2e-3)


def test_validation_rows_in_chunks_are_scored_as_in_one_piece(monkeypatch):
    validation = RowData(table(40, seed=5), one_hot(8)[:40], np.ones(40))
    learns = np.random.default_rng(2).random((2, N)) < 0.5
    whole = run(perceptrons(2), learns, one_hot(), validation=validation, epochs=20)
    monkeypatch.setattr(training, "_CHUNK", 7)
    parts = run(perceptrons(2), learns, one_hot(), validation=validation, epochs=20)
    assert parts[0] == whole[0]
    np.testing.assert_array_equal(parts[1], whole[1])
