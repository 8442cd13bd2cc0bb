"""Runs of the command line: settings, fits, scores, and the folder of a run."""

from .fitting import FittedRun, fit_run, open_run
from .settings import FitSettings

__all__ = ["FitSettings", "FittedRun", "fit_run", "open_run"]
