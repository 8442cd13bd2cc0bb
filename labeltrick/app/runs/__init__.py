"""Runs of the command line: settings, fits, scores, and the folder that holds them."""

from ..._utils.lazy import lazy_names

# Imported when first used: `labeltrick inspect` needs no model.
__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "FitSettings": "settings",
        "FittedRun": "fitting",
        "fit_run": "fitting",
        "open_run": "fitting",
    },
)
