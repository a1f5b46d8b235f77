"""Finished cells by set, method and split: mean ranks over sets, each method against a baseline, times and endings.

Only splits that every method has finished count, so that all are compared on the same rows. Over sets: Friedman's test,
Nemenyi's critical difference, and against the baseline Wilcoxon's signed-rank test with Holm's correction. Within a
set: the paired t-test corrected for overlapping splits. Its correction counts the split itself, 30 : 70. Both parts are
cut down after that, anew in every repeat, so the draws of a large set overlap less than the correction supposes: there
it is on the cautious side.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from studies.across import sets
from studies.across.experiment import FOLDS
from studies.across.methods import METHODS, RANKED
from studies.protocol.cells import Finished, TooFewCells
from studies.protocol.statistics import Ranking, holm, paired_test, rank

MEASURES = {"auc": "AUC", "tauc_0.1": "0.1-AUC", "tauc_0.01": "0.01-AUC", "balanced_accuracy": "balanced accuracy"}
BASELINE = "SVC balanced"
OVERLAP = sets.TEST_SHARE / (1 - sets.TEST_SHARE)  # test rows per training row of a split
UNMOVED = "SVC, threshold 0"  # what moving the threshold is worth: in the ranking of decisions only
FINE_NEGATIVES = 200  # test negatives below which 0.01-AUC rests on one or two rows
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Standing:
    """Methods over some sets by one measure: what they scored on average, and how they rank."""

    names: tuple[str, ...]
    sets: tuple[str, ...]
    scores: NDArray[np.float64]
    ranking: Ranking

    @property
    def means(self) -> dict[str, float]:
        """Mean score of each method."""
        return dict(zip(self.names, self.scores.mean(axis=0).tolist(), strict=True))

    @property
    def ranks(self) -> dict[str, float]:
        """Mean rank of each method; 1 is best."""
        return dict(zip(self.names, self.ranking.mean_ranks.tolist(), strict=True))


class Results:
    """Finished cells, by set, method and split.

    Parameters
    ----------
    finished : Finished
    """

    def __init__(self, finished: Finished) -> None:
        self.finished = finished
        found: dict[str, dict[int, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
        for row in finished.rows:
            found[row["set"]][row["repeat"]][row["method"]] = row
        self._of_set = {
            name: [split for _, split in sorted(repeats.items()) if set(METHODS) <= set(split)]
            for name, repeats in found.items()
        }
        self.sets = tuple(name for name in sets.ALL if self._of_set.get(name))

    def splits(self, name: str) -> int:
        """How many splits of a set every method has finished."""
        return len(self._of_set[name])

    def values(self, name: str, method: str, measure: str) -> NDArray[np.float64]:
        """One value per split that has one: thresholds are moved in some splits only."""
        return np.array([row[measure] for row in self.rows(name, method) if measure in row], dtype=float)

    def own_decisions(self, name: str, method: str) -> NDArray[np.float64]:
        """Balanced accuracy at a method's own threshold, in those splits in which the threshold is moved as well."""
        moved = [row for row in self.rows(name, method) if "balanced_accuracy" in row]
        return np.array([row["own_balanced_accuracy"] for row in moved], dtype=float)

    def rows(self, name: str, method: str) -> list[Row]:
        """One result per split."""
        return [split[method] for split in self._of_set[name]]

    def first(self, name: str, method: str = BASELINE) -> Row:
        """The result on the first split, for facts that do not change."""
        return self._of_set[name][0][method]

    def test_negatives(self, name: str) -> int:
        """Negatives in the test part."""
        rows = self.first(name)["rows"]
        return int(rows[2] - rows[3])

    def families(self) -> tuple[str, ...]:
        """The finished sets that stand for their family."""
        return tuple(name for name in self.sets if name in sets.FIRST)

    def standing(self, measure: str, among: Sequence[str], methods: Sequence[str] = RANKED) -> Standing:
        """Compare methods by a measure over some sets."""
        columns = {method: [self.values(name, method, measure).mean() for name in among] for method in methods}
        if measure == "balanced_accuracy":
            columns[UNMOVED] = [self.own_decisions(name, "SVC").mean() for name in among]
        scores = np.column_stack(list(columns.values()))
        # a difference in the fifth digit is rounding, not rank
        return Standing(tuple(columns), tuple(among), scores, rank(np.round(scores, 4)))

    def among(self, measure: str, of: Sequence[str]) -> tuple[str, ...]:
        """Those of the sets on which a measure can be resolved; all where that leaves too few to rank on."""
        fine = tuple(name for name in of if self.test_negatives(name) >= FINE_NEGATIVES)
        return fine if measure == "tauc_0.01" and len(fine) > 1 else tuple(of)


@dataclass(frozen=True)
class Against:
    """A method against another by one measure.

    Attributes
    ----------
    difference : float
        Mean over sets of method minus the other.
    won, lost : int
        Sets where the mean over splits is better, or worse.
    surely_won, surely_lost : int
        Of these, with p < 0.05 in the corrected test over the splits of the set; not corrected for the number of sets.
    p_holm : float
        Wilcoxon's signed-rank test over sets, corrected for the number of comparisons made together.
    """

    difference: float
    won: int
    lost: int
    surely_won: int
    surely_lost: int
    p_holm: float


def against(results: Results, measure: str, among: Sequence[str], baseline: str = BASELINE) -> dict[str, Against]:
    """Every ranked method against the baseline."""
    methods = [method for method in RANKED if method != baseline]
    found = compare(results, [(method, baseline, measure) for method in methods], lambda _: among)
    return dict(zip(methods, found, strict=True))


def compare(
    results: Results, pairs: Sequence[tuple[str, str, str]], among: Callable[[str], Sequence[str]]
) -> list[Against]:
    """Pairs of methods, each by a measure, over the sets on which it can be resolved."""
    plain = [_compared(results, *pair, among(pair[2])) for pair in pairs]
    corrected = holm([found.p_holm for found in plain])
    return [replace(found, p_holm=p) for found, p in zip(plain, corrected, strict=True)]


def _compared(results: Results, first: str, second: str, measure: str, among: Sequence[str]) -> Against:
    """One pair; its p is not corrected yet."""
    pairs = [(results.values(s, first, measure), results.values(s, second, measure)) for s in among]
    d = np.round([mine.mean() - its.mean() for mine, its in pairs], 4)
    p = 1.0 if np.all(d == 0) else float(stats.wilcoxon(d, zero_method="zsplit").pvalue)
    sure = [_sure(*pair) for pair in pairs]
    return Against(float(d.mean()), int(np.sum(d > 0)), int(np.sum(d < 0)), sure.count(1), sure.count(-1), p)


def _sure(first: NDArray[np.float64], second: NDArray[np.float64]) -> int:
    """1 or −1 where the splits of a set tell two methods apart, else 0."""
    if len(first) < 2:
        return 0
    test = paired_test(first, second, test_share=OVERLAP)
    return int(np.sign(test.difference)) if test.p_corrected < 0.05 else 0


def facts_of(results: Results, name: str) -> dict[str, float]:
    """Size and skew of a set, and how hard it is."""
    n_train, positives, n_test, test_positives = results.first(name)["rows"]
    return {
        "rows": n_train,
        "positives": positives,
        "test_rows": n_test,
        "test_positives": test_positives,
        "features": sets.pool(name).X.shape[1],
        "ratio": round((n_train - positives) / positives, 1),
        "baseline": float(results.values(name, BASELINE, "tauc_0.1").mean()),
    }


def seconds(results: Results, method: str) -> dict[str, float]:
    """CPU seconds of a fit and of a whole search: medians over sets, and ratios to the baseline in the same splits."""
    found = {}
    for part, measure in (("fit", "fit_cpu"), ("search", "search_cpu")):
        mine, its = (
            [np.median(results.values(name, each, measure)) for name in results.sets] for each in (method, BASELINE)
        )
        found[part] = float(np.median(mine))
        found[f"{part}_ratio"] = float(np.exp(np.mean(np.log(np.maximum(mine, 1e-6)) - np.log(its))))
    return found


def convergence(results: Results, method: str) -> dict[str, Any]:
    """How the fits on whole training parts ended."""
    rows = [row for name in results.sets for row in results.rows(name, method) if "status" in row]
    if not rows:
        return {}
    found: dict[str, Any] = {"status": dict(Counter(row["status"] for row in rows))}
    gaps = [row["relative_gap"] for row in rows if "relative_gap" in row]
    return found | ({"median_gap": float(np.median(gaps)), "largest_gap": float(np.max(gaps))} if gaps else {})


def refused(results: Results, method: str) -> dict[str, Any]:
    """How often a resampler left the rows as they were: final fits, folds, and the sets where it did."""
    places = [(name, row) for name in results.sets for row in results.rows(name, method) if "resampled" in row]
    if not places:
        return {}
    left = [(name, row) for name, row in places if not row["resampled"] or row["resampled_folds"] < FOLDS]
    return {
        "fits": len(places),
        "fits_left": sum(not row["resampled"] for _, row in places),
        "folds": FOLDS * len(places),
        "folds_left": sum(FOLDS - row["resampled_folds"] for _, row in places),
        "sets": sorted({name for name, _ in left}),
    }


def summarise(finished: Finished) -> Results:
    """The results, where they allow a ranking."""
    results = Results(finished)
    if len(results.sets) < 2:
        raise TooFewCells(f"whole splits on {len(results.sets)} sets: methods are ranked on at least 2")
    return results
