"""The tables of a run, kept in its folder so that later rows can be added to them.

``inputs/inputs.json`` lists the tables with their checksums; its own checksum is in
``checksums.json``. A graph that is not a table (a graph folder, an archive) may be large and is not
copied: the run keeps its path and a fingerprint of its files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._utils.json_files import dumps, loads
from ..._utils.temporary_folders import Temporary
from ..._utils.whole_files import checksum
from ...io.tables import Problem, read_frame
from ...io.tables.edges import find_edge_columns
from ...io.tables.several_files import ReadTable
from ...io.tables.sources import Part, Source
from .folder import INPUTS, INPUTS_LIST
from .settings import FitSettings

TABLES = ("edges", "nodes", "labels")
_FORMAT, _VERSION = "labeltrick inputs", 1
_AGAIN = "Copy the run again, or fit again."


@dataclass(frozen=True)
class KeptTables:
    """What a run keeps of its inputs.

    Attributes
    ----------
    folder : Path
        The folder of the tables.
    tables : dict of str to (str, str or None)
        The checksum of each table that was kept ("edges", "nodes", "labels"), and the decimal sign
        of its texts, if it is known.
    columns : dict of str to str
        The columns that the fit took as "id", "src", "dst" and "weight".
    graph : tuple of str, or None
        Path and fingerprint of a graph that is not a table.
    """

    folder: Path
    tables: dict[str, tuple[str, str | None]]
    columns: dict[str, str]
    graph: tuple[str, str] | None = None

    def path(self, name: str) -> Path:
        """The file of a table."""
        return self.folder / f"{name}.parquet"

    def read(self, name: str) -> ReadTable:
        """A table as the fit read it; an error if its file is missing or was changed."""
        path = self.path(name)
        if not path.is_file():
            raise ValueError(f"`{path}` must exist; it is missing from the run. {_AGAIN}")
        expected, decimal = self.tables[name]
        if checksum(path) != expected:
            raise ValueError(
                f"`{path}` must be as the run wrote it; it is damaged or was changed. {_AGAIN}"
            )
        frame = read_frame(path)
        return ReadTable(Source((Part(str(path), frame.height, decimal=decimal),)), frame)

    def graph_path(self) -> Path:
        """The graph that the run refers to; an error if it was changed."""
        assert self.graph is not None
        path, expected = Path(self.graph[0]), self.graph[1]
        if not path.exists():
            raise FileNotFoundError(
                f"`{path}` must exist: the run refers to this graph and has no copy of it. Restore "
                "it, or pass other files with --replace."
            )
        if graph_fingerprint(path) != expected:
            raise ValueError(
                f"`{path}` must be the graph that the run was fitted to; it was changed since. "
                "Restore it, or pass --replace to predict from given files alone."
            )
        return path


def keep_tables(
    place: Path, tables: Mapping[str, ReadTable], settings: FitSettings, problem: Problem
) -> None:
    """Write the tables of a fit into a folder, completely or not at all.

    Five million edges between a million nodes take about 2 s and 36 MB.
    """
    columns = {"id": problem.ids.name}
    if "edges" in tables:
        edges = tables["edges"]
        ids = tables["nodes"].frame[problem.ids.name] if "nodes" in tables else None
        found = find_edge_columns(edges.source, edges.frame, settings.roles, ids)
        columns |= {"src": found.source, "dst": found.target}
        columns |= {} if found.weight is None else {"weight": found.weight}
    temporary = Temporary(place)
    with temporary:
        new = temporary.new_folder()
        listed: dict[str, Any] = {}
        for name, table in tables.items():
            file = new / f"{name}.parquet"
            # Higher levels take longer and hardly save space; statistics are never used.
            options: dict[str, Any] = {"compression_level": 1, "statistics": False}
            table.frame.write_parquet(file, compression="zstd", **options)
            listed[name] = {"rows": table.frame.height, "sha256": checksum(file)}
            if table.source.decimal is not None:
                listed[name]["decimal"] = table.source.decimal
        kept: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "tables": listed}
        kept["columns"] = columns
        if "edges" not in tables:
            path = Path(settings.edges[0]).expanduser().absolute()
            kept["graph"] = {"path": str(path), "fingerprint": graph_fingerprint(path)}
        (new / "inputs.json").write_text(dumps(kept, indent=1) + "\n", encoding="utf-8")
        temporary.take_place()


def size_of_tables(run: Path) -> int:
    """The size of the tables of a run in bytes."""
    return sum(file.stat().st_size for file in (run / INPUTS).glob("*.parquet"))


def open_tables(run: Path) -> KeptTables | None:
    """The tables of a run; None if it was written before runs kept them."""
    path = run / INPUTS_LIST
    if not path.exists():
        return None
    try:
        found = loads(path.read_text(encoding="utf-8"))
        if found["format"] != _FORMAT or found["version"] != _VERSION:
            raise ValueError("another format")
        tables = {
            name: (described["sha256"], described.get("decimal"))
            for name, described in found["tables"].items()
        }
        columns, graph = dict(found["columns"]), found.get("graph")
        place = None if graph is None else (graph["path"], graph["fingerprint"])
        sums = [expected for expected, _ in tables.values()]
        texts = [*sums, *columns, *columns.values(), *(place or ())]
        signs = {decimal for _, decimal in tables.values()} <= {None, ".", ","}
        known = set(tables) <= set(TABLES) and "id" in columns
        if not (signs and known and all(isinstance(text, str) for text in texts)):
            raise ValueError("unknown tables")
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ValueError(f"`{path}` must be as the run wrote it; it is damaged. {_AGAIN}") from None
    return KeptTables(run / INPUTS, tables, columns, place)


def graph_fingerprint(path: Path) -> str:
    """A hash of the files of a graph. That of a graph folder is based on its list of files, which
    holds their checksums, because the files themselves may be larger than memory."""
    digest = hashlib.sha256()
    for file in _graph_files(path):
        digest.update(f"{file.name} {checksum(file)}\n".encode())
    return digest.hexdigest()


def _graph_files(path: Path) -> list[Path]:
    if path.is_dir():
        if (path / "meta.json").is_file():
            return [path / "meta.json"]
        parts = (path / "raw", path / "split")  # of OGB
        return sorted(file for part in parts for file in part.rglob("*") if file.is_file())
    if path.name.startswith("ind."):  # of Planetoid: ind.NAME.graph beside ind.NAME.x
        return sorted(path.parent.glob(f"ind.{path.name.split('.')[1]}.*"))
    return [path]
