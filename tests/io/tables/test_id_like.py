"""Numbers that look like ids are not features; measured numbers are."""

import numpy as np
import polars as pl
import pytest

from labeltrick.io.tables import read_problem

N = 200
RNG = np.random.default_rng(0)
IDS = {
    "row": np.arange(N),
    "shuffled": RNG.permutation(N) + 5000,
    "customer_id": RNG.choice(10**6, N, replace=False),
    "phone": RNG.choice(10**9, N, replace=False),
    "contact": 4_915_100_000_000 + RNG.choice(10**9, N, replace=False),
    "article": [f"0{k}" for k in RNG.choice(10**6, N, replace=False)],
    "code": [f"C-{k:05}" for k in range(N)],
    "token": [f"{k:08x}-0000-4000-8000-{k:012x}" for k in RNG.choice(10**6, N, replace=False)],
}
MEASURED = {
    "price": RNG.choice(np.arange(10_000, 90_000), N, replace=False),
    "population": RNG.choice(10**7, N, replace=False),
    "height": RNG.normal(size=N),
    "seconds": 1_600_000_000 + RNG.choice(10**8, N, replace=False),
    "age": RNG.integers(18, 90, N),
    "dollars": np.arange(N) * 1.0 + 0.25,
}


def features(folder, columns):
    names = [f"person {k}" for k in range(N)]
    pl.DataFrame({"src": names[:-1], "dst": names[1:]}).write_csv(folder / "e.csv")
    pl.DataFrame({"id": names, **columns}).write_csv(folder / "n.csv")
    return read_problem(folder / "e.csv", folder / "n.csv")


@pytest.mark.parametrize("name", IDS)
def test_ids_are_not_features(tmp_path, name):
    problem = features(tmp_path, {name: IDS[name], "height": MEASURED["height"]})
    assert problem.X.columns == ["height"]
    note = next(kind.note for kind in problem.kinds if kind.name == name)
    assert any(f"not used: {name} ({note})" in said for said in problem.notes)


@pytest.mark.parametrize("name", MEASURED)
def test_measured_numbers_are_features(tmp_path, name):
    assert features(tmp_path, {name: MEASURED[name]}).X.columns == [name]


def test_ids_of_a_few_rows_are_not_guessed(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\na,b\nb,c\n")
    (tmp_path / "n.csv").write_text("id,x\na,1\nb,2\nc,3\n")
    assert read_problem(tmp_path / "e.csv", tmp_path / "n.csv").X.columns == ["x"]


def test_no_column_of_public_data_is_lost(data_dir, tmp_path):
    county = pl.read_csv(data_dir / "county" / "county_2012.csv").with_row_index("id")
    county.write_csv(tmp_path / "county.csv")
    problem = read_problem(data_dir / "county" / "edges.csv", tmp_path / "county.csv")
    assert problem.X.columns == county.columns[1:]
    names = ["lon", "lat", "age", "rooms", "beds", "population", "households", "income", "value"]
    house = pl.read_csv(
        data_dir / "house" / "cal_housing.data", has_header=False, new_columns=names
    )
    n = house.height
    house.with_row_index("id").write_csv(tmp_path / "house.csv")
    pl.DataFrame({"src": range(n - 1), "dst": range(1, n)}).write_csv(tmp_path / "e.csv")
    assert read_problem(tmp_path / "e.csv", tmp_path / "house.csv").X.columns == names
    folder = data_dir / "wikipedia-chameleon"
    assert read_problem(folder / "edges.csv", folder / "target.csv").X.columns == ["target"]
