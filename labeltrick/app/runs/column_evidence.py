"""Evidence about one column: what it predicts alone, and how labeled rows differ from others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...models.base.word_columns import learn_words

_FOLDS = 5
_SURE = 2.0  # standard errors of lower bounds
_CHANCE = 1e-4  # of a difference between rows, divided by the number of columns
_MANY = 100  # rows that all hold a value which is also common elsewhere
_COMMON = 0.2
_EXACT = 500  # labels without exception that an honest column of 99 % would hardly reach
_EXPECTED_TWINS = 10.0
_ENOUGH_ROWS = 20_000  # to compare labeled rows and others


@dataclass(frozen=True)
class Alone:
    """What a column predicts alone, out of fold: the score, the skill (the share of the errors of a
    guess that it removes), and a lower bound of the skill."""

    score: float
    skill: float
    low: float
    regression: bool

    @property
    def words(self) -> str:
        return f"an R² of {self.score:.3f}" if self.regression else f"{self.score:.1%} accuracy"


NOTHING = Alone(0.0, 0.0, 0.0, False)


def predicts_alone(x: np.ndarray, y: np.ndarray, regression: bool) -> Alone:
    """Predict ``y`` (class codes or numbers) from one column by small trees, and for numbers also
    by a line, on left-out folds."""
    missing = np.isnan(x)
    if missing.all() or (not missing.any() and x.min() == x.max()):
        return NOTHING
    below = np.where(missing, np.nanmin(x) - 1 - abs(np.nanmin(x)), x)
    if not regression:
        return _of_classes(_left_out(below[:, None], y, _tree(False)), y)
    level = np.where(missing, np.nanmean(x), x)
    rows = [_left_out(below[:, None], y, _tree(True)), _left_out(level[:, None], y, _line())]
    return _of_numbers(rows, y)


def words_alone(texts: Sequence[str | None], y: np.ndarray, regression: bool) -> Alone:
    """Predict ``y`` from the words of one column by a linear model, on left-out folds."""
    from sklearn.linear_model import Ridge, RidgeClassifier

    words = learn_words("", texts, None)[1]
    if not words.nnz:
        return NOTHING
    if regression:
        return _of_numbers([_left_out(words, y, Ridge(solver="sparse_cg"))], y)
    return _of_classes(_left_out(words, y, RidgeClassifier(solver="sparse_cg")), y)


def _of_classes(predicted: np.ndarray, y: np.ndarray) -> Alone:
    score = float(np.mean(predicted == y))
    guess = float(np.bincount(y).max() / len(y))
    return Alone(score, _share(score, guess), _share(_wilson(score, len(y)), guess), False)


def _of_numbers(rows: list[np.ndarray], y: np.ndarray) -> Alone:
    """What the best of several predictions tells."""
    total = float(np.sum((y - y.mean()) ** 2))
    score = max(1 - float(np.sum((y - row) ** 2)) / total for row in rows)
    skill = float(np.clip(score, 0.0, 1.0))
    r = min(skill**0.5, 1 - 1e-12)
    low = np.tanh(max(np.arctanh(r) - _SURE / (len(y) - 3) ** 0.5, 0.0)) ** 2
    return Alone(score, skill, float(low), True)


def _tree(regression: bool) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if regression:
        return DecisionTreeRegressor(min_samples_leaf=3, random_state=0)
    return DecisionTreeClassifier(random_state=0)


def _line() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _left_out(X: Any, y: np.ndarray, learner: Any) -> np.ndarray:
    from sklearn.model_selection import KFold, cross_val_predict

    folds = KFold(_FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cross_val_predict(learner, X, y, cv=folds)


def _share(score: float, guess: float) -> float:
    return (score - guess) / (1 - guess)


def _wilson(share: float, n: int) -> float:
    """Lower end of Wilson's interval of a share among ``n``."""
    z2 = _SURE**2
    spread = _SURE * (share * (1 - share) / n + z2 / (4 * n * n)) ** 0.5
    return (share + z2 / (2 * n) - spread) / (1 + z2 / n)


def tells(x: np.ndarray, y: np.ndarray, regression: bool) -> float:
    """A quick measure of how much a column tells about the target: the share of its variance that
    lies between classes, or its squared correlation with the numbers."""
    x = np.where(np.isnan(x), np.nanmin(x) - 1, x) if not np.isnan(x).all() else np.zeros_like(x)
    x = x - x.mean()
    total = float(x @ x)
    if total == 0:
        return 0.0
    if regression:
        centered = y - y.mean()
        return float((x @ centered) ** 2 / (total * (centered @ centered)))
    sums, counts = np.bincount(y, weights=x), np.bincount(y)
    return float(np.sum(sums**2 / counts) / total)


@dataclass(frozen=True)
class Contrast:
    """The most frequent value of other rows, and its share there and in the labeled rows."""

    value: float  # NaN for blank
    there: float
    here: float
    n_there: int
    rows: str

    @property
    def is_total(self) -> bool:
        """Whether the others hold nothing else. Where labels were drawn evenly from rare and common
        classes, a value may be that frequent by chance in few rows."""
        return self.there >= 0.995 and (self.here < _COMMON or self.n_there >= _MANY)

    @property
    def is_large(self) -> bool:
        return self.there >= 0.9 and self.there - self.here >= 0.8

    @property
    def is_wide(self) -> bool:
        return self.there - self.here >= 0.5

    @property
    def words(self) -> str:
        what = "blank" if np.isnan(self.value) else "the same value"
        here = f"{self.here:.1%} of the labeled ones"
        return f"{what} in {self.there:.1%} of the {self.rows} ({here})"


def contrast(
    x: np.ndarray, here: np.ndarray, there: np.ndarray, rows: str, n_columns: int
) -> Contrast | None:
    """The most frequent value of ``there``, if it is significantly more frequent than in ``here``
    (Fisher's exact test, corrected for the number of columns)."""
    from scipy.stats import hypergeom

    others, labeled = _some(x[there]), _some(x[here])
    if not len(others) or not len(labeled):
        return None
    values, counts = np.unique(others, return_counts=True)  # NaN is one value
    value = float(values[np.argmax(counts)])
    n = int(counts.max())
    m = int(np.sum(np.isnan(labeled) if np.isnan(value) else labeled == value))
    chance = float(hypergeom.sf(n - 1, len(others) + len(labeled), n + m, len(others)))
    if chance * n_columns > _CHANCE:
        return None
    return Contrast(value, n / len(others), m / len(labeled), len(others), rows)


def _some(x: np.ndarray) -> np.ndarray:
    enough = len(x) <= _ENOUGH_ROWS
    return x if enough else np.random.default_rng(0).choice(x, _ENOUGH_ROWS, replace=False)


def numbers_rows(x: np.ndarray) -> bool:
    """Whether a column looks like an id: whole numbers without a twin, in a range so narrow that
    measured values would have many (n² / 2 range, by the birthday problem)."""
    if np.isnan(x).any() or not (x == np.round(x)).all() or len(np.unique(x)) < len(x):
        return False
    span = float(x.max() - x.min()) + 1
    return len(x) ** 2 / (2 * span) >= _EXPECTED_TWINS


def is_copy(x: np.ndarray, y: np.ndarray, regression: bool) -> bool:
    """Whether a column is the target in other words (one level per class) or units."""
    if regression:
        if np.isnan(x).any() or len(np.unique(y)) < 10 or x.std() == 0:
            return False
        return bool(abs(np.corrcoef(x, y)[0, 1]) > 1 - 1e-12)
    if len(y) < _EXACT:
        return False
    levels = np.unique(x, return_inverse=True)[1]
    pairs = len(np.unique(levels * (int(y.max()) + 1) + y))
    return pairs == levels.max() + 1 == y.max() + 1
