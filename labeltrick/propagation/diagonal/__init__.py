"""diag(P), the weight of a node's own value in its result: from neighborhoods with a certified
error, from whole columns, or from random signs. Each kind of propagation knows its own diagonal,
so this lives beside the kinds; `labeltrick.self_exclusion` uses it.
"""
