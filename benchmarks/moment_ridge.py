"""How well rho="auto" chooses: AUC lost against the best ridge in hindsight.

Run with ``python -m benchmarks.moment_ridge [--quick] [--splits N]``; writes ``results/moment_ridge.json``.
For every set, half of the rows train (stratified, several splits) and the best ridge is the one with the highest mean
AUC on the other halves, over a grid of twelve decades: a bar no rule can know how to meet. Reported: AUC points lost
by rho="auto", by no ridge worth the name (1e-6 of the mean variance), and by OAS shrinkage. C = 1 throughout.
Dense sets use the full covariance, Reuters topics (ModApte split, no repeats) the diagonal. Needs ASKEW_DATA.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from askew.estimators.moment_svc import MomentSVC
from benchmarks.contest import save
from benchmarks.data import load
from benchmarks.moment_data import reuters

SETS = (
    "pima",
    "german_numeric",
    "breast_wisconsin",
    "ionosphere",
    "australian",
    "haberman",
    "bupa",
    "spectf",
    "colon",
    "parkinsons",
    "letter",
    "satimage",
    "phoneme",
    "mammography",
    "annthyroid",
    "mnist",
    "pendigits",
    "sylva",
    "ada",
    "campaign",
    "keel/vehicle3",
    "keel/yeast4",
    "keel/segment0",
    "keel/vowel0",
)
TOPICS = (
    "palmkernel",
    "groundnut",
    "income",
    "fuel",
    "pet-chem",
    "cotton",
    "carcass",
    "nat-gas",
    "oilseed",
    "wheat",
    "gnp",
    "corn",
    "grain",
)
RIDGES = 10.0 ** np.arange(-8, 4)
MOST_ROWS = 20_000


def dense_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Complete rows of a set, at most ``MOST_ROWS`` of them."""
    data = load(name)
    X, y = np.asarray(data.X, dtype=np.float64), data.y > 0
    complete = np.isfinite(X).all(axis=1)
    X, y = X[complete], y[complete]
    if len(y) > MOST_ROWS:
        kept = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X, y = X[kept], y[kept]
    return X, y


def auc(model: MomentSVC, train: tuple[Any, Any], test: tuple[Any, Any]) -> float:
    return 100 * float(roc_auc_score(test[1], model.fit(*train).decision_function(test[0])))


def compare(name: str, splits: list[tuple[tuple[Any, Any], tuple[Any, Any]]], covariance: str) -> dict[str, Any]:
    by_ridge, chosen, tiny, shrunk, ridges = [], [], [], [], []
    for train, test in splits:
        auto = MomentSVC(covariance=covariance)
        chosen.append(auc(auto, train, test))
        unit = float(auto.moments_.variance.mean())
        ridges.append(auto.rho_ / unit)
        by_ridge.append([auc(MomentSVC(covariance=covariance, rho=r * unit), train, test) for r in RIDGES])
        tiny.append(auc(MomentSVC(covariance=covariance, rho=1e-6 * unit), train, test))
        if covariance == "full":
            shrunk.append(auc(MomentSVC(covariance="shrunk", rho=1e-9 * unit), train, test))
    means = np.mean(by_ridge, axis=0)
    best = float(means.max())
    record = {
        "set": name,
        "covariance": covariance,
        "train rows": int(splits[0][0][0].shape[0]),
        "train positives": int(splits[0][0][1].sum()),
        "features": int(splits[0][0][0].shape[1]),
        "best AUC": round(best, 2),
        "best ridge, mean variances": float(RIDGES[int(means.argmax())]),
        "chosen ridge, mean variances": [float(f"{r:.1e}") for r in ridges],
        "lost by auto": round(best - float(np.mean(chosen)), 2),
        "lost by 1e-6": round(best - float(np.mean(tiny)), 2),
        "lost by OAS": round(best - float(np.mean(shrunk)), 2) if shrunk else None,
    }
    print(record, flush=True)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three sets")
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # ridges of 1e-8 are not easy
    found = []
    for name in SETS[:2] if options.quick else SETS:
        X, y = dense_set(name)
        halves = [
            train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed) for seed in range(options.splits)
        ]
        found.append(compare(name, [((a, c), (b, d)) for a, b, c, d in halves], "full"))
    X, Y, X_test, Y_test, topics = reuters()
    for topic in TOPICS[:1] if options.quick else TOPICS:
        k = topics.index(topic)
        split = ((X, Y[:, k]), (X_test, Y_test[:, k]))
        found.append(compare(f"Reuters {topic}", [split], "diagonal"))
    lost = np.array([record["lost by auto"] for record in found])
    summary = {
        "sets": len(found),
        "within 0.5": int((lost <= 0.5).sum()),
        "mean lost": {
            rule: round(float(np.mean([r[f"lost by {rule}"] for r in found if r[f"lost by {rule}"] is not None])), 3)
            for rule in ("auto", "1e-6", "OAS")
        },
    }
    print(summary)
    save("moment_ridge_quick" if options.quick else "moment_ridge", {"summary": summary, "sets": found})


if __name__ == "__main__":
    main()
