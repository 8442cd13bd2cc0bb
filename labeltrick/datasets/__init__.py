"""Public research graphs, read from their original files: ``load("cora")``.

Nothing is fetched: the files lie in one folder, a sub-folder each layout, which `load` takes as
``data_dir`` or from the environment variable ``LABELTRICK_DATA``.
"""

from __future__ import annotations

import os
from typing import Any

from ._dataset import Dataset, Split, rank_features
from ._registry import check_counts, find, names

__all__ = ["Dataset", "Split", "load", "names", "rank_features"]


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
    from .._check import check_count
    from ._files import data_folder

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
    # Another number of neighbours gives another number of edges, which nobody has published.
    check_counts(dataset, entry, folder, edges=not options)
    return dataset
