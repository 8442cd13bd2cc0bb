"""Numbers as people write them become numbers, with a note, and never by a guess."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick.io.tables import Roles, read_problem
from labeltrick.io.tables.sources import Part, Source
from labeltrick.io.tables.written_numbers import decimal_sign, numbers_as_written
from tests.support.people import other_notes


def read(values, decimal=None, **options):
    table = Source((Part("n.csv", len(values), "", decimal),))
    return numbers_as_written(table, pl.Series("x", values, dtype=pl.String), **options)


@pytest.mark.parametrize(
    ("texts", "numbers", "words"),
    [
        (["$1,025", "$999"], [1025, 999], "'$1,025' is read as 1025 (the currency is left out"),
        (["€ 12", "€ 13,50"], [12, 13.5], "decimal comma"),
        (["12 EUR", "13,5 EUR"], [12, 13.5], "the currency is left out"),
        (["12 %", "7.5%", "0"], [12, 7.5, 0], "'12 %' is read as 12 (percent stay percent"),
        (["1 234,5", "7"], [1234.5, 7], "'1 234,5' is read as 1234.5 (decimal comma, thousands"),
        (["1\u202f234,5", "1\xa0000"], [1234.5, 1000], "decimal comma"),
        (["1.234,5", "1.025"], [1234.5, 1025], "decimal comma, thousands"),
        (["1,234.5", "1,025"], [1234.5, 1025], "thousands are separated"),
        (["(12.50)", "3"], [-12.5, 3], "parentheses mean negative numbers"),
        (["-$5", "$(6)", "($7.25)"], [-5, -6, -7.25], "parentheses"),
        (["1,025", "999"], [1025, 999], "'1,025' is read as 1025 (thousands"),
        (["1,025", "0,5"], [1.025, 0.5], "'1,025' is read as 1.025 (decimal comma"),
        (["1,00,000", "5"], [100000, 5], "thousands"),
        (["1'000", "20"], [1000, 20], "thousands"),
        (["−5,5", None], [-5.5, None], "decimal comma"),
        (["1,5e3", "2,5"], [1500, 2.5], "decimal comma"),
        (["1 123 456", "234 567"], [1123456, 234567], "is read as 1123456"),
    ],
)
def test_numbers_are_read_and_noted(texts, numbers, words):
    found, note = read(texts)
    assert found.to_list() == numbers
    assert note.startswith("column 'x': ")
    assert words in note


@pytest.mark.parametrize(
    "texts",
    [
        ["1.025", "2.300"],  # plain
        ["$5", "€6"],  # two currencies
        ["5%", "6"],  # percent of one only
        ["5%", "0%", "0.06"],
        ["1.5", "2,5"],  # two decimal signs
        ["123 456", "234 567"],  # codes of one length
        ["192.168.001.001", "192.168.001.002"],
        ["+49 170 123 456", "+49 171 123 456"],
        ["01.02.2024", "11.12.2024"],
        ["12:30", "1/2"],
        ["007,5", "008,5x"],
        ["a", "b"],
        [],
    ],
)
def test_other_texts_are_left_alone(texts):
    found, note = read(texts)
    assert found.dtype == pl.String
    assert found.to_list() == texts
    assert note == ""


def test_what_may_be_read_in_two_ways_is_not_read():
    for texts in (
        ["1,025", "2,300"],
        ["€1,025", "€2,300"],
        ["€1.025", "€2.300"],
        ["1,025", "1234"],
    ):
        found, note = read(texts)
        assert found.to_list() == texts
        assert "stays text" in note
        assert "--decimal" in note
        with pytest.raises(ValueError, match=r"`n.csv`, column 'x' must hold numbers; .*--decimal"):
            read(texts, required=True)
    assert read(["1,025", "2,300"], ".")[0].to_list() == [1025, 2300]
    assert read(["1,025", "2,300"], ",")[0].to_list() == [1.025, 2.3]
    assert read(["1.025", "2.300"], ",")[0].to_list() == [1025, 2300]


@given(
    st.lists(st.integers(-(10**12), 10**12).map(lambda k: k / 100), min_size=1, max_size=20),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), (" ", "."), ("'", ".")]),
)
def test_any_amounts_come_back(numbers, signs):
    group, decimal = signs
    table = str.maketrans({",": group, ".": decimal})
    texts = [f"{number:,.2f}".translate(table) for number in numbers]
    found, _ = read(texts)
    if found.dtype == pl.String:  # plain numbers stay text
        found = found.cast(pl.Float64)
    np.testing.assert_allclose(found.to_numpy(), numbers)
    assert decimal_sign(pl.Series(texts)) == decimal


def test_a_mistake_among_numbers_is_an_error_that_names_the_row():
    texts = [f"${k},000" for k in range(1, 60)] + ["twelve"]
    with pytest.raises(ValueError, match=r"`n.csv`, row 61, column 'x' must be a number like"):
        read(texts)


def files(folder, nodes, edges="src,dst\n1,2\n2,3\n"):
    (folder / "n.csv").write_text(nodes)
    (folder / "e.csv").write_text(edges)
    return folder / "e.csv", folder / "n.csv"


def test_features_targets_and_weights_are_read_and_ids_are_not(tmp_path):
    rows = "".join(f'"{k},000","${k},{k:03d}.5",{k}.5 %\n' for k in range(1, 60))
    edges = 'src,dst,weight\n"1,000","2,000","1,000.5"\n"2,000","3,000",7\n'
    problem = read_problem(*files(tmp_path, "id,price,rate\n" + rows, edges), Roles(target="rate"))
    assert problem.ids[0] == "1,000"
    assert problem.X["price"][0] == 1001.5
    assert problem.labels.task == "regression"
    assert problem.labels.values[0] == 1.5
    assert max(problem.graph.weights) == 1000.5
    assert [note.split(":")[0] for note in problem.notes if note.startswith("column")] == [
        "column 'weight'", "column 'price'", "column 'rate'",
    ]  # fmt: skip


def test_classes_keep_their_names(tmp_path):
    nodes = "id,rate\n" + "".join(f"{k},{10 * (k % 2)} %\n" for k in range(1, 9))
    problem = read_problem(*files(tmp_path, nodes), Roles(target="rate"))
    assert set(problem.labels.values) == {"0 %", "10 %"}
    assert other_notes(problem) == []


def test_a_target_that_may_be_read_in_two_ways_is_an_error(tmp_path):
    nodes = "id;y\n1;1,025\n2;2,300\n3;4,100\n"
    with pytest.raises(ValueError, match="column 'y' must hold numbers; .* Pass --decimal"):
        read_problem(*files(tmp_path, nodes), Roles(target="y"), task="regression")


def test_separated_thousands_are_shown_by_a_value_that_has_them():
    for texts, example in ((["721,03", "2.731,57"], "'2.731,57' is read as 2731.57"),
                           (["$5.50", "$1,025"], "'$1,025' is read as 1025")):  # fmt: skip
        assert example in read(texts, texts[0][-3])[1]
