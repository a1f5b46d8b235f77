"""A frame with categories as the numbers that a model was fitted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.estimators.moment_levels import one_hot
from askew.exceptions import DataError
from askew.sources import as_table
from askew.sources.categories import Level, read_categories
from askew.sources.rows import FINITE, check_finite, columns_of

Vector = NDArray[np.float64]


def encode(frame: Any, features: Sequence[str], categories: Mapping[str, Sequence[Level]]) -> Vector:
    """Numbers as they are, and a 0/1 column for every category; one that the fit has not met is zero in all of them.

    Parameters
    ----------
    frame : pandas, Polars or Arrow frame, or dict of columns
    features : sequence of str
        Columns the model was fitted with.
    categories : mapping of str to sequence
        Of those that are categories.

    Examples
    --------
    >>> frame = {"amount": [1.5, 2.0, 3.0], "country": ["fr", "de", "it"]}
    >>> encode(frame, ["amount", "country"], {"country": ["de", "fr"]}).tolist()
    [[1.5, 0.0, 1.0], [2.0, 1.0, 0.0], [3.0, 0.0, 0.0]]
    """
    table, texts = _as_table(frame), [name for name in features if name in categories]
    found = read_categories(table, texts, [tuple(categories[name]) for name in texts])
    parts = []
    for name in features:
        if name in categories:
            j = texts.index(name)
            parts.append(one_hot(found.codes[:, [j]], [len(found.levels[j])]).toarray())
        else:
            parts.append(columns_of(table, (name,))[0].astype(np.float64)[:, None])
            check_finite(parts[-1], (name,), where="of X", largest=FINITE)
    return np.hstack(parts)


def encoded_names(features: Sequence[str], categories: Mapping[str, Sequence[Level]]) -> NDArray[Any]:
    """Names of the columns that ``encode`` gives, as scikit-learn's ``OneHotEncoder`` would say.

    Examples
    --------
    >>> encoded_names(["amount", "country"], {"country": ["de", "fr"]}).tolist()
    ['amount', 'country_de', 'country_fr']
    """
    names = [[f"{name}_{level}" for level in categories[name]] if name in categories else [name] for name in features]
    return np.array([each for group in names for each in group], dtype=object)


def _as_table(frame: Any) -> Any:
    if hasattr(frame, "shape") and not hasattr(frame, "columns") and not hasattr(frame, "column_names"):
        raise DataError(
            "The model was fitted with columns of categories and needs a frame with the same columns to score; got "
            f"{type(frame).__name__}."
        )
    return as_table(frame)
