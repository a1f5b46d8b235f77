"""MomentSVC against LinearSVC: the whole fit, the solve alone, and a path of ten costs.

Run with ``python -m benchmarks.moment_fit [--quick] [--rounds N]``; writes ``results/moment_fit.json``.
Contestants on the same rows, every round in turn:
    MomentSVC                whole fit, rho="auto"; whole fit at that rho; solve alone (moments given, that rho)
    LinearSVC                hinge, class_weight="balanced", at the C of its best test AUC
    path of ten costs        MomentSVC.path (rho="auto" and given) against ten LinearSVC fits
AUC on held-out rows stands beside every time; the control is the Fisher direction (Σ + ρI)⁻¹(difference of means).
Data: Gaussian 10,000 × 150 with cond(Σ) = 1, 30, 1000, and Reuters-21578 topics as sparse tf-idf (diagonal covariance,
cond = ratio of its largest to its smallest ridged variance), all at 1:1000. Text needs the folder in ASKEW_DATA.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from askew.estimators.moment_svc import MomentSVC
from askew.moments import CovarianceModel
from benchmarks.contest import ratios, save, take_turns
from benchmarks.moment_data import blas_threads, dense, reuters, topic_at

COSTS = 10.0 ** np.arange(-4, 6)
TOPICS = ("oilseed", "coffee", "sugar", "gnp", "trade", "crude")


def linear_svc(C: float) -> LinearSVC:
    return LinearSVC(C=C, loss="hinge", class_weight="balanced", random_state=0)


def best_cost(X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray) -> tuple[float, float]:
    """The C of LinearSVC with the best test AUC (a gift to the peer), and that AUC."""
    aucs = [roc_auc_score(y_test, linear_svc(C).fit(X, y).decision_function(X_test)) for C in COSTS]
    return float(COSTS[int(np.argmax(aucs))]), float(max(aucs))


def fisher_auc(X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray, model: MomentSVC, covariance: str) -> float:
    """AUC of the control at the same ridge."""
    structure = CovarianceModel(covariance).build(model.moments_).with_ridge(model.rho_)
    positives = X[y == 1]
    w = structure.solve(structure.centred_sum(positives, np.full(positives.shape[0], 1 / positives.shape[0])))
    return float(roc_auc_score(y_test, X_test @ w))


def condition(model: MomentSVC, covariance: str) -> float:
    """cond(Σ) before the ridge for a full covariance, of the ridged variances for a diagonal one."""
    if covariance == "full":
        return float(np.linalg.cond(model.moments_.covariance))
    variance = model.moments_.variance + model.rho_
    return float(variance.max() / variance.min())


def run_case(name: str, X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray, rounds: int) -> dict[str, Any]:
    covariance = "diagonal" if sparse.issparse(X) else "full"
    auto = MomentSVC(covariance=covariance)
    chosen = auto.fit(X, y)
    given = MomentSVC(covariance=covariance, rho=chosen.rho_)
    C, peer_auc = best_cost(X, y, X_test, y_test)
    positives = X[y == 1]
    seconds, last = take_turns(
        {
            "MomentSVC, rho given": lambda: given.fit(X, y),
            "MomentSVC, rho auto": lambda: auto.fit(X, y),
            "MomentSVC, solve alone": lambda: MomentSVC(covariance=covariance, rho=chosen.rho_).fit_from_moments(
                positives, chosen.moments_
            ),
            "LinearSVC": lambda: linear_svc(C).fit(X, y),
            "path, rho given": lambda: given.path(X, y, COSTS),
            "path, rho auto": lambda: auto.path(X, y, COSTS),
            "ten LinearSVC": lambda: [linear_svc(c).fit(X, y) for c in COSTS],
        },
        rounds,
    )
    by_peer = {ours: ratios(seconds, ours)["LinearSVC"] for ours in list(seconds)[:3]}
    by_path = {ours: ratios(seconds, ours)["ten LinearSVC"] for ours in ("path, rho given", "path, rho auto")}
    record = {
        "case": name,
        "negatives": int((y == 0).sum()),
        "positives": int((y == 1).sum()),
        "features": X.shape[1],
        "cond(Σ)": round(condition(chosen, covariance), 2),
        "rho": chosen.rho_,
        "LinearSVC C": C,
        "AUC": {
            "MomentSVC": round(float(roc_auc_score(y_test, chosen.decision_function(X_test))), 4),
            "LinearSVC": round(peer_auc, 4),
            "Fisher": round(fisher_auc(X, y, X_test, y_test, chosen, covariance), 4),
            "MomentSVC, best C of the path": round(
                max(roc_auc_score(y_test, X_test @ w[0]) for w in last["path, rho auto"].coefs), 4
            ),
        },
        "times longer, LinearSVC": by_peer,
        "times longer, ten LinearSVC": by_path,
        "seconds": {key: [round(t, 5) for t in times] for key, times in seconds.items()},
    }
    print(name, record["cond(Σ)"], record["AUC"], by_peer, by_path, flush=True)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one dense case and one topic")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # LinearSVC at large C
    cases = []
    for cond in (30,) if options.quick else (1, 30, 1000):
        X_test, y_test = dense(20_000, 2_000, 150, cond, seed=1)
        for n in (10, 100):
            X, y = dense(10_000, n, 150, cond)
            cases.append(run_case(f"dense, cond {cond}, {n} positives", X, y, X_test, y_test, options.rounds))
    X, Y, X_test, Y_test, topics = reuters()
    for topic in TOPICS[:1] if options.quick else TOPICS:
        k = topics.index(topic)
        X_topic, y_topic = topic_at(X, Y, k, 1000)
        cases.append(run_case(f"Reuters {topic}", X_topic, y_topic, X_test, Y_test[:, k], options.rounds))
    save(
        "moment_fit_quick" if options.quick else "moment_fit",
        {"rounds": options.rounds, "threads": blas_threads(), "cases": cases},
    )


if __name__ == "__main__":
    main()
