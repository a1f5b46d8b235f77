"""MomentSVC on rows beyond memory: one pass over files, Dask or Spark, then the same fit as in memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from askew.estimators.moment_rows import pool_for
from askew.estimators.moment_scale import unit_scale
from askew.estimators.moment_tally import Plan, Tally
from askew.estimators.sklearn_private import check_parameters
from askew.exceptions import DataError, ParameterError
from askew.moments import CovarianceModel
from askew.sources import Layout, Source, open_source
from askew.sources.names import nearest
from askew.sources.recognition import is_dask
from askew.tables import Targets, encoded_names, read_classes
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
    if target is None and y is None and is_dask(X):  # other rows without names may bring their labels along
        raise ParameterError("A Dask array needs labels beside it: give y, a Dask array cut like it.")
    return source, Layout(features_of(source, target, weight), target, weight)


def features_of(source: Source, target: str | None, weight: str | None) -> tuple[str, ...]:
    """All columns but those of the labels and the weights, which must be there and differ."""
    for name in (target, weight):
        if name is not None and not source.columns:
            raise ParameterError(f"{source.name} has no names of columns to choose {name!r} by. Give y beside it.")
        if name is not None and name not in source.columns:
            raise ParameterError(f"{source.name} has no column {name!r}. {nearest(name, source.columns)}")
    if target is not None and target == weight:
        raise ParameterError(f"Column {target!r} is named as target and as sample_weight. Name two columns.")
    features = tuple(name for name in source.columns if name not in (target, weight))
    if source.columns and not features:
        raise DataError(f"{source.name} has no column besides {', '.join(map(repr, source.columns))} to learn from.")
    return features


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
    weights = [tally.weight_of(label) for label in classes]
    right = read_classes((), np.array(classes), pos_label, weights, is_said=False).pos_label.item()
    return tally if guess == right else _pass(source, replace(plan, points=(right,)))


def targets_of(tally: Tally, pos_label: Any) -> Targets:
    """Classes as every other fit has them."""
    labels = _sorted(tally.labels)
    classes = np.array(labels)
    check_classification_targets(classes)
    return read_classes((), classes, pos_label, [tally.weight_of(label) for label in labels])


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


class FitsSources:
    """A mixin: fits on rows beyond memory. The estimator offers ``_model`` and ``_fit_evidence``."""

    def _fit_source(self, X: Any, y: Any, target: str | None, sample_weight: Any) -> Self:
        check_parameters(self)
        source, layout = open_labelled(X, y, target, sample_weight)
        model, layout = self._model(), with_categories(source, layout)
        tally = tally_up(source, layout, model, self.pos_label, self.max_positive, self.max_categories)
        targets = targets_of(tally, self.pos_label)
        warn_of_a_draw(tally)
        scale = unit_scale(tally.spread(layout.features)) if self.scale else None
        tally = tally.expanded(layout.features)
        stream = tally.stream(model, targets.classes, targets.positive if targets.is_single else None, self.forgetting)
        evidence = stream.evidence()
        with pool_for(evidence[0].X):
            self._fit_evidence(evidence, targets, scale)
        for name in ("_stream", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self._chose_by_name = bool(layout.features)
        self.n_features_in_ = len(layout.features) or evidence[0].X.shape[1]
        if layout.features:
            self.feature_names_in_ = np.array(layout.features, dtype=object)
        if layout.categories:
            self.categories_ = dict(zip(tally.levels.names, map(list, tally.levels.keys), strict=True))
            self.encoded_names_ = encoded_names(layout.features, self.categories_)
        return self
