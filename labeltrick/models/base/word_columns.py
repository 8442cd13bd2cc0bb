"""Texts as columns of numbers: weighted words, or components of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._utils.texts import TOKEN
from ..._utils.threads import one_blas_thread

_MOST_WORDS = 20_000  # in a vocabulary; those that occur most often are kept
_FEWEST_ROWS, _ROWS_PER_WORD = 2, 50_000  # a word must occur in two rows, or one in 50,000
_MOST_TOKENS = 5_000_000  # in a column; with more, its vocabulary would be wide
_N_HASHED = 2**16
MOST_COMPONENTS = 64
_POWER_STEPS = 4


@dataclass(frozen=True)
class WordColumns:
    """The columns that a column of texts becomes.

    Rows are TF-IDF vectors: (1 + log count) · idf, scaled to length 1, and zero where a text is
    missing. ``vocabulary`` lists the words; None if they are hashed. If there are many words,
    ``components`` (one row per word) projects them on their first singular vectors.
    """

    name: str
    vocabulary: tuple[str, ...] | None
    idf: np.ndarray
    components: np.ndarray | None

    def __post_init__(self) -> None:
        n_words = _N_HASHED if self.vocabulary is None else len(self.vocabulary)
        sound = (
            self.idf.shape == (n_words,)
            and self.idf.dtype.kind == "f"
            and bool(np.isfinite(self.idf).all())
            and len(set(self.vocabulary or ())) == len(self.vocabulary or ())
        )
        if sound and self.components is not None:
            array = self.components
            sound = array.ndim == 2 and len(array) == n_words and array.dtype.kind == "f"
            sound = sound and bool(np.isfinite(array).all())
        if not sound:
            raise ValueError("the words in it do not fit together")

    @property
    def width(self) -> int:
        return len(self.idf) if self.components is None else self.components.shape[1]

    @property
    def names(self) -> list[str]:
        """Names of the columns: the words, or the most important words of the components."""
        if self.components is None:
            words = self.vocabulary or [f"hash {k}" for k in range(self.width)]
            return [f"{self.name}: {word}" for word in words]
        shown = [f"{self.name}: words {k}" for k in range(self.width)]
        if self.vocabulary is None:
            return shown
        top = np.argsort(-np.abs(self.components), axis=0, kind="stable")[:3].T
        words = [", ".join(self.vocabulary[k] for k in row) for row in top.tolist()]
        return [f"{name} ({some})" for name, some in zip(shown, words, strict=True)]

    def words(self, texts: Sequence[str | None]) -> sp.csr_matrix:
        """The weighted words of texts; words that are not in the vocabulary are skipped."""
        if not len(self.idf):
            return sp.csr_matrix((len(texts), 0))
        return self.weighted(_counter(self.vocabulary).transform(_blank(texts)))

    def dense(self, words: sp.csr_matrix) -> np.ndarray:
        """The columns that weighted words become."""
        return words.toarray() if self.components is None else np.asarray(words @ self.components)

    def weighted(self, counts: Any) -> sp.csr_matrix:
        """Counts of words, weighted."""
        from sklearn.preprocessing import normalize

        words = sp.csr_matrix(counts, dtype=np.float64, copy=True)
        if not words.nnz:
            return words
        words.data = (1 + np.log(words.data)) * self.idf[words.indices]
        return normalize(words, copy=False)


def learn_words(
    name: str, texts: Sequence[str | None], n_components: int | None = MOST_COMPONENTS
) -> tuple[WordColumns, sp.csr_matrix]:
    """Choose the words of ``texts``, and components if there are more than ``n_components`` words
    (None: never); also the weighted words of these texts.

    Labels are not used, and the order of the rows does not matter.
    """
    counts, vocabulary = _count(texts)
    n, seen = counts.shape[0], np.bincount(counts.indices, minlength=counts.shape[1])
    found = WordColumns(name, vocabulary, np.log((1 + n) / (1 + seen)) + 1, None)
    words = found.weighted(counts)
    if n_components is None or len(found.idf) <= n_components:
        return found, words
    return replace(found, components=_components(words, n_components)), words


def _blank(texts: Sequence[str | None]) -> list[str]:
    return [text or "" for text in texts]


def _counter(vocabulary: Sequence[str] | None, **options: Any) -> Any:
    """Counts words; None hashes them."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    if vocabulary is None:
        return HashingVectorizer(
            n_features=_N_HASHED, token_pattern=TOKEN, alternate_sign=False, norm=None
        )
    return CountVectorizer(token_pattern=TOKEN, vocabulary=vocabulary or None, **options)


def _count(texts: Sequence[str | None]) -> tuple[Any, tuple[str, ...] | None]:
    """Counts of words and the vocabulary."""
    import polars as pl

    given = _blank(texts)
    if int(pl.Series(given, dtype=pl.String).str.count_matches(TOKEN).sum() or 0) > _MOST_TOKENS:
        return _counter(None).transform(given), None
    least = max(_FEWEST_ROWS, len(given) // _ROWS_PER_WORD)
    counter = _counter((), min_df=least, max_features=_MOST_WORDS)
    try:
        counts = counter.fit_transform(given)
    except ValueError:  # no word occurs in enough rows
        return sp.csr_matrix((len(given), 0)), ()
    return counts, tuple(counter.get_feature_names_out().tolist())


def _components(words: Any, n_components: int) -> np.ndarray:
    """Singular vectors of the words.

    Random numbers are drawn per word and signs are chosen by words, so that the order of the rows
    does not matter (`sklearn.decomposition.TruncatedSVD` may draw per row).
    """
    from sklearn.utils.extmath import randomized_svd

    n = max(1, min(n_components, min(words.shape) - 1))
    with one_blas_thread():
        _, _, vectors = randomized_svd(
            words.astype(np.float32),
            n,
            n_iter=_POWER_STEPS,
            transpose=False,
            flip_sign=False,
            random_state=0,
        )
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
    return np.ascontiguousarray((vectors * np.sign(largest)).T, np.float32)
