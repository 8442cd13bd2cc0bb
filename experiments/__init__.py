"""The paper's tables and figures, and the ledger that compares each of its cells with ours.

``python -m experiments table1 --dataset pubmed`` runs one of them; each is a file here.
"""
