"""Moments whose features are placed among others, or joined by 0/1 columns: exact, without another look at the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError
from askew.moments.moments import DiagonalMoments

Vector = NDArray[np.float64]


def place_moments(moments: Any, places: NDArray[np.int64], width: int) -> Any:
    """Moments on ``width`` features: those given stand at ``places`` (-1: left out), the others are all zero.

    Parameters
    ----------
    moments : Moments or DiagonalMoments
    places : array of int, shape (moments.n_features,)
    width : int
    """
    given = np.flatnonzero(places >= 0)
    to = places[given]
    mean, rest = np.zeros(width), np.zeros(width)
    mean[to], rest[to] = moments.mean[given], moments.mean_rest[given]
    if moments.is_diagonal:
        scatter = np.zeros(width)
        scatter[to] = moments.scatter[given]
    else:
        scatter = np.zeros((width, width))
        scatter[np.ix_(to, to)] = moments.scatter[np.ix_(given, given)]
    return type(moments)(moments.n_samples, mean, rest, scatter)


def append_columns(moments: Any, X: Vector, H: Any, weight: Vector) -> Any:
    """Moments of rows with further 0/1 columns.

    With p the means of the columns H, of which every row has one 1 in each group: their scatter is H'WH − n pp', that
    with the numbers H'W(X − x̄), because W(X − x̄) sums to zero.

    Parameters
    ----------
    moments : Moments or DiagonalMoments
        Of X.
    X : array of shape (n, d)
    H : sparse matrix of 0 and 1, shape (n, k)
    weight : array of shape (n,)
    """
    if moments.has_directions:
        raise DataError("covariance='factor' on so many features takes numbers alone. Use 'diagonal' with categories.")
    n = moments.n_samples
    counts = H.T @ weight
    p = counts / n if n > 0 else counts
    mean, rest = np.append(moments.mean, p), np.append(moments.mean_rest, np.zeros(len(p)))
    if moments.is_diagonal:
        return DiagonalMoments(n, mean, rest, np.append(moments.scatter, counts * (1.0 - p)))
    weighed = H.multiply(weight[:, None]).tocsr()
    across = weighed.T @ np.ascontiguousarray((X - moments.mean) - moments.mean_rest)
    among = (weighed.T @ H).toarray() - np.multiply.outer(counts, p)
    return type(moments)(n, mean, rest, np.block([[moments.scatter, across.T], [across, among]]))
