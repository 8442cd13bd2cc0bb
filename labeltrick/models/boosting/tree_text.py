"""LightGBM's trees as text: written without parameters, and checked in full before reading.

LightGBM does not check what it reads: a count that is too large, or a child that does not exist,
ends the process or reads outside its arrays. So every number of a text is checked first: each list
has the length that the size of the tree requires, the children form one tree, and columns and
categories exist.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from typing import Any

_END = "end of trees"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?(?:[0-2]?\d{1,2}|30[0-7]))?"
_REALS = re.compile(rf"(?:{_NUMBER}(?: {_NUMBER})*)?")
_OR_INF = re.compile(rf"(?:(?:{_NUMBER}|-?inf)(?: (?:{_NUMBER}|-?inf))*)?")
_MAY_BE_INFINITE = ("split_gain", "threshold")  # a split of known from missing values is at inf
_WHOLE = re.compile(r"(?:-?\d{1,10}(?: -?\d{1,10})*)?")
_OBJECTIVE = re.compile(
    rf"regression(?: sqrt)?|binary sigmoid:{_NUMBER}|multiclass num_class:(\d{{1,7}})|custom"
)
_RANGE = re.compile(rf"none|\[{_NUMBER}:{_NUMBER}\]|-?\d+(?::-?\d+)*")
_LARGEST = 2**31 - 1
_HEADER = (
    *("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx"),
    *("objective", "feature_names", "monotone_constraints", "feature_infos", "tree_sizes"),
)
_OF_SPLITS = ("threshold", "internal_value", "internal_weight")  # numbers, one per split


def text_of(booster: Any) -> str:
    """The trees as text, without LightGBM's training parameters: predictions do not need them, and
    they contain paths and ports."""
    text = booster.model_to_string()
    return text[: text.index(f"\n{_END}\n")] + f"\n{_END}\n"


def read_booster(text: str) -> Any:
    """The booster of a text written by `text_of`; any other text is a `ValueError`."""
    import lightgbm

    check_trees(text)
    try:
        return lightgbm.Booster(model_str=text)
    except lightgbm.basic.LightGBMError as error:
        raise ValueError(str(error)) from None


def check_trees(text: str) -> None:
    """Raise a `ValueError` for a text that LightGBM cannot have written."""
    head, gap, body = text.partition("\n\n")
    if not text.isascii() or not gap or "\r" in text or "\0" in text:
        raise ValueError("the text of the trees is not complete")
    head = head.removeprefix("tree\n").replace("\naverage_output\n", "\n", 1)  # of forests
    header = _fields(head, "header")
    width = _check_header(header)
    at = 0
    for k, size in enumerate(header["tree_sizes"].split()):
        block = body[at : at + int(size)]
        at += int(size)
        if len(block) < int(size) or not block.startswith(f"Tree={k}\n"):
            raise ValueError(f"tree {k} does not begin where the header says")
        _check_tree(_fields(block.split("\n", 1)[1].rstrip("\n"), f"tree {k}"), width, f"tree {k}")
    if body[at:] != f"{_END}\n":
        raise ValueError("something follows the last tree, or its end is missing")


def _fields(lines: str, where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines.split("\n"):
        name, sign, value = line.partition("=")
        if not sign or name in found:
            raise ValueError(f"{where} has the line {line[:60]!r}, which does not belong there")
        found[name] = value
    return found


def _check_header(header: dict[str, str]) -> int:
    """Check the header, and return the number of columns."""
    strange = [name for name in header if name not in _HEADER]
    missing = [
        n for n in _HEADER if n not in header and n not in ("monotone_constraints", "objective")
    ]
    if strange or missing:
        raise ValueError(f"the header must not lack or add {(strange or missing)[0]!r}")
    if header["version"] not in ("v3", "v4"):
        raise ValueError(f"version {header['version'][:20]!r} of LightGBM's format is not known")
    n_classes, per_round, _, last = (
        _integers(header[name], 1, f"{name} of the header", 0)[0]
        for name in ("num_class", "num_tree_per_iteration", "label_index", "max_feature_idx")
    )
    sizes = _integers(header["tree_sizes"], None, "tree_sizes", 1)
    if n_classes != per_round or not per_round or len(sizes) % per_round:
        raise ValueError("the header's numbers of classes and trees do not fit together")
    objective = _OBJECTIVE.fullmatch(header.get("objective", "custom"))
    if objective is None or int(objective[1] or n_classes) != n_classes:
        raise ValueError("the objective is not known, or does not fit the number of classes")
    width = last + 1
    names, ranges = header["feature_names"].split(" "), header["feature_infos"].split(" ")
    if len(names) != width or len(ranges) != width or not all(names):
        raise ValueError(f"the header must name {width} columns")
    if not all(map(_RANGE.fullmatch, ranges)):
        raise ValueError("the header must give a range for each column")
    if "monotone_constraints" in header:
        _integers(header["monotone_constraints"], width, "monotone_constraints", -1, 1)
    return width


def _check_tree(tree: dict[str, str], width: int, where: str) -> None:
    def whole(name: str, count: int | None, low: int, high: int = _LARGEST) -> list[int]:
        return _integers(_take(tree, name, where), count, f"{name} of {where}", low, high)

    def real(name: str, count: int) -> list[str]:
        pattern = _OR_INF if name in _MAY_BE_INFINITE else _REALS
        return _reals(_take(tree, name, where), pattern, count, f"{name} of {where}")

    (n_leaves,), (n_cats,), (linear,) = (
        whole(name, 1, low) for name, low in (("num_leaves", 1), ("num_cat", 0), ("is_linear", 0))
    )
    n_splits = n_leaves - 1
    whole("split_feature", n_splits, 0, width - 1)
    real("split_gain", n_splits)
    threshold, *_ = (real(name, n_splits) for name in _OF_SPLITS)
    kinds = whole("decision_type", n_splits, 0, 11)
    children = whole("left_child", n_splits, -n_leaves, n_splits - 1)
    children += whole("right_child", n_splits, -n_leaves, n_splits - 1)
    _check_children(children, n_splits, where)
    real("leaf_value", n_leaves)
    real("leaf_weight", n_leaves if n_splits else 0)
    whole("leaf_count", n_leaves, 0)
    whole("internal_count", n_splits, 0)
    real("shrinkage", 1)
    _check_categories(tree, [t for t, kind in zip(threshold, kinds, strict=True) if kind & 1],
                      n_cats, where)  # fmt: skip
    if linear:
        real("leaf_const", n_leaves)
        counts = whole("num_features", n_leaves, 0, width)
        for name in ("leaf_features", "leaf_coeff"):  # lists of lists, with two blanks between
            tree[name] = " ".join(_take(tree, name, where).split())
        whole("leaf_features", sum(counts), 0, width - 1)
        real("leaf_coeff", sum(counts))
    if tree:
        raise ValueError(f"{where} has {next(iter(tree))[:40]!r}, which does not belong there")


def _check_children(children: list[int], n_splits: int, where: str) -> None:
    """Check that each leaf and each split but the first is the child of one earlier split."""
    expected = [*range(-n_splits - 1, 0), *range(1, n_splits)] if n_splits else []
    if sorted(children) != expected:
        raise ValueError(f"the children of {where} do not make a tree")
    for k, child in enumerate(children):
        if 0 <= child <= k % n_splits:
            raise ValueError(f"the children of {where} do not make a tree")


def _check_categories(tree: dict[str, str], used: list[str], n_cats: int, where: str) -> None:
    """Check the sets of categories, which are rows of bits that thresholds refer to by number."""
    _integers(" ".join(used), None, f"threshold of {where}", 0, n_cats - 1)
    if not n_cats:
        return
    name = f"categories of {where}"
    bounds = _integers(_take(tree, "cat_boundaries", where), n_cats + 1, name, 0)
    words = _integers(_take(tree, "cat_threshold", where), None, name, 0, 2**32 - 1)
    rising = all(a < b for a, b in itertools.pairwise(bounds))
    if bounds[0] or bounds[-1] != len(words) or not rising:
        raise ValueError(f"the {name} do not fit together")


# -- lists of numbers --------------------------------------------------------------------------
def _take(tree: dict[str, str], name: str, where: str) -> str:
    if name not in tree:
        raise ValueError(f"{where} has no {name}")
    return tree.pop(name)


def _list(text: str, pattern: re.Pattern[str], count: int | None, where: str) -> list[str]:
    found = text.split(" ") if text else []
    if pattern.fullmatch(text) is None or (count is not None and len(found) != count):
        wanted = "numbers" if count is None else f"{count} numbers"
        raise ValueError(f"{where} must be {wanted}")
    return found


def _reals(text: str, pattern: re.Pattern[str], count: int, where: str) -> list[str]:
    """Numbers that a double can represent; LightGBM's reader ends the process at any other."""
    found = _list(text, pattern, count, where)
    for number in found:
        if number.endswith("inf"):
            continue
        size = abs(float(number))
        zero = size < sys.float_info.min and not number.split("e")[0].strip("+-0.")
        if not (zero or sys.float_info.min <= size < math.inf):
            raise ValueError(f"{where} must be numbers that a double holds")
    return found


def _integers(
    text: str, count: int | None, where: str, low: int, high: int = _LARGEST
) -> list[int]:
    found = [int(number) for number in _list(text, _WHOLE, count, where)]
    if found and not low <= min(found) <= max(found) <= high:
        raise ValueError(f"{where} must be between {low} and {high}")
    return found
