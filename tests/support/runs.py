"""Runs without scores and report, which take a moment."""

from labeltrick.app.runs.fitting import fit_problem
from labeltrick.app.runs.folder import (
    CONFIG,
    INPUTS,
    METRICS,
    MODEL,
    PREDICTIONS,
    RunFolder,
)
from labeltrick.app.runs.kept_tables import keep_tables
from labeltrick.app.runs.predictions import prediction_frame
from labeltrick.app.runs.scores import NodeScores
from labeltrick.app.runs.settings import FitSettings
from labeltrick.io.model_files import save_model
from labeltrick.io.tables import write_frame


def bare_run(place, **settings):
    """The folder of a finished run, with all that `apply_run` needs."""
    settings = FitSettings(**settings)
    tables = settings.tables()
    problem = settings.read(False, tables)
    folder = RunFolder(place)
    folder.path.mkdir(parents=True)
    model, _ = fit_problem(settings, problem, progress=False)
    keep_tables(folder / INPUTS, tables, settings, problem)
    save_model(model, folder / MODEL)
    write_frame(prediction_frame(model, problem.ids, NodeScores.of(model)), folder / PREDICTIONS)
    folder.write_text(CONFIG, settings.to_toml())
    folder.write_json(METRICS, {"labeltrick": "test"})
    folder.seal()
    return folder.path
