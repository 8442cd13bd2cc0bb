"""Put the ledger of the results into docs/reproduction.md.

labeltrick reproduce all --only-ledger --data-dir data
python experiments/ledger_page.py
"""

from __future__ import annotations

from record import ROOT, write_between_markers


def main() -> None:
    text = (ROOT / "results" / "ledger.md").read_text(encoding="utf-8")
    write_between_markers(ROOT / "docs" / "reproduction.md", "ledger", text.strip())


if __name__ == "__main__":
    main()
