"""Ways to change bytes, text, tables and trees of values; each says what it did.

All randomness comes from the ``rng`` that is passed in, so that a case can be made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import re
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

NUMBERS = (
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
    "2147483648", "-1", "0", "-0", "1e308", "1e309", "-1e308", "1e-320", "NaN", "nan", "inf",
    "-inf", "Infinity", "", "0.5", "007", "1_000", "0x10", "1e5", "9" * 400, "١٢", "1,5", " 3 ",
)  # fmt: skip
TEXTS = (
    "", " ", "\x00", "\n", "\r", '"', "'", ",", "\t", "\\", "\ufeff", "é", "\U0001f600", "NA",
    "null", "true", "a" * 3000, "\x1b[31m", "../../etc/passwd", "id", "label", "\u202e", "\x85",
    "{}", "%s", "[bold]x[/bold]", "=1+1",
)  # fmt: skip
DEEP = "@@deep@@"  # becomes nesting that no recursive reader follows
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**30, 0.5, 1e308, float("nan"),
    float("inf"), "", "x", "\x00", [], {}, [[]], [None], {"": None}, "9" * 50, DEEP,
)  # fmt: skip

_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda part: (
        st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=5), part, max_size=4)
    ),
    max_leaves=8,
)


def draw(rng: random.Random, strategy: st.SearchStrategy[Any] = _anything) -> Any:
    """A value that hypothesis makes up, the same for the same state of ``rng``."""
    found: list[Any] = []

    @seeded(rng.getrandbits(64))
    @settings(
        max_examples=2,  # the first is always the simplest
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found[-1]


def write(path: Path, data: bytes | str) -> None:
    """A new file in the place of what is there, which may be a link to a seed."""
    path.unlink(missing_ok=True)
    path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


# -- bytes -------------------------------------------------------------------------------------
def change_bytes(rng: random.Random, data: bytes, other: bytes = b"") -> tuple[bytes, str]:
    """One random change that leaves other bytes than there were."""
    for _ in range(20):
        kind = rng.choice(list(BYTES))
        found = BYTES[kind](rng, data, other)
        if found != data:
            return found, kind
    return data + b"\x00", "one byte more"


def _flip(rng: random.Random, data: bytes, _: bytes) -> bytes:
    raw = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        if raw:
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return bytes(raw)


def _set(rng: random.Random, data: bytes, _: bytes) -> bytes:
    raw, at = bytearray(data or b"\x00"), rng.randrange(len(data) or 1)
    raw[at] = rng.choice((0, 10, 13, 34, 44, 127, 128, 255))
    return bytes(raw)


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 4, 16, 64, 256)))


def _cut_out(rng: random.Random, data: bytes, _: bytes) -> bytes:
    a, b = _span(rng, data)
    return data[:a] + data[b:]


def _insert(rng: random.Random, data: bytes, _: bytes) -> bytes:
    a, _ = _span(rng, data)
    more = rng.choice((rng.randbytes(rng.choice((1, 4, 40))), rng.choice(TEXTS).encode()))
    return data[:a] + more + data[a:]


def _repeat(rng: random.Random, data: bytes, _: bytes) -> bytes:
    a, b = _span(rng, data)
    return data[:b] + data[a:b] * rng.choice((1, 2, 50)) + data[b:]


def _swap(rng: random.Random, data: bytes, _: bytes) -> bytes:
    a, b = _span(rng, data)
    c, d = _span(rng, data)
    if b > c:
        return data[:a] + data[b:] + data[a:b]
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _blank(rng: random.Random, data: bytes, _: bytes) -> bytes:
    a, b = _span(rng, data)
    return data[:a] + rng.choice((b"\x00", b"\xff", b" ")) * (b - a) + data[b:]


def _number(rng: random.Random, data: bytes, _: bytes) -> bytes:
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data))
    if not found:
        return data
    at = rng.choice(found)
    return data[: at.start()] + rng.choice(NUMBERS).encode() + data[at.end() :]


BYTES = {
    "bits flipped": _flip,
    "a byte set": _set,
    "cut short": lambda rng, data, _: data[: rng.randrange(len(data) + 1)],
    "a piece cut out": _cut_out,
    "bytes put in": _insert,
    "a piece repeated": _repeat,
    "pieces swapped": _swap,
    "a piece blanked": _blank,
    "a number changed": _number,
    "spliced with another file": lambda rng, data, other: (
        data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]
    ),
}


# -- trees of values ---------------------------------------------------------------------------
def change_tree(rng: random.Random, tree: Any) -> tuple[Any, str]:
    """One place of a tree of lists and dicts changed, in place where it can be."""
    places = list(_places(tree))
    if not places:
        return draw(rng), "replaced by something else"
    parent, key = rng.choice(places)
    kind = rng.choice(("value", "value", "drawn", "delete", "rename", "swap", "wrap", "number"))
    if kind == "delete":
        del parent[key]
    elif kind == "rename" and isinstance(parent, dict):
        parent[rng.choice((key + "x", "", key.upper(), DEEP))] = parent.pop(key)
    elif kind == "swap":
        parent2, key2 = rng.choice(places)
        try:
            parent[key], parent2[key2] = parent2[key2], parent[key]
            json.dumps(tree)
        except (ValueError, KeyError, IndexError):  # one of the two holds the other
            parent[key] = None
    elif kind == "wrap":
        parent[key] = rng.choice(([parent[key]], {"x": parent[key]}))
    elif kind == "number" and isinstance(parent[key], int | float):
        parent[key] = rng.choice((parent[key] + 1, -parent[key] - 1, parent[key] * 2, 0))
    else:
        parent[key] = draw(rng) if kind == "drawn" else rng.choice(VALUES)
    return tree, f"{kind} at {key!r}"


def _places(tree: Any) -> Any:
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in list(keys):
        yield tree, key
        yield from _places(tree[key])


def dump(tree: Any, **options: Any) -> str:
    """JSON, with what it has no word for."""
    text = json.dumps(tree, **options)
    return text.replace(json.dumps(DEEP), "[" * 100_000 + "]" * 100_000)


# -- tables of cells ---------------------------------------------------------------------------
Rows = list[list[str]]


def change_rows(rng: random.Random, rows: Rows) -> tuple[Rows, str]:
    """One change to a table whose first row has the names."""
    rows = [list(row) for row in rows]
    kind = rng.choice(list(ROWS))
    with contextlib.suppress(IndexError, ValueError):  # a change before it left too little
        ROWS[kind](rng, rows)
    return rows, kind


def _some(rng: random.Random, rows: Rows, first: int = 1) -> list[str]:
    return rows[rng.randrange(min(first, len(rows) - 1), len(rows))]


def _cell(rng: random.Random, rows: Rows) -> None:
    row = _some(rng, rows)
    row[rng.randrange(len(row))] = rng.choice(NUMBERS + TEXTS)


def _drawn_cell(rng: random.Random, rows: Rows) -> None:
    row = _some(rng, rows, 0)
    row[rng.randrange(len(row))] = draw(rng, st.text(max_size=6))


def _column(rng: random.Random, rows: Rows) -> None:
    at, value = rng.randrange(len(rows[0])), rng.choice(NUMBERS + TEXTS)
    for row in rows[1:]:
        row[at] = value


def _ragged(rng: random.Random, rows: Rows) -> None:
    row = _some(rng, rows)
    if rng.random() < 0.5:
        row.append(rng.choice(TEXTS))
    else:
        row.pop()


def _header(rng: random.Random, rows: Rows) -> None:
    at = rng.randrange(len(rows[0]))
    rows[0][at] = rng.choice((rng.choice(rows[0]), *rng.sample(TEXTS, 3), "1"))


def _drop_column(rng: random.Random, rows: Rows) -> None:
    at = rng.randrange(len(rows[0]))
    for row in rows:
        del row[at]


def _repeat_row(rng: random.Random, rows: Rows) -> None:
    rows.insert(rng.randrange(len(rows) + 1), list(_some(rng, rows, 0)))


ROWS = {
    "a cell": _cell,
    "a cell of any text": _drawn_cell,
    "a column of one value": _column,
    "a row too long or short": _ragged,
    "a name of a column": _header,
    "a column left out": _drop_column,
    "a row repeated": _repeat_row,
    "rows left out": lambda rng, rows: rows.__delitem__(slice(rng.randrange(len(rows)), None)),
    "no names": lambda rng, rows: rows.__delitem__(0),
    "an empty row": lambda rng, rows: rows.insert(rng.randrange(len(rows) + 1), []),
}


# -- checksums ---------------------------------------------------------------------------------
def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def fix_checksums(folder: Path, before: dict[Path, bytes]) -> None:
    """Where a JSON file names the SHA-256 of a file that was changed, or begins with its own, it
    gets the new one: what somebody does who wants a changed file to be accepted."""
    for _ in range(3):  # a list of checksums may itself be listed
        pairs = {}
        for path, old in before.items():
            if path.is_file() and (new := path.read_bytes()) != old:
                pairs[_sha(old)] = _sha(new)
                pairs[_sha(old[_HEADER:])] = _sha(new[_HEADER:])  # the numbers of an array
        for path, old in before.items():
            if path.suffix != ".json" or not path.is_file():
                continue
            text = given = path.read_bytes()
            for old_sum, new_sum in pairs.items():
                text = text.replace(old_sum, new_sum)
            if _own_sum(old) is not None and (own := _own_sum(text)) is not None:
                text = re.sub(_OWN, rb"\g<1>" + own, text, count=1)
            if text != given:
                write(path, text)


_HEADER = 128  # bytes before the numbers of an array in a graph folder
_OWN = rb'^(\{\s*"sha256": ")[0-9a-f]{64}'


def _own_sum(text: bytes) -> bytes | None:
    """The checksum of a file that begins with it, which is made with zeros in its place."""
    blank, found = re.subn(_OWN, rb"\g<1>" + b"0" * 64, text, count=1)
    return _sha(blank) if found else None


def _sha(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
