"""CSV, TSV, JSON lines and Parquet: tables of edges and nodes."""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import io
import json
import lzma
import random
from pathlib import Path
from typing import Any

import polars as pl

from .mutations import Rows, change_bytes, change_rows, change_tree, dump, write
from .target import ANY, SAME, Change, Target, problem_answer

_PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def read(folder: Path) -> Any:
    from labeltrick.io.tables import Roles, read_problem

    edges, nodes = (next(folder.glob(f"{part}.*")) for part in ("edges", "nodes"))
    return read_problem(edges, nodes, Roles(target="label", split="split"))


def inspect(rng: random.Random, folder: Path) -> list[Any]:
    edges, nodes = (next(folder.glob(f"{part}.*")) for part in ("edges", "nodes"))
    if rng.random() < 0.5:
        return ["inspect", "--edges", edges, "--nodes", nodes, "--target", "label"]
    return [
        "fit", "--edges", edges, "--nodes", nodes, "--target", "label",
        "--model", "label-propagation", "--out", folder.parent / "cwd" / "out",
    ]  # fmt: skip


def pick(rng: random.Random, folder: Path) -> Path:
    return rng.choice(sorted(folder.iterdir()))


def changed_bytes(rng: random.Random, path: Path) -> Change:
    other = rng.choice(sorted(path.parent.iterdir())).read_bytes()
    data, what = change_bytes(rng, path.read_bytes(), other)
    write(path, data)
    return Change(f"{path.name}: {what}")


def _pack(rng: random.Random, path: Path) -> str:
    ending = rng.choice(list(_PACKERS))
    write(path.with_name(path.name + ending), _PACKERS[ending](path.read_bytes()))
    path.unlink()
    return ending


# -- delimited text ----------------------------------------------------------------------------
def to_text(rows: Rows, separator: str, end: str = "\n") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator=end).writerows(rows)
    return out.getvalue()


def read_rows(path: Path) -> Rows:
    """A delimited seed as rows of cells."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def change_delimited(rng: random.Random, folder: Path) -> Change:
    path = pick(rng, folder)
    kind = rng.random()
    if kind < 0.35:
        return changed_bytes(rng, path)
    separator = "\t" if path.suffix == ".tsv" else ","
    rows = read_rows(path)
    if kind < 0.55:
        return _same_delimited(rng, path, rows, separator)
    what = []
    for _ in range(rng.choice((1, 1, 2))):
        rows, step = change_rows(rng, rows)
        what.append(step)
        if not rows:
            break
    text = to_text(rows, separator) if rng.random() < 0.8 else unquoted(rows, separator)
    write(path, _encoded(rng, text, what))
    if rng.random() < 0.1:
        packed = _pack(rng, path)
        what.append(f"packed as {packed}")
        if rng.random() < 0.5:
            file = path.with_name(path.name + packed)
            write(file, change_bytes(rng, file.read_bytes())[0])
    return Change(f"{path.name}: {', '.join(what)}")


def unquoted(rows: Rows, separator: str) -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if cell else ""


def _encoded(rng: random.Random, text: str, what: list[str]) -> bytes:
    if rng.random() < 0.9:
        return text.encode("utf-8", "surrogatepass")
    encoding = rng.choice(("utf-16", "utf-16-le", "latin-1", "utf-8-sig", "utf-32"))
    what.append(f"in {encoding}")
    return text.encode(encoding, "replace")


def _same_delimited(rng: random.Random, path: Path, rows: Rows, separator: str) -> Change:
    """Another form of the same table."""
    kind = rng.choice(("line ends", "quotes", "columns", "rows", "BOM", "packed", "no last end"))
    if kind == "line ends":
        data = to_text(rows, separator, "\r\n").encode()
    elif kind == "quotes":
        data = unquoted([[quoted(cell) for cell in row] for row in rows], separator).encode()
    elif kind == "columns":
        order = rng.sample(range(len(rows[0])), len(rows[0]))
        data = to_text([[row[k] for k in order] for row in rows], separator).encode()
    elif kind == "rows":
        data = to_text([rows[0], *rng.sample(rows[1:], len(rows) - 1)], separator).encode()
    elif kind == "BOM":
        data = b"\xef\xbb\xbf" + path.read_bytes()
    elif kind == "packed":
        return Change(f"{path.name}: packed as {_pack(rng, path)}", SAME)
    else:
        data = path.read_bytes().rstrip(b"\n")
    write(path, data)
    return Change(f"{path.name}: same, other {kind}", SAME)


# -- JSON lines --------------------------------------------------------------------------------
def change_jsonl(rng: random.Random, folder: Path) -> Change:
    path = pick(rng, folder)
    kind = rng.random()
    if kind < 0.4:
        return changed_bytes(rng, path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    if kind < 0.6:
        return _same_jsonl(rng, path, lines)
    at = rng.randrange(len(lines))
    lines[at], what = change_tree(rng, lines[at])
    if rng.random() < 0.2:
        lines = [lines[at]] * len(lines)
    end = rng.choice(("\n", "\n", "\r\n", "\n\n", ","))
    write(path, end.join(dump(line) for line in lines) + "\n")
    return Change(f"{path.name}: row {at + 1}, {what}")


def _same_jsonl(rng: random.Random, path: Path, lines: list[dict[str, Any]]) -> Change:
    kind = rng.choice(("line ends", "escapes", "rows", "packed", "spaces", "keys", "no last end"))
    options: dict[str, Any] = {"ensure_ascii": kind == "escapes"}
    end, last = "\n", "\n"
    if kind == "line ends":
        end = last = "\r\n"
    elif kind == "rows":
        rng.shuffle(lines)
    elif kind == "spaces":
        options["separators"] = (" , ", " : ")
    elif kind == "keys":
        lines = [dict(rng.sample(list(line.items()), len(line))) for line in lines]
    elif kind == "no last end":
        last = ""
    write(path, end.join(json.dumps(line, **options) for line in lines) + last)
    what = f"packed as {_pack(rng, path)}" if kind == "packed" else f"same, other {kind}"
    return Change(f"{path.name}: {what}", SAME)


# -- Parquet -----------------------------------------------------------------------------------
def change_parquet(rng: random.Random, folder: Path) -> Change:
    path = pick(rng, folder)
    kind = rng.random()
    if kind < 0.5:
        return changed_bytes(rng, path)
    frame = pl.read_parquet(path)
    if kind < 0.65:
        return _same_parquet(rng, path, frame)
    name = rng.choice(frame.columns)
    made = list(_COLUMNS)
    what = rng.choice(made)
    try:
        frame = _COLUMNS[what](frame, name)
        frame.write_parquet(path, compression=rng.choice(("zstd", "snappy", "uncompressed")))
    except pl.exceptions.PolarsError:
        return changed_bytes(rng, path)
    if rng.random() < 0.2:
        return changed_bytes(rng, path)
    return Change(f"{path.name}: {what} in {name!r}", ANY)


def _same_parquet(rng: random.Random, path: Path, frame: pl.DataFrame) -> Change:
    kind = rng.choice(("compression", "rows", "row groups", "columns", "a folder of parts"))
    options: dict[str, Any] = {}
    if kind == "compression":
        options["compression"] = rng.choice(("snappy", "gzip", "brotli", "lz4", "uncompressed"))
    elif kind == "row groups":
        options["row_group_size"] = 4
    elif kind == "rows":
        frame = frame.sample(fraction=1, shuffle=True, seed=rng.getrandbits(30))
    elif kind == "columns":
        frame = frame.select(rng.sample(frame.columns, frame.width))
    path.unlink()
    if kind == "a folder of parts":
        path.mkdir()
        frame[:5].write_parquet(path / "part-0.parquet")
        frame[5:].write_parquet(path / "part-1.parquet")
    else:
        frame.write_parquet(path, **options)
    return Change(f"{path.name}: same, other {kind}", SAME)


def _fill(frame: pl.DataFrame, name: str, value: Any) -> pl.DataFrame:
    return frame.with_columns(pl.Series(name, [value] * frame.height))


def _cast(dtype: Any) -> Any:
    return lambda frame, name: frame.with_columns(pl.col(name).cast(dtype, strict=False))


_COLUMNS = {
    "no rows": lambda frame, name: frame.clear(),
    "left out": lambda frame, name: frame.drop(name),
    "no values": lambda frame, name: _fill(frame, name, None),
    "lists": lambda frame, name: _fill(frame, name, [1, 2]),
    "records": lambda frame, name: _fill(frame, name, {"a": 1, "b": "x"}),
    "binary": lambda frame, name: _fill(frame, name, b"\xff\x00"),
    "dates": lambda frame, name: _fill(frame, name, datetime.date(1, 1, 1)),
    "times": lambda frame, name: _fill(frame, name, datetime.timedelta(days=10**6)),
    "large numbers": lambda frame, name: _fill(frame, name, 2**63 - 1),
    "not a number": lambda frame, name: _fill(frame, name, float("nan")),
    "infinite": lambda frame, name: _fill(frame, name, float("inf")),
    "blank texts": lambda frame, name: _fill(frame, name, ""),
    "unsigned": _cast(pl.UInt64),
    "categories": _cast(pl.Categorical),
    "decimals": _cast(pl.Decimal(20, 3)),
    "floats": _cast(pl.Float32),
    "texts": _cast(pl.String),
    "truth values": _cast(pl.Boolean),
    "renamed": lambda frame, name: frame.rename({name: f"{name} "}),
    "repeated": lambda frame, name: pl.concat([frame, frame]),
}

TARGETS = {
    "csv": Target(change_delimited, read, problem_answer, inspect),
    "tsv": Target(change_delimited, read, problem_answer, inspect),
    "jsonl": Target(change_jsonl, read, problem_answer, inspect),
    "parquet": Target(change_parquet, read, problem_answer, inspect),
}
