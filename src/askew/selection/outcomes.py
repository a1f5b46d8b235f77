"""What the candidates of a search scored, fold by fold, and which of them is best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Candidate = dict[str, Any]


@dataclass
class Outcomes:
    """A table with one row per candidate and one column per fold.

    Attributes
    ----------
    candidates : list of dict
    scores : array of shape (n_candidates, n_folds)
        t-AUC on the held-out rows; NaN where the fit failed.
    resolved : array of bool, same shape
        False where the solver could not settle the ranking.
    fit_seconds, score_seconds : arrays of the same shape
    errors : dict
        The message of each failure, with how often it occurred.
    """

    candidates: list[Candidate]
    scores: NDArray[np.float64]
    resolved: NDArray[np.bool_]
    fit_seconds: NDArray[np.float64]
    score_seconds: NDArray[np.float64]
    errors: dict[str, int] = field(default_factory=dict)

    @classmethod
    def empty(cls, candidates: list[Candidate], n_folds: int) -> Outcomes:
        """A table to be filled."""
        shape = (len(candidates), n_folds)
        return cls(candidates, np.full(shape, np.nan), np.ones(shape, bool), np.zeros(shape), np.zeros(shape))

    def fail(self, error: Exception) -> None:
        """Note a fit that raised."""
        message = f"{type(error).__name__}: {error}"
        self.errors[message] = self.errors.get(message, 0) + 1

    def joined(self, other: Outcomes) -> Outcomes:
        """Both tables, one under the other."""
        return Outcomes(
            self.candidates + other.candidates,
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.resolved, other.resolved]),
            np.concatenate([self.fit_seconds, other.fit_seconds]),
            np.concatenate([self.score_seconds, other.score_seconds]),
            {m: self.errors.get(m, 0) + other.errors.get(m, 0) for m in {**self.errors, **other.errors}},
        )

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean score of each candidate."""
        return self.scores.mean(axis=1)

    @property
    def are_resolved(self) -> NDArray[np.bool_]:
        """Whether a candidate's ranking is settled on every fold."""
        return self.resolved.all(axis=1)

    @property
    def ranks(self) -> NDArray[np.int32]:
        """1 for the best mean. Candidates that are not resolved come after all that are, failures last."""
        means = self.means
        # scores lie in [0, 1]: a step of 2 puts one kind behind the other
        standing = np.where(np.isnan(means), -4.0, np.where(self.are_resolved, means, means - 2.0))
        return rankdata(-standing, method="min").astype(np.int32)

    @property
    def best(self) -> int:
        """The first candidate of rank 1."""
        return int(np.argmin(self.ranks))

    def as_cv_results(self) -> dict[str, Any]:
        """The table in the words of scikit-learn's ``cv_results_``, and ``is_resolved``."""
        results: dict[str, Any] = {}
        for name, seconds in (("fit_time", self.fit_seconds), ("score_time", self.score_seconds)):
            results[f"mean_{name}"], results[f"std_{name}"] = seconds.mean(axis=1), seconds.std(axis=1)
        for key in dict.fromkeys(key for candidate in self.candidates for key in candidate):
            values = np.ma.masked_all(len(self.candidates), dtype=object)
            for row, candidate in enumerate(self.candidates):
                if key in candidate:
                    values[row] = candidate[key]
            results[f"param_{key}"] = values
        results["params"] = self.candidates
        for fold, column in enumerate(self.scores.T):
            results[f"split{fold}_test_score"] = column
        results["mean_test_score"], results["std_test_score"] = self.means, self.scores.std(axis=1)
        results["rank_test_score"] = self.ranks
        results["is_resolved"] = self.are_resolved
        return results
