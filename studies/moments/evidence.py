"""Tables about what lies behind the areas: certificates, gaps, kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from studies.moments import kernels, words
from studies.moments.certificate import TOLERANCES
from studies.moments.grids import COSTS
from studies.moments.outcome import Outcome
from studies.moments.sets import title
from studies.moments.tables import CONTROLS, N_WEIGHTED, TITLES, plus_minus, verdict
from studies.protocol.page import markdown

MODELS = (
    "MIBC",
    "MIBC, ridge auto",
    "MIBC, ridge chosen",
    "factor",
    "factor, ridge auto",
    "factor, ridge chosen",
    "hard",
    "factor, hard",
)
CONVERGED = (*MODELS[:6], "cost-sensitive", "SVC, threshold moved", "undersampling")


def certificates(outcome: Outcome, tasks: Iterable[str], models: Sequence[str] = MODELS) -> list[Mapping[str, Any]]:
    """Every certificate of these models."""
    return [each["certificate"] for task in tasks for model in models for each in outcome.results(task, model)]


def promises(outcome: Outcome, groups: Mapping[str, Sequence[str]]) -> str:
    """Thresholds certified for a tolerance against the rates observed, and how often the promise was broken."""
    rows: list[list[Any]] = []
    for group, tasks in groups.items():
        found = certificates(outcome, tasks)
        if not found:
            continue
        at = np.array([each["at"] for each in found])
        for k, t in enumerate(TOLERANCES):
            trained, tested, true = at[:, k, 1], at[:, k, 2], at[:, k, 3]
            rates = [f"{100 * rate:.2f}" for rate in (trained.mean(), trained.max(), tested.mean(), tested.max())]
            broken = [int(np.sum(rate > t)) for rate in (trained, tested)]
            rows.append([f"{group}, {100 * t:g} %", *rates, f"{100 * true.mean():.1f}", *broken, len(found)])
    header = ["certified for", "training: mean, %", "largest, %", "test: mean, %", "largest, %", "positives found, %"]
    return markdown([*header, "training broken", "test broken", "models"], rows)


def bounds(outcome: Outcome, groups: Mapping[str, Sequence[str]]) -> str:
    """Remarks 1 and 2 at the method's own threshold."""
    rows: list[list[Any]] = []
    for group, tasks in groups.items():
        for model in MODELS:
            found = certificates(outcome, tasks, [model])
            if not found:
                continue
            bound, trained, tested = (np.array([each[k] for each in found]) for k in ("bound", "trained", "tested"))
            modelled = np.array([each["modelled"] if each["modelled"] is not None else np.nan for each in found])
            broken = "" if np.isnan(modelled).all() else int(np.sum(tested > modelled))
            medians = [f"{100 * np.median(each):.3f}" for each in (bound, trained, tested)]
            counts = [int(np.sum(trained > bound)), int(np.sum(tested > bound)), broken, len(found)]
            rows.append([f"{group}, {model}", *medians, *counts])
    header = ["own threshold", "bound, % (median)", "training, %", "test, %", "training over bound", "test over bound"]
    return markdown([*header, "test over diagonal bound", "models"], rows)


def gaps(outcome: Outcome, groups: Mapping[str, Sequence[str]]) -> str:
    """Relative duality gaps of the models that were judged, and how much of the grid converged."""
    rows: list[list[Any]] = []
    for group, tasks in groups.items():
        for method in CONVERGED:
            found = [each for task in tasks for each in outcome.results(task, method)]
            known = [each["gap"] for each in found if each.get("gap") is not None]
            if not known:
                continue
            whole = N_WEIGHTED if method == "cost-sensitive" else len(COSTS)
            fits = [each["n_converged"] / whole for each in found if "n_converged" in each]
            share = f"{100 * np.mean(fits):.0f} %" if fits else "all"
            shift = [each["auc_with_gap"] - each["auc"] for each in found if "auc_with_gap" in each]
            moved = f"{100 * np.mean(shift):+.2f}" if shift else ""
            rows.append([f"{group}, {TITLES.get(method, method)}", f"{np.median(known):.0e}", f"{max(known):.0e}"])
            rows[-1] += [share, moved]
    header = ["relative gap of the choice", "median", "largest", "share of the grid that converged"]
    return markdown([*header, "AUC solved again with a gap, points"], rows)


def kernel_areas(outcome: Outcome, tasks: Sequence[str]) -> str:
    """Kernel MIBC beside its linear form, the controls and an SVC that sees the negatives, over the same cuts."""
    rows: list[list[Any]] = []
    mine = "MIBC, ridge chosen"
    for task in (task for task in tasks if outcome.has(task, kernels.METHODS[0])):
        found = [plus_minus(outcome.area(task, method)) for method in kernels.METHODS]
        cuts = len(outcome.results(task, kernels.METHODS[0]))
        linear = [100 * outcome.values(task, method, "auc")[:cuts].mean() for method in (mine, *CONTROLS)]
        tests = [verdict(outcome.compare(task, method, mine)) for method in kernels.METHODS[:2]]
        rows.append([title(task), *found, *(f"{area:.2f}" for area in linear), *tests])
    header = ["AUC, %", "rbf MIBC", "poly MIBC", "rbf, no whitening", "rbf SVC", "linear MIBC, ridge chosen"]
    controls = (f"linear {TITLES[method]}" for method in CONTROLS)
    return markdown([*header, *controls, "rbf minus linear", "poly minus linear"], rows)


def unseen_words(outcome: Outcome, tasks: Sequence[str]) -> str:
    """How much of a score rests on words that no training negative holds."""
    rows: list[list[Any]] = []
    for task in (task for task in tasks if outcome.has(task, "words")):
        found = outcome.results(task, "words")
        shares = np.mean([each["shares"] for each in found], axis=0)
        tested = np.mean([each["tested"] for each in found])
        rows.append([title(task), *(f"{100 * share:.0f}" for share in (*shares, tested))])
    header = [f"ridge {ridge:g}: share of a training positive's score, %" for ridge in words.RIDGES_SHOWN]
    return markdown(["words no training negative holds", *header, "test positives with any, %"], rows)
