"""The command line, its runs, their reports, and the quickstart."""
