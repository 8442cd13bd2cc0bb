"""Text tables in other encodings, workbooks and databases."""

from __future__ import annotations

import csv
import io
import random
import zipfile
from pathlib import Path
from typing import Any

import polars as pl

from .mutations import Rows, change_bytes, change_rows, write
from .seeds import write_database
from .tables import changed_bytes, inspect, pick, quoted, read, to_text, unquoted
from .target import ANY, SAME, Change, Target, problem_answer


# -- text in other encodings -------------------------------------------------------------------
def change_written(encoding: str, separator: str) -> Any:
    def change(rng: random.Random, folder: Path) -> Change:
        path = pick(rng, folder)
        kind = rng.random()
        if kind < 0.4:
            return changed_bytes(rng, path)
        text = path.read_bytes().decode(encoding)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
        if kind < 0.65:
            text, what, allowed = *_same_text(rng, rows, separator), SAME
        else:
            rows, what = change_rows(rng, rows)
            text, allowed = to_text(rows, separator), ANY
        write(path, text.encode(encoding, "replace"))
        return Change(f"{path.name}: {what}", allowed)

    return change


def _same_text(rng: random.Random, rows: Rows, separator: str) -> tuple[str, str]:
    kind = rng.choice(("line ends", "quotes", "columns", "rows", "no last end"))
    if kind == "line ends":
        text = to_text(rows, separator, "\r\n")
    elif kind == "quotes":
        text = unquoted([[quoted(cell) for cell in row] for row in rows], separator)
    elif kind == "columns":
        order = rng.sample(range(len(rows[0])), len(rows[0]))
        text = to_text([[row[k] for k in order] for row in rows], separator)
    elif kind == "rows":
        text = to_text([rows[0], *rng.sample(rows[1:], len(rows) - 1)], separator)
    else:
        text = to_text(rows, separator).rstrip("\n")
    return text, f"same, other {kind}"


# -- workbooks ---------------------------------------------------------------------------------
def change_workbook(rng: random.Random, folder: Path) -> Change:
    path = pick(rng, folder)
    kind = rng.random()
    if kind < 0.3:
        return changed_bytes(rng, path)
    if kind < 0.7:
        return _changed_member(rng, path)
    frame = pl.read_excel(path, infer_schema_length=None)
    if kind < 0.85:
        what = rng.choice(("rows", "columns", "place"))
        if what == "rows":
            frame = frame.sample(fraction=1, shuffle=True, seed=rng.getrandbits(30))
        elif what == "columns":
            frame = frame.select(rng.sample(frame.columns, frame.width))
        path.unlink()
        frame.write_excel(path, position="C4" if what == "place" else "A1", table_name="people")
        return Change(f"{path.name}: same, other {what}", SAME)
    rows, what = change_rows(rng, _texts(frame))
    path.unlink()
    _write_rows(path, rows)
    return Change(f"{path.name}: {what}", ANY)


def _texts(frame: pl.DataFrame) -> Rows:
    rows = [["" if cell is None else str(cell) for cell in row] for row in frame.rows()]
    return [list(frame.columns), *rows]


def _write_rows(path: Path, rows: Rows) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(path, {"strings_to_numbers": False}) as book:
        sheet = book.add_worksheet()
        for k, row in enumerate(rows):
            for j, cell in enumerate(row):
                sheet.write_string(k, j, cell)


def _changed_member(rng: random.Random, path: Path) -> Change:
    """A part of the archive with other bytes, and checksums that fit."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    members[name], what = change_bytes(rng, members[name], rng.choice(list(members.values())))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    write(path, out.getvalue())
    return Change(f"{path.name}, {name}: {what}")


# -- databases ---------------------------------------------------------------------------------
def change_database(kind: str) -> Any:
    def change(rng: random.Random, folder: Path) -> Change:
        path = folder / "data.db"
        if rng.random() < 0.6:
            data, what = change_bytes(rng, path.read_bytes())
            write(path, data)
            return Change(f"data.db: {what}")
        parts = {name: _table(kind, path, name) for name in ("edges", "nodes")}
        name = rng.choice(list(parts))
        if rng.random() < 0.5:
            frame = parts[name].sample(fraction=1, shuffle=True, seed=rng.getrandbits(30))
            parts[name], what, allowed = frame, "same, other rows", SAME
        else:
            rows, what = change_rows(rng, _texts(parts[name]))
            width = max(map(len, rows), default=0)
            names = [f"c{k}" for k in range(width)]
            filled = [[*row, *[""] * (width - len(row))] for row in rows[1:]]
            if rows and len({c.lower() for c in rows[0]}) == width and '"' not in str(rows[0]):
                names = [column.replace("\0", "") or "x" for column in rows[0]]
            if not width or len({name.lower() for name in names}) < width:
                return Change("data.db: as it was", SAME)
            schema = dict.fromkeys(names, pl.String)
            parts[name] = pl.DataFrame(filled, schema=schema, orient="row")
            allowed = ANY
        write_database(kind, path, parts)
        return Change(f"data.db, {name}: {what}", allowed)

    return change


def _table(kind: str, path: Path, name: str) -> pl.DataFrame:
    from labeltrick.io.tables import read_frame

    return read_frame(_url(kind, path, name))


def _url(kind: str, path: Path, name: str) -> str:
    return f"{'duckdb:' if kind == 'duckdb' else 'sqlite:///'}{path}?{name}"


def read_database(kind: str) -> Any:
    def read(folder: Path) -> Any:
        from labeltrick.io.tables import Roles, read_problem

        places = [_url(kind, folder / "data.db", name) for name in ("edges", "nodes")]
        return read_problem(*places, Roles(target="label", split="split"))

    return read


def inspect_database(kind: str) -> Any:
    def command(rng: random.Random, folder: Path) -> list[Any]:
        edges, nodes = (_url(kind, folder / "data.db", name) for name in ("edges", "nodes"))
        return ["inspect", "--edges", edges, "--nodes", nodes, "--target", "label"]

    return command


TARGETS = {
    "semicolon": Target(change_written("cp1252", ";"), read, problem_answer, inspect),
    "utf-16": Target(change_written("utf-16", ","), read, problem_answer, inspect),
    "xlsx": Target(change_workbook, read, problem_answer, inspect),
    **{
        kind: Target(
            change_database(kind), read_database(kind), problem_answer, inspect_database(kind)
        )
        for kind in ("duckdb", "sqlite")
    },
}
