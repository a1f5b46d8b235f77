"""Sets fetched from OpenML by number, refused when they are not what was expected.

A column whose every entry reads as a number is a feature as it stands, any other becomes one 0/1 column per level that
occurs, named ``column=level``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.datasets.dataset import Dataset, signs
from askew.exceptions import DataError

Vector = NDArray[np.float64]


def fetch(
    data_id: int,
    *,
    positive: Any = None,
    shape: tuple[int, int],
    n_positive: int | None = None,
    name: str | None = None,
    data_home: str | None = None,
) -> Dataset:
    """Fetch an OpenML set and make one of its classes the positive one.

    The first call needs a network; later ones read scikit-learn's cache. ``load(name)`` does this for the sets whose
    numbers askew knows.

    Parameters
    ----------
    data_id : int
        The set's number on OpenML, which fixes its version.
    positive : object or tuple of objects, optional
        The class, or classes, that become +1; compared as text, as OpenML spells them. Without it, the one class that
        has ``n_positive`` rows.
    shape : (int, int)
        Rows expected, and columns once categories are encoded. A set that differs is refused: numbers measured on it
        would not compare.
    n_positive : int, optional
        Rows with y = +1 expected.
    name : str, optional
        Of the set; ``openml/data_id`` by default.
    data_home : str, optional
        Folder of the cache; scikit-learn's own by default.

    Returns
    -------
    Dataset
        Without ``groups`` and ``split``, which OpenML does not carry.

    Raises
    ------
    DataError
        When the set cannot be had, or is not what was expected.

    Examples
    --------
    >>> from askew.datasets import fetch
    >>> data = fetch(1597, positive=1, shape=(284807, 29))      # credit-card fraud  # doctest: +SKIP
    """
    bunch = _ask(data_id, data_home)
    X, feature_names = _encode(bunch)
    labels = np.asarray(bunch.target).astype(str)
    if tuple(X.shape) != tuple(shape):
        raise DataError(f"OpenML set {data_id} must have shape {tuple(shape)}; got {tuple(X.shape)}.")
    is_positive = _find_positive(data_id, labels, positive, n_positive)
    return Dataset(
        name=name or f"openml/{data_id}",
        X=X,
        y=signs(is_positive),
        feature_names=feature_names,
        labels=labels,
    )


def _ask(data_id: int, data_home: str | None) -> Any:
    """What OpenML answers, through scikit-learn, with categories as numbers of their levels."""
    from sklearn.datasets import fetch_openml

    try:
        return fetch_openml(data_id=data_id, data_home=data_home, as_frame=False, parser="liac-arff")
    except (OSError, ValueError) as error:  # no network, no such set, or a broken download
        raise DataError(
            f"OpenML set {data_id} could not be fetched ({type(error).__name__}: {error}). The first time needs a "
            "network that reaches openml.org; without one, copy scikit-learn's cache from where it was fetched and "
            "pass its folder as data_home."
        ) from error


def _encode(bunch: Any) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The columns as numbers, and their names."""
    categories = getattr(bunch, "categories", None) or {}
    values = np.asarray(bunch.data, dtype=np.float64)
    if not categories:
        return values, tuple(bunch.feature_names)
    columns: dict[str, Vector] = {}
    for column, entries in zip(bunch.feature_names, values.T, strict=True):
        columns.update(_expand(column, entries, categories[column]) if column in categories else {column: entries})
    return np.column_stack(list(columns.values())), tuple(columns)


def _expand(column: str, codes: Vector, levels: Sequence[Any]) -> dict[str, Vector]:
    """The numeric columns of one categorical one; NaN among the codes is a missing entry."""
    is_there = ~np.isnan(codes)
    texts = {int(code): str(levels[int(code)]) for code in np.unique(codes[is_there])}
    try:
        numbers = {code: float(text) for code, text in texts.items()}
    except ValueError:
        return {
            f"{column}={texts[code]}": (codes == code).astype(np.float64)
            for code in sorted(texts, key=texts.__getitem__)
        }
    values = np.full(len(codes), np.nan)
    for code, number in numbers.items():
        values[codes == code] = number
    return {column: values}


def _find_positive(data_id: int, labels: NDArray[Any], positive: Any, n_positive: int | None) -> NDArray[np.bool_]:
    """Which rows are of the class of interest."""
    classes, counts = np.unique(labels, return_counts=True)
    shown = ", ".join(f"{c!r} ({n})" for c, n in zip(classes[:12].tolist(), counts[:12].tolist(), strict=True))
    if positive is None:
        if n_positive is None or np.sum(counts == n_positive) != 1:
            raise DataError(f"One class of OpenML set {data_id} must have n_positive={n_positive} rows; got {shown}.")
        return labels == classes[counts == n_positive][0]
    wanted = [str(each) for each in positive] if isinstance(positive, tuple) else [str(positive)]
    found = np.isin(labels, wanted)
    if not found.any() or found.all():
        raise DataError(f"positive={positive!r} must be one of several classes of OpenML set {data_id}: {shown}.")
    if n_positive is not None and found.sum() != n_positive:
        raise DataError(f"OpenML set {data_id} must have {n_positive} rows of {wanted}; got {found.sum()}.")
    return found
