"""Write the ledger of the results into docs/reproduction.md.

python -m experiments all --only-ledger --data-dir data
python -m experiments.ledger_page
"""

from __future__ import annotations

from experiments.record import ROOT, write_between_markers


def main() -> None:
    text = (ROOT / "results" / "ledger.md").read_text(encoding="utf-8")
    write_between_markers(ROOT / "docs" / "reproduction.md", "ledger", text.strip())


if __name__ == "__main__":
    main()
