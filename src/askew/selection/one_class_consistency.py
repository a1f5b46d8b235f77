"""The most complex one-class model that still rejects as few unseen target rows as it promises."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from askew.exceptions import ParameterError
from askew.findings import find, warn
from askew.fitting import begin
from askew.selection.one_class_search import OneClassSearch, as_rows
from askew.sklearn_private import Interval


class ConsistencySearchCV(OneClassSearch):
    """Choose a one-class model's complexity without outliers, by the consistency of its rejections.

    Candidates are walked from simple to complex. A simple model rejects unseen target rows at the rate it was set to
    (nu or fraction_rejected); one that is too complex for the data rejects more. The last candidate before the
    rejection rate rises beyond chance is taken: the tightest description that the data can support. Use
    :class:`ArtificialOutlierSearchCV` when parameters have no order.

    Parameters
    ----------
    estimator : one-class estimator
        With ``fit(X)`` and ``predict(X)`` of ±1.
    param_name : str, default="gamma"
        The parameter that sets the complexity.
    param_range : list, default=None
        Its values from simple to complex. None takes gamma from 1/64 to 64 times 1 / (d · var X), for an rbf kernel.
    rejection : float, default=None
        The rate that a consistent model has; None reads ``nu`` or ``fraction_rejected`` of the estimator.
    n_sigma : float, default=2.0
        How many standard errors √(r(1−r)/n) a rejection rate may exceed it.
    cv : int, splitter or None, default=10
        Folds; an int gives shuffled ones.
    refit : bool, default=True
        Fit the chosen candidate on all rows.
    n_jobs : int or None, default=None
        Worker processes for the folds.
    random_state : int, RandomState instance or None, default=None
        Shuffles the folds.

    Attributes
    ----------
    best_params_, best_index_
    best_estimator_
        With ``refit=True``.
    is_consistent_ : bool
        False when no candidate was consistent and the one that rejects least was taken.
    limit_ : float
        The largest consistent rejection rate.
    cv_results_ : dict
        "params" and "rejection", up to the first inconsistent candidate.
    n_splits_ : int

    References
    ----------
    Tax and Müller (2004). A consistency-based model selection for one-class classification. ICPR.

    Examples
    --------
    >>> import numpy as np
    >>> from askew import OneClassSVM
    >>> from askew.selection.one_class_consistency import ConsistencySearchCV
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> search = ConsistencySearchCV(OneClassSVM(nu=0.1), cv=5, random_state=0).fit(X)
    >>> bool(np.mean(search.predict(X) == -1) <= 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OneClassSearch._parameter_constraints,
        "param_name": [str],
        "param_range": ["array-like", None],
        "rejection": [Interval(Real, 0, 1, closed="both"), None],
        "n_sigma": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any,
        param_name: str = "gamma",
        param_range: Any = None,
        *,
        rejection: float | None = None,
        n_sigma: float = 2.0,
        cv: Any = 10,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_name = param_name
        self.param_range = param_range
        self.rejection = rejection
        self.n_sigma = n_sigma
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ConsistencySearchCV:
        """Walk the candidates on target rows, and fit the chosen one on all of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Target rows only.
        y : ignored

        Returns
        -------
        self
        """
        new = begin(self)
        X = as_rows(X)
        candidates = [{self.param_name: value} for value in self._values(X)]
        folds, promised = self._folds(X), self._promised()
        rates: list[float] = []
        limit = 0.0
        for candidate in candidates:
            rejected, _ = self._held_out(candidate, X, folds)
            limit = promised + self.n_sigma * float(np.sqrt(promised * (1.0 - promised) / len(rejected)))
            rates.append(float(rejected.mean()))
            if rates[-1] > limit:
                break
        consistent = [k for k, rate in enumerate(rates) if rate <= limit]
        new.limit_, new.is_consistent_ = limit, bool(consistent)
        new.cv_results_ = {"params": candidates[: len(rates)], "rejection": np.array(rates)}
        if not consistent:
            warn(find("ASK206", candidate=candidates[0], rate=rates[0], limit=limit, promised=promised))
        return self._finish(new, X, consistent[-1] if consistent else 0, candidates)

    def _values(self, X: Any) -> list[Any]:
        if self.param_range is not None:
            values = list(self.param_range)
            if not values:
                raise ParameterError("param_range must have at least one value; got none.")
            return values
        if self.param_name != "gamma":
            raise ParameterError(
                f"param_range must be given for param_name={self.param_name!r}, from simple to complex; got None."
            )
        return self._widths(X)

    def _promised(self) -> float:
        if self.rejection is not None:
            return float(self.rejection)
        parameters = self.estimator.get_params()
        for name in ("nu", "fraction_rejected", "contamination"):
            if isinstance(parameters.get(name), Real):
                return float(parameters[name])
        raise ParameterError(
            f"{type(self.estimator).__name__} has no nu, fraction_rejected or contamination to read the promised "
            "rejection rate from. Pass `rejection`."
        )
