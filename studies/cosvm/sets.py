"""The eight one-class problems of the paper, and how its models are drawn from each; two problems that are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler, scale

from benchmarks.data import load
from studies.cosvm.paper import REMOVED_SHARE

TITLES = {
    "haberman+": "Haberman, died within 5 years",
    "haberman-": "Haberman, survived",
    "bupa+": "Liver, selector 1",
    "bupa-": "Liver, selector 2",
    "spectf+": "SPECTF, normal",
    "spectf-": "SPECTF, abnormal",
    "colon+": "Colon, healthy",
    "colon-": "Colon, tumour",
}
SCALINGS = ("raw", "standard", "range")
ARRAYS = "arrays"
"""A scaling for Colon alone: logarithms, then every row to mean 0 and variance 1, as is usual for expression arrays."""
MADE = {"along little variance": 0, "along much variance": 1}
MADE_SPREAD, MADE_ROWS, MADE_DISTANCE = (0.3, 3.0), (180, 200, 200), 3
READINGS = ("held out", "all targets", "literal")

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """One of the paper's models: what is fitted on, and what is scored.

    Attributes
    ----------
    train : array
        Nine tenths of the targets.
    held_out : array
        The tenth that was taken away.
    outliers : array
        The whole other class.
    """

    train: Rows
    held_out: Rows
    outliers: Rows


@lru_cache(maxsize=2)
def _classes(target: str) -> tuple[Rows, Rows]:
    data = load(target[:-1])
    is_target = data.y == (1 if target[-1] == "+" else -1)
    return data.X[is_target], data.X[~is_target]


def draw(target: str, repeat: int, scaling: str) -> Model:
    """Take a tenth of the targets away at random; scale by the rest. One seed per problem and repeat."""
    targets, outliers = _classes(target)
    order = np.random.default_rng([repeat, *target.encode()]).permutation(len(targets))
    n_out = max(1, round(REMOVED_SHARE * len(targets)))
    return scaled(Model(targets[order[n_out:]], targets[order[:n_out]], outliers), scaling)


def made(side: str, repeat: int) -> Model:
    """Gaussian targets, ten times as wide along one axis; outliers three deviations away along the other, or along it.

    The paper's argument in its purest form: a method that heeds directions of little variance sees the first better.
    """
    rng = np.random.default_rng([repeat, 1])
    spread = np.array(MADE_SPREAD)
    train, held_out, outliers = (rng.normal(size=(n, 2)) * spread for n in MADE_ROWS)
    axis = MADE[side]
    outliers[:, axis] += MADE_DISTANCE * spread[axis] * rng.choice([-1.0, 1.0], size=len(outliers))
    return Model(train, held_out, outliers)


def scaled(model: Model, scaling: str) -> Model:
    """The same rows in other units, learnt on the training targets alone, or on each row alone."""
    if scaling == "raw":
        return model
    if scaling == ARRAYS:
        return Model(*(scale(np.log(part), axis=1) for part in (model.train, model.held_out, model.outliers)))
    scaler = {"standard": StandardScaler, "range": MinMaxScaler}[scaling]().fit(model.train)
    return Model(*(scaler.transform(part) for part in (model.train, model.held_out, model.outliers)))


def areas(scores: Mapping[str, Any]) -> dict[str, float]:
    """AUC under the three readings of the paper's sentence on its models.

    "held out": the targets taken away against the outliers, nothing seen in training is scored. "all targets": the
    training targets are scored too, as targets. "literal": the training targets against the outliers and the targets
    taken away together.
    """
    train, held_out, outliers = (np.asarray(scores[part]) for part in ("train", "held_out", "outliers"))
    return {
        "held out": _area(held_out, outliers),
        "all targets": _area(np.concatenate([train, held_out]), outliers),
        "literal": _area(train, np.concatenate([held_out, outliers])),
    }


def _area(high: Rows, low: Rows) -> float:
    y = np.concatenate([np.ones(len(high)), np.zeros(len(low))])
    return float(roc_auc_score(y, np.concatenate([high, low])))
