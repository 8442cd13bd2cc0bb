"""The folder of a run, in which every file is written completely or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import weakref
from pathlib import Path
from typing import Any

from ..._utils import interruptions
from ..._utils.json_files import dumps, loads
from ..._utils.temporary_folders import Temporary, is_temporary, make_folder, sweep, try_lock
from ..._utils.whole_files import checksum, replacing

UNFINISHED = ".unfinished"
CONFIG, METRICS, MODEL, PREDICTIONS, REPORT, CHECKSUMS = (
    "config.toml", "metrics.json", "model", "predictions.parquet", "report.html", "checksums.json",
)  # fmt: skip
INPUTS = "inputs"
INPUTS_LIST = f"{INPUTS}/inputs.json"
_MARK, _MARKED = "run.json", {"format": "labeltrick unfinished run"}
_MANIFEST = "labeltrick run"
# model.json holds the checksums of the other model files, and inputs.json, which runs of earlier
# versions do not have, those of the tables. report.html is only for reading: nothing is computed
# from it, so it may be edited.
_SEALED = (CONFIG, METRICS, PREDICTIONS, f"{MODEL}/model.json")
_RESTORE = "Restore it. To fit with other settings, change a copy and pass it with --config."


class RunFolder:
    """The folder of a run; `start` and `finish` enclose the writing of a run.

    Until a run is finished, ``.unfinished`` holds its settings, its finished parts, and a file
    ``run.json``, which marks the folder as a run and is locked by the process that writes it.

    Parameters
    ----------
    path : path
        The folder, which need not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser().absolute()
        self._release: Any = lambda: None
        self._made = False  # whether `start` created the folder
        self._writes = False

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @property
    def is_finished(self) -> bool:
        """Whether the folder holds a finished run. Other programs write a metrics.json too, so its
        contents are checked."""
        metrics = _read_object(self / METRICS)
        return metrics is not None and "labeltrick" in metrics and not (self / UNFINISHED).exists()

    @property
    def is_unfinished(self) -> bool:
        """Whether the folder holds an interrupted run."""
        parts = self / UNFINISHED
        return (parts / CONFIG).is_file() and _read_object(parts / _MARK) == _MARKED

    # -- unfinished runs ------------------------------------------------------------------
    def start(self, config: str, *, resume: bool, overwrite: bool) -> Path:
        """Prepare the folder and return the one for finished parts. Existing files are replaced
        only with ``overwrite``."""
        if self.path.exists() and not self.path.is_dir():
            raise FileExistsError(f"`--out` must be a folder; '{self.path}' is a file.")
        sweep(self.path)
        self._require_ours(resume, overwrite)
        self._made = not self.path.exists()
        make_folder(self.path)
        parts = self / UNFINISHED
        if self.is_unfinished:
            self._lock(parts / _MARK)
            if not resume:
                with Temporary(parts) as place:
                    parts.rename(place / "unwanted")
        if not self.is_unfinished:
            self._begin(config)
        how = f"Resume with: labeltrick fit --out {shlex.quote(str(self.path))} --resume"
        interruptions.keep(self.path, how)
        return parts

    def _require_ours(self, resume: bool, overwrite: bool) -> None:
        """Raise an error if the folder holds files of others or a run that must be kept."""
        others = [entry.name for entry in self.path.glob("*") if not is_temporary(entry)]
        if not others:
            return
        parts = self / UNFINISHED
        if parts.exists() and not self.is_unfinished and not _is_empty(parts):
            raise FileExistsError(
                f"`--out` must be a new folder or one of a run; '{parts}' was not created by "
                "labeltrick. Choose another folder."
            )
        if self.is_unfinished and not (resume or overwrite):
            raise FileExistsError(
                f"`--out` must be a new folder; '{self.path}' holds an unfinished run. Pass "
                "--resume to continue it, or --overwrite to start again."
            )
        if self.is_unfinished or others == [UNFINISHED]:
            return
        if not overwrite:
            what = "a finished run" if self.is_finished else "other files"
            raise FileExistsError(
                f"`--out` must be a new or empty folder; '{self.path}' holds {what}. Choose "
                "another, or pass --overwrite."
            )
        if not self.is_finished:
            raise FileExistsError(
                f"`--overwrite` must replace a run; '{self.path}' holds other files. Choose "
                "another folder."
            )

    def _begin(self, config: str) -> None:
        """Create ``.unfinished`` with settings, mark and lock in one step."""
        temporary = Temporary(self / UNFINISHED)
        with temporary:
            new = temporary.new_folder()
            (new / CONFIG).write_text(config, encoding="utf-8")
            (new / _MARK).write_text(json.dumps(_MARKED))
            self._lock(new / _MARK)
            try:
                temporary.take_place(replaces=False)
            except OSError:
                if _is_empty(self / UNFINISHED):
                    raise
                raise self._in_use() from None  # another process was faster

    def _lock(self, file: Path) -> None:
        self._release()
        handle = os.open(file, os.O_RDWR)
        if not try_lock(handle):
            os.close(handle)
            raise self._in_use()
        self._release = weakref.finalize(self, os.close, handle)

    def _in_use(self) -> FileExistsError:
        return FileExistsError(
            f"`--out` must be a folder that no other process writes to; a fit is running in "
            f"'{self.path}'. Wait until it has finished, or choose another folder."
        )

    def writes(self) -> None:
        """Declare that files are being replaced: the run stays unfinished until all of them are."""
        self._writes = True

    def abandon(self) -> None:
        """Clean up after an error, unless there are finished parts to resume from."""
        if self._writes or any((self / UNFINISHED).glob("parts/*/model.json")):
            self._release()
            return
        self.finish()
        if self._made:
            with contextlib.suppress(OSError):
                self.path.rmdir()  # unless it holds something else

    def finish(self) -> None:
        """Mark the run as finished."""
        parts = self / UNFINISHED
        if parts.exists():
            with Temporary(parts) as place:
                parts.rename(place / "done")
        self._release()
        interruptions.forget(self.path)

    # -- files ----------------------------------------------------------------------------
    def write_text(self, name: str, text: str) -> Path:
        with replacing(self / name) as file:
            file.write_text(text, encoding="utf-8")
        return self / name

    def write_json(self, name: str, value: Any) -> Path:
        return self.write_text(name, dumps(value, indent=1) + "\n")

    def read_json(self, name: str) -> Any:
        path = self / name
        try:
            return loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FileNotFoundError(
                f"`{self.path}` must be the folder of a finished run; it has no {name}."
            ) from None
        except ValueError as error:
            raise ValueError(f"`{path}` must be as the run wrote it; got: {error}.") from None

    def take(self, name: str) -> None:
        """Move a folder of ``.unfinished`` to its place in the run, where it replaces another."""
        temporary = Temporary(self / name)
        with temporary:
            new = temporary.new_folder()
            new.rmdir()
            (self / UNFINISHED / name).rename(new)
            temporary.take_place()

    def seal(self) -> None:
        """Write the checksums of the files that later commands read."""
        names = [name for name in (*_SEALED, INPUTS_LIST) if (self / name).exists()]
        files = {name: checksum(self / name) for name in names}
        self.write_json(CHECKSUMS, {"format": _MANIFEST, "files": files})

    def require_sealed(self) -> None:
        """Raise an error if a file of the run is missing or was changed."""
        self.read_json(METRICS)  # raises the error for a folder without a run
        known = self.read_json(CHECKSUMS)
        files = known.get("files") if isinstance(known, dict) else None
        there = {*_SEALED, INPUTS_LIST} if (self / INPUTS_LIST).exists() else set(_SEALED)
        if not isinstance(files, dict) or set(files) not in (there, {*_SEALED, INPUTS_LIST}):
            raise ValueError(
                f"`{self / CHECKSUMS}` must be as the run wrote it; it is damaged. Fit again."
            )
        for name, expected in files.items():
            if not (self / name).is_file():
                raise ValueError(f"`{self / name}` must exist; it is missing from the run.")
            if checksum(self / name) != expected:
                remedy = _RESTORE if name == CONFIG else "Copy the run again, or fit again."
                raise ValueError(
                    f"`{self / name}` must be as the run wrote it; it is damaged or was changed. "
                    f"{remedy}"
                )


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _read_object(path: Path) -> dict[str, Any] | None:
    try:
        found = loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
