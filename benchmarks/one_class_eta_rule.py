"""How ``eta="auto"`` behaves on ten sets, at each scale of the kernel covariance.

Run with ``python -m benchmarks.one_class_eta_rule``; writes ``results/one_class_eta_rule.json``. On every set the
larger class is the target. 90 % of it is described; the rest of it and the other class are scored. Kept for each scale:
the eta chosen and how the walk ended, the training fraction outside along eta, what the returned model rejects of its
own training rows and of unseen target rows, and its AUC beside that of eta = 1. Data from the folder in ASKEW_DATA.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from askew.estimators.covariance_one_class_svm import CovarianceOneClassSVM
from benchmarks.contest import save
from benchmarks.data import load

SETS = (
    "haberman", "bupa", "spectf", "colon", "pima", "breast_wisconsin", "ionosphere", "parkinsons", "german_numeric",
    "australian",
)  # fmt: skip
SCALES = ("trace", "mean", "raw")


def split(name: str, target: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardised target rows to describe, target rows kept back, and rows of the other class."""
    data = load(name)
    X = np.asarray(data.X.toarray() if hasattr(data.X, "toarray") else data.X, dtype=np.float64)
    whole, y = np.isfinite(X).all(axis=1), np.asarray(data.y)
    own, other = X[whole & (y == target)], X[whole & (y != target)]
    own = own[np.random.default_rng(seed).permutation(len(own))]
    cut = len(own) - max(1, len(own) // 10)
    scaler = StandardScaler().fit(own[:cut])
    return scaler.transform(own[:cut]), scaler.transform(own[cut:]), scaler.transform(other)


def auc(model: Any, kept: np.ndarray, other: np.ndarray) -> float:
    scores = model.score_samples(np.vstack([kept, other]))
    return float(roc_auc_score(np.arange(len(scores)) < len(kept), scores))


def examine(name: str, target: int, scale: str, gamma: str, seeds: int) -> dict[str, Any]:
    """One set and one scale; the path is that of the first split, rates are means over the splits."""
    rows, path = [], {}
    for seed in range(seeds):
        described, kept, other = split(name, target, seed)
        model = CovarianceOneClassSVM(covariance_scale=scale, gamma=gamma).fit(described)
        plain = CovarianceOneClassSVM(eta=1.0, gamma=gamma).fit(described)
        path = path or {key: [round(float(v), 4) for v in values] for key, values in model.eta_path_.items()}
        rows.append(
            {
                "eta": model.eta_,
                "ending": model.eta_rule_,
                "offset": model.offset_rule_,
                "rejects_of_training": float(np.mean(model.predict(described) == -1)),
                "rejects_of_unseen_target": float(np.mean(model.predict(kept) == -1)),
                "auc": auc(model, kept, other),
                "auc_eta_1": auc(plain, kept, other),
            }
        )
    means = {
        key: round(float(np.mean([row[key] for row in rows])), 4)
        for key in ("eta", "rejects_of_training", "rejects_of_unseen_target", "auc", "auc_eta_1")
    }
    return {
        "n": len(described),
        "features": described.shape[1],
        **means,
        "most_rejected_of_training": round(max(row["rejects_of_training"] for row in rows), 4),
        "endings": sorted({row["ending"] for row in rows}),
        "offsets": sorted({row["offset"] for row in rows}),
        "path_of_first_split": path,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    record: dict[str, Any] = {"nu": 0.2, "outlier_fraction": 0.1, "splits": options.seeds, "sets": {}}
    for name in SETS:
        labels = np.asarray(load(name).y)
        target = 1 if np.mean(labels == 1) > 0.5 else -1
        record["sets"][name] = {}
        for gamma in ("scale", "support"):
            for scale in SCALES:
                row = examine(name, target, scale, gamma, options.seeds)
                record["sets"][name][f"gamma={gamma}, {scale}"] = row
                print(
                    f"{name:17} gamma={gamma:8} {scale:6} eta {row['eta']:.4f} {'/'.join(row['endings']):14}"
                    f" {'/'.join(row['offsets']):20} rejects {row['rejects_of_training']:.3f} of training,"
                    f" {row['rejects_of_unseen_target']:.3f} of unseen;"
                    f" AUC {row['auc']:.3f} (eta=1: {row['auc_eta_1']:.3f})",
                    flush=True,
                )
    worst = max(row["most_rejected_of_training"] for rows in record["sets"].values() for row in rows.values())
    print(f"largest share of its own training rows that a returned model rejects: {worst}")
    print("saved", save("one_class_eta_rule", {**record, "worst_rejection_of_training": worst}))


if __name__ == "__main__":
    main()
