"""The models on features and labels, small enough for tests."""

import pytest
from sklearn.base import clone

from labeltrick import SGC, SIGN, TWIRLS, LabelFeatureRegression

SMALL = {"max_epochs": 15}
MODELS = {
    "sgc": SGC(2, **SMALL),
    "sign": SIGN(3, hidden=16, **SMALL),
    "sign concat": SIGN(2, hops="concat", hidden=16, **SMALL),
    "twirls": TWIRLS(hidden=16, n_before=2, **SMALL),
    "regression": LabelFeatureRegression(0.8, 5),
}
EVERY = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
# With one layer before it propagates, TWIRLS takes another way to the same.
ALSO_LINEAR = {**MODELS, "twirls, linear start": TWIRLS(hidden=16, **SMALL)}
EVERY_WAY = pytest.mark.parametrize("model", ALSO_LINEAR.values(), ids=ALSO_LINEAR)
TRAINED = pytest.mark.parametrize(
    "model", [m for name, m in MODELS.items() if name != "regression"], ids=list(MODELS)[:-1]
)


def with_epochs(model, n):
    """A copy that is trained long enough to learn, if it is trained by epochs."""
    return clone(model).set_params(**({"max_epochs": n} if hasattr(model, "max_epochs") else {}))
