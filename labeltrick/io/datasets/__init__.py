"""Public research graphs, read from their original files: ``load("cora")``.

All datasets are in one folder, in a subfolder for each file layout. The folder is given as
``data_dir`` or by the environment variable ``LABELTRICK_DATA``; otherwise it is the cache that
`get` fills.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..._utils.checks import check_count
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
    """Read a dataset and check its counts.

    All graphs are undirected and unweighted.

    Parameters
    ----------
    name : str
        One of `names`, or "county" for "county-2016". Upper case and underscores are accepted.
    data_dir : path, default=None
        Folder that holds the folders of the datasets. None uses ``LABELTRICK_DATA``, or else the
        cache.
    split : int, default=0
        Number of the official split; `Dataset.n_splits` is how many there are.
    n_neighbors : int, default=None
        Number of nearest neighbors that each row of "house" is joined to if its folder has no
        edges. None means 5. Must be None for other datasets.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the name is unknown, a file has another format, or the counts are not those published.
    FileNotFoundError
        If the folder or one of the files is missing.

    See Also
    --------
    datasets.get : Download a dataset and read it.
    datasets.info : Describe a dataset.
    datasets.names : List the datasets.

    Examples
    --------
    >>> cora = load("cora", "data")  # doctest: +SKIP
    >>> cora  # doctest: +SKIP
    Dataset('cora', 2708 nodes, 5278 edges, 1433 features, 7 classes, split 140/500/1000)
    >>> load("minesweeper", "data", split=3).split  # doctest: +SKIP
    Split(train=5000, val=2500, test=2500)
    """
    from .files import data_folder

    entry = find(name)
    check_count("split", split)
    base = data_folder(data_dir)
    entry = entry.found_in(base)
    options: dict[str, Any] = {}
    if n_neighbors is not None:
        if not entry.builds_graph:
            raise ValueError(
                f"`n_neighbors` must be None for '{entry.name}', whose edges are in its files; got "
                f"{n_neighbors}."
            )
        options["n_neighbors"] = check_count("n_neighbors", n_neighbors, 1)
    folder = base / entry.folder
    contents = entry.load_reader()(folder, entry.key, **options)

    n_splits = len(contents.splits)
    if split >= max(n_splits, 1):
        raise ValueError(
            f"`split` must be below {max(n_splits, 1)} for '{entry.name}', which has {n_splits} "
            f"official split{'' if n_splits == 1 else 's'}; got {split}."
        )
    dataset = Dataset(
        **vars(contents),
        name=entry.name,
        split=contents.splits[split] if n_splits else None,
        task=entry.task,
        metric=entry.metric,
    )
    # The published number of edges is that of the default number of neighbors.
    check_counts(dataset, entry, folder, edges=not options)
    return dataset


def info(name: str, data_dir: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Describe a dataset: source, license, addresses, counts, and whether it is present.

    Parameters
    ----------
    name : str
        One of `names`.
    data_dir : path, default=None
        Folder that holds the folders of the datasets. None uses ``LABELTRICK_DATA``, or else the
        cache.

    Returns
    -------
    dict of str to object
        "name", "source", "license", "home", "task", "metric", "counts", "folder", "path", "files",
        "here" (whether all files are present), "features_here" and "edges_here" (False also where
        `load` builds the graph).

    See Also
    --------
    datasets.names : List the datasets.
    datasets.load : Read a public dataset.

    Examples
    --------
    >>> info("pubmed")["counts"]["nodes"]
    19717
    """
    from .files import cache_folder, data_folder

    entry = find(name)
    try:
        base: Path | None = data_folder(data_dir)
    except FileNotFoundError:
        base = None
    here = features = False
    if base is not None:
        entry = entry.found_in(base)
        here = entry.is_in(base)
        features = here and entry.counts.features > 0 and entry.features
        if entry.reader.startswith("ogb:"):  # some copies lack the features
            features = (base / entry.folder / "raw" / "node-feat.csv.gz").is_file()
    facts = ("name", "source", "license", "home", "task", "metric")
    return {
        **{fact: getattr(entry, fact) for fact in facts},
        "counts": {key: value for key, value in asdict(entry.counts).items() if value},
        "folder": entry.folder,
        "path": str((base or cache_folder()) / entry.folder),
        "files": [
            {"url": r.url, "path": r.path, "sha256": r.sha256, "verified": r.verified}
            for r in find(name).files
        ],
        "here": here,
        "features_here": features,
        "edges_here": here and not entry.builds_graph,
    }


def get(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress = None,
) -> Dataset:
    """Download the files of a dataset that are missing, then `load` it.

    Parameters
    ----------
    name : str
        One of `names`, or "county" for "county-2016".
    data_dir : path, default=None
        Folder to keep the dataset in. None uses ``LABELTRICK_DATA``, or else the cache.
    overwrite : bool, default=False
        Whether to download files that exist.
    progress : bool or None, default=None
        Whether to show a progress bar. None shows one on a terminal.

    Returns
    -------
    Dataset

    Raises
    ------
    ConnectionError
        If there is no network or a download is interrupted. The next call resumes it.
    ValueError
        If files are not those expected (in the cache folder they are downloaded again), an address
        or a redirect is not https, or the dataset can only be downloaded by hand.

    See Also
    --------
    datasets.load : Read a public dataset.
    datasets.info : Describe a dataset.

    Examples
    --------
    >>> from labeltrick import datasets  # doctest: +SKIP
    >>> data = datasets.get("cora")  # doctest: +SKIP
    >>> data.task, data.metric  # doctest: +SKIP
    ('classification', 'accuracy')
    """
    from .download import fetch
    from .files import VARIABLE, cache_folder

    entry = find(name)
    base = Path(data_dir or os.environ.get(VARIABLE) or cache_folder()).expanduser().absolute()
    folder = base / entry.folder
    # A copy without the features is not what was asked for.
    if not overwrite and folder.is_dir() and entry.found_in(base).features:
        try:
            return load(entry.name, base)
        except FileNotFoundError:
            pass  # the missing files are downloaded below
        except ValueError as error:
            if not base.is_relative_to(cache_folder()):  # these may be the user's own files
                raise ValueError(
                    f"{error} To replace the files in '{folder}', pass --overwrite."
                ) from None
            overwrite = True  # a file in the cache is damaged
    if not entry.files:
        raise ValueError(
            f"`name` must be a dataset that can be downloaded; '{entry.name}' cannot. Take its "
            f"files from {entry.home} and put them into '{folder}'."
        )
    for remote in entry.files:
        if overwrite or not remote.is_in(folder):
            fetch(remote, folder, overwrite=overwrite, progress=progress)
    return load(entry.name, base)
