"""GraphML from outside: no document types however they are hidden, nothing dropped in silence."""

import codecs

import numpy as np
import pytest

from labeltrick import Graph
from labeltrick.io.tables import Roles, read_problem

BODY = '<node id="a"/><node id="b"/><edge source="a" target="b"/>'
BOMB = '<!DOCTYPE g [<!ENTITY a "0"><!ENTITY b "&a;&a;">]>'


def document(body=BODY, *, before="", keys="", encoding="utf-8", kind="undirected"):
    return (
        f'<?xml version="1.0" encoding="{encoding}"?>{before}<graphml>{keys}'
        f'<graph edgedefault="{kind}">{body}</graph></graphml>'
    )


def write(folder, text, encoding="utf-8"):
    path = folder / "g.graphml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


ENCODED = {
    "utf-8": document(before=BOMB).encode(),
    "utf-8 with a mark": codecs.BOM_UTF8 + document(before=BOMB).encode(),
    "utf-16": document(before=BOMB, encoding="utf-16").encode("utf-16"),
    "utf-16-le without a mark": document(before=BOMB, encoding="utf-16").encode("utf-16-le"),
    "utf-16-be": document(before=BOMB, encoding="utf-16").encode("utf-16-be"),
    "utf-16-be with a mark": codecs.BOM_UTF16_BE
    + document(before=BOMB, encoding="utf-16").encode("utf-16-be"),
    "latin-1": document(before=BOMB, encoding="iso-8859-1").encode("latin-1"),
    "ebcdic": document(before=BOMB, encoding="cp037").encode("cp037"),
    "windows": document(before=BOMB, encoding="windows-1252").encode("cp1252"),
    "padded": document(before=" " * 200_000 + BOMB).encode(),
    "behind comments": document(before="<!-- x -->" * 20_000 + BOMB).encode(),
    "behind instructions": document(before="<?a b?>" * 20_000 + BOMB).encode(),
    "across blocks": document(before=" " * (2**20 - 45) + BOMB).encode(),
    "without entities": document(before="<!DOCTYPE graphml>").encode(),
    "outside": document(before='<!DOCTYPE g SYSTEM "file:///etc/passwd">').encode(),
    "an outside entity": document(
        before='<!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    ).encode(),
    "a parameter entity": document(
        before='<!DOCTYPE g [<!ENTITY % a SYSTEM "http://127.0.0.1:1/"> %a;]>'
    ).encode(),
    "of defaults": document(before='<!DOCTYPE g [<!ATTLIST node x CDATA "y">]>').encode(),
}


@pytest.mark.parametrize("case", ENCODED)
def test_document_types_are_refused_in_any_disguise(tmp_path, case):
    path = write(tmp_path, ENCODED[case])
    with pytest.raises(ValueError, match=r"g\.graphml` must be GraphML") as caught:
        read_problem(path)
    if case != "ebcdic":  # the parser does not go so far
        assert "without a DTD" in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-7", "utf-32", "no-such-encoding", "shift_jis", "rot13"])
def test_encodings_that_cannot_be_read(tmp_path, encoding):
    text = document(before=BOMB, encoding=encoding)
    try:
        raw = text.encode(encoding)
    except LookupError:
        raw = text.encode()
    with pytest.raises(ValueError, match=r"g\.graphml` must be GraphML"):
        read_problem(write(tmp_path, raw))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "cp1252"])
def test_encodings_that_can(tmp_path, encoding):
    body = BODY.replace('"b"', '"é"')
    text = document(body, encoding=encoding.removesuffix("-sig"))
    problem = read_problem(write(tmp_path, text, encoding))
    assert problem.ids.to_list() == ["a", "é"]


def test_a_comment_that_names_a_document_type_is_a_comment(tmp_path):
    path = write(tmp_path, document(before="<!-- <!DOCTYPE g> -->"))
    assert read_problem(path).n_nodes == 2


def test_billion_laughs(tmp_path):
    entities = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 10))
    before = f'<!DOCTYPE g [<!ENTITY e0 "ha">{entities}]>'
    path = write(tmp_path, document(f"{BODY}<data>&e9;</data>", before=before))
    with pytest.raises(ValueError, match="without a DTD"):
        read_problem(path)


@pytest.mark.parametrize("tag", ["graph", "x", "node", "data"])
def test_nesting_is_bounded(tmp_path, tag):
    path = write(tmp_path, document(f"<{tag}>" * 200_000 + f"</{tag}>" * 200_000))
    with pytest.raises(ValueError, match="levels of elements|inside another"):
        read_problem(path)


def test_many_attributes_and_long_tokens(tmp_path):
    attributes = " ".join(f'a{k}="{k}"' for k in range(100_000))
    long = f'<node id="c" {attributes}/><node id="d" long="{"x" * 5_000_000}"/>'
    assert read_problem(write(tmp_path, document(BODY + long))).n_nodes == 4


KEYS = (
    '<key id="w" for="edge" attr.name="weight"/><key id="c" for="node" attr.name="color">'
    "<default>red</default></key>"
)


def weighted(*weights):
    nodes = "".join(f'<node id="{k}"/>' for k in range(len(weights) + 1))
    edges = "".join(
        f'<edge source="{k}" target="{k + 1}">'
        + ("" if w is None else f'<data key="w">{w}</data>')
        + "</edge>"
        for k, w in enumerate(weights)
    )
    return document(nodes + edges, keys=KEYS)


def test_weights_of_all_edges_or_of_none(tmp_path):
    problem = read_problem(write(tmp_path, weighted(2, 0.5)))
    assert problem.graph == Graph.from_edges([0, 1], [1, 2], weight=np.array([2, 0.5]))
    assert read_problem(write(tmp_path, weighted(None, None))).graph == Graph.from_edges(
        [0, 1], [1, 2]
    )


@pytest.mark.parametrize("weight", [None, "", "x", "nan", "inf", "-1"])
def test_a_weight_that_is_missing_or_wrong_is_named(tmp_path, weight):
    path = write(tmp_path, weighted(2, 1, weight))
    with pytest.raises(ValueError, match=r"g\.graphml`, edge 3 must have a weight ≥ 0"):
        read_problem(path)


def test_defaults_of_keys_hold_where_nothing_else_is_said(tmp_path):
    keys = KEYS.replace('attr.name="weight"/>', 'attr.name="weight"><default>3</default></key>')
    body = (
        '<node id="a"><data key="c">blue</data></node><node id="b"/>'
        '<edge source="a" target="b"/><edge source="b" target="b"><data key="w">1</data></edge>'
    )
    problem = read_problem(write(tmp_path, document(body, keys=keys)), roles=Roles(target="color"))
    assert problem.labels.values.tolist() == ["blue", "red"]
    expected = Graph.from_edges([0, 1], [1, 1], weight=np.array([3.0, 1.0]))
    assert problem.graph == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (BODY + "<hyperedge/>", "hyperedge"),
        ('<node id="a"><graph><node id="b"/></graph></node>', "a graph inside another"),
        ('<node id="a"><data key="c">1</data><data key="c">2</data></node>', "'color' twice"),
        ('<node id="a"><data>1</data></node>', "node 1 has data without"),
        ('<node id="a"/><node id="a"/>', "nodes with different ids"),
        ("<node/>", "nodes with different ids"),
        ("", "nodes with different ids"),
        (BODY + '<edge source="a" target="c"/>', "edge 2 must join two nodes; 'c' is not a node"),
        (BODY + '<edge source="a"/>', "edge 2 must join two nodes; None is not a node"),
        (BODY + '<edge source="a" target="b" directed="true"/>', "edge 2 has directed='true'"),
        (BODY + "</graph><graph>", "hold one graph; it holds 2"),
    ],
)
def test_what_cannot_be_read_without_a_guess(tmp_path, body, message):
    path = write(tmp_path, document(body, keys=KEYS))
    with pytest.raises(ValueError, match=message) as caught:
        read_problem(path)
    assert str(path) in str(caught.value)


def test_data_named_id_is_reported(tmp_path):
    keys = '<key id="k" for="node" attr.name="id"/>'
    body = '<node id="a"><data key="k">7</data></node>' + BODY.replace('<node id="a"/>', "")
    problem = read_problem(write(tmp_path, document(body, keys=keys)))
    assert problem.ids.to_list() == ["a", "b"]
    assert "'id' are left out" in problem.notes[0]
