"""Sparse sets in svmlight format, a ``train`` and a ``test`` file each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from askew.datasets.dataset import Dataset, signs


def read_svmlight(path: Path, name: str, *, n_features: int) -> Dataset:
    """Read ``path`` (the train file) and the test file beside it into one set with a split."""
    parts = {"train": path, "test": path.with_name(path.name.replace(".train.", ".test."))}
    blocks = [load_svmlight_file(str(part), n_features=n_features, zero_based=False) for part in parts.values()]
    sizes = [X.shape[0] for X, _ in blocks]
    return Dataset(
        name=name,
        X=sparse.csr_matrix(sparse.vstack([X for X, _ in blocks], format="csr")),
        y=signs(np.concatenate([y for _, y in blocks]) > 0),
        split=np.repeat(list(parts), sizes),
    )
