"""The report of a run: a single HTML file."""

from .page import write_report

__all__ = ["write_report"]
