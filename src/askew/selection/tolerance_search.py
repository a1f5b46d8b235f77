"""Cross-validated search for the parameters that rank best under a tolerated false positive rate."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_outlier_detector
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from askew.arrays import host, is_elsewhere
from askew.exceptions import DataError, ParameterError
from askew.findings import find, warn
from askew.fitting import begin, commit
from askew.selection.best_estimator import BestEstimator
from askew.selection.outcomes import Outcomes
from askew.selection.paths import Paths, as_numbers, is_searchable, split
from askew.selection.progress import Progress
from askew.selection.refits import Refits
from askew.selection.rows import Rows
from askew.sklearn_private import Interval, StrOptions
from askew.tolerance.fit_params import FitParams
from askew.tolerance.holdout import take_rows
from askew.tuning import Searchable

MEGABYTE = 2**20


class ToleranceSearchCV(BestEstimator, MetaEstimatorMixin, BaseEstimator):
    """Search over parameters for the best t-AUC: the area under the ROC curve up to a tolerated false positive rate.

    It reads like GridSearchCV. For askew's kernel machines (alone, or at the end of a Pipeline) it does not fit every
    candidate on every fold from nothing: one kernel matrix per width serves all folds, each candidate starts from its
    neighbour's solution, and held-out rows are scored by the solver itself. Any other estimator is cloned and fitted.

    Parameters
    ----------
    estimator : estimator
        A classifier, or a one-class detector: a detector is fitted on the training rows of the first class, the
        normal ones, and judged on rows of both, a low score pointing to the second. In a Pipeline the steps before
        the last are fitted anew on the training rows of each fold, so nothing leaks from the held-out rows; the
        kernel is then computed once per fold.
    param_grid : dict, list of dict, or None, default=None
        As for GridSearchCV. None takes the estimator's own search: for `AsymmetricSVC` a grid over mu and gamma at
        tau = 0, then a line over tau; for `SVC` C and gamma with balanced classes; for `OneClassSVM` nu and gamma;
        for `KernelScaledSVC` C and gamma without a bend, then its strength; for `MomentSVC` C, then a line over rho.
    tolerance : float in (0, 1], default=0.1
        Largest false positive rate that counts.
    normalize : bool, default=False
        Divide scores by ``tolerance``: a perfect ranking then scores 1, not ``tolerance``.
    cv : int, splitter or iterable, default=10
        Folds; an int gives stratified ones.
    refit : bool, default=True
        Fit the best candidate on all rows.
    n_jobs : int or None, default=None
        Threads for askew's own machines, None for all cores; worker processes, None for one, for other estimators.
    cache_size : float, default=2048
        Megabytes for kernel matrices. Where a whole matrix does not fit, rows are computed as they are needed.
    error_score : "raise" or float, default=nan
        What a candidate scores where its fit fails, as an infeasible mu does.
    verbose : int, default=0
        1 reports progress and the time left on stderr.
    progress : callable or None, default=None
        Called as ``progress(done, total, seconds_left)``, in fits.

    Attributes
    ----------
    cv_results_ : dict
        GridSearchCV's columns, and ``is_resolved``: False where the scores of a candidate lie closer together than the
        solver could settle (‖w‖ near 0). Such a ranking is luck; it is ranked behind all others.
    best_params_, best_score_, best_index_
    best_estimator_
        With ``refit=True``.
    classes_ : array of shape (n_classes,)
        The last one of two is the positive class; with more, scores are means over classes against the rest.
    n_splits_ : int
    n_features_in_ : int

    Examples
    --------
    >>> from askew import AsymmetricSVC
    >>> from askew.datasets import make_two_gaussians
    >>> from askew.selection import ToleranceSearchCV
    >>> data = make_two_gaussians(300, rare=0.2, random_state=0)
    >>> search = ToleranceSearchCV(AsymmetricSVC(), {"mu": [0.05, 0.1], "tau": [0.0, 0.02]}, cv=5).fit(data.X, data.y)
    >>> sorted(search.best_params_)
    ['mu', 'tau']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "param_grid": [dict, list, None],
        "tolerance": [Interval(Real, 0, 1, closed="right")],
        "normalize": ["boolean"],
        "cv": ["cv_object"],
        "refit": ["boolean"],
        "n_jobs": [Integral, None],
        "cache_size": [Interval(Real, 0, None, closed="left")],
        "error_score": [StrOptions({"raise"}), Real],
        "verbose": ["verbose"],
        "progress": [callable, None],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        tolerance: float = 0.1,
        normalize: bool = False,
        cv: Any = 10,
        refit: bool = True,
        n_jobs: int | None = None,
        cache_size: float = 2048,
        error_score: float | str = np.nan,
        verbose: int = 0,
        progress: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.tolerance = tolerance
        self.normalize = normalize
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.cache_size = cache_size
        self.error_score = error_score
        self.verbose = verbose
        self.progress = progress

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> ToleranceSearchCV:
        """Search, and fit the best candidate on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or square if the kernel is precomputed
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), optional
            For splitters that keep groups whole.
        **params : dict
            Passed to the estimator's ``fit``, cut to the rows of a fold where they have one value per row. A
            ``sample_weight`` also weighs the held-out rows, so that a weight of 2 equals a row given twice there too.

        Returns
        -------
        self
        """
        new = begin(self)
        rows, fit_params = self._read(X, y, groups, params)
        outcomes = self._search(rows, fit_params)
        best = outcomes.candidates[outcomes.best]
        if not outcomes.are_resolved[outcomes.best]:
            warn(find("ASK204"), ConvergenceWarning)
        model = self._refitted(best, rows, fit_params) if self.refit else None
        new.cv_results_ = outcomes.as_cv_results()
        new.best_index_, new.best_params_ = outcomes.best, best
        new.best_score_ = float(outcomes.means[outcomes.best])
        new.classes_, new.n_splits_ = rows.classes, len(rows.folds)
        if self.refit:
            new.best_estimator_ = model
        return commit(self, new)

    def get_metadata_routing(self) -> MetadataRouter:
        """Requests of the search (``groups``) and of the estimator's ``fit``."""
        fit_to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=fit_to_fit)

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.classifier_tags = inner.estimator_type, inner.classifier_tags
        tags.input_tags.pairwise, tags.input_tags.sparse = inner.input_tags.pairwise, inner.input_tags.sparse
        tags.target_tags.required = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_")

    def _read(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> tuple[Rows, FitParams]:
        """Rows with their folds, and what else goes to ``fit``."""
        if y is None:
            raise DataError(
                "ToleranceSearchCV requires y to be passed, but the target y is None. Pass one class label per row; "
                "a search for a one-class detector, too, is judged on labelled rows."
            )
        y = host(y) if is_elsewhere(y) else y
        X, y, groups = indexable(X, y, groups)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        fit_params = FitParams.routed(self, len(y), groups, params)
        splitter = check_cv(self.cv, y, classifier=True)
        folds = [
            (np.asarray(a), np.asarray(b))
            for a, b in splitter.split(np.empty((len(y), 0)) if is_elsewhere(X) else X, y, groups)
        ]
        is_detector = is_outlier_detector(self.estimator)
        rows = Rows(X, y, classes, codes, fit_params.weight, folds, self.tolerance, is_detector)
        rows.check()
        return rows, fit_params

    def _search(self, rows: Rows, fit_params: FitParams) -> Outcomes:
        """All candidates on all folds, stage by stage."""
        progress = Progress(self.progress, self.verbose)
        prefix = f"{self.estimator.steps[-1][0]}__" if hasattr(self.estimator, "steps") else ""
        if self.param_grid is not None:
            candidates = list(ParameterGrid(self.param_grid))
            evaluator = self._evaluator(rows, fit_params, prefix, candidates)
            return self._without_failures(evaluator.evaluate(candidates, progress))
        outcomes, evaluator = None, None
        for stage in self._stages(rows):
            best = {} if outcomes is None else outcomes.candidates[outcomes.best]
            bare = {name.removeprefix(prefix): value for name, value in best.items()}
            candidates = [{prefix + name: value for name, value in c.items()} for c in stage(bare)]
            evaluator = evaluator or self._evaluator(rows, fit_params, prefix, candidates)
            found = self._without_failures(evaluator.evaluate(candidates, progress))
            outcomes = found if outcomes is None else outcomes.joined(found)
        return outcomes

    def _stages(self, rows: Rows) -> list[Any]:
        """The estimator's own search."""
        front, machine = split(self.estimator)
        if not isinstance(machine, Searchable):
            raise ParameterError(
                f"param_grid=None needs an estimator that brings its own search, such as AsymmetricSVC, SVC, "
                f"OneClassSVM, KernelScaledSVC or MomentSVC; got {type(machine).__name__}. Pass param_grid."
            )
        if len(rows.classes) > 2:
            raise ParameterError(
                f"param_grid=None is for two classes; y holds {len(rows.classes)}. Pass param_grid, or give one class "
                "against the rest as y."
            )
        X = rows.X if front is None else clone(front).fit(rows.X, rows.y).transform(rows.X)
        X = as_numbers(X)
        return machine._search_stages(machine._search_unit(X, rows.weight), rows.least_shares)

    def _evaluator(self, rows: Rows, fit_params: FitParams, prefix: str, candidates: list[Any]) -> Any:
        """Paths where they are offered, refits elsewhere."""
        is_plain = set(fit_params.values) <= {f"{prefix}sample_weight"}
        if not (is_plain and len(rows.classes) == 2 and is_searchable(self.estimator, candidates)):
            return Refits(self.estimator, rows, fit_params, self.n_jobs)
        if not prefix:
            rows = replace(rows, X=as_numbers(rows.X))
        return Paths(self.estimator, rows, self.n_jobs, int(self.cache_size * MEGABYTE))

    def _without_failures(self, outcomes: Outcomes) -> Outcomes:
        """Scores in the user's units; raise or warn about fits that failed."""
        if self.normalize:
            outcomes.scores /= self.tolerance
        failed = np.isnan(outcomes.scores)
        if not failed.any():
            return outcomes
        listed = "; ".join(f"{message} ({count} times)" for message, count in outcomes.errors.items())
        if self.error_score == "raise" or failed.any(axis=1).all():
            raise DataError(f"{failed.sum()} of the search's {failed.size} fits failed: {listed}")
        finding = find("ASK205", failed=failed.sum(), size=failed.size, score=self.error_score, listed=listed)
        warn(finding, FitFailedWarning)
        outcomes.scores[failed] = self.error_score
        return outcomes

    def _refitted(self, best: dict[str, Any], rows: Rows, fit_params: FitParams) -> Any:
        """The best candidate, fitted on all rows (a detector: on all rows of the first class)."""
        model = clone(self.estimator).set_params(**clone(best, safe=False))
        mine = rows.training(np.arange(len(rows.codes)))
        if len(mine) == len(rows.codes):
            return model.fit(rows.X, rows.y, **fit_params.values)
        X = take_rows(rows.X, mine)
        X = X[:, mine] if get_tags(model).input_tags.pairwise else X
        return model.fit(X, rows.y[mine], **fit_params.of_rows(mine))
