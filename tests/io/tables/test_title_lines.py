"""Lines above the header, and first rows that are none."""

import pytest

from labeltrick.io.tables.frames import read_frame, read_part
from labeltrick.io.tables.text_formats import TextFormat, find_format
from labeltrick.io.tables.title_lines import n_above_header

BODY = [["id", "size", "town"], ["a", "1", "Ulm"], ["b", "2", ""]]


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ([], 0),
        ([["Towns"]], 1),
        ([["Towns"], [], ["as of 2020"]], 3),
        ([["Towns", "", ""], ["", "", ""]], 2),
        ([["", "size", "town"]], 0),  # an index of pandas
        ([["id", "size", ""]], 0),  # a column without a name
    ],
)
def test_how_many_rows_are_above_the_header(above, expected):
    assert n_above_header(above + BODY) == expected


@pytest.mark.parametrize(
    "rows",
    [
        [["name"], ["Smith", " John"], ["Doe", " Jane"]],  # one column of names with commas
        [["Towns"], ["1", "2", "3"], ["4", "5", "6"]],  # no row that names columns
        [["Towns"], ["a", "a", "b"], ["4", "5", "6"]],
        [["Towns"], ["id", "size", "town"]],  # no rows
        [["name"], ["Smith"], ["Doe"]],
    ],
)
def test_what_cannot_be_told_is_left_as_it_is(rows):
    assert n_above_header(rows) == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_titles_in_all_encodings(tmp_path, encoding, end):
    lines = ["Größe der Städte, 2020", "", "id;size;town", "a;1,5;Köln", "b;2,5;Ulm"]
    (tmp_path / "t.csv").write_bytes(end.join(lines).encode(encoding))
    frame = read_frame(tmp_path / "t.csv", text=True)
    assert frame.columns == ["id", "size", "town"]
    assert frame["town"].to_list() == ["Köln", "Ulm"]
    part, _ = read_part(str(tmp_path / "t.csv"))
    assert "2 lines above the header are left out: 'Größe der Städte, 2020' …" in part.note
    assert part.row(0) == "row 4"


def test_a_title_of_several_lines_in_quotes(tmp_path):
    (tmp_path / "t.csv").write_text('"Towns,\nall of them"\nid,size,town\na,1,Ulm\nb,2,Bonn\n')
    part, frame = read_part(str(tmp_path / "t.csv"))
    assert frame["id"].to_list() == ["a", "b"]
    assert part.row(0) == "row 4"


def test_a_header_with_semicolons_is_not_a_title_above_decimal_commas(tmp_path):
    rows = [f"Groß {k};1.6{k},55 €;0,19{k};bleibt" for k in range(10, 30)]
    text = "\n".join(["Kunde;Umsatz;Anteil;Status", *rows])
    found = find_format(tmp_path / "kunden.csv", ".csv", text, TextFormat())
    assert (found.delimiter, found.n_above) == (";", 0)


@pytest.mark.parametrize("title", ["List of 2024", "List of 2024;;", "List\n", "List;;\n;;"])
def test_a_decimal_comma_in_each_row_does_not_make_the_header_a_title(tmp_path, title):
    (tmp_path / "n.csv").write_text(f"{title}\nid;size;town\na;1,5;Ulm\nb;2,5;Bonn\n")
    part, frame = read_part(str(tmp_path / "n.csv"))
    assert frame.columns == ["id", "size", "town"]
    assert part.row(1) == f"row {title.count(chr(10)) + 4}"
