"""Data of the MomentSVC benchmarks: Gaussian negatives of a named condition number, and Reuters-21578 as tf-idf."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from threadpoolctl import threadpool_info

from benchmarks.data import load


def dense(n_negatives: int, n_positives: int, d: int, condition: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian negatives with cond(Σ) = ``condition`` in a random basis; positives shifted by three whitened units."""
    rng = np.random.default_rng(1234)
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0]
    root = basis * np.sqrt(np.logspace(0, -np.log10(condition), d))
    shift = rng.normal(size=d)
    shift *= 3.0 / np.linalg.norm(shift)
    rng = np.random.default_rng(seed)
    white = rng.normal(size=(n_negatives + n_positives, d))
    white[n_negatives:] += shift
    return white @ root.T, np.repeat([0, 1], [n_negatives, n_positives])


def blas_threads() -> int:
    """Threads BLAS may use, which is also how many askew uses; LinearSVC uses one."""
    return max([pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"], default=1)


@cache
def reuters() -> tuple[Any, np.ndarray, Any, np.ndarray, list[str]]:
    """tf-idf of the ModApte split and the 90 topics present in both parts: X, Y, X_test, Y_test, topics."""
    data = load("reuters21578")
    train, test = data.part("train"), data.part("test")
    both = np.flatnonzero((train.y.sum(axis=0) > 0) & (test.y.sum(axis=0) > 0))
    tfidf = TfidfVectorizer(sublinear_tf=True)
    X, X_test = tfidf.fit_transform(train.X), tfidf.transform(test.X)
    return X, train.y[:, both].astype(int), X_test, test.y[:, both].astype(int), [data.topics[k] for k in both]


def topic_at(X: Any, Y: np.ndarray, topic: int, ratio: int) -> tuple[Any, np.ndarray]:
    """Rows of one topic thinned until there are ``ratio`` negatives to a positive (or all rows where it is rarer)."""
    positive = np.flatnonzero(Y[:, topic])
    negative = np.flatnonzero(Y[:, topic] == 0)
    keep = np.concatenate([negative, positive[: max(2, len(negative) // ratio)]])
    return X[keep], Y[keep, topic]
