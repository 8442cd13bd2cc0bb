"""The cells of the paper's tables, the pairs of them that it compares, and its figure's claims.

Each cell names the method that follows the paper's recipe (the first of several that has been run
counts), and our own forms of it, which are shown beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EXPERIMENTS = ("table1", "table2", "table3", "table4", "figure1", "theorems")


@dataclass(frozen=True)
class PaperCell:
    """One number of the paper.

    Attributes
    ----------
    table, dataset, method : the place of the number; ``dataset`` is our name.
    paper, paper_std : mean and standard deviation as printed; None if not printed.
    part : "test" or "val".
    ours : names of the methods that follow the paper, the preferred one first.
    beside : names of our own forms of the method.
    digits : number of decimals, as printed.
    lower_is_better : whether the number is an error.
    """

    table: str
    dataset: str
    method: str
    paper: float | None
    paper_std: float | None
    part: str
    ours: tuple[str, ...]
    beside: tuple[str, ...] = ()
    digits: int = 2
    lower_is_better: bool = False


# What the paper calls trainable: the method by its recipe, then our forms of it.
_RECIPE = ", paper's recipe"
_TRAINABLE = (("trainable" + _RECIPE,), ("trainable, stochastic", "trainable, deterministic"))
_TRAINABLE_CS = (("trainable C&S" + _RECIPE,), ("trainable C&S",))
_TRAINABLE_TREES = (("trees, trainable C&S, end to end",), ("trees, trainable C&S",))

# fmt: off
_TABLE_1 = {
    "cora-full": ((66.44, 0.93), (67.23, 0.66)),
    "pubmed": ((83.45, 0.63), (83.52, 0.59)),
    "ogbn-arxiv": ((67.11, 0.00), (68.42, 0.01)),
    "ogbn-products": ((74.24, 0.00), (75.61, 0.21)),
}
_TABLE_2 = {
    "house": ((0.51, 0.01), (0.45, 0.01)),
    "county-2016": ((1.42, 0.14), (1.13, 0.09)),
    "vk": ((7.02, 0.20), (6.95, 0.22)),
    "avazu": ((0.106, 0.014), (0.106, 0.014)),
}
_TABLE_3 = {
    "cora-full": ((65.87, 0.61), (65.81, 0.69), (68.54, 0.76), (68.44, 0.88), (70.36, 0.51),
                  (70.40, 0.71)),
    "pubmed": ((85.02, 0.43), (85.23, 0.57), (87.94, 0.52), (88.09, 0.59), (89.81, 0.56),
               (90.08, 0.52)),
    "ogbn-arxiv": ((69.07, 0.01), (70.22, 0.03), (69.97, 0.16), (70.98, 0.21), (72.93, 0.19),
                   (73.22, 0.10)),
}
# test, then validation, of MLP, C&S and trainable C&S
_TABLE_4 = {
    "cora-full": ((60.12, 0.29), (61.09, 0.39), (66.95, 1.46), (68.26, 1.24), (67.89, 1.37),
                  (69.09, 1.25)),
    "pubmed": ((88.72, 0.34), (89.25, 0.26), (89.12, 0.27), (89.45, 0.17), (89.76, 0.17),
               (89.62, 0.18)),
    "ogbn-arxiv": ((71.48, 0.15), (72.95, 0.05), (73.05, 0.35), (74.01, 0.17), (73.03, 0.18),
                   (74.44, 0.08)),
    "ogbn-products": ((67.60, 0.15), (87.07, 0.05), (83.16, 0.13), (91.70, 0.06), (83.10, 0.15),
                      (91.99, 0.07)),
}
# fmt: on
_LINEAR_METHODS = tuple(
    f"{model}{labels}" for model in ("SGC", "SIGN", "TWIRLS") for labels in ("", ", labels")
)
_LIMITS = (
    ("linear, α → 0", "linear, closed form"),
    ("linear, α → 1", "linear, closed form"),
    ("GCN, α → 0", "GCN"),
)
LARGER_RATE = "best α, linear minus GCN"


def _cells() -> list[PaperCell]:
    cells: list[PaperCell] = []
    for name, (plain, trained) in _TABLE_1.items():
        cells.append(PaperCell("table1", name, "label propagation", *plain, "test", ("LP",)))
        cells.append(PaperCell("table1", name, "trainable", *trained, "test", *_TRAINABLE))
    for name, (plain, trained) in _TABLE_2.items():
        more: dict[str, Any] = {"digits": 3 if name == "avazu" else 2, "lower_is_better": True}
        cells.append(PaperCell("table2", name, "C&S", *plain, "test", ("trees, C&S",), **more))
        cells.append(PaperCell("table2", name, "trainable C&S", *trained, "test", *_TRAINABLE_TREES,
                               **more))  # fmt: skip
    for name, values in _TABLE_3.items():
        for method, value in zip(_LINEAR_METHODS, values, strict=True):
            cells.append(PaperCell("table3", name, method, *value, "test", (method,)))
    for name, values in _TABLE_4.items():
        for k, value in enumerate(values):
            method, part = ("MLP", "C&S", "trainable C&S")[k // 2], ("test", "val")[k % 2]
            names = _TRAINABLE_CS if method == "trainable C&S" else ((method,),)
            cells.append(PaperCell("table4", name, method, *value, part, *names))
    for name in ("ogbn-arxiv", "pubmed"):
        for limit, curve in _LIMITS:
            cells.append(PaperCell("figure1", name, limit, None, None, "val", (curve,)))
        curves = ("linear, closed form", "GCN")
        cells.append(PaperCell("figure1", name, LARGER_RATE, None, None, "val", curves))
    return cells


CELLS = _cells()
# (table, method, the method that it is compared with)
_COMPARED = (
    ("table1", "trainable", "label propagation"),
    ("table2", "trainable C&S", "C&S"),
    *(("table3", f"{model}, labels", model) for model in ("SGC", "SIGN", "TWIRLS")),
    ("table4", "trainable C&S", "C&S"),
)


def _pairs() -> list[tuple[PaperCell, PaperCell]]:
    places = {(cell.table, cell.dataset, cell.part, cell.method): cell for cell in CELLS}
    found = []
    for (table, dataset, part, method), cell in places.items():
        for compared in _COMPARED:
            if compared[:2] == (table, method):
                found.append((cell, places[table, dataset, part, compared[2]]))
    return found


PAIRS = _pairs()


def printed(table: str, dataset: str, method: str) -> str:
    """The paper's test cell that one of our methods corresponds to, as printed.

    >>> printed("table1", "pubmed", "LP")
    '83.45 ± 0.63'
    >>> printed("table1", "pubmed", "per hop")
    ''
    """
    place = (table, dataset, "test", method)
    for cell in CELLS:
        if (cell.table, cell.dataset, cell.part, cell.ours[0]) == place:
            return f"{cell.paper:.{cell.digits}f} ± {cell.paper_std:.{cell.digits}f}"
    return ""
