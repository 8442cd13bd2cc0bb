"""The models of the command line."""

import json

import pytest

from labeltrick import load_model
from labeltrick.models.auto.on_table import OnTable
from tests.support.people import fit_arguments, invoke, write_files


def test_learned_edge_weights_read_the_columns(tmp_path):
    pytest.importorskip("torch")
    write_files(tmp_path, n=90, split=False)
    chosen = ("--model", "trainable-label-propagation", "--set", "edge_weights=learned")
    command = fit_arguments(tmp_path, "run", *chosen, "--set", "max_epochs=10", "--json")
    said = json.loads(invoke(*command))
    assert said["leaks"] is False
    assert said["score"]["value"] > 0.6
    model = load_model(tmp_path / "run" / "model")
    assert isinstance(model, OnTable)
    assert model.edge_function_ is not None
