"""Public research graphs, read from their original files: ``load("cora")``.

The files lie in one folder, a sub-folder each layout, which `load` takes as ``data_dir``, from the
environment variable ``LABELTRICK_DATA``, or from the cache that `get` fills.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..._utils.progress import Progress
from .dataset import Dataset, Split, rank_features
from .examples import Example, make_digits, make_minesweeper
from .registry import check_counts, find, names

__all__ = [
    "Dataset", "Example", "Split", "get", "info", "load", "make_digits", "make_minesweeper",
    "names", "rank_features",
]  # fmt: skip


def load(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    split: int = 0,
    n_neighbors: int | None = None,
) -> Dataset:
    """Read a dataset by its name and check that it is complete.

    Parameters
    ----------
    name : one of `names`, or "county" for "county-2016". Capitals and underscores are accepted.
    data_dir : the folder that holds the datasets' folders; default: ``LABELTRICK_DATA``.
    split : which of the official splits, from 0; `Dataset.n_splits` says how many there are.
    n_neighbors : edges from each row of "house", whose graph is built on reading; default 5.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        For an unknown name, a file in another format, or counts that are not the published ones.
    FileNotFoundError
        If the folder or one of the files is missing.

    Notes
    -----
    Time and memory O(file size). All graphs are undirected and unweighted.

    Examples
    --------
    >>> cora = load("cora", "data")  # doctest: +SKIP
    >>> cora  # doctest: +SKIP
    Dataset('cora', 2708 nodes, 5278 edges, 1433 features, 7 classes, split 140/500/1000)
    >>> load("minesweeper", "data", split=3).split  # doctest: +SKIP
    Split(train=5000, val=2500, test=2500)
    """
    from ..._utils.checks import check_count
    from .files import data_folder

    entry = find(name)
    check_count("split", split)
    options: dict[str, Any] = {}
    if n_neighbors is not None:
        if not entry.builds_graph:
            raise ValueError(
                f"`n_neighbors` must be None for '{entry.name}'; got {n_neighbors}. "
                "Its edges come from its files."
            )
        options["n_neighbors"] = check_count("n_neighbors", n_neighbors, 1)
    folder = data_folder(data_dir) / entry.folder
    contents = entry.load_reader()(folder, entry.key, **options)

    n_splits = len(contents.splits)
    if split >= max(n_splits, 1):
        raise ValueError(
            f"`split` must be below {max(n_splits, 1)} for '{entry.name}', which has {n_splits} "
            f"official split{'' if n_splits == 1 else 's'}; got {split}."
        )
    dataset = Dataset(
        name=entry.name,
        graph=contents.graph,
        X=contents.X,
        y=contents.y,
        split=contents.splits[split] if n_splits else None,
        task=entry.task,
        metric=entry.metric,
        n_splits=n_splits,
        feature_names=contents.feature_names,
        class_names=contents.class_names,
        categorical=contents.categorical,
        extra=contents.extra,
    )
    # Another number of neighbors gives another number of edges, which nobody has published.
    check_counts(dataset, entry, folder, edges=not options)
    return dataset


def info(name: str, data_dir: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """What is known of a dataset: source, license, addresses, counts, and whether it is here.

    >>> info("pubmed")["counts"]["nodes"]
    19717
    """
    from .files import cache_folder, data_folder

    entry = find(name)
    try:
        folder: Path | None = data_folder(data_dir) / entry.folder
    except FileNotFoundError:
        folder = None
    here = False
    if folder is not None and folder.is_dir():
        here = all(remote.is_in(folder) for remote in entry.files) and any(folder.iterdir())
    features = here and entry.counts.features > 0
    if folder is not None and entry.reader.startswith("ogb:"):  # copies without them go round
        features = (folder / "raw" / "node-feat.csv.gz").is_file()
    return {
        "name": entry.name,
        "source": entry.source,
        "license": entry.license,
        "home": entry.home,
        "task": entry.task,
        "metric": entry.metric,
        "counts": {key: value for key, value in asdict(entry.counts).items() if value},
        "folder": entry.folder,
        "path": str(folder) if folder is not None else str(cache_folder() / entry.folder),
        "files": [
            {"url": r.url, "path": r.path, "sha256": r.sha256, "verified": r.verified}
            for r in entry.files
        ],
        "here": here,
        "features_here": features,
    }


def get(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress = None,
) -> Dataset:
    """Fetch a dataset's files, then `load` it, which asserts its counts.

    Parameters
    ----------
    name : as for `load`.
    data_dir : where to keep it; default ``LABELTRICK_DATA``, else a cache folder.
    overwrite : fetch files again that are there already.

    Raises
    ------
    ConnectionError
        Without a network, or where a download broke off; called again it goes on from there.
    ValueError
        For files that are not those expected (with ``overwrite``, and always in the cache folder,
        they are fetched again), an address or a redirection that is not https, or a dataset that
        has to be put in place by hand.
    """
    from .download import fetch
    from .files import VARIABLE, cache_folder

    entry = find(name)
    base = Path(data_dir or os.environ.get(VARIABLE) or cache_folder()).expanduser().absolute()
    folder = base / entry.folder
    if not overwrite and folder.is_dir():
        try:
            return load(entry.name, base)
        except FileNotFoundError:
            pass  # the rest is fetched
        except ValueError as error:
            if not base.is_relative_to(cache_folder()):  # files that somebody else may have made
                raise ValueError(
                    f"{error} To replace the files in '{folder}', pass --overwrite."
                ) from None
            overwrite = True  # something in it is not what it should be
    if not entry.files:
        raise ValueError(
            f"`name` must be of a dataset that can be fetched; '{entry.name}' cannot: take its "
            f"files from {entry.home} and put them into '{folder}'."
        )
    for remote in entry.files:
        if overwrite or not remote.is_in(folder):
            fetch(remote, folder, overwrite=overwrite, progress=progress)
    return load(entry.name, base)
