"""`labeltrick.nn.LabelTrick` around modules of every kind: what they see, and what not."""

import numpy as np
import pytest

from labeltrick import audit_leakage

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from labeltrick.nn import LabelTrick  # noqa: E402

N, D, C = 30, 4, 3


class Mean(nn.Module):
    """Sums over neighbors, twice: a node's own value comes back to it. Keeps what it was given."""

    def __init__(self, n_inputs=D + C, n_outputs=C):
        super().__init__()
        self.linear = nn.Linear(n_inputs, n_outputs)
        self.seen = []

    def forward(self, x, edge_index):
        self.seen.append(x.detach().clone())
        for _ in range(2):
            x = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return self.linear(x)


class DuckGraph:
    """Has what a module of DGL's manner asks a graph for, and is no tensor."""

    def __init__(self, edge_index):
        self.edge_index = edge_index

    def ndata(self):
        return {}


class GraphFirst(Mean):
    def forward(self, graph, x):
        return super().forward(x, graph.edge_index)


@pytest.fixture
def data():
    torch.manual_seed(0)
    src, dst = torch.randint(0, N, (2, 80))
    edge_index = torch.cat([torch.stack([src, dst]), torch.stack([dst, src])], dim=1)
    y = torch.randint(0, C, (N,))
    train = torch.arange(N) < 20
    return torch.randn(N, D), edge_index, y, train


def test_a_step_shows_the_in_part_and_trains_on_the_rest(data):
    x, edge_index, y, train = data
    model = Mean()
    net = LabelTrick(model, C, split_rate=0.25)
    sizes = []
    for _ in range(200):
        scores, out = net.step(x, edge_index, y=y, train=train)
        shown = model.seen[-1][:, D:]
        given = shown.sum(dim=1) > 0
        assert not (given & out).any()
        assert torch.equal(given | out, train)
        torch.testing.assert_close(shown[given], nn.functional.one_hot(y[given], C) / 0.25)
        torch.testing.assert_close(model.seen[-1][:, :D], x)
        sizes.append(int(given.sum()))
    assert scores.shape == (N, C)
    assert 4.3 < np.mean(sizes) < 5.7  # 20 nodes, each with probability 1/4
    assert len(set(sizes)) > 3  # fresh draws


def test_the_loss_is_that_of_the_out_part(data):
    x, edge_index, y, train = data
    net = LabelTrick(Mean(), C, generator=torch.Generator().manual_seed(3))
    loss = net.loss(x, edge_index, y=y, train=train)
    net.generator.manual_seed(3)
    scores, out = net.step(x, edge_index, y=y, train=train)
    torch.testing.assert_close(loss, nn.functional.cross_entropy(scores[out], y[out]))
    loss.backward()
    assert net.model.linear.weight.grad.abs().sum() > 0


def test_inference_takes_all_training_labels_and_no_others(data):
    x, edge_index, y, train = data
    net = LabelTrick(Mean(), C).eval()
    scores = net(x, edge_index, y=y, train=train)
    shown = net.model.seen[-1][:, D:]
    torch.testing.assert_close(shown[train], nn.functional.one_hot(y[train], C).float())
    assert (shown[~train] == 0).all()
    other = torch.where(train, y, -7)
    torch.testing.assert_close(net(x, edge_index, y=other, train=train), scores)
    numbers = torch.arange(20)
    torch.testing.assert_close(net(x, edge_index, y=y, train=numbers), scores)


def test_forward_refuses_to_train(data):
    x, edge_index, y, train = data
    with pytest.raises(RuntimeError, match=r"Call step\(…\) or loss\(…\), or eval\(\) first"):
        LabelTrick(Mean(), C)(x, edge_index, y=y, train=train)


def test_a_graph_without_labels_is_predicted_from_features_alone(data):
    x, edge_index, y, _ = data
    net = LabelTrick(Mean(), C).eval()
    none = torch.zeros(N, dtype=torch.bool)
    scores = net(x, edge_index, y=torch.full((N,), -1), train=none)
    assert (net.model.seen[-1][:, D:] == 0).all()
    torch.testing.assert_close(net(x, edge_index, y=y, train=none), scores)
    loss = net.train().loss(x, edge_index, y=y, train=none)
    assert float(loss) == 0
    for missing in ({"y": None, "train": none}, {"y": y, "train": None}):
        for call in (net.step, net.loss, net.eval()):
            with pytest.raises(TypeError, match="must be a tensor; got None. For a graph"):
                call(x, edge_index, **missing)


SEEDS = [6, np.int64(6), torch.tensor(6), torch.arange(6), torch.arange(N) < 6]


def test_copies_of_a_target_are_no_inputs(data):
    x, edge_index, y, train = data
    net = LabelTrick(Mean(), C)
    n_id = torch.arange(N) % 10  # every node three times
    for _ in range(20):
        _, out = net.step(x, edge_index, y=y[n_id], train=train, n_id=n_id)
        shown = net.model.seen[-1][:, D:].sum(dim=1) > 0
        assert not torch.isin(n_id[shown], n_id[out]).any()


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_seeds_of_a_batch_never_see_their_own_label(data, seeds):
    x, edge_index, y, train = data
    net = LabelTrick(Mean(), C, split_rate=0.9)
    copies = torch.arange(N)
    copies[12] = 3  # node 3 is in the batch twice
    for n_id in (None, copies):
        _, out = net.step(x, edge_index, y=y, train=train, seeds=seeds, n_id=n_id)
        assert out.nonzero()[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
        shown = net.model.seen[-1][:, D:].sum(dim=1)
        assert (shown[:6] == 0).all()
        assert (shown[6:20] > 0).sum() > 5
    assert shown[12] == 0
    net.eval()(x, edge_index, y=y, train=train, seeds=seeds, n_id=copies)
    shown = net.model.seen[-1][:, D:].sum(dim=1)
    assert (shown[[0, 1, 2, 3, 4, 5, 12]] == 0).all()
    assert shown.sum() == 13


def batches(data, size=7):
    """Two hops around each batch of seeds, seeds first: the layout of PyG's NeighborLoader."""
    from torch_geometric.utils import k_hop_subgraph

    _, edge_index, _, _ = data
    for seeds in torch.arange(20).split(size):
        nodes, _, _, _ = k_hop_subgraph(seeds, 2, edge_index)
        rest = nodes[~torch.isin(nodes, seeds)]
        n_id = torch.cat([seeds, rest])
        place = torch.full((N,), -1)
        place[n_id] = torch.arange(len(n_id))
        kept = (place[edge_index] >= 0).all(dim=0)
        yield n_id, place[edge_index][:, kept], len(seeds)


@pytest.mark.parametrize("training", [True, False])
def test_audit_of_mini_batches(data, training):
    x, edge_index, y, train = data
    net = LabelTrick(Mean(), C, generator=torch.Generator())

    def predict(labels):
        labels = torch.from_numpy(labels)
        net.generator.manual_seed(0)
        rows = torch.zeros(N, C)
        with torch.no_grad():
            for n_id, edges, size in batches(data):
                given = dict(y=labels[n_id], train=train[n_id], seeds=size, n_id=n_id)
                if training:
                    scores, _ = net.train().step(x[n_id], edges, **given)
                else:
                    scores = net.eval()(x[n_id], edges, **given)
                rows[n_id[:size]] = scores[:size]
        return rows.numpy()

    assert not audit_leakage(predict, y.numpy(), train.numpy(), n_samples=20).leaks

    def leaky(labels):
        labels = torch.from_numpy(labels)
        with torch.no_grad():
            return net.eval()(x, edge_index, y=labels, train=train).numpy()

    assert audit_leakage(leaky, y.numpy(), train.numpy(), n_samples=20).leaks


def test_neighbor_loader(data):
    pytest.importorskip("torch_geometric")
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    x, edge_index, y, train = data
    whole = Data(x=x, edge_index=edge_index, y=y, train_mask=train)
    loader = NeighborLoader(whole, [4, 4], input_nodes=train, batch_size=5)
    try:
        sampled = list(loader)
    except ImportError:
        pytest.skip("PyG's NeighborLoader needs pyg-lib or torch-sparse")
    net = LabelTrick(Mean(), C)
    for batch in sampled:
        given = dict(y=batch.y, train=batch.train_mask, seeds=batch.batch_size, n_id=batch.n_id)
        scores, out = net.step(batch.x, batch.edge_index, **given)
        assert out.sum() == batch.batch_size
        assert (net.model.seen[-1][: batch.batch_size, D:] == 0).all()
        assert scores.shape == (len(batch.n_id), C)


def test_a_graph_may_come_first_and_features_by_name(data):
    x, edge_index, y, train = data
    first, second = LabelTrick(GraphFirst(), C).eval(), LabelTrick(Mean(), C).eval()
    second.load_state_dict(first.state_dict())
    expected = first(DuckGraph(edge_index), x, y=y, train=train)
    torch.testing.assert_close(second(x=x, edge_index=edge_index, y=y, train=train), expected)
    torch.testing.assert_close(second(x, edge_index, y=y, train=train), expected)


def test_labels_alone(data):
    _, edge_index, y, train = data
    net = LabelTrick(Mean(C), C)
    assert net.loss(torch.zeros(N, 0), edge_index, y=y, train=train) > 0


def test_labels_can_be_added(data):
    x, edge_index, y, train = data
    net = LabelTrick(Mean(D), C, combine="add", n_features=D).eval()
    net(x, edge_index, y=y, train=train)
    labels = nn.functional.one_hot(y, C).float() * train[:, None]
    torch.testing.assert_close(net.model.seen[-1], (x + net.embed(labels)).detach())
    net.train().loss(x, edge_index, y=y, train=train).backward()
    assert net.embed.weight.grad.abs().sum() > 0


def test_label_reuse_fills_the_gaps_with_soft_predictions(data):
    x, edge_index, y, train = data
    net = LabelTrick(Mean(), C, n_reuse=2)
    assert not net.rescale
    _, out = net.step(x, edge_index, y=y, train=train)
    first, second, third = net.model.seen
    given = train & ~out
    for shown in (first, second, third):
        torch.testing.assert_close(shown[given, D:], nn.functional.one_hot(y[given], C).float())
    assert (first[~given, D:] == 0).all()
    with torch.no_grad():
        guess = net.model(first, edge_index).softmax(dim=1)
    torch.testing.assert_close(second[~given, D:], guess[~given])


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_several_labels_and_numbers(data, task):
    x, edge_index, _, train = data
    Y = (torch.rand(N, 2) > 0.5).float() if task == "multilabel" else torch.randn(N, 2)
    Y[~train] = torch.nan  # never read
    net = LabelTrick(Mean(D + 2, 2), 2, task=task, n_reuse=1)
    loss = net.loss(x, edge_index, y=Y, train=train)
    assert torch.isfinite(loss)
    assert torch.isfinite(net.eval()(x, edge_index, y=Y, train=train)).all()


def test_a_split_without_targets_is_no_error(data):
    x, edge_index, y, _ = data
    net = LabelTrick(Mean(), C)
    loss = net.loss(x, edge_index, y=y, train=torch.zeros(N, dtype=torch.bool))
    loss.backward()
    assert loss == 0


def test_bad_input(data):
    x, edge_index, y, train = data
    with pytest.raises(TypeError, match="`model` must be a torch module; got function"):
        LabelTrick(lambda x: x, C)
    for rate in (0, 1, 1.5):
        with pytest.raises(ValueError, match="`split_rate` must be strictly between"):
            LabelTrick(Mean(), C, split_rate=rate)
    with pytest.raises(ValueError, match="`combine` must be one of 'concat', 'add'"):
        LabelTrick(Mean(), C, combine="mix")
    with pytest.raises(ValueError, match="`n_features` must be given for combine='add'"):
        LabelTrick(Mean(), C, combine="add")
    with pytest.raises(ValueError, match="`task` must be one of"):
        LabelTrick(Mean(), C, task="ranking")
    with pytest.raises(ValueError, match=r"one row of n_labels=3 scores per node, \(30, 3\); got"):
        LabelTrick(Mean(n_outputs=5), C).step(x, edge_index, y=y, train=train)
    with pytest.raises(ValueError, match="must take 7 input columns: 4 of x and 3 of labels"):
        LabelTrick(Mean(D), C).step(x, edge_index, y=y, train=train)
    net = LabelTrick(Mean(), C)
    with pytest.raises(ValueError, match="`x` must be among the arguments"):
        net.step(x[1:], edge_index, y=y, train=train)
    with pytest.raises(ValueError, match=r"`train` must have one entry per node \(30\)"):
        net.step(x, edge_index, y=y, train=train[1:])
    for mask in (train.to(torch.uint8), train.float()):
        with pytest.raises(TypeError, match="must be a boolean mask or node numbers"):
            net.step(x, edge_index, y=y, train=mask)
    with pytest.raises(ValueError, match="class numbers ≥ 0 at training nodes"):
        net.eval()(x, edge_index, y=torch.full((N,), -1), train=train)
    with pytest.raises(ValueError, match="above the largest class; got 3 with class 9"):
        net(x, edge_index, y=torch.full((N,), 9), train=train)


def test_labels_of_another_shape():
    x, y = torch.randn(6, 2), torch.tensor([0, 1, 2, 0, 1, 2])
    net = LabelTrick(torch.nn.Linear(5, 3), 3)
    with pytest.raises(ValueError, match=r"one class number per node; got shape \(6, 3\)"):
        net.step(y=torch.nn.functional.one_hot(y), train=torch.arange(4), x=x)
    with pytest.raises(ValueError, match="hold integer class numbers.*got torch.float32"):
        net.step(y=y.float(), train=torch.arange(4), x=x)
    numbers = LabelTrick(torch.nn.Linear(5, 3), 3, task="regression")
    with pytest.raises(ValueError, match=r"`y` must hold n_labels=3 columns; got shape \(6,\)"):
        numbers.step(y=y.float(), train=torch.arange(4), x=x)
