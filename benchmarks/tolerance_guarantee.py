"""Promised against observed false positive rates, and what is caught, beside MAPIE and scikit-learn.

Run with ``python -m benchmarks.tolerance_guarantee [--splits N]``; writes ``results/tolerance_guarantee.json`` and
``.png``. In every split of every set each model is trained once, scores the calibration and the test part once, and
every method places its threshold on the same calibration scores. Needs the data folder (ASKEW_DATA), matplotlib, mapie.

Under the promise the number of test negatives above an order statistic is beta-binomial, so the share of splits whose
*observed* rate may exceed the tolerance is known: ``share_above_expected`` stands beside ``share_above``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from mapie.risk_control import BinaryClassificationController
from scipy import sparse, special, stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from askew.estimators.asymmetric_svc import AsymmetricSVC
from askew.estimators.moment_svc import MomentSVC
from askew.estimators.svc import SVC
from askew.tolerance import ToleranceClassifier
from askew.tolerance.order_statistic import rank
from benchmarks.contest import RESULTS, save
from benchmarks.data import load

TOLERANCE, CONFIDENCE = 0.01, 0.95
SETS = ("ijcnn1", "covtype", "campaign", "a9a")
N_TRAIN, N_CALIBRATION, N_TEST = (1500, 300), (2000, 200), (10_000, 1000)
"""Negatives and positives of each part of a split."""

MODELS: dict[str, Callable[[], Any]] = {
    "SVC": lambda: SVC(C=10.0),
    "MomentSVC": MomentSVC,
    "AsymmetricSVC": AsymmetricSVC,
    "LogisticRegression": LogisticRegression,
    "gradient boosting": lambda: HistGradientBoostingClassifier(max_iter=50, random_state=0),
}


class ScoreColumn(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose score is the only column of X.

    MAPIE takes probabilities: those of the model where it has some, else the score mapped linearly from ``span``.
    """

    def __init__(self, span: tuple[float, float] | None = None):
        self.span = span

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict_proba(self, X):
        p = special.expit(X[:, 0]) if self.span is None else np.interp(X[:, 0], self.span, [0.0, 1.0])
        return np.column_stack([1.0 - p, p])


@dataclass(frozen=True)
class Scored:
    """Scores of one model in one split."""

    train: np.ndarray
    calibration: np.ndarray
    y_calibration: np.ndarray
    test: np.ndarray
    y_test: np.ndarray
    has_probabilities: bool
    certified: float | None
    """Threshold of the moment certificate, where the model carries one."""

    @property
    def column(self) -> ScoreColumn:
        """The model as every method sees it; the span leaves half a range of room around the training scores."""
        low, high = self.train.min(), self.train.max()
        room = 0.5 * (high - low)
        return ScoreColumn(None if self.has_probabilities else (low - room, high + room)).fit(None, [0, 1])


def order_statistic(scored: Scored) -> Callable[[np.ndarray], np.ndarray]:
    return _ours(scored, "order_statistic")


def empirical(scored: Scored) -> Callable[[np.ndarray], np.ndarray]:
    return _ours(scored, "empirical")


def _ours(scored: Scored, method: str) -> Callable[[np.ndarray], np.ndarray]:
    model = ToleranceClassifier(scored.column, TOLERANCE, CONFIDENCE, method=method, calibration="prefit")
    return model.fit(scored.calibration[:, None], scored.y_calibration).predict


def moments(scored: Scored) -> Callable[[np.ndarray], np.ndarray]:
    """The certificate: no calibration row has a say."""
    return lambda X: (X[:, 0] > scored.certified).astype(int)


def mapie(scored: Scored) -> Callable[[np.ndarray], np.ndarray]:
    """MAPIE as it comes: a hundred thresholds, Bonferroni–Holm."""
    return _mapie(scored)


def mapie_sequence(scored: Scored) -> Callable[[np.ndarray], np.ndarray]:
    """MAPIE at its best for a monotone risk: fixed sequence over quantiles of the training scores."""
    p = scored.column.predict_proba(scored.train[:, None])[:, 1]
    grid = np.unique(np.quantile(p, np.linspace(0.5, 1.0, 500)))
    return _mapie(scored, list_predict_params=grid, fwer_method="fixed_sequence")


def _mapie(scored: Scored, **options: Any) -> Callable[[np.ndarray], np.ndarray]:
    controller = BinaryClassificationController(
        scored.column.predict_proba,
        risk="fpr",
        target_level=TOLERANCE,
        confidence_level=CONFIDENCE,
        **options,
    )
    controller.calibrate(scored.calibration[:, None], scored.y_calibration)
    if controller.best_predict_param is None:
        return lambda X: np.zeros(len(X), dtype=int)
    return controller.predict


def tuned_threshold(scored: Scored) -> Callable[[np.ndarray], np.ndarray]:
    """scikit-learn: the threshold with the best TPR among those whose calibration FPR is within the tolerance."""
    model = TunedThresholdClassifierCV(
        scored.column,
        scoring=make_scorer(_tpr_within),
        response_method="decision_function",
        thresholds=1000,
        cv="prefit",
        refit=False,
    )
    return model.fit(scored.calibration[:, None], scored.y_calibration).predict


def _tpr_within(y: np.ndarray, said: np.ndarray) -> float:
    fpr = said[y == 0].mean()
    return said[y == 1].mean() if fpr <= TOLERANCE else -fpr


METHODS: dict[str, Callable[[Scored], Callable[[np.ndarray], np.ndarray]]] = {
    "askew, order statistic": order_statistic,
    "askew, empirical": empirical,
    "MAPIE, default": mapie,
    "MAPIE, fixed sequence": mapie_sequence,
    "TunedThresholdClassifierCV": tuned_threshold,
}
"""Beside these "askew, moments" for the model that certifies itself, in the record only."""


def split_of(X: Any, y: np.ndarray, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training, calibration and test part, drawn without replacement; only these rows are made dense."""
    rng = np.random.default_rng(seed)
    negatives, positives = rng.permutation(np.flatnonzero(y == 0)), rng.permutation(np.flatnonzero(y == 1))
    for n_negative, n_positive in (N_TRAIN, N_CALIBRATION, N_TEST):
        rows = np.concatenate([negatives[:n_negative], positives[:n_positive]])
        negatives, positives = negatives[n_negative:], positives[n_positive:]
        part = X[rows]
        yield (part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=float)), y[rows]


def score_split(make: Callable[[], Any], X: Any, y: np.ndarray, seed: int) -> Scored:
    (X_train, y_train), (X_held, y_held), (X_test, y_test) = split_of(X, y, seed)
    model = make_pipeline(StandardScaler(), make()).fit(X_train, y_train)
    certified = None
    if isinstance(model[-1], MomentSVC):
        road = ToleranceClassifier(model, TOLERANCE, method="moments", calibration="prefit")
        certified = road.fit(X_held, y_held).threshold_
    score = model.decision_function
    has_probabilities = hasattr(model, "predict_proba")
    return Scored(score(X_train), score(X_held), y_held, score(X_test), y_test, has_probabilities, certified)


def judge(place: Callable, scored: Scored) -> dict[str, float]:
    """Observed rates on the test part, and seconds to place the threshold."""
    begin = time.perf_counter()
    predict = place(scored)
    seconds = time.perf_counter() - begin
    said = predict(scored.test[:, None]) == 1
    return {
        "fpr": float(said[scored.y_test == 0].mean()),
        "tpr": float(said[scored.y_test == 1].mean()),
        "seconds": seconds,
    }


def expected_share_above() -> float:
    """Share of splits whose observed test rate exceeds the tolerance when the exact rule is used."""
    n, m = N_CALIBRATION[0], N_TEST[0]
    k = rank(n, TOLERANCE, CONFIDENCE)
    return float(stats.betabinom.sf(TOLERANCE * m, m, n - k + 1, k))


def summarise(runs: list[dict[str, float]]) -> dict[str, Any]:
    fpr, tpr = np.array([run["fpr"] for run in runs]), np.array([run["tpr"] for run in runs])
    above = int((fpr > TOLERANCE).sum())
    return {
        "splits": len(runs),
        "fpr_mean": round(float(fpr.mean()), 5),
        "fpr_q05_q50_q95": np.quantile(fpr, [0.05, 0.5, 0.95]).round(5).tolist(),
        "share_above": above / len(runs),
        "p_value_of_promise": round(float(stats.binom.sf(above - 1, len(runs), expected_share_above())), 5),
        "tpr_mean": round(float(tpr.mean()), 4),
        "tpr_q05_q50_q95": np.quantile(tpr, [0.05, 0.5, 0.95]).round(4).tolist(),
        "no_alarm_at_all": int((fpr + tpr == 0.0).sum()),
        "milliseconds": round(1e3 * float(np.median([run["seconds"] for run in runs])), 3),
    }


def measure(splits: int) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for name in SETS:
        data = load(name)
        X, y = data.X, (data.y == 1).astype(int)
        record[name] = {"rows": int(X.shape[0]), "positives": int(y.sum()), "models": {}}
        for model, make in MODELS.items():
            runs: dict[str, list[dict[str, float]]] = {method: [] for method in METHODS}
            for seed in range(splits):
                scored = score_split(make, X, y, seed)
                for method, place in METHODS.items():
                    runs[method].append(judge(place, scored))
                if scored.certified is not None:
                    runs.setdefault("askew, moments", []).append(judge(moments, scored))
            record[name]["models"][model] = {method: summarise(each) for method, each in runs.items()}
            ours = record[name]["models"][model]["askew, order statistic"]
            print(f"{name:10} {model:20} FPR above: {ours['share_above']:.2f}  TPR: {ours['tpr_mean']:.3f}", flush=True)
    return record


def ten_million() -> dict[str, float]:
    """Seconds of a whole fit on ten million calibration scores, beside one bare sort of them."""
    scores = np.random.default_rng(0).normal(size=10_000_000)
    labels = np.zeros(len(scores), dtype=int)
    begin = time.perf_counter()
    np.sort(scores)
    sort = time.perf_counter() - begin
    column = ScoreColumn().fit(None, [0, 1])
    begin = time.perf_counter()
    ToleranceClassifier(column, 0.001, CONFIDENCE, calibration="prefit").fit(scores[:, None], labels)
    return {"fit_seconds": round(time.perf_counter() - begin, 2), "one_sort_seconds": round(sort, 2)}


def draw(record: dict[str, Any], path: Any) -> None:
    """One picture: above the observed FPR against the promise, below the TPR; 5–95 % over the splits."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(SETS), figsize=(15, 7), sharex=True, layout="constrained")
    for column, name in enumerate(SETS):
        for j, method in enumerate(METHODS):
            at = np.arange(len(MODELS)) + 0.15 * (j - 2)
            for row, rate in enumerate(("fpr", "tpr")):
                low, mid, high = np.array(
                    [record[name]["models"][model][method][f"{rate}_q05_q50_q95"] for model in MODELS]
                ).T
                axes[row, column].errorbar(
                    at, mid, [mid - low, high - mid], fmt="o", markersize=4, capsize=2, color=f"C{j}", label=method
                )
        axes[0, column].axhline(TOLERANCE, color="0.3", linestyle="--", linewidth=1)
        axes[0, column].set(title=name, ylim=(0, 2.2 * TOLERANCE))
        axes[1, column].set(ylim=(0, 1), xticks=np.arange(len(MODELS)))
        axes[1, column].set_xticklabels(list(MODELS), rotation=30, ha="right")
    axes[0, 0].set_ylabel(f"false positive rate on test\n(dashed: promised ≤ {TOLERANCE:g})")
    axes[1, 0].set_ylabel("true positive rate on test")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(METHODS))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=50)
    splits = parser.parse_args().splits
    warnings.simplefilter("ignore")
    threadpool_limits(1, "openmp")
    record = {
        "tolerance": TOLERANCE,
        "confidence": CONFIDENCE,
        "negatives_and_positives": {"train": N_TRAIN, "calibration": N_CALIBRATION, "test": N_TEST},
        "mapie": version("mapie"),
        "share_above_expected": round(expected_share_above(), 4),
        "ten_million_calibration_scores": ten_million(),
        "sets": measure(splits),
    }
    path = save("tolerance_guarantee", record)
    draw(record["sets"], RESULTS / "tolerance_guarantee.png")
    print(f"wrote {path.name} and tolerance_guarantee.png; expected share above {record['share_above_expected']}")


if __name__ == "__main__":
    main()
