"""Reading a table or the result of a query from a database, without changing it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any
from urllib.parse import quote

import polars as pl

from ..._utils import memory
from ..._utils.extras import require
from ..._utils.memory import shown_bytes
from ..._utils.table_errors import refusing_table, require_distinct
from .places import HIDDEN, Place, require_path

_READ_ONLY: dict[str, Any] = {
    "postgresql": lambda connection: connection.execution_options(postgresql_readonly=True),
    "mysql": lambda connection: _begin(connection, "SET SESSION TRANSACTION READ ONLY"),
    "mariadb": lambda connection: _begin(connection, "SET SESSION TRANSACTION READ ONLY"),
    "oracle": lambda connection: _begin(connection, "SET TRANSACTION READ ONLY", end=False),
    "sqlite": lambda connection: connection,
}
"""How the transactions of each kind of database are made read-only."""

# What to install for a driver whose module has another name, or needs more.
_PACKAGES = {
    "MySQLdb": "mysqlclient",
    "psycopg": '"psycopg[binary]"',
    "psycopg2": "psycopg2-binary",
}

_SELECT = re.compile(r"^\s*(?:select|with)\b", re.IGNORECASE)
_ROWS_AT_ONCE = 50_000
_BYTES_PER_CELL = 100  # of rows as Python has them
# Only the database itself can be reached from a query: no other files, no extensions.
_CLOSED = {
    "enable_external_access": "false", "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false", "allow_community_extensions": "false",
    "lock_configuration": "true",
}  # fmt: skip


def read_database(place: Place) -> tuple[pl.DataFrame, str]:
    """The table or the result of the query that a place names, and a note if no table is named and
    there is only one."""
    if place.path is not None:
        require_path(place.path)
    if f":{HIDDEN}@" in place.where:
        raise ValueError(
            f"`{place.shown}` must have a password, which settings do not keep. Pass the URL again "
            "on the command line."
        )
    if place.scheme not in (*_READ_ONLY, "duckdb"):
        raise ValueError(
            f"`{place.shown}` must be a database that can be opened for reading only: "
            f"{', '.join(sorted([*_READ_ONLY, 'duckdb']))}. Export the table to a file."
        )
    read = _read_duckdb if place.scheme == "duckdb" else _read_sqlalchemy
    with refusing_table(place.shown, "a database that can be read", "Correct the URL or query."):
        frame, name = read(place)
    if not frame.height:
        raise ValueError(f"`{place.shown}` must have rows; it has none.")
    note = "" if place.inside else f"{place.shown}: its only table is read, {name!r}"
    return frame, note


def _query(place: Place, tables: list[str], quoted: Any) -> tuple[str, str]:
    """The query to run, and the name of the table if there is one."""
    if _SELECT.match(place.inside):
        return place.inside, ""
    listed = ", ".join(tables[:20]) or "none"
    name = place.inside
    if not name:
        if len(tables) != 1:
            raise ValueError(
                f"`{place.shown}` must name a table or a query; its tables are: {listed}. Write "
                f"{place.shown}?{tables[0] if tables else 'TABLE'}"
            )
        name = tables[0]
    if name not in tables:
        near = get_close_matches(name, tables, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"`{place.shown}` must name a table or a query that begins with select or with; got "
            f"{name!r}.{hint} Its tables are: {listed}."
        )
    return f"select * from {quoted(name)}", name


# -- DuckDB ------------------------------------------------------------------------------------
def _read_duckdb(place: Place) -> tuple[pl.DataFrame, str]:
    duckdb = require("duckdb", f"reading '{place.shown}'")
    require("pyarrow", f"reading '{place.shown}'")
    room = memory.room()
    config = {"memory_limit": f"{max(room // 2**20, 64)}MiB", "threads": "1", **_CLOSED}
    try:
        with duckdb.connect(str(place.path), read_only=True, config=config) as connection:
            found = connection.sql(
                "select table_name from information_schema.tables order by table_name"
            ).fetchall()
            query, name = _query(place, [row[0] for row in found], _quoted)
            statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise ValueError(f"`{place.shown}` must hold one query that only reads.")
            relation = connection.sql(query)
            require_distinct(place.shown, relation.columns)
            n_rows = relation.count("*").fetchall()[0][0]
            _require_room(n_rows * len(relation.columns) * 8, room)
            # Read directly, a relation makes DuckDB 2.0 print lines about leaks at the end.
            return pl.DataFrame(relation.to_arrow_table()), name
    except duckdb.Error as error:
        raise ValueError(_first_line(error, place)) from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# -- SQLAlchemy --------------------------------------------------------------------------------
def _read_sqlalchemy(place: Place) -> tuple[pl.DataFrame, str]:
    sqlalchemy = require("sqlalchemy", f"reading '{place.shown}'")
    try:
        with _reading(sqlalchemy, place) as connection:
            looked = sqlalchemy.inspect(connection)
            tables = [] if _SELECT.match(place.inside) else _tables(looked)
            quoted = connection.dialect.identifier_preparer.quote_identifier
            query, name = _query(place, tables, quoted)
            result = connection.exec_driver_sql(query)
            return _frame(place, result), name
    except ModuleNotFoundError as error:
        package = _PACKAGES.get(str(error.name), error.name)
        raise ImportError(
            f"`{place.shown}` needs the driver {error.name!r}. Install it with: pip install "
            f"{package}"
        ) from None
    # Python 3.10 raises a warning for a second statement.
    except (sqlalchemy.exc.SQLAlchemyError, sqlite3.Error, sqlite3.Warning) as error:
        raise ValueError(_first_line(error, place)) from None


def _tables(looked: Any) -> list[str]:
    return sorted([*looked.get_table_names(), *looked.get_view_names()])


@contextmanager
def _reading(sqlalchemy: Any, place: Place) -> Iterator[Any]:
    """A connection that cannot write."""
    if place.scheme == "sqlite":
        engine = sqlalchemy.create_engine("sqlite://", creator=lambda: _open_sqlite(place),
                                          poolclass=sqlalchemy.pool.NullPool)  # fmt: skip
    else:
        engine = sqlalchemy.create_engine(place.where, poolclass=sqlalchemy.pool.NullPool)
    with engine.connect() as connection:
        try:
            yield _READ_ONLY[place.scheme](connection).execution_options(stream_results=True)
        finally:
            connection.rollback()


def _open_sqlite(place: Place) -> sqlite3.Connection:
    assert place.path is not None
    connection = sqlite3.connect(f"file:{quote(str(place.path.absolute()))}?mode=ro", uri=True)
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _begin(connection: Any, statement: str, *, end: bool = True) -> Any:
    connection.exec_driver_sql(statement)
    if end:
        connection.commit()  # the next transaction is read-only
    return connection


def _frame(place: Place, result: Any) -> pl.DataFrame:
    names = list(result.keys())
    require_distinct(place.shown, names)
    rows: list[Any] = []
    room = memory.room()
    while some := result.fetchmany(_ROWS_AT_ONCE):
        rows += some
        _require_room(len(rows) * len(names) * _BYTES_PER_CELL, room)
    return pl.DataFrame([_column(n, [row[k] for row in rows]) for k, n in enumerate(names)])


def _column(name: str, values: list[Any]) -> pl.Series:
    """A column of one type. SQLite allows several in a column: they become text, and so do values
    of types that tables do not have, such as UUIDs and addresses."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and kinds != {int, float}:
        if bytes in kinds:
            raise ValueError(f"column {name!r} holds bytes")
        return pl.Series(name, _as_texts(values))
    if kinds == {memoryview}:
        values = [None if value is None else bytes(value) for value in values]
    series = pl.Series(name, values, strict=kinds != {int, float})
    return series if series.dtype != pl.Object else pl.Series(name, _as_texts(values))


def _as_texts(values: list[Any]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]


def _require_room(n_bytes: int, room: int) -> None:
    if n_bytes > room:
        raise ValueError(f"more rows than fit into {shown_bytes(room)}")


def _first_line(error: Exception, place: Place) -> str:
    """What a library says, without passwords."""
    text = next(iter(str(error).strip().splitlines()), type(error).__name__)
    for secret in place.secrets:
        text = text.replace(secret, HIDDEN)
    return text
