"""The folder of a run: written piece by piece, never half."""

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
_MARK, _MARKED = "run.json", {"format": "labeltrick unfinished run"}
_MANIFEST = "labeltrick run"
# The model's other files have their checksums in model.json. report.html is for reading alone:
# nothing is computed from it, and whoever adds a remark to it does no harm.
_SEALED = (CONFIG, METRICS, PREDICTIONS, f"{MODEL}/model.json")


class RunFolder:
    """Paths of a run; `start` and `finish` mark what is in the making.

    While a run is in the making, ``.unfinished`` holds its settings, the parts that are done, and
    a file ``run.json`` that shows that the folder is ours and is locked by the process at work.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser().absolute()
        self._release: Any = lambda: None
        self._made = False  # whether `start` made the folder
        self._writes = False

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @property
    def is_finished(self) -> bool:
        """Whether it holds a run whose files are all there; other programs write metrics.json
        too."""
        metrics = _read_object(self / METRICS)
        return metrics is not None and "labeltrick" in metrics and not (self / UNFINISHED).exists()

    @property
    def is_unfinished(self) -> bool:
        """Whether it holds an interrupted run of ours."""
        parts = self / UNFINISHED
        return (parts / CONFIG).is_file() and _read_object(parts / _MARK) == _MARKED

    # -- in the making --------------------------------------------------------------------
    def start(self, config: str, *, resume: bool, overwrite: bool) -> Path:
        """Make ready; the folder for parts that are done. Anything that is there is kept unless
        it may be replaced."""
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
        how = f"Go on with: labeltrick fit --out {shlex.quote(str(self.path))} --resume"
        interruptions.keep(self.path, how)
        return parts

    def _require_ours(self, resume: bool, overwrite: bool) -> None:
        """Refuse a folder that holds anything that we did not make, or that is not to be
        replaced."""
        others = [entry.name for entry in self.path.glob("*") if not is_temporary(entry)]
        if not others:
            return
        parts = self / UNFINISHED
        if parts.exists() and not self.is_unfinished and not _is_empty(parts):
            raise FileExistsError(
                f"`--out` must be a new folder or one of a run; '{parts}' was not made by "
                "labeltrick. Choose another folder."
            )
        if self.is_unfinished and not (resume or overwrite):
            raise FileExistsError(
                f"`--out` must be a new folder; '{self.path}' holds an unfinished run. Pass "
                "--resume to go on with it, or --overwrite to begin again."
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
        """Make ``.unfinished`` all at once, settings and mark and lock included."""
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
            f"`--out` must be a folder that nobody writes to; a fit is running in '{self.path}' "
            "now. Wait for it, or choose another folder."
        )

    def writes(self) -> None:
        """From now on files of the run are replaced: it stays unfinished until all of them are."""
        self._writes = True

    def abandon(self) -> None:
        """After an error: leave nothing of a run of which nothing can be gone on with."""
        if self._writes or any((self / UNFINISHED).glob("parts/*/model.json")):
            self._release()
            return
        self.finish()
        if self._made:
            with contextlib.suppress(OSError):
                self.path.rmdir()  # unless it holds something else

    def finish(self) -> None:
        parts = self / UNFINISHED
        if parts.exists():
            with Temporary(parts) as place:
                parts.rename(place / "done")
        self._release()
        interruptions.forget(self.path)

    # -- files ----------------------------------------------------------------------------
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
            return loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FileNotFoundError(
                f"`{self.path}` must be the folder of a finished run; it has no {name}."
            ) from None
        except ValueError as error:
            raise ValueError(f"`{path}` must be as a run writes it; got: {error}.") from None

    def seal(self) -> None:
        """Write the checksums of the files that others are computed from."""
        files = {name: checksum(self / name) for name in _SEALED}
        self.write_json(CHECKSUMS, {"format": _MANIFEST, "files": files})

    def require_sealed(self) -> None:
        """Refuse a run in which a file is missing or was changed."""
        self.read_json(METRICS)  # says what is missing where there is no run at all
        known = self.read_json(CHECKSUMS)
        files = known.get("files") if isinstance(known, dict) else None
        if not isinstance(files, dict) or set(files) != set(_SEALED):
            raise ValueError(
                f"`{self / CHECKSUMS}` must be as a run writes it; it is damaged. Fit again."
            )
        for name, expected in files.items():
            if not (self / name).is_file():
                raise ValueError(f"`{self / name}` must exist; it is missing from the run.")
            if checksum(self / name) != expected:
                raise ValueError(
                    f"`{self / name}` must be as the run wrote it; it is damaged or was changed. "
                    f"{_REMEDY.get(name, 'Copy the run again, or fit again.')}"
                )


_REMEDY = {
    CONFIG: "Put it back; to fit with other settings, change a copy and pass it with --config.",
}


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _read_object(path: Path) -> dict[str, Any] | None:
    try:
        found = loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
