"""Sparse features need no preparation; this says so with the same methods as a table's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.exceptions import DataError
from askew.sources import SparseBlock


class SparseFeatures:
    """Numbered features as they are in a svmlight file.

    Attributes
    ----------
    n_features : int
    """

    def __init__(self) -> None:
        self.n_features = self.n_rows = 0
        self.sums = np.zeros(0)

    needed_: tuple[str, ...] = ()

    def partial_fit(self, block: SparseBlock) -> SparseFeatures:
        """See how many features there are, and their means."""
        if self.n_rows == 0:
            self.n_features = block.X.shape[1]
            self.sums = np.zeros(self.n_features)
        self.n_rows += block.X.shape[0]
        self.sums = self.sums + np.asarray(block.X.sum(axis=0)).ravel()
        return self

    def transform(self, block: SparseBlock) -> Any:
        """The rows as a CSR matrix."""
        if not isinstance(block, SparseBlock):
            raise DataError("The model was fitted on svmlight rows; a table has no numbered features. Give svmlight.")
        if not np.isfinite(block.X.data).all():
            raise DataError("The svmlight rows hold NaN or infinity. Remove those entries.")
        return sparse.csr_matrix(block.X)

    def get_feature_names_out(self) -> NDArray[Any]:
        return np.array([f"feature {j}" for j in range(self.n_features)], dtype=object)

    @property
    def means_out_(self) -> NDArray[np.float64]:
        return self.sums / max(self.n_rows, 1)

    @property
    def sources_out_(self) -> list[str]:
        return self.get_feature_names_out().tolist()

    @property
    def unused_(self) -> dict[str, str]:
        return {}

    def explain(self) -> list[str]:
        return [f"{self.n_features:,} sparse features, used as they are"]
