"""The table of datasets: how each is read, and the counts it must have.

The edge counts are of undirected edges between two different nodes. Where the readers in common
use drop self-loops (planetoid, gnn-benchmark) so do ours; the 50 of "chameleon" belong to its
published 31,421 edges and are kept. The edges of "house" are those that its reader builds by
default.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ._dataset import Contents, Dataset


@dataclass(frozen=True)
class Counts:
    """Published figures; ``edges`` without self-loops (None where the ways of counting differ),
    ``features`` only if there are any."""

    nodes: int
    edges: int | None
    classes: int = 0
    features: int = 0
    self_loops: int = 0


@dataclass(frozen=True)
class Entry:
    """One dataset.

    ``reader`` is "module:function", imported on `load`; it gets the folder and ``key``, which
    tells the datasets of one folder apart. ``url`` and ``sha256`` are for a download: None
    means that the files have to be put in place by hand.
    """

    name: str
    reader: str
    folder: str
    key: str
    counts: Counts
    task: str
    metric: str
    source: str
    licence: str
    builds_graph: bool = False
    url: str | None = None
    sha256: str | None = None

    def load_reader(self) -> Callable[..., Contents]:
        module, function = self.reader.split(":")
        return getattr(import_module(f".{module}", __package__), function)


_PLANETOID = ("Planetoid: Yang, Cohen and Salakhutdinov, 2016", "MIT")
_BENCHMARK = ("gnn-benchmark: Shchur, Mumme, Bojchevski and Günnemann, 2018", "MIT")
_SUBELJ = ("Šubelj and Bajec, 2013, via community-graphs", "MIT")
_COUNTY = ("US census and election returns", "not stated")
_HOUSE = ("California housing: Pace and Barry, 1997, via StatLib", "not stated")
_WIKIPEDIA = ("MUSAE: Rozemberczki, Allen and Sarkar, 2021", "not stated")
_TABULAR = ("BGNN: Ivanov and Prokhorenkova, 2021", "not stated")
_MINESWEEPER = ("heterophilous-graphs: Platonov et al., 2023", "MIT")

_CLASSES = ("classification", "accuracy")
_AUC = ("classification", "roc_auc")
_NUMBERS = ("regression", "rmse")

_P, _N = "_planetoid:read_planetoid", "_npz:read_benchmark"
_COUNTY_COUNTS = Counts(3217, 9467, features=7)

# fmt: off
_ENTRIES = (
    Entry("cora", _P, "planetoid", "cora", Counts(2708, 5278, 7, 1433), *_CLASSES, *_PLANETOID),
    Entry("citeseer", _P, "planetoid", "citeseer", Counts(3327, 4552, 6, 3703), *_CLASSES,
          *_PLANETOID),
    Entry("pubmed", _P, "planetoid", "pubmed", Counts(19717, 44324, 3, 500), *_CLASSES,
          *_PLANETOID),
    Entry("ogbn-arxiv", "_ogb:read_ogb", "ogbn-arxiv", "time", Counts(169343, 1157799, 40, 128),
          *_CLASSES, "Open Graph Benchmark: Hu et al., 2020", "ODC-BY"),
    Entry("coauthor-cs", _N, "npz", "coauthor_cs", Counts(18333, 81894, 15, 6805), *_CLASSES,
          *_BENCHMARK),
    Entry("amazon-photo", _N, "npz", "amazon_photo", Counts(7650, 119081, 8, 745), *_CLASSES,
          *_BENCHMARK),
    Entry("cora-ml", _N, "npz", "cora_ml", Counts(2995, 8158, 7, 2879), *_CLASSES, *_BENCHMARK),
    Entry("cora-subelj", "_tables:read_subelj", "cora-subelj", "cora", Counts(23166, 89157, 70),
          *_CLASSES, *_SUBELJ),
    Entry("county-2012", "_tables:read_county", "county", "county_2012", _COUNTY_COUNTS,
          *_NUMBERS, *_COUNTY),
    Entry("county-2016", "_tables:read_county", "county", "county_2016", _COUNTY_COUNTS,
          *_NUMBERS, *_COUNTY),
    Entry("house", "_tables:read_house", "house", "cal_housing", Counts(20640, 71012, features=8),
          *_NUMBERS, *_HOUSE, builds_graph=True),
    Entry("vk", "_tabular:read_tabular", "vk", "vk", Counts(54028, None, features=14), *_NUMBERS,
          *_TABULAR),
    Entry("avazu", "_tabular:read_tabular", "avazu", "avazu", Counts(1297, None, features=9),
          *_NUMBERS, *_TABULAR),
    Entry("chameleon", "_tables:read_wikipedia", "wikipedia-chameleon", "chameleon",
          Counts(2277, 31371, features=3132, self_loops=50), *_NUMBERS, *_WIKIPEDIA),
    Entry("minesweeper", "_npz:read_heterophilous", "heterophilous", "minesweeper",
          Counts(10000, 39402, 2, 7), *_AUC, *_MINESWEEPER),
)
# fmt: on

ENTRIES = {entry.name: entry for entry in _ENTRIES}
_ALIASES = {"county": "county-2016"}


def names() -> list[str]:
    """Names of the datasets that `load` can read; each dataset once.

    >>> names()[:3]
    ['cora', 'citeseer', 'pubmed']
    """
    return list(ENTRIES)


def find(name: str) -> Entry:
    """The entry of a name, or a `ValueError` with the nearest one."""
    if not isinstance(name, str):
        raise TypeError(f"`name` must be a string; got {name!r} ({type(name).__name__}).")
    wanted = name.strip().lower().replace("_", "-")
    wanted = _ALIASES.get(wanted, wanted)
    if wanted in ENTRIES:
        return ENTRIES[wanted]
    near = difflib.get_close_matches(wanted, ENTRIES, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(repr(known) for known in ENTRIES)
    raise ValueError(f"`name` must be one of {listed}; got {name!r}.{hint}")


def check_counts(dataset: Dataset, entry: Entry, folder: Path, *, edges: bool = True) -> None:
    """Raise a `ValueError` that names the folder and the figures if they are not the known ones."""
    graph, counts = dataset.graph, entry.counts
    rows = [("nodes", graph.n_nodes, counts.nodes), ("classes", dataset.n_classes, counts.classes)]
    if edges and counts.edges is not None:
        rows.append(("edges", graph.n_edges - graph.n_self_loops, counts.edges))
        rows.append(("self-loops", graph.n_self_loops, counts.self_loops))
    # Copies without the features go round, as they are most of the bytes.
    if dataset.X is not None:
        rows.append(("features", dataset.n_features, counts.features))
    wrong = [(what, got, known) for what, got, known in rows if got != known]
    if wrong:
        wanted = ", ".join(f"{known:,} {what}" for what, _, known in wrong)
        found = ", ".join(f"{got:,} {what}" for what, got, _ in wrong)
        raise ValueError(
            f"`{folder}` must hold '{entry.name}' with {wanted}; got {found}. "
            "The files are cut short or of another version: fetch the original ones."
        )
