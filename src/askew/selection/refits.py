"""Candidates of any estimator: a clone, a fit and a score for each and every fold."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from askew.selection.outcomes import Candidate, Outcomes
from askew.selection.progress import Progress
from askew.selection.rows import Rows
from askew.tolerance.fit_params import FitParams
from askew.tolerance.holdout import take_rows


class Refits:
    """Evaluate by fitting clones, as GridSearchCV does.

    Parameters
    ----------
    estimator : estimator
    rows : Rows
    params : FitParams
        What goes to ``fit`` beside X and y.
    n_jobs : int or None
        As joblib reads it.
    """

    def __init__(self, estimator: Any, rows: Rows, params: FitParams, n_jobs: int | None) -> None:
        self.estimator, self.rows, self.params, self.n_jobs = estimator, rows, params, n_jobs

    def evaluate(self, candidates: list[Candidate], progress: Progress) -> Outcomes:
        """Scores of every candidate on every fold."""
        outcomes = Outcomes.empty(candidates, len(self.rows.folds))
        places = [(c, f) for c in range(len(candidates)) for f in range(len(self.rows.folds))]
        progress.expect(len(places))
        jobs = (delayed(self._fit_and_judge)(candidates[c], f) for c, f in places)
        results = Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs)
        for place, (score, is_resolved, fit_seconds, score_seconds, error) in zip(places, results, strict=True):
            outcomes.scores[place], outcomes.resolved[place] = score, is_resolved
            outcomes.fit_seconds[place], outcomes.score_seconds[place] = fit_seconds, score_seconds
            if error is not None:
                outcomes.fail(error)
            progress.step(1)
        return outcomes

    def _fit_and_judge(self, candidate: Candidate, fold: int) -> tuple[float, bool, float, float, Exception | None]:
        rows, (train, test) = self.rows, self.rows.folds[fold]
        train, begin = rows.training(train), time.perf_counter()
        try:
            model = clone(self.estimator).set_params(**clone(candidate, safe=False))
            X, y = self._cut(model, train, train), rows.y[train]
            model.fit(X, y, **self.params.of_rows(train))
        except (
            Exception
        ) as error:  # whatever an estimator raises is a candidate that does not work, not a broken search
            return np.nan, True, time.perf_counter() - begin, 0.0, error
        middle = time.perf_counter()
        score = rows.judge_classes(test, scores_of(model, self._cut(model, test, train)))
        is_resolved = getattr(_last(model), "fit_status_", 0) == 0
        return score, is_resolved, middle - begin, time.perf_counter() - middle, None

    def _cut(self, model: Any, these: Any, train: Any) -> Any:
        """Some rows of X; for a kernel matrix, against the training rows."""
        X = take_rows(self.rows.X, these)
        return X[:, train] if model.__sklearn_tags__().input_tags.pairwise else X


def scores_of(model: Any, X: Any) -> NDArray[np.float64]:
    """The continuous score of each row, higher for the positive class; one column per class where there are more."""
    for method in ("decision_function", "predict_proba", "score_samples"):
        if hasattr(model, method):
            scores = np.asarray(getattr(model, method)(X), dtype=np.float64)
            return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores
    raise TypeError(
        f"{type(model).__name__} has no decision_function, predict_proba or score_samples; a ranking needs one of them."
    )


def _last(model: Any) -> Any:
    return model.steps[-1][1] if hasattr(model, "steps") else model
