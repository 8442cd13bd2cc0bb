"""Threads of torch while a model is trained, and after."""

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from labeltrick.nn.threads import threads_for  # noqa: E402


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("n_rows", "n_threads"), [(100, 1), (10_000_000, 2)])
def test_short_steps_use_one_thread_and_the_number_is_restored(n_rows, n_threads):
    with threads_for(nn.Linear(3, 2), n_rows):
        assert torch.get_num_threads() == n_threads
    assert torch.get_num_threads() == 2


def test_the_number_is_restored_after_an_error():
    with pytest.raises(RuntimeError), threads_for(nn.Linear(3, 2), 100):
        raise RuntimeError
    assert torch.get_num_threads() == 2
