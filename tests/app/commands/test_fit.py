"""``labeltrick fit`` where it takes more than files and columns."""

import polars as pl
import pytest

from labeltrick.app.runs.settings import read_settings
from tests.support.clusters import OwnCluster
from tests.support.people import fit_arguments, invoke, write_files

pytest.importorskip("distributed")

OPTIONS = ("--learners", "linear", "--exclude", "features alone", "--budget", "none", "--quiet")


def predictions(folder):
    return pl.read_parquet(folder / "predictions.parquet")


def test_workers_of_an_address_fit_the_same_model(tmp_path):
    folder = write_files(tmp_path, n=80, split=False)
    invoke(*fit_arguments(folder, "here", *OPTIONS))
    with OwnCluster(tmp_path, 1) as own:
        address = own.address
        invoke(*fit_arguments(folder, "there", *OPTIONS, "--address", address))
        config = folder / "there" / "config.toml"
        again = ("--out", folder / "again", "--quiet", "--address", address)
        invoke("fit", "--config", config, *again)
    assert predictions(folder / "there").equals(predictions(folder / "here"))
    assert predictions(folder / "again").equals(predictions(folder / "here"))
    assert address not in config.read_text()
    assert read_settings(folder / "again" / "config.toml").plan == read_settings(config).plan


def test_an_address_that_does_not_answer_is_reported(tmp_path):
    folder = write_files(tmp_path, n=60, split=False)
    with pytest.raises(ConnectionError, match="no Dask scheduler answered at tcp://127.0.0.1:9"):
        invoke(*fit_arguments(folder, "run", *OPTIONS, "--address", "tcp://127.0.0.1:9"))
