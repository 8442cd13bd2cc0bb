"""Damaged and hostile files against every reader; ``python -m tests.attack`` runs it.

A case is a copy of a small valid input (`seeds`), changed by one or more `mutations`, that one of
the `targets` reads in a `child` process; the `pool` notices children that die or hang. A case
follows from its format and its number alone.
"""
