"""The kinds of propagation P. ``engine`` computes products with P, ``diagonal`` computes diag(P),
``features`` makes columns from the edges, and ``harmonic`` keeps known labels fixed.
"""

from .._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "HopSum": "polynomials",
        "Hops": "hops",
        "Iteration": "polynomials",
        "Power": "polynomials",
        "Propagation": "base",
        "Resolvent": "resolvent",
        "SelfWeight": "diagonal.self_weight",
        "Series": "polynomials",
        "Unfolded": "unfolded",
        "diffusion_features": "features",
        "hop_diagonals": "diagonal.self_weight",
        "spectral_features": "features",
    },
)
