"""Files that hold a graph whole: GraphML, archives of three layouts, Planetoid, OGB."""

from __future__ import annotations

import copy
import gzip
import io
import pickle
import random
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import scipy.sparse as sp

from .arrays import ARRAYS, change_archive, npy, pack, same_archive, unpack
from .mutations import NUMBERS, TEXTS, change_bytes, change_rows, change_tree, draw, write
from .target import SAME, Change, Target, problem_answer


def _read(path: Path) -> Any:
    from labeltrick.io.tables import read_problem

    return read_problem(path)


def _command(path: Path) -> list[Any]:
    return ["inspect", "--edges", path]


# -- GraphML -----------------------------------------------------------------------------------
_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


def change_graphml(rng: random.Random, folder: Path) -> Change:
    path = folder / "graph.graphml"
    text = path.read_text(encoding="utf-8")
    kind = rng.random()
    if kind < 0.4:
        data, what = change_bytes(rng, text.encode(), text[::-1].encode())
        write(path, data)
        return Change(what)
    root = ElementTree.fromstring(text)
    if kind < 0.6:
        return _same_graphml(rng, path, text, root)
    what = ", ".join(_change_element(rng, root) for _ in range(rng.choice((1, 1, 2))))
    try:
        text = ElementTree.tostring(root, encoding="unicode")
    except (TypeError, ValueError):
        text = "<graphml/>"
    if rng.random() < 0.15:
        extra = rng.choice((_BOMB, _OUTSIDE, "<!-- " + "x" * 70_000 + " -->" + _BOMB, "<?php ?>"))
        text = extra + text.replace("Ulm", "&b;")
        what += ", with a document type"
    write(path, text)
    return Change(what)


def _change_element(rng: random.Random, root: ElementTree.Element) -> str:
    parents = {child: parent for parent in root.iter() for child in parent}
    element = rng.choice([root, *parents])
    parent = parents.get(element)
    kind = rng.choice(("attribute", "attribute", "text", "tag", "remove", "repeat", "move", "deep"))
    name = element.tag.rsplit("}")[-1]
    if kind == "attribute" and element.attrib:
        key = rng.choice(list(element.attrib))
        if rng.random() < 0.3:
            del element.attrib[key]
        else:
            element.set(key, _text(rng))
    elif kind == "tag":
        element.tag = rng.choice(("node", "edge", "graph", "data", "port", f"{{{_NAMESPACE}}}key"))
    elif kind == "remove" and parent is not None:
        parent.remove(element)
    elif kind == "repeat" and parent is not None:
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(element))
    elif kind == "move" and parent is not None:
        parent.remove(element)
        rng.choice(list(root.iter())).append(element)
    elif kind == "deep":
        for _ in range(rng.choice((3, 300))):
            element = ElementTree.SubElement(element, rng.choice(("node", "graph", "data")))
    else:
        element.text = _text(rng)
    return f"{kind} of {name}"


def _text(rng: random.Random) -> str:
    """Any text that XML can hold."""
    found = str(draw(rng)) if rng.random() < 0.1 else rng.choice(NUMBERS + TEXTS)
    return "".join(c for c in found if c in "\t\n" or " " <= c <= "\ud7ff")


def _same_graphml(rng: random.Random, path: Path, text: str, root: ElementTree.Element) -> Change:
    kind = rng.choice(("line ends", "encoding", "order", "prefix", "comments", "spaces", "CDATA"))
    data: str | bytes
    if kind == "line ends":
        data = text.replace("\n", "\r\n")
    elif kind == "encoding":
        encoding = rng.choice(("UTF-16", "ISO-8859-1"))
        data = text.replace("UTF-8", encoding).encode(encoding)
    elif kind == "order":
        graph = next(part for part in root if part.tag.endswith("graph"))
        graph[:] = rng.sample(list(graph), len(graph))
        data = ElementTree.tostring(root)
    elif kind == "prefix":
        data = ElementTree.tostring(root)  # ns0:graphml and so on
    elif kind == "comments":
        data = text.replace("<node", "<!-- a node --><node").replace("<key", "<?pi x?><key")
    elif kind == "CDATA":
        data = text.replace('"d1">red<', '"d1"><![CDATA[red]]><')
    else:
        data = "".join(line.strip() for line in text.splitlines())
    write(path, data)
    return Change(f"same, other {kind}", SAME)


# -- archives ----------------------------------------------------------------------------------
def change_npz(rng: random.Random, folder: Path) -> Change:
    path = folder / "graph.npz"
    data = path.read_bytes()
    kind = rng.random()
    if kind < 0.15:
        found, what = same_archive(rng, data)
        write(path, found)
        return Change(f"same, {what}", SAME)
    if kind < 0.3:
        found, what = change_bytes(rng, data, data[::-1])
    elif kind < 0.4:
        found, what = _two_changes(rng, data)
    else:
        found, what = change_archive(rng, data)
    write(path, found)
    return Change(what)


def _two_changes(rng: random.Random, data: bytes) -> tuple[bytes, str]:
    found, what = change_archive(rng, data)
    try:
        more, then = change_archive(rng, found)
    except (ValueError, OSError, EOFError, KeyError, IndexError, zipfile.BadZipFile):
        return found, what
    except Exception:  # what numpy raises on damaged headers is not ours to list
        return found, what
    return more, f"{what}; {then}"


def same_scipy(rng: random.Random, folder: Path) -> Change:
    """A SciPy matrix may be stored in several formats."""
    path = folder / "graph.npz"
    matrix = sp.load_npz(path)
    kind = rng.choice(("csr", "csc", "coo", "bsr"))
    found = matrix.asformat(kind)
    if rng.random() < 0.5:
        found = type(found)(sp.coo_array(found))
    sp.save_npz(path, found, compressed=rng.random() < 0.5)
    return Change(f"same, as {kind}", SAME)


def change_scipy(rng: random.Random, folder: Path) -> Change:
    if rng.random() < 0.1:
        return same_scipy(rng, folder)
    if rng.random() < 0.1:
        path = folder / "graph.npz"
        members = unpack(path.read_bytes())
        name = rng.choice((b"csr", b"dia", b"lil", b"x", b"\xff", "é".encode()))
        members["format.npy"] = npy(np.array(name))
        write(path, pack(members))
        return Change(f"format is {name!r}")
    return change_npz(rng, folder)


# -- Planetoid ---------------------------------------------------------------------------------
class _Call:
    def __reduce__(self) -> Any:
        return print, ("executed",)


def change_planetoid(rng: random.Random, folder: Path) -> Change:
    path = rng.choice(sorted(folder.iterdir()))
    kind = rng.random()
    if path.suffix == ".index" or kind < 0.45:
        other = rng.choice(sorted(folder.iterdir())).read_bytes()
        data, what = change_bytes(rng, path.read_bytes(), other)
        write(path, data)
        return Change(f"{path.name}: {what}")
    value = pickle.loads(path.read_bytes())
    protocol = rng.choice((0, 2, 3, 4, 5))
    if kind < 0.6:
        write(path, pickle.dumps(value, protocol))
        # Protocols 3 and above name other functions of NumPy; they may be refused.
        return Change(f"{path.name}: same, protocol {protocol}", SAME if protocol == 2 else "any")
    value, what = _change_value(rng, value)
    write(path, pickle.dumps(value, protocol))
    return Change(f"{path.name}: {what}")


def _change_value(rng: random.Random, value: Any) -> tuple[Any, str]:
    kind = rng.random()
    if kind < 0.05:
        return _Call(), "a call"
    if kind < 0.1:
        return draw(rng), "something else"
    if isinstance(value, dict):
        if rng.random() < 0.5:
            return change_tree(rng, {str(k): v for k, v in value.items()})
        node = rng.choice(list(value))
        value[node] = rng.choice(([10**6], [-1], [2**70], [0.5], ["x"], None, {}, [[1]], [node]))
        return value, f"neighbors of {node}"
    if sp.issparse(value):
        part = rng.choice(("data", "indices", "indptr", "_shape"))
        if part == "_shape":
            value._shape = rng.choice(
                ((-1, 4), (10**12, 4), (0, 0), (value.shape[0], 10**12), (4,))
            )
        else:
            value.__dict__[part] = _array(rng, getattr(value, part))
        return value, f"another {part}"
    return _array(rng, value), "another array"


def _array(rng: random.Random, array: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(ARRAYS[rng.choice(list(ARRAYS))](rng, array))
        except (ValueError, TypeError, OverflowError, IndexError):
            return np.zeros(3)


# -- OGB ---------------------------------------------------------------------------------------
def change_ogb(rng: random.Random, folder: Path) -> Change:
    path = rng.choice(sorted(p for p in folder.rglob("*") if p.is_file()))
    name = path.relative_to(folder)
    kind = rng.random()
    text = gzip.decompress(path.read_bytes()).decode()
    if kind < 0.1:
        path.unlink()
        return Change(f"{name}: missing")
    if kind < 0.3:
        data, what = change_bytes(rng, path.read_bytes())
        write(path, data)
        return Change(f"{name}: packed, {what}")
    if kind < 0.5:
        data, what = change_bytes(rng, text.encode())
    elif kind < 0.65:
        lines = text.splitlines()
        what, allowed = "same, packed another way", SAME
        if path.name == "edge.csv.gz":
            rng.shuffle(lines)
            what = "same, other order"
        data = ("\n".join(lines) + "\n").encode()
        write(path, gzip.compress(data, rng.choice((0, 1, 9))))
        return Change(f"{name}: {what}", allowed)
    else:
        rows, what = change_rows(rng, [line.split(",") for line in text.splitlines()])
        out = io.StringIO("".join(",".join(row) + "\n" for row in rows))
        data = out.getvalue().encode("utf-8", "replace")
    write(path, gzip.compress(data))
    return Change(f"{name}: {what}")


def _file(name: str) -> dict[str, Any]:
    return {
        "load": lambda folder: _read(folder / name),
        "use": problem_answer,
        "command": lambda rng, folder: _command(folder / name),
    }


TARGETS = {
    "graphml": Target(change_graphml, **_file("graph.graphml")),
    "npz-scipy": Target(change_scipy, **_file("graph.npz")),
    "npz-benchmark": Target(change_npz, **_file("graph.npz")),
    "npz-heterophilous": Target(change_npz, **_file("graph.npz")),
    "planetoid": Target(change_planetoid, **_file("ind.toy.graph")),
    "ogb": Target(change_ogb, **_file(".")),
}
