"""What the names of columns say: ends of an edge, weights, ids, and row numbers.

A name is read as words: "SourceID", "source_id" and "source id" are the words source and id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from unicodedata import normalize

# Words for the start and the end of an edge. Words of the first list are about edges; those of the
# second also name other pairs of columns, such as the start and the end of a period.
_CLEAR_PAIRS = (
    ("src", "dst"), ("src", "dest"), ("src", "tgt"), ("src", "trg"), ("source", "target"),
    ("source", "destination"), ("source", "dest"), ("source", "sink"), ("from", "to"),
    ("head", "tail"), ("u", "v"), ("citing", "cited"), ("sender", "receiver"),
    ("sender", "recipient"), ("origin", "destination"), ("origin", "dest"), ("orig", "dest"),
    ("caller", "callee"), ("follower", "followee"), ("follower", "followed"), ("payer", "payee"),
    ("subject", "object"), ("von", "nach"), ("quelle", "ziel"),
)  # fmt: skip
_OTHER_PAIRS = (
    ("start", "end"), ("begin", "end"), ("parent", "child"), ("left", "right"), ("first", "second"),
    ("1", "2"), ("0", "1"), ("a", "b"), ("i", "j"), ("x", "y"),
)  # fmt: skip
_ALONE = {"1", "2", "0", "a", "b", "i", "j", "x", "y", "u", "v"}  # too short to be a hint alone
_GENERIC = {"id", "ids", "node", "nodes", "vertex", "key", "idx", "index", "name", "no", "nr"}
_ID_WORDS = {"id", "ids", "uid", "uuid", "guid", "key", "idx", "identifier", "pk"}
ID_NAMES = ("id", "node", "node_id", "nodeid", "name", "key")
"""Usual names of the id column, the most usual first."""
_WEIGHT_NAMES = ("weight", "weights", "edge weight", "edge weights")
_MEASURES = {
    "amount", "value", "price", "cost", "count", "counts", "n", "num", "number", "quantity", "qty",
    "sum", "total", "weight", "weights", "w", "score", "rating", "strength", "similarity",
    "distance", "length", "duration", "probability", "rank", "frequency", "minutes", "hours",
    "betrag", "anzahl", "wert", "preis", "menge", "umsatz", "gewicht", "dauer", "summe",
}  # fmt: skip
_TIMES = {"date", "time", "timestamp", "datetime", "year", "month", "day", "hour", "when", "at",
          "datum", "zeit", "jahr", "monat", "tag"}  # fmt: skip
_KINDS = {
    "type", "kind", "relation", "relationship", "rel", "label", "category", "class", "predicate",
    "typ", "art", "kategorie",
}  # fmt: skip
_TARGETS = {
    "label", "labels", "target", "targets", "class", "y", "outcome", "truth", "klasse", "ziel",
}  # fmt: skip
_UNNAMED = re.compile(r"(unnamed: \d+(\.\d+)*)?|__index_level_\d+__", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TYPE_NAMES = ("type", "kind", "typ", "node type", "node kind", "vertex type", "entity type")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case. Endings such as "id" are words of their own.

    >>> words_of("SourceID"), words_of("an_Käufer"), words_of("srcid")
    (('source', 'id'), ('an', 'käufer'), ('src', 'id'))
    """
    found: list[str] = []
    name = normalize("NFC", name)  # an umlaut may be written as two characters
    # Letters of all scripts stand for Latin ones: only their case matters here.
    plain = "".join(("A" if c.isupper() else "a") if c.isalpha() else c for c in name)
    for match in _WORD.finditer(plain):
        word = name[match.start() : match.end()].lower()
        endings = [e for e in ("id", "node") if word.endswith(e) and word != e]
        ending = next((e for e in endings if word.removesuffix(e) in _EDGE_WORDS), "")
        found += [word.removesuffix(ending), ending] if ending else [word]
    return tuple(found)


_EDGE_WORDS = {word for pair in _CLEAR_PAIRS for word in pair if word not in _ALONE}


@dataclass(frozen=True)
class NamedPair:
    """Two columns whose names say that they are the start and the end of an edge."""

    source: str
    target: str
    clear: int
    """2 if both names are about edges and otherwise equal, 1 if only one of this holds."""


def pairs_of_ends(columns: Sequence[str]) -> list[NamedPair]:
    """The pairs of columns that look like the start and the end of an edge, the clearest first.

    >>> pairs_of_ends(["tx_id", "from_customer", "to_customer"])
    [NamedPair(source='from_customer', target='to_customer', clear=2)]
    """
    words = {name: words_of(name) for name in columns}
    found: dict[tuple[str, str], int] = {}
    for base, pairs in ((1, _CLEAR_PAIRS), (0, _OTHER_PAIRS)):
        for pair in pairs:
            sides = [[name for name in columns if word in words[name]] for word in pair]
            for ends in product(*sides):
                clear = _clearness(words[ends[0]], words[ends[1]], pair, base)
                if clear and ends[0] != ends[1]:
                    found[ends[0], ends[1]] = max(clear, found.get((ends[0], ends[1]), 0))
    named = [NamedPair(*ends, clear) for ends, clear in found.items()]
    return sorted(named, key=lambda pair: -pair.clear)


def _clearness(
    source: tuple[str, ...], target: tuple[str, ...], pair: tuple[str, str], base: int
) -> int:
    first, second = pair
    if first not in source or second not in target:
        return 0
    rest = _without(source, first), _without(target, second)
    same = rest[0] == rest[1] or not any(set(some) - _GENERIC for some in rest)
    if not same and (base == 0 or first in _ALONE):
        return 0
    return base + same if not _TIMES & set(source) else base


def _without(words: tuple[str, ...], word: str) -> list[str]:
    rest = list(words)
    rest.remove(word)
    return rest


def is_weight_name(name: str) -> bool:
    """Whether a column is named as the weight of an edge.

    >>> is_weight_name("Weight"), is_weight_name("amount")
    (True, False)
    """
    return " ".join(words_of(name)) in _WEIGHT_NAMES


def is_measure_name(name: str) -> bool:
    """Whether a name says that the column holds amounts, which could be weights."""
    return bool(_MEASURES & set(words_of(name)))


def is_unlike_an_end(name: str) -> bool:
    """Whether a name says that a column holds an amount, a time or a kind, and not a node.

    >>> is_unlike_an_end("amount"), is_unlike_an_end("customer")
    (True, False)
    """
    return bool((_MEASURES | _TIMES | _KINDS) & set(words_of(name)))


def is_type_name(name: str) -> bool:
    """Whether a name says that a column holds types of edges.

    >>> is_type_name("relation"), is_type_name("amount")
    (True, False)
    """
    return bool(_KINDS & set(words_of(name)))


def is_node_type_name(name: str) -> bool:
    """Whether a name says that a column holds types of nodes, and not of something else.

    >>> is_node_type_name("node_type"), is_node_type_name("house_type")
    (True, False)
    """
    return " ".join(words_of(name)) in _TYPE_NAMES


def is_time_name(name: str) -> bool:
    """Whether a name says that a column holds times.

    >>> is_time_name("created_at"), is_time_name("town")
    (True, False)
    """
    return bool(_TIMES & set(words_of(name)))


def is_id_name(name: str) -> bool:
    """Whether a name says that a column holds ids.

    >>> is_id_name("id"), is_id_name("CustomerID"), is_id_name("age")
    (True, True, False)
    """
    return name.lower() in ID_NAMES or bool(_ID_WORDS & set(words_of(name)))


def is_target_name(name: str) -> bool:
    """Whether a name says that a column of a node table is to be predicted.

    >>> is_target_name("true_label"), is_target_name("age")
    (True, False)
    """
    return bool(_TARGETS & set(words_of(name)))


def is_about(name: str, ends: Sequence[str]) -> bool:
    """Whether a column shares a word with the ends of an edge, like "customer_id" with
    "from_customer"."""
    own = set(words_of(name)) - _GENERIC
    return bool(ends) and all(own & set(words_of(end)) for end in ends)


def is_unnamed(name: str) -> bool:
    """Whether a name is what pandas or R write for a column without one.

    >>> is_unnamed(""), is_unnamed("Unnamed: 0"), is_unnamed("src")
    (True, True, False)
    """
    return _UNNAMED.fullmatch(name.strip()) is not None
