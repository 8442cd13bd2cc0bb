"""Tables that polars cannot read, or reads as something else than what they say."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._archives import refusing


@contextmanager
def refusing_table(path: Path, wanted: str, advice: str) -> Iterator[None]:
    """One `ValueError` that names the file for whatever polars and decompressors raise on it."""
    import polars as pl

    with refusing(path, wanted, advice), _panics_unprinted():
        try:
            yield
        except pl.exceptions.PolarsError as error:
            raise ValueError(str(error)) from None
        except BaseException as error:  # polars panics on some damaged files
            if type(error).__name__ != "PanicException":
                raise
            raise ValueError("a damaged one") from None


@contextmanager
def _panics_unprinted() -> Iterator[None]:
    """Polars prints the traces of its threads when a damaged file makes it panic; the exception
    that follows says all that the reader of one line needs."""
    try:
        out = sys.stderr.fileno()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # no real file: nothing of theirs is seen
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
    """Polars gives the second of two columns of one name another name, in silence."""
    import polars as pl

    header = pl.read_csv(
        source, separator=separator, has_header=False, n_rows=1, infer_schema=False
    )
    names = [name for name in (header.row(0) if header.height else ()) if name is not None]
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ValueError(
            f"`{path}` must have columns of different names; it has two columns {twice[0]!r}. "
            "Rename one of them."
        )
