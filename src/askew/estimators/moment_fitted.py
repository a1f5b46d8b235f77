"""All machines of a fit as the attributes an estimator shows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from askew.arrays import stack_rows
from askew.estimators.moment_machines import Machine, Setting
from askew.methods import moment
from askew.qp import Status

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """All machines of one fit; ``coefs`` of shape (n_machines, n_features) where the kernel is linear."""

    machines: list[Machine]
    coefs: Vector | None
    rho: float
    sign: float
    setting: Setting
    data: Any

    def attributes(self, name: str) -> dict[str, Any]:
        """Everything a fitted estimator shows; warns when a tolerance was not met."""
        machines, fits = self.machines, [m.fit for m in self.machines if m.fit is not None]
        worst = self._worst(fits, name)
        support, vectors, dual = _support(machines, self.sign, self.data)
        shown: dict[str, Any] = {
            "support_": support,
            "support_vectors_": vectors,
            "dual_coef_": dual,
            "moments_": _one_or_all([m.evidence.moments for m in machines]),
            "rho_": self.rho,
            "dual_gap_": np.array([m.fit.gap if m.fit is not None else 0.0 for m in machines]),
            "kkt_violation_": np.array([m.fit.violation if m.fit is not None else 0.0 for m in machines]),
            "n_iter_": np.array([max(1, m.fit.solution.n_iter) if m.fit is not None else 1 for m in machines]),
            "status_": worst.value,
            "_score_means": np.array([m.intercept for m in machines]),
        }
        if self.coefs is not None:
            shown["coef_"] = self.coefs if self.sign > 0 else -self.coefs
            shown["intercept_"] = self.sign * (shown["_score_means"] - np.array([m.centre for m in machines]))
            shown["_score_deviations"] = np.array([m.deviation for m in machines])
        else:
            shown["intercept_"] = self.sign * shown["_score_means"]
            shown["gamma_"] = _one_or_all([getattr(m.function, "gamma", 1.0) for m in machines])
            shown["_machines"] = [m.scorer for m in machines]
        return shown

    def _worst(self, fits: list[moment.Fit], name: str) -> Status:
        order = [Status.MAX_ITER, Status.STALLED, Status.STATIONARY, Status.OPTIMAL]
        worst = min(fits, key=lambda fit: order.index(fit.status), default=None)
        if worst is None or worst.status.has_converged:
            return worst.status if worst is not None else Status.OPTIMAL
        reason = (
            "reached its limit of steps" if worst.status is Status.MAX_ITER else "could make no progress in float64"
        )
        warnings.warn(
            f"{name} {reason} at a KKT violation of {worst.violation:.3g} where tol={self.setting.tol:g} was asked "
            "for. Raise `max_iter` or `tol`, lower `C`, or raise `rho`.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return worst.status


def _support(machines: list[Machine], sign: float, data: Any) -> tuple[NDArray[np.int64], Any, Vector]:
    """Rows that support any machine, their data, and their coefficients by machine."""
    rows = [m.evidence.rows[m.support] for m in machines]
    support, first = np.unique(np.concatenate(rows), return_index=True)
    if data is not None:
        vectors = data[support]
    else:
        parts = [m.evidence.X[m.support] for m in machines]
        vectors = stack_rows(parts)[first]
    dual = np.zeros((len(machines), len(support)))
    for k, m in enumerate(machines):
        if m.fit is not None:
            dual[k, np.searchsorted(support, rows[k])] = sign * m.fit.alpha[m.support]
    return support, vectors, dual


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values
