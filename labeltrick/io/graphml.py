"""Reading GraphML as a stream: nodes, edges and their data.

A document type declaration is refused when the parser meets it, after decoding, so that neither an
encoding nor padding can hide one. Without it there are no entities, and the content is never larger
than the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

_BLOCK = 1 << 20  # larger than any usual token: a token that spans blocks is scanned twice
_DEEPEST = 32
_ADVICE = "Export it again."
_YES_NO = {"true": True, "1": True, "false": False, "0": False}


@dataclass
class Element:
    """A node (``ends`` is None) or an edge, with its data."""

    id: str | None
    ends: tuple[str | None, str | None] | None
    data: dict[str, str | None] = field(default_factory=dict)


@dataclass
class GraphmlFile:
    """The nodes and edges of a file, in their order."""

    directed: bool = False
    nodes: list[Element] = field(default_factory=list)
    edges: list[Element] = field(default_factory=list)


def read_graphml(path: Path) -> GraphmlFile:
    """Read a file that holds one graph.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    GraphmlFile
        Its nodes and edges.

    Raises
    ------
    ValueError
        If the file is not GraphML, or has a document type declaration, nested graphs, hyperedges,
        or both directed and undirected edges.
    """
    reader = _Reader(path)
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                reader.parser.Parse(block, False)
            reader.parser.Parse(b"", True)
    # LookupError and ValueError: unknown or unsupported encodings.
    except (expat.ExpatError, LookupError, ValueError, OSError) as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"`{path}` must be GraphML; got: {error}. {_ADVICE}") from None
    return reader.finished()


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._found = GraphmlFile()
        self._open: list[str] = []  # local names of the open elements
        self._names: dict[str | None, str] = {}  # key → name of its data
        self._defaults: dict[str, dict[str, str | None]] = {"node": {}, "edge": {}}
        self._key: dict[str, str] = {}
        self._now: Element | None = None
        self._text: list[str] | None = None
        self._data = ""  # name of the open data
        self._n_graphs = 0
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def finished(self) -> GraphmlFile:
        if self._n_graphs != 1:
            raise self._wrong("hold one graph", f"it holds {self._n_graphs}")
        for kind, elements in (("node", self._found.nodes), ("edge", self._found.edges)):
            if self._defaults[kind]:
                for element in elements:
                    element.data = {**self._defaults[kind], **element.data}
        return self._found

    def _wrong(self, wanted: str, got: str) -> ValueError:
        return ValueError(f"`{self._path}` must {wanted}; {got}. {_ADVICE}")

    def _doctype(self, *_: Any) -> None:
        raise self._wrong("be GraphML without a DTD", "it has a DTD, whose entities could expand "
                          "without limit")  # fmt: skip

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rsplit("}", 1)[-1]
        self._open.append(name)
        depth = len(self._open)
        if depth > _DEEPEST:
            raise self._wrong(f"have at most {_DEEPEST} levels of elements", "it has more")
        if depth == 1 and name != "graphml":
            raise self._wrong("be GraphML", f"its root is {name!r}")
        if name == "graph":
            if depth != 2:
                raise self._wrong("hold one flat graph", "it holds a graph inside another")
            self._n_graphs += 1
            self._found.directed = attributes.get("edgedefault") == "directed"
        elif name in ("key", "default", "data"):
            self._start_data(depth, name, attributes)
        elif depth == 3 and self._open[1] == "graph":
            self._start_element(name, attributes)

    def _start_data(self, depth: int, name: str, attributes: dict[str, str]) -> None:
        if name == "key" and depth == 2:
            self._key = attributes
            key = attributes.get("id")
            self._names[key] = attributes.get("attr.name") or str(key)
        elif name == "default" and depth == 3 and self._open[1] == "key":
            self._text = []
        elif name == "data" and depth == 4 and self._now is not None:
            if "key" not in attributes:
                raise self._wrong(
                    "name the key of all data", f"{self._here()} has data without a key"
                )
            self._data = self._names.get(attributes["key"], attributes["key"])
            if self._data in self._now.data:
                raise self._wrong(
                    "hold each value once", f"{self._here()} has {self._data!r} twice"
                )
            self._text = []

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        if name == "hyperedge":
            raise self._wrong("hold edges between two nodes", "it holds a hyperedge")
        if name == "node":
            self._now = Element(attributes.get("id"), None)
            self._found.nodes.append(self._now)
        elif name == "edge":
            ends = attributes.get("source"), attributes.get("target")
            self._now = Element(attributes.get("id"), ends)
            self._found.edges.append(self._now)
            own = attributes.get("directed")
            if own is not None and _YES_NO.get(own) is not self._found.directed:
                raise self._wrong(
                    "hold directed edges or undirected ones, as its edgedefault says",
                    f"{self._here()} has directed={own!r}",
                )

    def _here(self) -> str:
        at_edge = self._now is not None and self._now.ends is not None
        return f"edge {len(self._found.edges)}" if at_edge else f"node {len(self._found.nodes)}"

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        name, depth = self._open.pop(), len(self._open)
        if (name, depth) in (("default", 2), ("data", 3)) and self._text is not None:
            value = "".join(self._text) or None
            self._text = None
            if name == "data" and self._now is not None:
                self._now.data[self._data] = value
            for kind in ("node", "edge"):  # elements that do not set a key have its default
                if name == "default" and self._key.get("for", "all") in (kind, "all"):
                    self._defaults[kind][self._names[self._key.get("id")]] = value
        elif depth == 2:
            self._now = None
