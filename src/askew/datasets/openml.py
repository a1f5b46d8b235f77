"""Sets fetched from OpenML by number, refused when they are not what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np

from askew.datasets.dataset import Dataset, signs
from askew.exceptions import DataError


def fetch(data_id: int, *, positive: Any, shape: tuple[int, int], data_home: str | None = None) -> Dataset:
    """Fetch a numeric OpenML set and make one of its classes the positive one.

    The first call needs a network; later ones read scikit-learn's cache. For sets with categories, fetch them
    with ``sklearn.datasets.fetch_openml`` and encode the columns as the task needs.

    Parameters
    ----------
    data_id : int
        The set's number on OpenML, which fixes its version.
    positive : object
        The class that becomes +1; compared as text, as OpenML spells it.
    shape : (int, int)
        Rows and features expected. A set that differs is refused: numbers measured on it would not compare.
    data_home : str, optional
        Folder of the cache; scikit-learn's own by default.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from askew.datasets import fetch
    >>> data = fetch(1597, positive=1, shape=(284807, 29))      # credit-card fraud  # doctest: +SKIP
    """
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml(data_id=data_id, data_home=data_home, as_frame=False, parser="liac-arff")
    X, labels = bunch.data, np.asarray(bunch.target).astype(str)
    if tuple(X.shape) != tuple(shape):
        raise DataError(f"OpenML set {data_id} must have shape {tuple(shape)}; got {tuple(X.shape)}.")
    is_positive = labels == str(positive)
    if not is_positive.any() or is_positive.all():
        classes = ", ".join(map(repr, np.unique(labels)[:12].tolist()))
        raise DataError(f"positive={positive!r} must be one of several classes of OpenML set {data_id}: {classes}.")
    return Dataset(
        name=f"openml/{data_id}",
        X=X.astype(np.float64),
        y=signs(is_positive),
        feature_names=tuple(bunch.feature_names),
        labels=labels,
    )
