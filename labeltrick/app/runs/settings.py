"""The settings of a run, and its ``config.toml``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..._utils.annotations import fits, hints_of
from ..._utils.json_files import dumps
from ..._utils.progress import Progress, waiting
from ...evaluation.metrics import metric_for
from ...graph.compute import SETTINGS
from ...io.model_files.registry import OF_THE_MACHINE
from ...io.tables import Problem, Roles, read_problem, with_labels
from ...io.tables.content import is_blank
from ...io.tables.kinds import listed, shown_name
from ...io.tables.labels import Labels
from ...io.tables.missing_values import notes_on_unused
from ...io.tables.places import Place
from ...io.tables.problem import graph_file_of
from ...io.tables.several_files import ReadTable, TableFiles, given_missing, read_tables
from ...io.tables.sources import as_texts
from ...io.tables.targets import likely_targets
from ...io.tables.text_formats import TextFormat

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "": 1}
_WORDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    tuple[str, ...]: "a list of texts",
    str | tuple[str, ...]: "a text or a list of texts",
    str | tuple[str, ...] | None: "a text or a list of texts",
    dict[str, Any]: "a table",
}
_PATHS = ("edges", "nodes", "labels")
_SEVERAL = ("edges", "nodes", "labels")


@dataclass(frozen=True)
class FitSettings:
    """The settings of a run: files, roles of columns, and the model.

    The attributes are those of ``labeltrick fit --help``; ``set`` holds parameters of the model.
    ``edges``, ``nodes`` and ``labels`` may be given as one file; they are kept as tuples of files.
    """

    edges: str | tuple[str, ...]
    nodes: str | tuple[str, ...] | None = None
    target: str | tuple[str, ...] | None = None
    id: str | None = None
    src: str | None = None
    dst: str | None = None
    weight: str | None = None
    time: str | None = None
    ignore: tuple[str, ...] = ()
    split_column: str | None = None
    labels: str | tuple[str, ...] | None = None
    unknown_nodes: str = "error"
    directed: bool = False
    task: str = "auto"
    model: str = "auto"
    set: dict[str, Any] = field(default_factory=dict)
    budget: str = "10m"
    plan: dict[str, Any] = field(default_factory=dict)
    learners: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    metric: str | None = None
    seed: int = 0
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in _SEVERAL:
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_texts(given))

    @property
    def roles(self) -> Roles:
        """The roles of the columns."""
        return Roles(
            self.target, self.id, self.src, self.dst, self.weight, self.time, self.split_column,
            tuple(self.ignore),
        )  # fmt: skip

    @property
    def text_format(self) -> TextFormat:
        """How files are written, as far as it was given."""
        return TextFormat(self.delimiter, self.encoding, self.decimal, self.missing)

    def tables(self) -> dict[str, ReadTable]:
        """Read the tables of edges, nodes and labels, as far as they are given and are tables."""
        given = {"edges": self.edges, "nodes": self.nodes, "labels": self.labels}
        found = {
            name: TableFiles.of(files, f"--{name}", self.text_format)
            for name, files in given.items()
            if files is not None
        }
        if graph_file_of(found["edges"]) is not None:
            del found["edges"]
        return {name: ReadTable(*read_tables(files, [])) for name, files in found.items()}

    def read(
        self, progress: Progress = None, tables: Mapping[str, ReadTable] | None = None
    ) -> Problem:
        """Read the files, except for tables that have been read."""
        with waiting("reading files", progress):
            if tables is None:
                tables = self.tables() if self.missing or self.labels else {}
            problem = read_problem(
                tables.get("edges", self.edges),
                tables.get("nodes", self.nodes),
                self._roles_in(tables),
                task=self.task,
                unknown_nodes=self.unknown_nodes,
                directed=self.directed,
                text_format=self.text_format,
            )
            problem.notes.extend(notes_on_unused(self.missing, given_missing(tables.values())))
            if self.labels is None or self.target is None:
                self._require_target_in(problem)
                return problem
            labels = tables.get("labels", self.labels)
            return with_labels(problem, labels, self.id, self.target, self.task, self.text_format)

    def _roles_in(self, tables: Mapping[str, ReadTable]) -> Roles:
        """The roles of the columns. Beside a table of labels, the node table need not have any."""
        roles, names = self.roles, as_texts(self.target or ())
        if self.labels is None or not names:
            return roles
        if "nodes" not in tables:
            return replace(roles, target=None)
        frame = tables["nodes"].frame
        there = [name for name in names if name in frame.columns]
        if there and not all(is_blank(frame[name]) for name in there):
            return roles
        return replace(roles, target=None, ignore=(*roles.ignore, *there))

    def _require_target_in(self, problem: Problem) -> None:
        """Raise an error for a target beside a file whose features and labels have no names."""
        if self.target is None or problem.kinds:
            return
        if problem.labels is None:
            raise ValueError(
                f"`--target` must come with --nodes, the table that has the column; got "
                f"{self.target!r}, and '{self.edges[0]}' has no columns."
            )
        if self.target != problem.labels.target:
            raise ValueError(
                f"`--target` must be left out for '{self.edges[0]}', which holds labels without a "
                f"name; got {self.target!r}. To predict a column of a table, pass it with --nodes."
            )

    @property
    def engine(self) -> dict[str, Any]:
        """The settings of the propagation engine: arguments of `Graph.on`."""
        return {name: value for name, value in self.set.items() if name in SETTINGS}

    def to_toml(self) -> str:
        """The settings as TOML. Paths are absolute, so that the file can be used in any folder, and
        URLs of databases have no passwords.
        Settings of the machine are left out: a file may not set them."""
        lines = ["# Run again with: labeltrick fit --config config.toml --out NEW", ""]
        given = asdict(self)
        for name, value in given.items():
            if value is None or name in ("set", "plan"):
                continue
            if name in _PATHS:
                files = [Place.of(file).absolute for file in as_texts(value)]
                value = files[0] if len(files) == 1 else files
            lines.append(f"{name} = {_toml(value)}")
        kept = {k: v for k, v in self.set.items() if k not in OF_THE_MACHINE}
        if kept:
            lines += ["", "[set]", *(f"{_key(k)} = {_toml(v)}" for k, v in kept.items())]
        if self.plan:
            about = (
                "# What the budget left of the fit. Without these lines, the clock decides again."
            )
            lines += ["", about, "[plan]", *(f"{k} = {_toml(v)}" for k, v in self.plan.items())]
        return "\n".join(lines) + "\n"


def labels_of(problem: Problem) -> Labels:
    """The labels of a problem; an error if there is no column to predict."""
    if problem.labels is None:
        likely = [shown_name(kind.name) for kind in likely_targets(problem.kinds)]
        could = f" These could be: {listed(likely)}." if likely else ""
        raise ValueError(f"`--target` must name the column to predict; none was given.{could}")
    return problem.labels


def metric_of(settings: FitSettings, labels: Labels) -> str:
    """The metric of the settings, or that of the task. The errors of several numbers have different
    units, so that their default is the mean R²."""
    several = labels.task == "regression" and bool(labels.columns)
    given = "r2" if several and settings.metric is None else settings.metric
    return metric_for(labels.task, given)


def read_settings(path: Path) -> FitSettings:
    """Read the settings of a ``config.toml``."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"`{path}` must exist; it does not. Correct the path.") from None
    except IsADirectoryError:
        raise ValueError(
            f"`{path}` must be a file; it is a folder. Pass its config.toml."
        ) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"`{path}` must be valid TOML; got: {error}.") from None
    hints = hints_of(FitSettings)
    strange = [name for name in found if name not in hints]
    if strange or "edges" not in found:
        what = f"it has {strange[0]!r}" if strange else "it has no 'edges'"
        raise ValueError(f"`{path}` must be the config.toml of a run; {what}.")
    for name in ("ignore", "target", "learners", "exclude", "missing", *_SEVERAL):
        if isinstance(several := found.get(name), list):
            found[name] = tuple(several)
    for name, value in found.items():
        if not fits(value, hints[name]):
            wanted = _WORDS.get(hints[name], "a text")
            raise ValueError(f"`{path}` must have {wanted} as {name!r}; got {value!r}.")
    given = found.get("set", {})
    for name, value in given.items():
        if name in OF_THE_MACHINE:
            raise ValueError(
                f"`{path}` must not set {name!r}, a setting of the machine. Delete the line, and "
                f"pass --set {name}=… on the command line if you want it."
            )
        if not _is_plain(value):
            raise ValueError(
                f"`{path}` must have numbers and texts in [set]; got {name} = {value}."
            )
    if found.get("plan"):
        from ...models.auto.plan import FitPlan

        try:
            FitPlan.of(found["plan"])
        except TypeError as error:
            raise ValueError(f"`{path}` must hold the plan of a run: {error}") from None
    found["set"] = {key: None if value == "None" else value for key, value in given.items()}
    return FitSettings(**found)


def _is_plain(value: Any) -> bool:
    """Whether a value is not a date or time, which no parameter can be."""
    if isinstance(value, dict | list):
        return all(map(_is_plain, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str | bool | int | float)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else dumps(name)


def _toml(value: Any) -> str:
    if value is None:
        return '"None"'  # TOML has no null
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(entry) for entry in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    return repr(value) if isinstance(value, float) else dumps(value)


def parse_seconds(text: str) -> float | None:
    """Convert a time such as "60s", "5m", "1h" or "60" to seconds; None for "none".

    >>> parse_seconds("2m")
    120.0
    """
    if text.strip().lower() == "none":
        return None
    found = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(s|m|min|h|)\s*", text)
    if found is None or not float(found[1]) > 0:
        raise ValueError(f"`--budget` must be a time such as 60s, 5m or 1h, or none; got {text!r}.")
    return float(found[1]) * _SECONDS[found[2]]


def parse_set(pairs: list[str]) -> dict[str, Any]:
    """Parse ``key=value`` pairs. Values that are not JSON are texts.

    >>> parse_set(["damping=0.9", "mode=two_stage"])
    {'damping': 0.9, 'mode': 'two_stage'}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name.strip():
            raise ValueError(f"`--set` must be key=value; got {pair!r}. Example: --set damping=0.9")
        try:
            found[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            words = {"None": None, "True": True, "False": False}
            found[name.strip()] = words.get(value, value)
    return found
