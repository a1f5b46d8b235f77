"""Ninety topics of Reuters-21578 in one call, against one LinearSVC per topic.

Run with ``python -m benchmarks.moment_topics [--rounds N]``; writes ``results/moment_topics.json``. Needs ASKEW_DATA.
Contestants, every round in turn: MomentSVC (diagonal and factor covariance, rho given and "auto") in one fit on the
indicator matrix; OneVsRestClassifier of LinearSVC as it comes, and cost-sensitive (hinge, class_weight="balanced").
Macro AUC on the test part stands beside the times, with the Fisher direction of every topic as the control.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from askew.estimators.moment_svc import MomentSVC
from benchmarks.contest import ratios, save, take_turns
from benchmarks.moment_data import blas_threads, reuters


def macro_auc(scores: np.ndarray, Y: np.ndarray) -> float:
    return float(np.mean([roc_auc_score(Y[:, k], scores[:, k]) for k in range(Y.shape[1])]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, Y, X_test, Y_test, _ = reuters()
    diagonal = MomentSVC(covariance="diagonal").fit(X, Y)
    factor = MomentSVC(covariance="factor").fit(X, Y)
    ours: dict[str, Any] = {
        "diagonal, rho given": MomentSVC(covariance="diagonal", rho=diagonal.rho_),
        "diagonal, rho auto": MomentSVC(covariance="diagonal"),
        "factor, rho given": MomentSVC(covariance="factor", rho=factor.rho_),
    }
    peers: dict[str, Any] = {
        "LinearSVC": OneVsRestClassifier(LinearSVC(random_state=0)),
        "LinearSVC, hinge, balanced": OneVsRestClassifier(
            LinearSVC(loss="hinge", class_weight="balanced", random_state=0)
        ),
    }
    contestants = {name: (lambda m=m: m.fit(X, Y)) for name, m in {**ours, **peers}.items()}
    seconds, _ = take_turns(contestants, rounds)
    fisher = MomentSVC(C=1e-9, covariance="diagonal", rho=diagonal.rho_).fit(X, Y)
    record = {
        "rounds": rounds,
        "threads": blas_threads(),
        "documents": X.shape[0],
        "features": X.shape[1],
        "topics": Y.shape[1],
        "rho": {"diagonal": diagonal.rho_, "factor": factor.rho_},
        "times longer": {
            name: {peer: ratio for peer, ratio in ratios(seconds, name).items() if peer in peers} for name in ours
        },
        "macro AUC": {
            **{name: round(macro_auc(m.decision_function(X_test), Y_test), 4) for name, m in {**ours, **peers}.items()},
            "Fisher (C → 0), diagonal": round(macro_auc(fisher.decision_function(X_test), Y_test), 4),
        },
        "seconds": {name: [round(t, 4) for t in times] for name, times in seconds.items()},
    }
    print(record["times longer"], record["macro AUC"], record["seconds"])
    save("moment_topics", record)


if __name__ == "__main__":
    main()
