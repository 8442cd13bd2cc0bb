"""Tables and queries of databases, opened for reading only."""

import ipaddress
import itertools
import os
import sqlite3
import sys
import uuid

import polars as pl
import pytest

from labeltrick.io.tables import Roles, read_frame, read_problem
from labeltrick.io.tables.databases import _READ_ONLY, _column
from labeltrick.io.tables.frames import read_part

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("sqlalchemy")

TABLES = (
    "create table links (src varchar, dst varchar, weight double)",
    "insert into links values ('a', 'b', 1.5), ('b', 'c', 2.5)",
    "create table people (id varchar, age integer, label varchar)",
    "insert into people values ('a', 31, 'x'), ('b', null, 'y'), ('c', 40, 'x')",
)


@pytest.fixture(params=["duckdb", "sqlite"])
def url(request, tmp_path):
    """The URL of a database with two tables."""
    path = tmp_path / "my data.db"
    connection = (duckdb if request.param == "duckdb" else sqlite3).connect(str(path))
    for statement in TABLES:
        connection.execute(statement)
    if request.param == "sqlite":
        connection.commit()
    connection.close()
    return f"duckdb:{path}" if request.param == "duckdb" else f"sqlite:///{path}"


def test_tables_and_queries_are_edges_and_nodes(url):
    query = f"{url}?select id, age, label as y from people where id <> '?' order by id"
    found = read_problem(f"{url}?links", query, Roles(target="y"))
    assert found.ids.to_list() == ["a", "b", "c"]
    assert found.X["age"].to_list() == [31, None, 40]
    assert found.labels.values.tolist() == ["x", "y", "x"]
    assert sorted(found.graph.weights.tolist()) == [1.5, 1.5, 2.5, 2.5]


def test_messages_name_the_row(url):
    query = f"{url}?select id, label from people order by id"
    with pytest.raises(ValueError, match=r"from people order by id`, row 1, column 'label' must"):
        read_problem(f"{url}?links", query, Roles(split="label"))


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("", r"must name a table or a query; its tables are: links, people"),
        ("?peple", r"got 'peple'. Did you mean 'people'\?"),
        ("?drop table people", "must name a table or a query that begins with select"),
        ("?select nothing from people", "must be a database that can be read; got: .*nothing"),
        ("?select 1 as a, 2 as a", "two columns 'a'"),
        ("?select * from people where id = 'z'", "must have rows"),
        ("?with x as (select 1 as a) select * from x; drop table people", "must"),
    ],
)
def test_what_cannot_be_read_is_said(url, inside, words):
    with pytest.raises(ValueError, match=words) as caught:
        read_frame(url + inside)
    assert "my data.db" in str(caught.value)
    assert read_frame(f"{url}?people").height == 3


def test_the_only_table_is_read_and_named(tmp_path):
    connection = sqlite3.connect(tmp_path / "one.db")
    connection.execute("create table t as select 1 as id, 'x' as y")
    connection.commit()
    connection.close()
    part, frame = read_part(f"sqlite:///{tmp_path}/one.db")
    assert frame.rows() == [(1, "x")]
    assert part.note.endswith("one.db: its only table is read, 't'")


def test_a_database_is_not_created_and_not_changed(tmp_path):
    for scheme in ("duckdb:", "sqlite:///"):
        with pytest.raises(FileNotFoundError, match=r"none\.db` must exist"):
            read_frame(f"{scheme}{tmp_path}/none.db?t")
    assert list(tmp_path.iterdir()) == []


def test_reading_leaves_the_file_as_it_was(url, tmp_path):
    path = tmp_path / "my data.db"
    before = path.read_bytes()
    read_frame(f"{url}?people")
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["my data.db"]


@pytest.mark.parametrize(
    "query",
    ["select * from read_csv('{0}/secret.csv')", "select * from '{0}/secret.csv'",
     "with x as (select 1) select * from read_text('{0}/secret.csv')"],
)  # fmt: skip
def test_a_query_cannot_reach_other_files(tmp_path, query):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    duckdb.connect(str(tmp_path / "d.db")).close()
    with pytest.raises(ValueError, match=r"d\.db.* must be a database that can be read"):
        read_frame(f"duckdb:{tmp_path}/d.db?{query.format(tmp_path)}")


def test_values_of_several_types_in_a_column_become_text(tmp_path):
    connection = sqlite3.connect(tmp_path / "d.db")
    connection.execute("create table t (id, x)")
    connection.executemany("insert into t values (?, ?)", [(7, 1), ("007", 2.5), (None, 3)])
    connection.commit()
    connection.close()
    frame = read_frame(f"sqlite:///{tmp_path}/d.db?t")
    assert frame["id"].to_list() == ["7", "007", None]
    assert frame["x"].to_list() == [1, 2.5, 3]


def test_values_of_types_that_tables_do_not_have_become_text():
    number, address = uuid.UUID(int=7), ipaddress.ip_address("10.0.0.1")
    assert _column("id", [number, None]).to_list() == [str(number), None]
    assert _column("host", [address]).to_list() == ["10.0.0.1"]
    assert _column("bytes", [memoryview(b"q"), None]).to_list() == [b"q", None]
    assert _column("none", [None, None]).dtype == pl.Null


@pytest.mark.skipif("LABELTRICK_POSTGRESQL" not in os.environ, reason="needs a server")
def test_a_postgresql_server_is_read_and_not_changed():
    """``LABELTRICK_POSTGRESQL`` is the URL of a database that may be written to."""
    import sqlalchemy

    url = os.environ["LABELTRICK_POSTGRESQL"]
    people = [(uuid.uuid4(), age, label) for age, label in ((31, "x"), (None, "y"), (40, None))]
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        run = connection.exec_driver_sql
        run("drop table if exists lt_links, lt_people")
        run("create table lt_people (id uuid primary key, age numeric(5, 1), label text)")
        run("create table lt_links (n serial, src uuid, dst uuid, at timestamptz default now())")
        for person in people:
            run("insert into lt_people values (%s, %s, %s)", tuple(map(_plain, person)))
        for one, other in itertools.pairwise(people):
            run("insert into lt_links (src, dst) values (%s, %s)", (str(one[0]), str(other[0])))
        try:
            found = read_problem(f"{url}?lt_links", f"{url}?lt_people", Roles(target="label"))
            assert found.ids.to_list() == [str(person[0]) for person in people]
            assert found.X["age"].to_list() == [31, None, 40]
            assert found.labels.values.tolist() == ["x", "y", None]
            assert found.graph.n_edges == 2
            assert "edges: src → dst; time at (not used); not used: n" in found.notes
            with pytest.raises(ValueError, match="read-only transaction"):
                read_frame(f"{url}?select nextval('lt_links_n_seq')")
            with pytest.raises(ValueError, match="must be a database that can be read"):
                read_frame(f"{url}?with x as (delete from lt_links returning *) select * from x")
            assert run("select count(*) from lt_links").scalar() == 2
        finally:
            run("drop table lt_links, lt_people")


def _plain(value):
    return str(value) if isinstance(value, uuid.UUID) else value


def test_files_that_are_not_databases_are_refused(tmp_path):
    (tmp_path / "d.db").write_text("src,dst\n1,2\n" * 500)
    for scheme in ("duckdb:", "sqlite:///"):
        with pytest.raises(ValueError, match=r"d\.db\?t` must be a database that can be read"):
            read_frame(f"{scheme}{tmp_path}/d.db?t")


def test_other_databases_and_missing_drivers(monkeypatch):
    with pytest.raises(ValueError, match="must be a database that can be opened for reading only"):
        read_frame("mssql://me:secret@host/db?t")
    monkeypatch.setitem(sys.modules, "oracledb", None)
    with pytest.raises(ImportError, match=r"oracle\+oracledb://host/db\?t` needs the driver"):
        read_frame("oracle+oracledb://host/db?t")
    monkeypatch.setitem(sys.modules, "MySQLdb", None)
    with pytest.raises(ImportError, match=r"'MySQLdb'. Install it with: pip install mysqlclient$"):
        read_frame("mysql://host/db?t")


def test_passwords_are_not_in_errors(monkeypatch):
    import sqlalchemy

    def fail(url, **_):
        raise sqlalchemy.exc.ArgumentError(f"cannot connect to {url}")

    monkeypatch.setattr(sqlalchemy, "create_engine", fail)
    with pytest.raises(ValueError, match="must be a database") as caught:
        read_frame("postgresql://me:hunter2@host/db?sslpassword=abcde&x=1?people")
    assert "hunter2" not in str(caught.value)
    assert "abcde" not in str(caught.value)
    with pytest.raises(ValueError, match="must have a password, which settings do not keep"):
        read_frame("postgresql://me:***@host/db?people")


class Connection:
    """Records what is asked of a connection."""

    def __init__(self):
        self.asked = []

    def execution_options(self, **options):
        self.asked.append(options)
        return self

    def exec_driver_sql(self, text):
        self.asked.append(text)

    def commit(self):
        self.asked.append("commit")


@pytest.mark.parametrize(
    ("scheme", "asked"),
    [
        ("postgresql", [{"postgresql_readonly": True}]),
        ("mysql", ["SET SESSION TRANSACTION READ ONLY", "commit"]),
        ("oracle", ["SET TRANSACTION READ ONLY"]),
    ],
)
def test_transactions_on_servers_are_read_only(scheme, asked):
    connection = Connection()
    assert _READ_ONLY[scheme](connection) is connection
    assert connection.asked == asked


@pytest.mark.parametrize("module", ["duckdb", "pyarrow", "sqlalchemy"])
def test_what_to_install_is_said(tmp_path, monkeypatch, module):
    (tmp_path / "d.db").write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    scheme = "sqlite:///" if module == "sqlalchemy" else "duckdb:"
    with pytest.raises(ImportError, match=rf"needs {module}. .* pip install \"labeltrick\[sql\]\""):
        read_frame(f"{scheme}{tmp_path}/d.db?t")
