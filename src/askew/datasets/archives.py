"""Sets stored as NumPy archives: dense, packed bits, and sparse with topics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from askew.datasets.dataset import Dataset, signs


def read_dense(path: Path, name: str) -> Dataset:
    """Keys ``X`` and ``y``."""
    with np.load(path) as archive:
        return Dataset(name=name, X=archive["X"].astype(np.float64), y=archive["y"].astype(np.int8))


def read_covtype(path: Path, name: str) -> Dataset:
    """Quantitative columns ``Q`` and binary columns packed in ``B``; +1 is the rarest of the classes."""
    with np.load(path) as archive:
        quantitative, packed, labels = archive["Q"], archive["B"], archive["y"].astype(np.int64)
        names = tuple(archive["names"].tolist())
    binary = np.unpackbits(packed, axis=1)[:, : len(names) - quantitative.shape[1]]
    classes, counts = np.unique(labels, return_counts=True)
    return Dataset(
        name=name,
        X=np.hstack([quantitative, binary]).astype(np.float64),
        y=signs(labels == classes[np.argmin(counts)]),
        feature_names=names,
        labels=labels,
    )


def read_topics(path: Path, name: str) -> Dataset:
    """The parts of a CSR matrix, a 0/1 matrix ``Y``, and the names of topics and features."""
    with np.load(path) as archive:
        parts = archive["data"].astype(np.float64), archive["indices"], archive["indptr"]
        return Dataset(
            name=name,
            X=sparse.csr_matrix(parts, shape=tuple(archive["shape"])),
            y=archive["Y"],
            feature_names=tuple(archive["features"].tolist()),
            topics=tuple(archive["topics"].tolist()),
        )


def read_subset(path: Path, name: str, *, number: int, n_features: int, n_topics: int) -> Dataset:
    """One of several packed binary sets in one archive; its topics carry no names, so they are numbered."""
    with np.load(path) as archive:
        words = np.unpackbits(archive[f"X{number}"], axis=1)[:, :n_features]
        topics = np.unpackbits(archive[f"Y{number}"], axis=1)[:, :n_topics]
    return Dataset(
        name=name,
        X=sparse.csr_matrix(words.astype(np.float64)),
        y=topics,
        topics=tuple(f"topic{j}" for j in range(n_topics)),
    )
