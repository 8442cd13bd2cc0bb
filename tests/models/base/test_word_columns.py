"""Texts: scikit-learn's TF-IDF, components that do not depend on the order of rows, hashing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from labeltrick._utils.texts import TOKEN
from labeltrick.models.base import word_columns
from labeltrick.models.base.word_columns import WordColumns, learn_words

TEXTS = ["a red fox and a fox", "The Red dog", None, "the fox, the dog", "blue whale"]


def many_texts(n=300, n_words=200, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array([f"{a}{b}{c}" for a in "bdfgkl" for b in "aeiou" for c in "mnprstxz"])
    chance = 1 / np.arange(1, n_words + 1)
    rows = rng.choice(words[:n_words], (n, 8), p=chance / chance.sum())
    return [" ".join(row) for row in rows]


def test_words_are_weighted_like_scikit_learn():
    found, words = learn_words("t", TEXTS)
    peer = TfidfVectorizer(sublinear_tf=True, min_df=2, token_pattern=TOKEN)
    expected = peer.fit_transform([text or "" for text in TEXTS])
    assert found.vocabulary == tuple(peer.get_feature_names_out())
    np.testing.assert_allclose(words.toarray(), expected.toarray())
    np.testing.assert_allclose(found.dense(found.words(TEXTS)), expected.toarray())
    assert found.names == ["t: dog", "t: fox", "t: red", "t: the"]
    new = ["unknown words", "fox", None]
    np.testing.assert_allclose(found.words(new).toarray(), [[0] * 4, [0, 1, 0, 0], [0] * 4])


def test_components_are_the_singular_vectors():
    texts = many_texts()
    found, words = learn_words("t", texts, 5)
    assert found.width == 5
    np.testing.assert_allclose(found.components.T @ found.components, np.eye(5), atol=1e-5)
    best = np.linalg.svd(words.toarray(), compute_uv=False)[:5]
    assert np.sum(found.dense(words) ** 2) > 0.99 * np.sum(best**2)
    largest = found.components[np.abs(found.components).argmax(axis=0), np.arange(5)]
    assert (largest > 0).all()
    assert len(set(found.names)) == 5
    assert found.names[0].startswith("t: words 0 (")


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(seed):
    texts = many_texts(n=120, n_words=100)
    order = np.random.default_rng(seed).permutation(len(texts))
    found, words = learn_words("t", texts, 8)
    turned, others = learn_words("t", [texts[k] for k in order], 8)
    assert found.vocabulary == turned.vocabulary
    np.testing.assert_allclose(found.dense(words)[order], turned.dense(others), atol=1e-4)


@pytest.mark.parametrize("n_components", [None, 6])
def test_many_words_are_hashed(monkeypatch, n_components):
    monkeypatch.setattr(word_columns, "_MOST_TOKENS", 100)
    monkeypatch.setattr(word_columns, "_N_HASHED", 128)
    texts = many_texts()
    found, words = learn_words("t", texts, n_components)
    assert found.vocabulary is None
    assert found.width == (n_components or 128)
    np.testing.assert_array_equal(found.words(texts).toarray(), words.toarray())
    assert found.names[0] == ("t: words 0" if n_components else "t: hash 0")


def test_the_vocabulary_is_bounded(monkeypatch):
    monkeypatch.setattr(word_columns, "_MOST_WORDS", 10)
    found, _ = learn_words("t", many_texts(), None)
    assert found.width == 10


def test_texts_without_common_words():
    for texts in (["one two", "three four"], [None, None], ["", "!"]):
        found, words = learn_words("t", texts)
        assert found.names == []
        assert found.dense(words).shape == (2, 0)
        assert found.dense(found.words(["one", None, "three"])).shape == (3, 0)


def test_words_from_files_are_checked():
    two, wide = np.ones(2), np.ones((3, 1))
    for state in (
        (("a",), two, None),
        (("a", "a"), two, None),
        (("a", "b"), np.array([1.0, np.nan]), None),
        (("a", "b"), two, wide),
        (("a", "b"), two, np.array([[np.inf], [0.0]])),
        (None, two, None),
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            WordColumns("t", *state)
