"""KKT violation and objective of a fitted machine, recomputed in float64 from its multipliers; askew has no part in it.

Products of centred rows give all scores Kβ; those that decide the violation, and a few drawn at random, are computed
once more by differences, Σ_k (x_ik − x_jk)², whose rounding does not grow with the rows' distance from the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

AT_BOUND = 1e-6  # of the box: float32 multipliers are rounded to it
AFFORDABLE = 5e8  # differences that are few enough to compute all scores by them
DECISIVE, DRAWN = 16, 32  # rows on either side, and rows at random, that are computed by differences otherwise


@dataclass
class Programme:
    """Minimise ½β'Kβ + p'β over lower ≤ β ≤ upper with the sum of β fixed in each group; gamma None is a linear K."""

    X: Any
    gamma: float | None
    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    group: np.ndarray

    def judge(self, model: Any, scale: float = 1.0) -> dict[str, Any]:
        """Violation and objective of a model's multipliers, brought to the units of this box by ``scale``."""
        beta = multipliers(model, len(self.linear)) * scale
        scores = kernel_sums(self.X, beta, self.gamma)
        rows = self._rows_by_differences(scores + self.linear, beta)
        exact = scores[rows] if self.gamma is None else differences(self.X, rows, beta, self.gamma)
        shift = float(np.abs(exact - scores[rows]).max())
        scores[rows] = exact
        found = violation(scores + self.linear, beta, self.lower, self.upper, self.group)
        objective = float(0.5 * beta @ scores + self.linear @ beta)
        by = "linear" if self.gamma is None else f"{len(rows)} rows by differences"
        return {
            "kkt": found, "objective": objective, "support": int(np.count_nonzero(beta)), "by": by, "rounding": shift,
            "spread": float(scores.std()),
        }  # fmt: skip

    def _rows_by_differences(self, gradient: np.ndarray, beta: np.ndarray) -> np.ndarray:
        n, d = self.X.shape
        if not sparse.issparse(self.X) and n * d * np.count_nonzero(beta) <= AFFORDABLE:
            return np.arange(n)
        can_fall, can_rise = free_sides(beta, self.lower, self.upper)
        rows = [np.random.default_rng(0).integers(0, n, DRAWN)]
        for g in np.unique(self.group):
            for side, sign in ((can_fall, -1.0), (can_rise, 1.0)):
                members = np.flatnonzero(side & (self.group == g))
                rows.append(members[np.argsort(sign * gradient[members])[:DECISIVE]])
        return np.unique(np.concatenate(rows))


def multipliers(model: Any, n: int) -> np.ndarray:
    """dual_coef_, dense or sparse, as one number per row."""
    beta, known = np.zeros(n), model.dual_coef_
    known = known.toarray() if sparse.issparse(known) else known
    beta[np.asarray(model.support_)] = np.asarray(known, dtype=np.float64).ravel()
    return beta


def free_sides(beta: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which variables can fall, and which can rise."""
    room = AT_BOUND * float((upper - lower).max())
    return beta > lower + room, beta < upper - room


def violation(gradient: Any, beta: Any, lower: Any, upper: Any, group: Any) -> float:
    """The largest gradient that can fall minus the smallest that can rise, over groups."""
    can_fall, can_rise = free_sides(beta, lower, upper)
    worst = 0.0
    for g in np.unique(group):
        fall, rise = gradient[can_fall & (group == g)], gradient[can_rise & (group == g)]
        if fall.size and rise.size:
            worst = max(worst, float(fall.max() - rise.min()))
    return worst


def kernel_sums(X: Any, beta: np.ndarray, gamma: float | None) -> np.ndarray:
    """Kβ by products of centred rows."""
    support = np.flatnonzero(beta)
    if gamma is None:
        return np.asarray(X @ (X[support].T @ beta[support])).ravel()
    if not sparse.issparse(X):
        X = X - X.mean(axis=0)
    S = X[support]
    squares = [np.asarray((A.multiply(A) if sparse.issparse(A) else A * A).sum(axis=1)).ravel() for A in (X, S)]
    sums, step = np.empty(X.shape[0]), max(64, int(2e7 // max(1, len(support))))
    for a in range(0, len(sums), step):
        P = X[a : a + step] @ S.T
        P = P.toarray() if sparse.issparse(P) else P
        P = np.maximum(squares[0][a : a + step, None] + squares[1] - 2.0 * P, 0.0)
        sums[a : a + step] = np.exp(-gamma * P) @ beta[support]
    return sums


def differences(X: Any, rows: np.ndarray, beta: np.ndarray, gamma: float) -> np.ndarray:
    """(Kβ) of some rows, squared distances summed over differences."""
    support = np.flatnonzero(beta)
    if not len(support):
        return np.zeros(len(rows))
    A, S = X[rows], X[support]
    if sparse.issparse(X):
        used = np.unique(np.concatenate([A.indices, S.indices]))  # all other columns are 0 on both sides
        A, S = A[:, used].toarray(), S[:, used].toarray()
    sums, step = np.empty(len(rows)), max(1, int(2e7 // len(support)))
    for a in range(0, len(rows), step):
        sums[a : a + step] = np.exp(-gamma * cdist(A[a : a + step], S, "sqeuclidean")) @ beta[support]
    return sums


def c_svc(X: Any, y: np.ndarray, cost: np.ndarray, gamma: float | None) -> Programme:
    """SVC: one sum, boxes from 0 to y·cost."""
    return Programme(X, gamma, -y, np.minimum(y * cost, 0.0), np.maximum(y * cost, 0.0), np.zeros(len(y)))


def one_class(X: Any, gamma: float) -> Programme:
    """OneClassSVM in LIBSVM's units, 0 ≤ β ≤ 1."""
    n = X.shape[0]
    return Programme(X, gamma, np.zeros(n), np.zeros(n), np.ones(n), np.zeros(n))


def nu_svc(X: Any, y: np.ndarray, gamma: float) -> Programme:
    """NuSVC, and AsymmetricSVC at tau = 0: one sum per class, boxes of length 1."""
    return Programme(X, gamma, np.zeros(len(y)), np.minimum(y, 0.0), np.maximum(y, 0.0), y)


def judge_covariance(model: Any, X: np.ndarray, gamma: float, eta: float) -> dict[str, Any]:
    """CovarianceOneClassSVM: K is ηQ + (1−η)sΔ with Δ = QHQ, H the centring and s = tr Q / tr Δ; all by differences."""
    n = X.shape[0]
    beta = multipliers(model, n)
    Q = np.concatenate([np.exp(-gamma * cdist(X[a : a + 512], X, "sqeuclidean")) for a in range(0, n, 512)])
    plain, sums = Q @ beta, Q.sum(axis=1)
    trace = float(np.vdot(Q, Q)) - float(sums @ sums) / n
    gradient = eta * plain + (1.0 - eta) * (n / trace) * (Q @ (plain - plain.mean()))
    found = violation(gradient, beta, np.zeros(n), np.ones(n), np.zeros(n))
    return {"kkt": found, "objective": float(0.5 * beta @ gradient), "support": int(np.count_nonzero(beta))}


def judge_scaled(model: Any, X: np.ndarray, y: np.ndarray, C: float, gamma: float) -> dict[str, Any]:
    """KernelScaledSVC: K is DQD; D, a factor per row, is its score without the intercept over Q times dual_coef_."""
    coef = multipliers(model, len(y))
    plain = kernel_sums(X, coef, gamma)
    scores = np.asarray(model.decision_function(X)) - model.intercept_[0]
    factor = np.where(np.abs(plain) > 1e-9, scores / np.where(plain == 0.0, 1.0, plain), 1.0)
    beta = coef / factor
    beta = np.where(np.abs(C - np.abs(beta)) < 1e-3 * C, y * C, beta)  # at its bound, but for the factor's rounding
    found = violation(scores - y, beta, np.minimum(y * C, 0.0), np.maximum(y * C, 0.0), np.zeros(len(y)))
    return {"kkt": found, "objective": float(0.5 * beta @ scores - y @ beta), "support": int(np.count_nonzero(coef))}


def judge_moment(model: Any, X: Any, y: np.ndarray, C: float, covariance: str) -> dict[str, Any]:
    """MomentSVC: K is x̃'(Σ + ρI)⁻¹x̃ over the positives x̃, less the negatives' mean; 0 ≤ α ≤ C without a sum."""
    negative, positive = X[y <= 0], X[y > 0]
    mean = np.asarray(negative.mean(axis=0)).ravel()
    beta = multipliers(model, len(y))[y > 0]
    total = np.asarray(positive.T @ beta).ravel() - beta.sum() * mean
    if covariance == "diagonal":
        power = np.asarray((negative.multiply(negative) if sparse.issparse(X) else negative**2).mean(axis=0)).ravel()
        w = total / (power - mean**2 + model.rho_)
    else:
        dense = negative.toarray() if sparse.issparse(X) else negative
        scatter = (dense - mean).T @ (dense - mean) / len(dense)
        w = np.linalg.solve(scatter + model.rho_ * np.eye(len(mean)), total)
    gradient = np.asarray(positive @ w).ravel() - mean @ w - 1.0
    can_fall, can_rise = free_sides(beta, np.zeros(len(beta)), np.full(len(beta), C))
    found = max(float(gradient[can_fall].max(initial=0.0)), -float(gradient[can_rise].min(initial=0.0)))
    objective = float(0.5 * beta @ (gradient + 1.0) - beta.sum())
    return {"kkt": found, "objective": objective, "support": int(np.count_nonzero(beta))}
