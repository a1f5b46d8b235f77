"""Fit askew's estimators on data that comes with scikit-learn and print what they find.

The task is a rare event: the breast-cancer data with most malignant rows taken away, about one in fifteen left.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from askew import SVC, SVDD, OneClassSVM


def rare_malignant(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Breast-cancer data, malignant as the positive class, thinned to 24 of its 212 rows."""
    X, y = load_breast_cancer(return_X_y=True)
    malignant = np.flatnonzero(y == 0)
    kept = np.random.default_rng(seed).choice(malignant, size=24, replace=False)
    rows = np.sort(np.concatenate([np.flatnonzero(y == 1), kept]))
    return X[rows], np.where(y[rows] == 0, 1, -1)


def main() -> None:
    X, y = rare_malignant()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    print(f"{(y_train > 0).sum()} malignant among {len(y_train)} training rows, {X.shape[1]} features\n")
    print(f"{'estimator':<34}{'trained on':<14}{'AUC':>7}{'dual gap':>12}{'seconds':>10}")
    for model, target in (
        (SVC(C=1.0), "both"),
        (SVC(C=1.0, class_weight="balanced"), "both"),
        (OneClassSVM(nu=0.1), "benign only"),
        (SVDD(nu=0.1), "benign only"),
    ):
        begin = time.perf_counter()
        model.fit(X_train, y_train) if target == "both" else model.fit(X_train[y_train < 0])
        seconds = time.perf_counter() - begin
        scores = model.decision_function(X_test)
        auc = roc_auc_score(y_test, scores if target == "both" else -scores)
        gap = float(np.max(model.dual_gap_))
        print(f"{model!s:<34}{target:<14}{auc:>7.3f}{gap:>12.1e}{seconds:>10.3f}")
    print("\nThe first fit of a process loads the compiled solver; later fits do not wait for it.")


if __name__ == "__main__":
    main()
