"""Rows as MomentSVC takes them: checked, weighed, and with the threads that suit them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from askew.arrays import host, is_elsewhere
from askew.estimators.elsewhere import read_rows
from askew.estimators.sklearn_private import check_weights
from askew.exceptions import DataError
from askew.threads import workers

READ: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}


def read_labelled(
    estimator: Any, X: Any, y: Any, sample_weight: Any, reset: bool, **options: Any
) -> tuple[Any, Any, NDArray[np.float64]]:
    """Rows, labels and weights as a fit takes them; rows of another array library stay where they are."""
    y, sample_weight = (host(v) if is_elsewhere(v) else v for v in (y, sample_weight))
    if not is_elsewhere(X):
        X, y = validate_data(estimator, X, y, reset=reset, **options, **READ)
        return X, y, check_weights(sample_weight, X)
    X, n = read_rows(estimator, X, reset), X.shape[0]
    check_array(y, ensure_2d=False, dtype=None)
    if len(y) != n:
        raise DataError(f"Found input variables with inconsistent numbers of samples: {[n, len(y)]}.")
    return X, np.asarray(y), check_weights(sample_weight, np.empty((n, 1)))


def pool_for(X: Any) -> Any:
    """Our own threads, and BLAS held at one: sparse and narrow fits are many short operations, which its threads slow.

    On wide dense data the decompositions are the work, and BLAS keeps its threads.
    """
    return workers() if sparse.issparse(X) or X.shape[1] <= 512 else nullcontext()
