"""What the library writes itself: graph, model and run folders, and configurations."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import change_archive, change_array, change_header
from .mutations import (
    NUMBERS,
    change_bytes,
    change_tree,
    contents,
    draw,
    dump,
    fix_checksums,
    write,
)
from .target import SAME, SEALED, Change, Target, edges_answer, rounded


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _damage(rng: random.Random, path: Path) -> str:
    """One file of a folder: changed somewhere, missing, or another's."""
    kind, files = rng.random(), _files(path.parent)
    if kind < 0.08:
        path.unlink()
        return "missing"
    if kind < 0.12:
        path.unlink()
        path.mkdir()
        return "a folder"
    if kind < 0.2:
        other = rng.choice(files)
        data, mine = other.read_bytes(), path.read_bytes()
        write(path, data)
        if other != path:
            write(other, mine)
        return f"swapped with {other.name}"
    data, what = change_bytes(rng, path.read_bytes(), rng.choice(files).read_bytes())
    write(path, data)
    return what


def _change_json(rng: random.Random, path: Path) -> str:
    tree = json.loads(path.read_text())
    what = []
    for _ in range(rng.choice((1, 1, 2))):
        tree, step = change_tree(rng, tree)
        what.append(step)
    write(path, dump(tree, indent=rng.choice((None, 1))))
    return ", ".join(what)


# -- graph folders -----------------------------------------------------------------------------
def change_graph(rng: random.Random, folder: Path) -> Change:
    path = rng.choice(_files(folder))
    name = path.relative_to(folder)
    kind = rng.random()
    if kind < 0.4:
        return Change(f"{name}: {_damage(rng, path)}", SEALED)
    before = contents(folder)
    if path.suffix == ".json":
        what = _change_json(rng, path)
    elif path.suffix == ".npy":
        what = _change_npy(rng, path)
    else:
        what = _damage(rng, path)
    if rng.random() < 0.5:
        _fix_lengths(path)
    fix_checksums(folder, before)
    return Change(f"{name}: {what}, checksums made to fit")


def _change_npy(rng: random.Random, path: Path) -> str:
    data = path.read_bytes()
    if rng.random() < 0.3:
        data, what = change_header(rng, data)
    else:  # the values alone, behind the header that is there
        array = np.load(path)
        made, what = change_array(rng, array)
        start = made.index(b"\n") + 1
        data = data[:128] + made[start:]
    write(path, data)
    return what


def _fix_lengths(path: Path) -> None:
    """``meta.json`` made to agree with the bytes of an array."""
    meta = path.parent / "meta.json"
    try:
        tree = json.loads(meta.read_text())
        entry = tree["files"][path.name]
        size = path.stat().st_size - 128
        entry["length"] = size // np.dtype(entry["dtype"]).itemsize
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return
    write(meta, json.dumps(tree))


def load_graph(folder: Path) -> Any:
    from labeltrick import open_graph

    graph = open_graph(folder / "graph.lt")
    graph.indptr, graph.indices, graph.weights
    return graph, graph.ids()


def use_graph(found: Any) -> Any:
    """Everything that is stored, and products by both engines."""
    from labeltrick import Resolvent

    graph, ids = found
    ones = np.arange(graph.n_nodes, dtype=np.float64)
    products = [
        graph.on(engine).normalized(norm) @ ones
        for engine, norm in (("memory", "sym"), ("disk", "row"))
    ]
    products.append(Resolvent(graph, 0.5, norm="row") @ ones)
    around = edges_answer(graph.T) if graph.directed else None
    facts = [graph.n_nodes, graph.n_edges, graph.n_self_loops, graph.directed]
    strengths = rounded(graph.out_strengths)
    names = None if ids is None else ids.to_list()
    answers = [rounded(product) for product in products]
    return [facts, names, edges_answer(graph), around, strengths, answers]


# -- models ------------------------------------------------------------------------------------
_SETTINGS: tuple[tuple[str, Any], ...] = (
    ("resume_from", "labeltrick-attack-outside"), ("checkpoint_dir", "outside"),
    ("address", "tcp://127.0.0.1:9"), ("engine", "dask"), ("engine", "disk"), ("engine", "x"),
    ("max_memory", 1), ("max_memory", "1TB"), ("progress", True), ("random_state", -1),
    ("n_steps", -1), ("n_steps", 10**9), ("n_rounds", 10**9), ("damping", 5.0), ("calibrate", 7),
    ("scores_of", None), ("predict", "x"), ("__class__", "x"), ("__dict__", {}), ("task", "x"),
)  # fmt: skip
_CLASSES = (
    "os:system", "labeltrick.app:main", "Graph", "Compute", "StoredGraph", "RunFolder", "Journal",
    "Remote", "MLP", "Resolvent", "Targets", "TargetScale", "Trees", "LabelPropagation",
    "AutoModel", "GraphBoosting", "OnTable", "Calibration", "type", "",
)  # fmt: skip


def change_model(rng: random.Random, folder: Path) -> Change:
    """Damaged under its checksums; or doctored, with checksums that fit."""
    path = rng.choice(_files(folder))
    if rng.random() < 0.25:
        return Change(f"{path.name}: {_damage(rng, path)}", SEALED)
    before = contents(folder)
    if path.suffix == ".txt":
        what = change_trees(rng, path)
    elif path.suffix == ".npz":
        data, what = change_archive(rng, path.read_bytes())
        write(path, data)
    else:
        what = _change_index(rng, path)
    fix_checksums(folder, before)
    return Change(f"{path.name}: {what}, checksums made to fit")


def _change_index(rng: random.Random, path: Path) -> str:
    kind = rng.random()
    if kind < 0.5:
        return _change_json(rng, path)
    tree = json.loads(path.read_text())
    objects = [part for part in _dicts(tree) if "$object" in part or "$propagation" in part]
    part = rng.choice(objects)
    if kind < 0.65:
        key = "$object" if "$object" in part else "$propagation"
        part[key] = rng.choice(_CLASSES)
        what = f"class {part[key]!r}"
    elif kind < 0.85 and "state" in part:
        name, value = rng.choice(_SETTINGS)
        part["state"][name] = value
        what = f"setting {name!r} is {value!r}"
    else:
        places = [part for part in _dicts(tree) if "$array" in part or "$same" in part]
        one, other = rng.choice(places), rng.choice(places)
        key = "$array" if "$array" in one else "$same"
        one[key] = other.get(key, 0)
        what = f"another {key[1:]}"
    write(path, dump(tree))
    return what


def _dicts(tree: Any) -> Any:
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _dicts(part)


def change_trees(rng: random.Random, path: Path) -> str:
    """Lines ``key=value value …`` of LightGBM's text: counts, lengths and ranges."""
    lines = path.read_text().split("\n")
    at = rng.choice([k for k, line in enumerate(lines) if "=" in line])
    key, _, value = lines[at].partition("=")
    cells = value.split(" ")
    kind = rng.choice(("value", "value", "value", "fewer", "more", "none", "drop", "swap", "bytes"))
    if kind == "value":
        cells[rng.randrange(len(cells))] = rng.choice((*NUMBERS, "100000", "-5", "63", "1000000"))
    elif kind == "fewer":
        cells.pop()
    elif kind == "more":
        cells += cells
    elif kind == "none":
        cells = []
    lines[at] = f"{key}={' '.join(cells)}"
    if kind == "drop":
        del lines[at]
    elif kind == "swap":
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    if kind == "bytes":
        data, what = change_bytes(rng, path.read_bytes())
        write(path, data)
        return what
    text = "\n".join(lines)
    if rng.random() < 0.7:  # or LightGBM reads the trees by these sizes
        text = re.sub(r"tree_sizes=[^\n]*\n", "", text)
    write(path, text)
    return f"line {at + 1}, {kind} of {key[:30]}"


def load_model(folder: Path) -> Any:
    from labeltrick import load_model

    return load_model(folder / "model")


def use_model(model: Any) -> Any:
    """Predictions and what is shown of a model."""
    rows = model.predict()
    parts = [repr(type(model).__name__), rounded(rows)]
    task = getattr(getattr(model, "targets_", None), "task", "")
    if task != "regression":
        parts.append(rounded(model.predict_proba()))
    return [*parts, str(sorted(model.get_params())), rounded(model.prior_)]


# -- runs --------------------------------------------------------------------------------------
def change_run(rng: random.Random, folder: Path) -> Change:
    run = folder / "run"
    files = [path for path in _files(run) if path.name != "report.html"]
    path = rng.choice(files)
    name = path.relative_to(run)
    kind = rng.random()
    if kind < 0.5:
        return Change(f"{name}: {_damage(rng, path)}", SEALED)
    if kind < 0.6:
        more = run / rng.choice((".unfinished", "other.txt", ".unfinished/config.toml"))
        more.parent.mkdir(exist_ok=True)
        write(more, rng.choice((b"", b"edges = 'x'\n")))
        return Change(f"{more.name} put in")
    before = contents(folder)
    if path.suffix == ".json":
        what = _change_json(rng, path)
    elif path.suffix == ".txt":
        what = change_trees(rng, path)
    elif path.suffix == ".npz":
        data, what = change_archive(rng, path.read_bytes())
        write(path, data)
    elif path.suffix == ".toml":
        what = change_toml(rng, path).what
    else:
        what = _damage(rng, path)
    fix_checksums(folder, before)
    return Change(f"{name}: {what}, checksums made to fit")


def load_run(folder: Path) -> Any:
    from labeltrick.app.runs.applying import Given, apply_run
    from labeltrick.app.runs.fitting import open_run
    from labeltrick.app.runs.labeling import nodes_to_label

    place = folder / "run"
    opened, settings, model = open_run(place)
    frame, notes = apply_run(place, Given())
    # Its own tables, added to themselves.
    more = Given(*(str(place / "inputs" / f"{name}.parquet") for name in ("edges", "nodes")))
    again, _ = apply_run(place, more, everything=True)
    following = nodes_to_label(place, 3)
    # Values stay as they are in the files: paths are those of the seed everywhere.
    metrics = opened.read_json("metrics.json")
    return model, [settings.to_toml(), metrics, frame.to_dicts(), notes, following.to_dicts(),
                   again.to_dicts()]  # fmt: skip


def use_run(found: Any) -> Any:
    model, answer = found
    return [use_model(model), repr(answer)]


# -- configurations ----------------------------------------------------------------------------
_KEYS = (
    "edges", "nodes", "target", "id", "src", "weight", "ignore", "labels", "unknown_nodes", "task",
    "directed", "model", "set", "budget", "metric", "seed", "time", "strange", "set.n_rounds",
)  # fmt: skip
_WORDS = (
    "1", "-1", "0.5", "true", "nan", "inf", "[]", "{}", "[1]", '""', '"x"', '"None"', "'\\n'",
    "1979-05-27", "07:32:00", "[[1]]", '["a", 1]', "{a = 1}", "9" * 30, "1e400", '"/"', '"."',
    '"\\u0000"', '"~"', '"""a\nb"""', '"gnn"', '"regression"', '"0s"', '"1e9h"', "0x10",
)  # fmt: skip


def change_toml(rng: random.Random, path: Path) -> Change:
    lines = path.read_text().splitlines()
    kind = rng.random()
    if kind < 0.35:
        data, what = change_bytes(rng, path.read_bytes())
        write(path, data)
        return Change(what)
    filled = [k for k, line in enumerate(lines) if "=" in line and not line.startswith("#")]
    at = rng.choice(filled)
    key = lines[at].partition("=")[0].strip()
    if kind < 0.65:
        word = rng.choice(_WORDS) if rng.random() < 0.8 else dump(draw(rng))
        lines[at], what = f"{key} = {word}", f"{key} is {word[:30]}"
    elif kind < 0.8:
        name, word = rng.choice(_KEYS), rng.choice(_WORDS)
        lines.insert(rng.randrange(len(lines) + 1), f"{name} = {word}")
        what = f"{name} = {word[:30]} put in"
    elif kind < 0.85:
        del lines[at]
        what = f"no {key}"
    else:
        return _same_toml(rng, path, lines, filled)
    write(path, "\n".join(lines) + "\n")
    return Change(what)


def _same_toml(rng: random.Random, path: Path, lines: list[str], filled: list[int]) -> Change:
    kind = rng.choice(("line ends", "comments", "order", "spaces", "literal"))
    end = "\r\n" if kind == "line ends" else "\n"
    if kind == "comments":
        lines = [f"{line}  # a word" if "=" in line else line for line in lines]
    elif kind == "order" and "[set]" not in lines:
        lines = rng.sample(lines, len(lines))
    elif kind == "spaces":
        lines = [re.sub(r" = ", "\t=  ", line) for line in lines]
    elif kind == "literal":
        lines = [re.sub(r'= "([^"\\]*)"', r"= '\1'", line) for line in lines]
    write(path, end.join(lines) + end)
    return Change(f"same, other {kind}", SAME)


def load_config(folder: Path) -> Any:
    from labeltrick.app.runs.settings import read_settings

    return read_settings(folder / "config.toml")


def use_config(settings: Any) -> Any:
    """The problem and the model that it asks for, and the file that it makes again."""
    from labeltrick.app.runs.models import features_for, make_model

    from .target import problem_answer

    problem = settings.read(progress=False)
    task = "classification" if problem.labels is None else problem.labels.task
    model = make_model(settings, task)
    features_for(settings, problem)
    return [settings.to_toml(), problem_answer(problem), repr(model)]


TARGETS = {
    "graph": Target(
        change_graph, load_graph, use_graph, lambda rng, f: ["graph", "info", f / "graph.lt"]
    ),
    "model": Target(change_model, load_model, use_model),
    "run": Target(
        change_run,
        load_run,
        use_run,
        lambda rng, f: rng.choice(
            (
                ["predict", f / "run", "--out", f.parent / "cwd" / "out.csv"],
                ["evaluate", f / "run", "--nodes", f / "truth.csv"],
                ["label-next", f / "run", "--out", f.parent / "cwd" / "next.csv"],
            )
        ),
    ),
    "config": Target(
        lambda rng, f: change_toml(rng, f / "config.toml"),
        load_config,
        use_config,
        lambda rng, f: ["fit", "--config", f / "config.toml", "--out", f.parent / "cwd" / "out",
                        "--model", "label-propagation"],
    ),
}  # fmt: skip
