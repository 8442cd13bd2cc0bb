"""The paper's tables and figure, run again: its cells, ours, and an honest verdict on each."""

from .ledger import Ledger, make_ledger
from .paper import CELLS, PaperCell
from .verdicts import judge

__all__ = ["CELLS", "Ledger", "PaperCell", "judge", "make_ledger"]
