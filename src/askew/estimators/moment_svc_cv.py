"""The cost of MomentSVC by cross-validation along paths."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from askew.estimators.moment_svc import MomentSVC, pool_for
from askew.exceptions import DataError, ParameterError
from askew.fitting import READ, ScoresAnywhere, begin, commit, scored_anywhere
from askew.moments import divide_rows
from askew.sklearn_private import Interval, check_weights
from askew.summaries import gather
from askew.tables import read_targets
from askew.tuning import best_cost, cost_areas


class MomentSVCCV(ScoresAnywhere, ClassifierMixin, BaseEstimator):
    """MomentSVC with the cost that ranks held-out rows best.

    Use it where C matters and a grid search would repeat the pass over the negatives for every C: here each fold takes
    one pass, one factorisation and one chain of warm starts for all of them. Linear kernel and C form only.

    Parameters
    ----------
    estimator : MomentSVC, default=None
        Its other parameters are kept; ``MomentSVC()`` by default.
    Cs : int or array-like, default=10
        Costs to try; a number stands for that many from 1e-4 to 1e4.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn.
    tolerance : float, default=1.0
        Score by the area under the ROC curve up to this false positive rate; 1 is the whole curve.

    Attributes
    ----------
    C_ : float
        The best cost; of equals the largest, which brings most positives to their margin.
    Cs_ : array of shape (n_Cs,)
    scores_ : array of shape (n_splits, n_Cs)
        Area by fold and cost, averaged over the machines; NaN for a fold without both classes.
    best_estimator_ : MomentSVC
        Fitted on all rows with ``C_``; it carries the certificate.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from askew.estimators.moment_svc_cv import MomentSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = MomentSVCCV(Cs=[1e-3, 1.0]).fit(X, y)
    >>> search.scores_.shape
    (5, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [MomentSVC, None],
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "cv": ["cv_object"],
        "tolerance": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(self, estimator: Any = None, *, Cs: Any = 10, cv: Any = 5, tolerance: float = 1.0) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.cv = cv
        self.tolerance = tolerance

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MomentSVCCV:
        """Choose C, then fit on all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`askew.MomentSVC.fit`.

        Returns
        -------
        self
        """
        new = begin(self)
        if y is None:
            raise DataError("MomentSVCCV requires y to be passed, but the target y is None. Pass one label per row.")
        base = MomentSVC() if self.estimator is None else self.estimator
        Cs = np.logspace(-4, 4, int(self.Cs)) if np.isscalar(self.Cs) else self.Cs
        try:
            Cs = base._check_costs(Cs)
        except ParameterError as error:
            raise ParameterError(f"MomentSVCCV follows {type(base).__name__}.path, which says: {error}") from error
        rows, target = validate_data(new, X, y, multi_output=True, **READ)
        weight = check_weights(sample_weight, rows)
        targets = read_targets(target, weight, base.pos_label)
        areas = []
        for train, test in check_cv(self.cv, target, classifier=True).split(rows, target):
            learn, judge = train[weight[train] > 0], test[weight[test] > 0]
            areas.append(self._judge_costs(base, Cs, rows, targets.member, weight, learn, judge))
        table = np.array(areas).reshape(-1, len(Cs))
        if np.isnan(table).all():
            raise DataError(
                "No fold holds both classes in training and in testing. Use fewer folds, or give more rows of each."
            )
        C = best_cost(Cs, table)
        model = clone(base).set_params(C=C).fit(X, y, sample_weight=sample_weight)
        new.best_estimator_, new.Cs_, new.scores_, new.C_ = model, Cs, table, C
        new.classes_, new.n_features_in_ = model.classes_, model.n_features_in_
        return commit(self, new)

    @scored_anywhere
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of ``best_estimator_``."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @scored_anywhere
    def predict(self, X: Any) -> NDArray[Any]:
        """Classes by ``best_estimator_``."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def _judge_costs(
        self, base: MomentSVC, Cs: Any, X: Any, member: NDArray[np.bool_], weight: Any, learn: Any, judge: Any
    ) -> NDArray[np.float64]:
        """Area of every cost on one fold; NaN where a machine has no positives or no negatives to learn from."""
        learnt = member[learn]
        if not learnt.any(axis=0).all() or learnt.all(axis=0).any():
            return np.full(len(Cs), np.nan)
        with pool_for(X):
            divided, scale = base._scaled(X[learn], weight[learn])
            evidence = gather(divided, learnt, weight[learn], base._model())
            held = X[judge] if scale is None else divide_rows(X[judge], scale)
            return cost_areas(evidence, (held, member[judge], weight[judge]), base._setting(), Cs, self.tolerance)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
