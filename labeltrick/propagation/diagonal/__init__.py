"""diag(P), the weight of a node's own value in its result: from neighborhoods with a certified
error, from whole columns, or from random signs. `labeltrick.self_exclusion` uses it.
"""
