"""Places of tables: files, sheets and databases; passwords are never shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick.io.tables.places import Place, masked, require_opened_by_the_user


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a.csv", Place("file", "a.csv")),
        ("a?b=select.csv", Place("file", "a?b=select.csv")),
        ("dir/a.xlsx", Place("sheet", "dir/a.xlsx")),
        ("a.XLSX#My sheet", Place("sheet", "a.XLSX", "My sheet")),
        ("duckdb:a.db", Place("database", "duckdb:a.db")),
        ("duckdb:a.db?t", Place("database", "duckdb:a.db", "t")),
        ("sqlite:///a.db?SELECT 1", Place("database", "sqlite:///a.db", "SELECT 1")),
        ("sqlite:///a.db? with x as (select '?') select 1",
         Place("database", "sqlite:///a.db", "with x as (select '?') select 1")),
        ("postgresql://h/d?sslmode=require", Place("database", "postgresql://h/d?sslmode=require")),
        ("postgresql://h/d?sslmode=require?t",
         Place("database", "postgresql://h/d?sslmode=require", "t")),
    ],
)  # fmt: skip
def test_places_are_parsed(text, place):
    assert Place.of(text) == place


@given(
    st.text(st.characters(exclude_characters="*", exclude_categories=["Cs"]), min_size=6),
    st.sampled_from(["postgresql", "mysql+pymysql", "oracle+oracledb"]),
    st.sampled_from(["", "?people", "?select 1 from t", "?sslmode=require"]),
)
def test_passwords_are_never_shown_or_stored(password, scheme, rest):
    text = f"{scheme}://ab:{password}@host:5432/db{rest}"
    for found in (masked(text), Place.of(text).absolute):
        assert password not in found.replace(f"{scheme}://ab:***@host:5432/db{rest}", "")
        assert "***@host" in found


def test_secrets_among_parameters_are_masked():
    text = "postgresql://me@h/d?sslpassword=abc&user=x&api_key=def?t"
    assert masked(text) == "postgresql://me@h/d?sslpassword=***&user=x&api_key=***?t"
    assert Place.of(text).secrets == ["abc", "def"]


def test_places_are_the_same_in_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Place.of("a.xlsx#S").absolute == f"{tmp_path}/a.xlsx#S"
    assert Place.of("duckdb:a.db?t").absolute == f"duckdb:{tmp_path}/a.db?t"
    assert Place.of("sqlite:///a.db?t").absolute == f"sqlite:///{tmp_path}/a.db?t"
    for text in ("a.csv", "a.xlsx#S", "duckdb:a.db?t", "sqlite:///a.db?select 1"):
        once = Place.of(text).absolute
        assert Place.of(once).absolute == once


def test_servers_are_opened_only_if_the_user_names_them():
    require_opened_by_the_user("config.toml", "edges", ("a.csv", "duckdb:a.db?t", "b.xlsx"))
    with pytest.raises(
        ValueError, match=r"`config.toml` names a database on a server, my.*\*\*\*@h"
    ):
        require_opened_by_the_user("config.toml", "edges", ("a.csv", "mysql://a:b@h/d?t"))
