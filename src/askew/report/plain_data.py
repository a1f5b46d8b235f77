"""Anything a summary holds, as data that JSON can write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Dataclasses and mappings become dicts, arrays and sequences lists, NaN and infinity None, the rest words.

    Floats keep seven significant digits, more than a page shows.

    Examples
    --------
    >>> plain({"kernel": "rbf", "gamma": np.float64(1 / 3), "C": (1, np.inf)})
    {'kernel': 'rbf', 'gamma': 0.3333333, 'C': [1, None]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(f"{value:.7g}") if isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence | Set):
        return [plain(item) for item in value]
    return str(value)
