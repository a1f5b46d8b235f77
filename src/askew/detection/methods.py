"""The methods a person can name, when each is fit for the data, and what is tuned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from askew.estimators import (
    SVC,
    SVDD,
    AsymmetricSVC,
    CovarianceOneClassSVM,
    KernelScaledSVC,
    MomentSVC,
    OneClassSVM,
)
from askew.exceptions import ParameterError
from askew.methods.asymmetric import carried
from askew.sources.names import nearest

Labels = NDArray[np.int64]
LARGE = 100_000
"""Rows from which ``auto`` takes the method that sees all of them."""
FEW_POSITIVES = 20
"""Below this many, one-class methods, which need none, are compared as well."""


def _unchanged(params: dict[str, Any], y: Labels, other_y: Labels) -> dict[str, Any]:
    """Parameters that mean the same whatever the share of positives."""
    return params


def _asymmetric_carried(params: dict[str, Any], y: Labels, other_y: Labels) -> dict[str, Any]:
    """``mu`` and ``tau`` are shares of all rows: they follow the share of positives."""
    shares, others = (np.array([1.0 - labels.mean(), labels.mean()]) for labels in (y, other_y))
    mu, tau = carried(params["mu"], params["tau"], shares, others)
    return {**params, "mu": mu, "tau": tau}


@dataclass(frozen=True)
class Method:
    """One entry of the list.

    Attributes
    ----------
    name, title : str
    build : callable
        Makes the unfitted estimator.
    grid : mapping or None
        What is tuned; None where the estimator brings its own search.
    most_rows : int
        Training rows beyond which a sample of the negatives has to do.
    search_rows : int
        The same for the search for parameters, which fits a hundred times.
    is_streamed : bool
        Whether its last fit sees every training row as moments, whatever their number.
    is_one_class : bool
        Whether it learns from normal rows alone.
    is_reference : bool
        Whether it is here to compare with.
    carry : callable
        ``carry(params, y, other_y)``: parameters chosen on rows with labels ``y``, for rows with ``other_y``.
    """

    name: str
    title: str
    build: Callable[[], Any]
    grid: Mapping[str, list[Any]] | None
    most_rows: int
    search_rows: int = 15_000
    is_streamed: bool = False
    is_one_class: bool = False
    is_reference: bool = False
    carry: Callable[[dict[str, Any], Labels, Labels], dict[str, Any]] = _unchanged


METHODS = {
    method.name: method
    for method in (
        Method(
            "moment", "MomentSVC", MomentSVC, {"C": [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0]}, 50_000, 50_000,
            is_streamed=True,
        ),
        Method("asymmetric", "AsymmetricSVC", AsymmetricSVC, None, 10_000, 3_000, carry=_asymmetric_carried),
        Method("svc", "SVC, balanced", partial(SVC, class_weight="balanced"), None, 20_000, 4_000),
        Method(
            "scaled", "KernelScaledSVC", partial(KernelScaledSVC, C=10.0, class_weight="balanced"),
            {"C": [1.0, 10.0, 100.0]}, 4_000, 2_000,
        ),
        Method(
            "logistic", "logistic regression", partial(LogisticRegression, class_weight="balanced", max_iter=2000),
            {"C": [1e-3, 1e-1, 10.0]}, 200_000, is_reference=True,
        ),
        Method(
            "boosting", "gradient boosting",
            partial(HistGradientBoostingClassifier, class_weight="balanced", early_stopping=False, random_state=0),
            {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [8, 31]}, 200_000, is_reference=True,
        ),
        Method("covariance", "CovarianceOneClassSVM", CovarianceOneClassSVM, {}, 5_000, is_one_class=True),
        Method("one-class", "OneClassSVM", partial(OneClassSVM, nu=0.1), {}, 20_000, is_one_class=True),
        Method("svdd", "SVDD", partial(SVDD, nu=0.1), {}, 20_000, is_one_class=True),
    )
}  # fmt: skip
"""Every method that a person can name, by its name."""


def method_named(name: str, *, one_class: bool) -> Method:
    """The method of this name; asking for one that learns from other rows than are given is an error."""
    if name not in METHODS:
        raise ParameterError(f"There is no method {name!r}. {nearest(name, ['auto', *METHODS])}")
    method = METHODS[name]
    if method.is_one_class != one_class:
        kind = "one-class" if one_class else "two-class"
        fitting = [each.name for each in METHODS.values() if each.is_one_class == one_class]
        raise ParameterError(f"The method {name!r} is not for {kind} data. Choose one of: {', '.join(fitting)}.")
    return method


def candidates(name: str, n_training: int, *, one_class: bool, is_sparse: bool) -> list[Method]:
    """The methods that a name stands for, the first one being the safe choice.

    "auto" is the covariance-guided detector on normal rows, the moment method on many rows, and on few rows whichever
    of three ranks best in cross-validation.
    """
    if name != "auto":
        return [method_named(name, one_class=one_class)]
    if one_class:
        return [METHODS["covariance"]]
    if n_training > LARGE or is_sparse:
        return [METHODS["moment"]]
    return [METHODS["moment"], METHODS["svc"], METHODS["asymmetric"]]


def compared(names: list[str], n_positive: int, *, is_sparse: bool) -> list[Method]:
    """The methods that a comparison is about: those named, or else all that fit the data."""
    if names:
        return [METHODS[name] if name in METHODS else method_named(name, one_class=False) for name in names]
    order = ["moment", "logistic", "svc"] if is_sparse else ["moment", "logistic", "boosting", "svc", "asymmetric"]
    if not is_sparse:
        order += ["scaled", *(["one-class"] if n_positive < FEW_POSITIVES else [])]
    return [METHODS[name] for name in order]
