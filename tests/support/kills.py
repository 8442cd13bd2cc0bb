"""Commands that are killed at random moments and run again; what they leave is compared."""

import json
import time
from pathlib import Path

import numpy as np
import polars as pl

from tests.support.commands import Command

TIMES = {"seconds"}  # differ from run to run


def start(*arguments, scratch):
    """A command in the background, with a folder for its temporary files."""
    scratch.mkdir(exist_ok=True)
    return Command(*arguments, TMPDIR=str(scratch))


def finish(*arguments, scratch):
    """A command that must succeed; the seconds it took."""
    begin = time.monotonic()
    process = start(*arguments, scratch=scratch)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    return time.monotonic() - begin


def kill_after(process, seconds, begun=None, settled=None):
    """Kill with SIGKILL ``seconds`` after ``begun()`` is true (after the start without it), or at
    once where ``settled`` exists; a process that has ended before stays as it is."""
    while begun is not None and not begun() and process.poll() is None:
        time.sleep(0.005)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        if settled is not None and settled.exists():
            break
        time.sleep(0.005)
    process.kill()
    process.communicate(timeout=60)


def watch_fit(process, run):
    """Seconds of learning: from the first kept part's folder to the model."""
    marks = []
    for place in (run / ".unfinished" / "parts", run / "model"):
        while not place.exists() and process.poll() is None:
            time.sleep(0.01)
        marks.append(time.monotonic())
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    return marks[1] - marks[0]


def watch_build(process, begun):
    """Seconds of building: from the first temporary folder to the end."""
    while not begun() and process.poll() is None:
        time.sleep(0.005)
    begin = time.monotonic()
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    return time.monotonic() - begin


def is_inside_fit(run):
    """Whether a fit that was killed had begun to learn and had not come to its end."""
    return (run / ".unfinished" / "parts").exists() and not (run / "model").exists()


def tree(folder):
    """Relative paths of all that is in a folder."""
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


def contents(folder):
    """Bytes of all files in a folder."""
    return {name: (folder / name).read_bytes() for name in tree(folder)
            if (folder / name).is_file()}  # fmt: skip


def _without_times(value):
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in TIMES}
    return [_without_times(v) for v in value] if isinstance(value, list) else value


def differences(run, whole):
    """What differs between two runs, times aside."""
    found = [] if tree(run) == tree(whole) else [f"files: {tree(run)} and {tree(whole)}"]
    a, b = (pl.read_parquet(place / "predictions.parquet") for place in (run, whole))
    if not a.equals(b):
        found.append("predictions")
    if (run / "config.toml").read_bytes() != (whole / "config.toml").read_bytes():
        found.append("settings")
    a, b = (json.loads((place / "metrics.json").read_text()) for place in (run, whole))
    if _without_times(a) != _without_times(b):
        found.append("metrics")
    a, b = (_model(place / "model") for place in (run, whole))
    return found + [f"model: {name}" for name in a.keys() | b.keys() if a.get(name) != b.get(name)]


def _model(folder):
    index = json.loads((folder / "model.json").read_text())
    del index["sha256"]  # of a text that holds times
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        found = {f"arrays.npz/{name}": arrays[name].tobytes() for name in arrays.files}
    for file in folder.glob("trees-*.txt"):
        found[file.name] = file.read_text()
    return found | {"model.json": _without_times(index)}
