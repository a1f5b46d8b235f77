"""The kernel-scaling family on the KEEL sets: what bending gains, and what moving a threshold gains for less.

Run with ``python -m benchmarks.kernel_scaling_keel [--repeats N] [--sets N]``; writes
``results/kernel_scaling_keel.json`` and ``.png``. Every method sees the same folds of the same repeats, features
standardised on the training part, the same C and gamma; all strengths are chosen by ``k="auto"`` within the training
part. Measured on the test part: balanced accuracy at score 0, AUC, and t-AUC at t = 0.1 divided by t.

Two controls are honest ones: an SVC whose threshold is moved to where its own cross-validated scores have the best
balanced accuracy (it cannot change a ranking), and an SVC with balanced class weights. The rule of the search was
chosen while looking at the sets marked ``seen``; the others had not been looked at. Needs the data folder (ASKEW_DATA).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from askew.estimators.kernel_scaled_svc import KernelScaledSVC
from askew.estimators.svc import SVC
from askew.methods.kernel_scaling_rules import SCALINGS
from askew.metrics import tolerance_auc_score
from benchmarks.contest import RESULTS, ratios, save, take_turns
from benchmarks.data import load

C, TOLERANCE = 10.0, 0.1
SEEN = (
    "abalone9-18", "cleveland-0_vs_4", "flare-F", "glass-0-1-2-3_vs_4-5-6", "glass-0-1-6_vs_2", "glass0", "glass1",
    "glass2", "glass4", "glass6", "new-thyroid1", "poker-9_vs_7", "vehicle1", "vehicle3", "yeast-0-3-5-9_vs_7-8",
    "yeast-0-5-6-7-9_vs_4", "yeast-1_vs_7", "yeast-2_vs_4", "yeast-2_vs_8", "yeast3", "yeast5", "yeast6",
    "led7digit-0-2-4-5-6-7-8-9_vs_1", "abalone-3_vs_11", "abalone-21_vs_8",
)  # fmt: skip
UNSEEN = (
    "glass-0-1-4-6_vs_2", "glass-0-1-5_vs_2", "glass-0-1-6_vs_5", "glass5", "vehicle0", "vehicle2", "new-thyroid2",
    "shuttle-6_vs_2-3", "yeast-0-2-5-6_vs_3-7-8-9", "yeast-0-2-5-7-9_vs_3-6-8", "yeast-1-2-8-9_vs_7",
    "yeast-1-4-5-8_vs_7", "yeast4", "poker-8_vs_6", "abalone-19_vs_10-11-12-13",
)  # fmt: skip
MEASURES = ("balanced accuracy", "AUC", "t-AUC / t")
Scorer = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def plain(train: np.ndarray, y: np.ndarray, test: np.ndarray, **parameters: Any) -> np.ndarray:
    """Scores of an SVC."""
    return SVC(C=C, **parameters).fit(train, y).decision_function(test)


def moved_threshold(train: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Scores of an SVC less the threshold at which its cross-validated scores have the best balanced accuracy."""
    model = SVC(C=C)
    held_out = cross_val_predict(model, train, y, cv=5, method="decision_function")
    order = np.argsort(held_out)
    is_positive = (y > 0)[order]
    below = np.cumsum(np.where(is_positive, -1.0 / is_positive.sum(), 1.0 / (~is_positive).sum()))
    best = int(np.argmax(below[:-1]))
    threshold = 0.5 * (held_out[order[best]] + held_out[order[best + 1]])
    return model.fit(train, y).decision_function(test) - threshold


def scaled(scaling: str) -> Scorer:
    """Scores of a scaled SVC whose strength is searched for."""
    return lambda train, y, test: KernelScaledSVC(C=C, scaling=scaling).fit(train, y).decision_function(test)


METHODS: dict[str, Scorer] = {
    "SVC": plain,
    "SVC, moved threshold": moved_threshold,
    "SVC, balanced weights": lambda train, y, test: plain(train, y, test, class_weight="balanced"),
    **{
        f"{paper}, {name}": scaled(name)
        for paper, name in (
            ("AKS", "asymmetric"), ("KS", "symmetric"), ("Amari–Wu", "support"),
            ("ACT", "adaptive"), ("KBA", "boundary"),
        )
    },
}  # fmt: skip


def splits(X: np.ndarray, y: np.ndarray, repeats: int) -> Iterator[tuple[int, np.ndarray, np.ndarray, Any]]:
    """(repeat, training rows, test rows, test labels) standardised on the training rows, with their labels."""
    for repeat in range(repeats):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=repeat).split(X, y):
            scale = StandardScaler().fit(X[train])
            yield repeat, scale.transform(X[train]), scale.transform(X[test]), (y[train], y[test])


def measure(y: np.ndarray, score: np.ndarray) -> list[float]:
    return [
        balanced_accuracy_score(y > 0, score > 0),
        roc_auc_score(y > 0, score),
        tolerance_auc_score(y, score, TOLERANCE, normalize=True),
    ]


def run_set(name: str, repeats: int) -> dict[str, Any]:
    """Means over the folds of each repeat, for every method and measure."""
    data = load(f"keel/{name}").complete_rows()
    X, y = np.asarray(data.X, dtype=np.float64), data.y
    values = {method: [[] for _ in range(repeats)] for method in METHODS}
    for repeat, train, test, (y_train, y_test) in splits(X, y, repeats):
        for method, score in METHODS.items():
            values[method][repeat].append(measure(y_test, score(train, y_train, test)))
    return {
        "name": name,
        "seen": name in SEEN,
        "rows": len(y),
        "positives": int((y > 0).sum()),
        "values": {m: np.array(v).mean(axis=1).round(5).tolist() for m, v in values.items()},
    }


def summarise(sets: list[dict[str, Any]]) -> dict[str, Any]:
    """Per method and measure: mean, gain over SVC with its standard error over sets, worst set, wins and losses."""
    mean = {m: np.array([np.mean(s["values"][m], axis=0) for s in sets]) for m in METHODS}
    out: dict[str, Any] = {}
    for method, values in mean.items():
        out[method] = {}
        for j, name in enumerate(MEASURES):
            gain = values[:, j] - mean["SVC"][:, j]
            out[method][name] = {
                "mean": round(float(values[:, j].mean()), 4),
                "gain": round(float(gain.mean()), 4),
                "standard_error": round(float(stats.sem(gain)), 4),
                "worst": round(float(gain.min()), 4),
                "worst_set": sets[int(gain.argmin())]["name"],
                "wins": int((gain > 1e-9).sum()),
                "losses": int((gain < -1e-9).sum()),
            }
    return out


def search_cost(name: str, rounds: int = 7) -> dict[str, Any]:
    """How many times longer a fit with its search takes than one SVC fit on the same rows, in turns."""
    data = load(f"keel/{name}").complete_rows()
    X, y = StandardScaler().fit_transform(np.asarray(data.X, dtype=np.float64)), data.y
    models = {"SVC": SVC(C=C), **{s: KernelScaledSVC(C=C, scaling=s) for s in SCALINGS}}
    turns = {label: partial(model.fit, X, y) for label, model in models.items()}
    take_turns(turns, 1)  # compiles
    seconds, fitted = take_turns(turns, rounds)
    return {
        "name": name,
        "rows": len(y),
        "ratio_to_one_svc_fit": ratios(seconds, "SVC"),
        "solves": {s: _solves(fitted[s]) for s in SCALINGS},
    }


def _solves(model: KernelScaledSVC) -> int:
    """Programmes solved in a fit: the search's, and the two of the answer."""
    found = model.search_[0]
    return found.n_folds * len(found.candidates) + 1 + int(model.n_scalings_[0])


def draw(results: dict[str, Any], path: Any) -> None:
    """Gain over SVC of every method on every set."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(13, 4.6), sharey=True, layout="constrained")
    methods = [m for m in METHODS if m != "SVC"]
    groups = ((True, "#4477aa", -0.14, "sets seen while choosing the rule"), (False, "#ee6677", 0.14, "other sets"))
    for j, (ax, name) in enumerate(zip(panels, MEASURES, strict=True)):
        for row, method in enumerate(methods):
            for is_seen, colour, shift, label in groups:
                gains = [_gain(s, method, j) for s in results["sets"] if s["seen"] == is_seen]
                height = np.full(len(gains), row + shift)
                ax.plot(gains, height, "o", color=colour, alpha=0.45, markersize=4, label=None if row else label)
                ax.plot(np.mean(gains), row + shift, "|", color=colour, markersize=15, markeredgewidth=2.5)
        ax.axvline(0.0, color="0.3", linewidth=0.8)
        ax.set(title=f"gain in {name} over SVC", yticks=range(len(methods)), yticklabels=methods)
        ax.grid(axis="x", color="0.9")
        ax.set_axisbelow(True)
    panels[0].invert_yaxis()
    panels[0].legend(loc="lower right", fontsize="small")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _gain(one_set: dict[str, Any], method: str, measure: int) -> float:
    values = one_set["values"]
    return float(np.mean(np.array(values[method])[:, measure] - np.array(values["SVC"])[:, measure]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--sets", type=int, default=None, help="only the first so many sets: a quick look")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    sets = []
    for name in (SEEN + UNSEEN)[: options.sets]:
        begin = time.perf_counter()
        sets.append(run_set(name, options.repeats))
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)
    groups = {"all": sets, "seen": [s for s in sets if s["seen"]], "other": [s for s in sets if not s["seen"]]}
    results = {
        "C": C,
        "tolerance": TOLERANCE,
        "repeats": options.repeats,
        "summary": {label: summarise(some) for label, some in groups.items() if len(some) > 1},
        "search_cost": [search_cost(name) for name in ("glass6", "vehicle3", "yeast4")],
        "sets": sets,
    }
    quick = "_quick" if options.sets else ""
    save(f"kernel_scaling_keel{quick}", results)
    if not quick:
        draw(results, RESULTS / "kernel_scaling_keel.png")


if __name__ == "__main__":
    main()
