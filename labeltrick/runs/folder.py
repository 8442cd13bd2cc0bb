"""The folder of a run: written piece by piece, never half."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from .._atomic import replacing
from .._json import dumps

UNFINISHED = ".unfinished"
CONFIG, METRICS, MODEL, PREDICTIONS, REPORT = (
    "config.toml", "metrics.json", "model", "predictions.parquet", "report.html",
)  # fmt: skip


class RunFolder:
    """Paths of a run; `start` and `finish` mark what is in the making."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser().absolute()

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @property
    def is_finished(self) -> bool:
        return (self / METRICS).is_file() and not (self / UNFINISHED).exists()

    @property
    def is_unfinished(self) -> bool:
        return (self / UNFINISHED / CONFIG).is_file()

    def start(self, config: str, *, resume: bool, overwrite: bool) -> Path:
        """Make ready; the folder for parts that are done. Anything that is there is kept unless
        it may be replaced."""
        parts = self / UNFINISHED
        if self.path.exists() and not self.path.is_dir():
            raise FileExistsError(f"`--out` must be a folder; '{self.path}' is a file.")
        if parts.exists() and not self.is_unfinished:
            shutil.rmtree(parts)  # cut off before anything was kept in it
        others = list(self.path.glob("*")) if self.path.is_dir() else []
        if self.is_unfinished and not (resume or overwrite):
            raise FileExistsError(
                f"`--out` must be a new folder; '{self.path}' holds an unfinished run. Pass "
                "--resume to go on with it, or --overwrite to begin anew."
            )
        if others and not self.is_unfinished and not overwrite:
            what = "a finished run" if self.is_finished else "other files"
            raise FileExistsError(
                f"`--out` must be a new or empty folder; '{self.path}' holds {what}. Choose "
                "another, or pass --overwrite."
            )
        if overwrite and others and not (self.is_finished or self.is_unfinished):
            raise FileExistsError(
                f"`--overwrite` must replace a run; '{self.path}' holds other files. Choose "
                "another folder."
            )
        if overwrite and parts.exists():
            shutil.rmtree(parts)
        parts.mkdir(parents=True, exist_ok=True)
        self.write_text(f"{UNFINISHED}/{CONFIG}", config)
        return parts

    def abandon(self) -> None:
        """Leave nothing of a run that never got anywhere."""
        if not any((self / UNFINISHED).glob("parts/*/model.json")):
            self.finish()
            with contextlib.suppress(OSError):
                self.path.rmdir()  # unless it holds something else

    def finish(self) -> None:
        shutil.rmtree(self / UNFINISHED, ignore_errors=True)

    def write_text(self, name: str, text: str) -> Path:
        target = self / name
        with replacing(target) as file:
            file.write_text(text, encoding="utf-8")
        return target

    def write_json(self, name: str, value: Any) -> Path:
        return self.write_text(name, dumps(value, indent=1) + "\n")

    def read_json(self, name: str) -> Any:
        path = self / name
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FileNotFoundError(
                f"`{self.path}` must be the folder of a finished run; it has no {name}."
            ) from None
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"`{path}` must be as a run writes it; got: {error}.") from None
