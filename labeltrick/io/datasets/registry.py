"""The table of datasets: how each is read, and the counts that it must have.

Edges are undirected and join two different nodes. Self-loops are dropped where common readers drop
them (planetoid, gnn-benchmark); the 50 self-loops of "chameleon" belong to its published 31,421
edges and are kept. The edges of "house" are those that its reader builds by default, unless they
are in its folder.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from .checksums import SHA256
from .dataset import Contents, Dataset
from .download import Remote


@dataclass(frozen=True)
class Counts:
    """Published counts. ``edges`` excludes self-loops and is None if publications differ."""

    nodes: int
    edges: int | None
    classes: int = 0
    features: int = 0
    self_loops: int = 0


@dataclass(frozen=True)
class Copy:
    """Another form of a dataset, present where its folder has the file ``holds``.

    It is read in place of the usual files if it is ``preferred`` or if these are absent. ``counts``
    are None if they are the usual ones. ``features`` says whether it has the features.
    """

    reader: str
    folder: str
    key: str
    holds: str
    counts: Counts | None = None
    features: bool = True
    preferred: bool = False


@dataclass(frozen=True)
class Entry:
    """A dataset.

    ``reader`` is "module:function", imported by `load`; its arguments are the folder and ``key``,
    which distinguishes the datasets of a folder. ``home`` is the source of the files, and ``files``
    are those that can be downloaded; without any, they must be downloaded by hand. ``features`` is
    False for a copy that lacks them, and ``copies`` are other forms of the dataset.
    """

    name: str
    reader: str
    folder: str
    key: str
    counts: Counts
    task: str
    metric: str
    source: str
    license: str
    home: str
    files: tuple[Remote, ...] = ()
    builds_graph: bool = False
    features: bool = True
    copies: tuple[Copy, ...] = ()

    def found_in(self, base: Path) -> Entry:
        """The entry with reader, folder and counts of the form that a folder of datasets holds."""
        for copy in self.copies:
            there = (base / copy.folder / copy.holds).is_file()
            if there and (copy.preferred or not self.is_in(base)):
                return replace(
                    self,
                    reader=copy.reader,
                    folder=copy.folder,
                    key=copy.key,
                    counts=copy.counts or self.counts,
                    features=copy.features,
                    builds_graph=False,
                    files=(),
                    copies=(),
                )
        return self

    def is_in(self, base: Path) -> bool:
        """Whether all files are in a folder of datasets."""
        folder = base / self.folder
        if not folder.is_dir():
            return False
        return all(remote.is_in(folder) for remote in self.files) and any(folder.iterdir())

    def load_reader(self) -> Callable[..., Contents]:
        module, function = self.reader.split(":")
        return getattr(import_module(f".{module}", __package__), function)


_GITHUB = "https://github.com"
# Source, license and home page.
# fmt: off
_PLANETOID = ("Planetoid: Yang, Cohen and Salakhutdinov, 2016", "MIT",
              f"{_GITHUB}/kimiyoung/planetoid")
_BENCHMARK = ("gnn-benchmark: Shchur, Mumme, Bojchevski and Günnemann, 2018", "MIT",
              f"{_GITHUB}/shchur/gnn-benchmark")
_GAUSS = ("graph2gauss: Bojchevski and Günnemann, 2018", "MIT",
          f"{_GITHUB}/abojchevski/graph2gauss")
_OGB = ("Open Graph Benchmark: Hu et al., 2020", "ODC-BY", "https://ogb.stanford.edu")
_AMAZON = (_OGB[0], "Amazon license", _OGB[2])
_SUBELJ = ("Šubelj and Bajec, 2013, via community-graphs", "MIT",
           f"{_GITHUB}/vlivashkin/community-graphs")
_COUNTY = ("US census and election returns: Jia and Benson, 2020", "not stated",
           f"{_GITHUB}/000Justin000/gnn-residual-correlation")
_HOUSE = ("California housing: Pace and Barry, 1997, via StatLib", "not stated",
          "https://lib.stat.cmu.edu/datasets/")
_WIKIPEDIA = ("MUSAE: Rozemberczki, Allen and Sarkar, 2021", "GPL-3.0",
              f"{_GITHUB}/benedekrozemberczki/MUSAE")
_TABULAR = ("BGNN: Ivanov and Prokhorenkova, 2021", "not stated", f"{_GITHUB}/nd7141/bgnn")
_MINESWEEPER = ("heterophilous-graphs: Platonov et al., 2023", "MIT",
                f"{_GITHUB}/yandex-research/heterophilous-graphs")
# fmt: on

_CLASSES = ("classification", "accuracy")
_AUC = ("classification", "roc_auc")
_NUMBERS = ("regression", "rmse")

_P, _N = "planetoid:read_planetoid", "npz:read_benchmark"
_COUNTY_COUNTS = Counts(3217, 9467, features=7)
# Files are downloaded from fixed commits, because those of a branch may change.
_PLANETOID_AT = f"{_PLANETOID[2]}/raw/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data"
_BENCHMARK_AT = f"{_BENCHMARK[2]}/raw/1e72912a0810cdf27ae54fd589a3b43358a2b161/data/npz"
_MINESWEEPER_AT = f"{_MINESWEEPER[2]}/raw/a431395582e929d88271309716bea4fe24ce6318/data"


def _planetoid(name: str) -> tuple[Remote, ...]:
    own = {file: sha for file, sha in SHA256.items() if file.startswith(f"ind.{name}.")}
    return tuple(Remote(f"{_PLANETOID_AT}/{file}", file, sha, most=20) for file, sha in own.items())


def _npz(file: str, name: str) -> tuple[Remote, ...]:
    return (Remote(f"{_BENCHMARK_AT}/{file}.npz", f"{name}.npz"),)


def _ogb(name: str, sha256: str | None = None, most: int = 200) -> tuple[Remote, ...]:
    url = f"https://snap.stanford.edu/ogb/data/nodeproppred/{name}.zip"
    return (Remote(url, f"{name}.zip", sha256, name, "raw/edge.csv.gz", most, 3 * most),)


_CHAMELEON = tuple(
    Remote(f"{_WIKIPEDIA[2]}/raw/master/input/{url}", name, most=20)
    for url, name in (
        ("edges/chameleon_edges.csv", "edges.csv"),
        ("target/chameleon_target.csv", "target.csv"),
        ("features/chameleon.json", "features.json"),
    )
)
_HOUSE_FILE = Remote(
    "https://ndownloader.figshare.com/files/5976036", "cal_housing.tgz", SHA256["cal_housing.tgz"],
    unpack="CaliforniaHousing", holds="cal_housing.data", most=10, most_unpacked=100,
)  # fmt: skip
# BGNN's folder has the edges that publications use, and leaves the coordinates out of the features.
_HOUSE_WITH_EDGES = Copy(
    "tabular:read_tabular", "house", "house", "graph.graphml", Counts(20640, None, features=6),
    preferred=True,
)  # fmt: skip
_CORA_FULL_LABELS = Copy(
    "tables:read_labels", "cora-full", "cora-full", "cora-full.label", features=False
)
_CORA_ML = (Remote(f"{_GAUSS[2]}/raw/master/data/cora_ml.npz", "cora_ml.npz"),)
_MINES = Remote(f"{_MINESWEEPER_AT}/minesweeper.npz", "minesweeper.npz",
                SHA256["minesweeper.npz"], most=10)  # fmt: skip

# fmt: off
_ENTRIES = (
    Entry("cora", _P, "planetoid", "cora", Counts(2708, 5278, 7, 1433), *_CLASSES, *_PLANETOID,
          _planetoid("cora")),
    Entry("citeseer", _P, "planetoid", "citeseer", Counts(3327, 4552, 6, 3703), *_CLASSES,
          *_PLANETOID, _planetoid("citeseer")),
    Entry("pubmed", _P, "planetoid", "pubmed", Counts(19717, 44324, 3, 500), *_CLASSES,
          *_PLANETOID, _planetoid("pubmed")),
    Entry("ogbn-arxiv", "ogb:read_ogb", "ogbn-arxiv", "time", Counts(169343, 1157799, 40, 128),
          *_CLASSES, *_OGB, _ogb("arxiv", SHA256["arxiv.zip"])),
    # Publications count its repeated edges and self-loops differently.
    Entry("ogbn-products", "ogb:read_ogb", "ogbn-products", "sales_ranking",
          Counts(2449029, None, 47, 100), *_CLASSES, *_AMAZON, _ogb("products", most=2000)),
    Entry("cora-full", _N, "npz", "cora_full", Counts(19793, 63421, 70, 8710), *_CLASSES,
          *_GAUSS, _npz("cora_full", "cora_full"), copies=(_CORA_FULL_LABELS,)),
    Entry("coauthor-cs", _N, "npz", "coauthor_cs", Counts(18333, 81894, 15, 6805), *_CLASSES,
          *_BENCHMARK, _npz("ms_academic_cs", "coauthor_cs")),
    Entry("coauthor-physics", _N, "npz", "coauthor_physics", Counts(34493, 247962, 5, 8415),
          *_CLASSES, *_BENCHMARK, _npz("ms_academic_phy", "coauthor_physics")),
    Entry("amazon-computers", _N, "npz", "amazon_computers", Counts(13752, 245861, 10, 767),
          *_CLASSES, *_BENCHMARK, _npz("amazon_electronics_computers", "amazon_computers")),
    Entry("amazon-photo", _N, "npz", "amazon_photo", Counts(7650, 119081, 8, 745), *_CLASSES,
          *_BENCHMARK, _npz("amazon_electronics_photo", "amazon_photo")),
    Entry("cora-ml", _N, "npz", "cora_ml", Counts(2995, 8158, 7, 2879), *_CLASSES, *_GAUSS,
          _CORA_ML),
    Entry("cora-subelj", "tables:read_subelj", "cora-subelj", "cora", Counts(23166, 89157, 70),
          *_CLASSES, *_SUBELJ),
    Entry("county-2012", "tables:read_county", "county", "county_2012", _COUNTY_COUNTS,
          *_NUMBERS, *_COUNTY),
    Entry("county-2016", "tables:read_county", "county", "county_2016", _COUNTY_COUNTS,
          *_NUMBERS, *_COUNTY),
    Entry("house", "tables:read_house", "house", "cal_housing", Counts(20640, 71012, features=8),
          *_NUMBERS, *_HOUSE, (_HOUSE_FILE,), builds_graph=True, copies=(_HOUSE_WITH_EDGES,)),
    Entry("vk", "tabular:read_tabular", "vk", "vk", Counts(54028, None, features=14), *_NUMBERS,
          *_TABULAR),
    Entry("avazu", "tabular:read_tabular", "avazu", "avazu", Counts(1297, None, features=9),
          *_NUMBERS, *_TABULAR),
    Entry("chameleon", "tables:read_wikipedia", "wikipedia-chameleon", "chameleon",
          Counts(2277, 31371, features=3132, self_loops=50), *_NUMBERS, *_WIKIPEDIA, _CHAMELEON),
    Entry("minesweeper", "npz:read_heterophilous", "heterophilous", "minesweeper",
          Counts(10000, 39402, 2, 7), *_AUC, *_MINESWEEPER, (_MINES,)),
)
# fmt: on

ENTRIES = {entry.name: entry for entry in _ENTRIES}
_ALIASES = {"county": "county-2016"}


def names() -> list[str]:
    """The names of the datasets that `load` can read.

    Returns
    -------
    list of str

    See Also
    --------
    datasets.info : Describe a dataset.
    datasets.load : Read a public dataset.

    Examples
    --------
    >>> names()[:3]
    ['cora', 'citeseer', 'pubmed']
    """
    return list(ENTRIES)


def find(name: str) -> Entry:
    """The entry of a name, or a `ValueError` that suggests the closest name."""
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
    """Raise a `ValueError` if the counts are not those published."""
    graph, counts = dataset.graph, entry.counts
    rows = [("nodes", graph.n_nodes, counts.nodes), ("classes", dataset.n_classes, counts.classes)]
    if edges and counts.edges is not None:
        rows.append(("edges", graph.n_edges - graph.n_self_loops, counts.edges))
        rows.append(("self-loops", graph.n_self_loops, counts.self_loops))
    # Some copies lack the features, which are the largest file.
    if dataset.X is not None:
        rows.append(("features", dataset.n_features, counts.features))
    wrong = [(what, got, known) for what, got, known in rows if got != known]
    if wrong:
        wanted = ", ".join(f"{known:,} {what}" for what, _, known in wrong)
        found = ", ".join(f"{got:,} {what}" for what, got, _ in wrong)
        raise ValueError(
            f"`{folder}` must hold '{entry.name}' with {wanted}; got {found}. "
            "The files are incomplete or of another version. Fetch the original ones."
        )
