"""Errors for tables that polars cannot read, or reads wrongly without a warning."""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .archives import refusing

_FIRST_LINES = 100


@contextmanager
def refusing_table(path: Path | str, wanted: str, advice: str) -> Iterator[None]:
    """Turn the errors of polars and decompressors into one `ValueError` that names the file."""
    import polars as pl

    with refusing(path, wanted, advice), _panics_unprinted():
        try:
            yield
        except pl.exceptions.PolarsError as error:
            raise ValueError(str(error)) from None
        except BaseException as error:  # polars panics on some damaged files
            if type(error).__name__ != "PanicException":
                raise
            raise ValueError("a damaged file") from None


@contextmanager
def _panics_unprinted() -> Iterator[None]:
    """Hide the traces that polars prints when a damaged file makes it panic; the exception that
    follows is enough."""
    try:
        out = sys.stderr.fileno()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # not a real file: nothing is printed there
        yield
        return
    kept = os.dup(out)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), out)
        yield
    finally:
        os.dup2(kept, out)
        os.close(kept)


def require_distinct_columns(path: Path, source: Any, separator: str) -> None:
    """Refuse two columns of the same name: polars silently renames the second."""
    import polars as pl

    options: dict[str, Any] = {"has_header": False, "n_rows": 1, "infer_schema": False}
    if isinstance(source, Path):
        options["glob"] = False  # "[" in a file name is an ordinary character
    header = pl.read_csv(source, separator=separator, **options)
    require_distinct(path, header.row(0) if header.height else ())


def require_distinct_keys(path: Path, source: Path | bytes) -> None:
    """Refuse two values under the same key: polars silently drops one. A program that writes such
    lines repeats the mistake on every line, so only the first lines are checked."""
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as lines:
        for line in itertools.islice(lines, _FIRST_LINES):
            if line.strip():
                json.loads(line, object_pairs_hook=lambda pairs: _checked(path, pairs))


def _checked(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    require_distinct(path, [key for key, _ in pairs])
    return dict(pairs)


def require_distinct(path: Path | str, names: Iterable[str | None]) -> None:
    """Refuse two columns of the same name."""
    for name, count in Counter(names).items():
        if count > 1 and name is not None:
            raise ValueError(
                f"`{path}` must have columns of different names; it has two columns {name!r}. "
                "Rename one of them."
            )
