"""MomentSVC on rows beyond memory: one pass over files, Dask or Spark, then the same fit as in memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from askew.estimators.moment_tally import Plan, Tally
from askew.estimators.moment_targets import Targets, read_classes
from askew.exceptions import DataError, ParameterError
from askew.moments import CovarianceModel
from askew.sources import Layout, Source, open_source
from askew.sources.names import nearest
from askew.threads import workers

LIKELY = 1
"""The label of the positives in most tables. A first pass that was wrong about it costs a second one, no more."""


def open_labelled(X: Any, y: Any, target: str | None, sample_weight: Any) -> tuple[Source, Layout]:
    """The source of a fit, and where its features, labels and weights stand."""
    weight = sample_weight if isinstance(sample_weight, str) else None
    beside = None if weight is not None else sample_weight
    if target is not None and y is not None:
        raise ParameterError(f"Give y or target, not both; got y and target={target!r}.")
    source = open_source(X, y=y, sample_weight=beside)
    if target is None and y is None and source.columns:
        raise ParameterError(
            f"{source.name} needs to know its labels: name their column, as in target='fraud'. "
            f"{nearest('target', source.columns)}"
        )
    for name in (target, weight):
        if name is not None and name not in source.columns:
            raise ParameterError(f"{source.name} has no column {name!r}. {nearest(name, source.columns)}")
    features = tuple(name for name in source.columns if name not in (target, weight))
    return source, Layout(features, target, weight)


def with_categories(source: Source, layout: Layout) -> Layout:
    """The layout that knows which of its features are categories."""
    return replace(layout, categories=tuple(name for name in layout.features if name in source.categories))


def tally_up(
    source: Source, layout: Layout, model: CovarianceModel, pos_label: Any, most: int, most_levels: int = 0
) -> Tally:
    """One pass; a second one where the labels turn out to be others than expected."""
    guess = LIKELY if pos_label is None else pos_label
    plan = Plan(layout, model, (guess,), most, most_levels)
    tally = _pass(source, plan)
    classes = _sorted(tally.labels)
    if len(classes) < 2:
        raise DataError(
            "MomentSVC needs rows of at least two classes with positive weight; got "
            f"{classes or 'none'} in {source.name}. Is the target the right column?"
        )
    if len(classes) > 2:
        return _pass(source, replace(plan, points=None))
    right = classes[1] if pos_label is None or pos_label not in classes else pos_label
    return tally if guess == right else _pass(source, replace(plan, points=(right,)))


def targets_of(tally: Tally, pos_label: Any) -> Targets:
    """Classes as every other fit has them."""
    classes = np.array(_sorted(tally.labels))
    check_classification_targets(classes)
    return read_classes(np.empty(0, classes.dtype), classes, pos_label)


def warn_of_a_draw(tally: Tally) -> None:
    """Say that not every positive took part."""
    for label, rows in tally.kept.items():
        if rows.n_seen > tally.most:
            warnings.warn(
                f"{rows.n_seen:,} rows of class {label!r} are more than max_positive={tally.most:,}: a fair draw of "
                "that many stands for all of them. Raise `max_positive` to use more, if they fit in memory.",
                stacklevel=4,
            )


def _pass(source: Source, plan: Plan) -> Tally:
    with workers():
        return source.map_reduce(plan.of, Tally.merge, plan.layout.columns)


def _sorted(labels: Iterable[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise DataError(f"The target holds labels of different types: {', '.join(kinds)}. Make them one.") from error
