"""Tables as the programs of users write them."""

import bz2
import gzip
import lzma

import polars as pl
import pytest


def save(frame, path):
    """As a program of the user would."""
    name = path.name
    if ".parquet" in name:
        frame.write_parquet(path)
    elif ".jsonl" in name:
        text = "".join(__import__("json").dumps(row) + "\n" for row in frame.to_dicts())
        path.write_bytes(pack(name, text.encode()))
    else:
        text = frame.write_csv(separator="\t" if ".tsv" in name else ",")
        path.write_bytes(pack(name, text.encode()))
    return path


def pack(name, data):
    if name.endswith(".zst"):
        return pl.DataFrame({"x": [1]}) and pytest.importorskip("zstandard").compress(data)
    packers = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    return next((f(data) for end, f in packers.items() if name.endswith(end)), data)
