"""The cells of the study and the work on one of them.

Kinds of cells: "table" (all one-class descriptions on one of the paper's models), "reference" (two classifiers that are
trained with outliers, which no one-class method sees), "eta" and "width" (COSVM along a grid). Two made problems are
among the targets: one direction of little variance, and outliers along it or across it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from askew import SVC, OneClassSVM
from askew.kernels import resolve_gamma
from studies.cosvm import methods
from studies.cosvm.paper import FRACTION_REJECTED, N_MODELS, NU, OUTLIER_FRACTION, REMOVED_SHARE
from studies.cosvm.sets import (
    ARRAYS,
    MADE,
    MADE_DISTANCE,
    MADE_ROWS,
    MADE_SPREAD,
    SCALINGS,
    TITLES,
    Model,
    areas,
    draw,
    made,
)
from studies.protocol.cells import Cell
from studies.protocol.controls import FisherDirection, best_threshold
from studies.protocol.measures import ranking, relative_gap

Result = dict[str, Any]

ETAS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1, 0.03, 0.0)
WIDTHS = tuple(2.0**power for power in range(-6, 7))
REFERENCE_FOLDS, REFERENCE_SEED, REFERENCE_COST = 3, 0, 1.0
N_MODELS_HERE = 30
"""Of Table 1, for narrower intervals than the paper's ten models give; the rest has the paper's number."""
SETTINGS = {
    "nu": NU,
    "outlier fraction of the rule for eta": OUTLIER_FRACTION,
    "fraction rejected by k-NN, Parzen and Gaussian": FRACTION_REJECTED,
    "share of the targets taken away": REMOVED_SHARE,
    "scalings": [*SCALINGS, ARRAYS],
    "neighbours": methods.NEIGHBOURS,
    "toolbox width of SVDD": methods.TOOLBOX_GAMMA,
    "folds of the width by consistency": methods.CONSISTENCY_FOLDS,
    "etas": ETAS,
    "widths": WIDTHS,
    "references": {"folds": REFERENCE_FOLDS, "C of the SVC": REFERENCE_COST, "class weights of the SVC": "balanced"},
    "made problems": {"spread": MADE_SPREAD, "rows": MADE_ROWS, "outliers, in deviations": MADE_DISTANCE},
    "seeds": {
        "targets taken away": "the number of the repeat and the name of the problem",
        "made problems": "the number of the repeat and 1",
        "width by consistency": methods.CONSISTENCY_SEED,
        "folds of the references": REFERENCE_SEED,
    },
}


def cells(quick: bool) -> list[Cell]:
    """All cells, the quick ones a part of them."""
    targets = ("haberman+", "spectf-") if quick else tuple(TITLES)
    many, few = (3, 2) if quick else (N_MODELS_HERE, N_MODELS)
    tables = [_cell("table", t, s, r) for r in range(many) for t in targets for s in SCALINGS]
    tables += [_cell("table", t, ARRAYS, r) for r in range(few) for t in targets if t.startswith("colon")]
    references = [_cell("reference", t, s, r) for r in range(few) for t in targets for s in SCALINGS]
    references += [_cell("reference", t, ARRAYS, r) for r in range(few) for t in targets if t.startswith("colon")]
    paths = [_cell(kind, t, "standard", r) for r in range(few) for kind in ("eta", "width") for t in targets]
    known = [_cell(kind, side, "raw", r) for kind in ("table", "reference", "eta") for r in range(few) for side in MADE]
    return sorted([*tables, *references, *paths, *known], key=lambda cell: cell["repeat"])


def _cell(kind: str, target: str, scaling: str, repeat: int) -> Cell:
    return {"kind": kind, "target": target, "scaling": scaling, "repeat": repeat}


def sets_of(cell: Cell) -> tuple[str, ...]:
    """The data set of a cell; none for a made problem."""
    return () if cell["target"] in MADE else (cell["target"][:-1],)


def work(cell: Cell) -> Result:
    """Draw the model of a cell and do what its kind asks."""
    target, repeat = cell["target"], cell["repeat"]
    model = made(target, repeat) if target in MADE else draw(target, repeat, cell["scaling"])
    return _KINDS[cell["kind"]](model)


def table(model: Model) -> Result:
    """Every description on one model."""
    plain = methods.by_support().fit(model.train)
    fitted: Result = {"OSVM": _judge(plain, model)}
    for name, machine in (methods.simple() | methods.machines(plain.gamma_)).items():
        fitted[name] = _judge(machine.fit(model.train), model)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Even the simplest candidate")  # on Colon, with 20 rows
        fitted["OSVM, consistent width"] = _judge(methods.by_consistency().fit(model.train), model)
    return {"methods": fitted, "width": plain.gamma_ / resolve_gamma("scale", model.train)}


def reference(model: Model) -> Result:
    """Two-class controls: outliers are dealt into folds, each scored by a machine trained with the others.

    The AUC is that of the targets held out against the outliers of a fold, averaged over folds: the same pairs as in
    the table. The threshold is moved on scores of training rows held out in turn.
    """
    controls = {"Fisher": FisherDirection(), "SVC": SVC(C=REFERENCE_COST, class_weight="balanced")}
    found: dict[str, list[Result]] = {name: [] for name in controls}
    fold = np.random.default_rng(REFERENCE_SEED).permutation(len(model.outliers)) % REFERENCE_FOLDS
    for number in range(REFERENCE_FOLDS):
        known, unknown = model.outliers[fold != number], model.outliers[fold == number]
        X, y = _both(model.train, known)
        Z, truth = _both(model.held_out, unknown)
        inner = StratifiedKFold(REFERENCE_FOLDS, shuffle=True, random_state=REFERENCE_SEED)
        for name, control in controls.items():
            seen = cross_val_predict(control, X, y, cv=inner, method="decision_function")
            scores = control.fit(X, y).decision_function(Z)
            accepted = scores >= best_threshold(y, seen)
            rates = {"accepted": accepted[truth > 0].mean(), "rejected": (~accepted[truth < 0]).mean()}
            gap = relative_gap(control, len(X))
            found[name].append({"auc": ranking(truth, scores, ())["auc"], **rates, "gap": gap or 0.0})
    return {
        "methods": {name: {key: float(np.mean([r[key] for r in rs])) for key in rs[0]} for name, rs in found.items()}
    }


def along_eta(model: Model) -> Result:
    """COSVM at given η, in the paper's units of Δ and in ours, scored plainly and with its own kernel."""
    gamma = methods.by_support().fit(model.train).gamma_
    found = []
    for scale in ("raw", "trace"):
        for eta in ETAS:
            for score in ("plain", "modified"):
                machine = methods.guided(gamma, eta=eta, covariance_scale=scale, score=score).fit(model.train)
                outside = float(machine.eta_path_["outlier_fraction"][0])
                found.append({"scale": scale, "eta": eta, "score": score, "outside": outside, **_brief(machine, model)})
    return {"path": found}


def along_width(model: Model) -> Result:
    """The one-class SVM and COSVM from wide to narrow kernels, in units of 1 / (d · variance)."""
    unit, found = resolve_gamma("scale", model.train), []
    for width in WIDTHS:
        gamma = width * unit
        contestants = {
            "OSVM": OneClassSVM(nu=NU, gamma=gamma),
            "COSVM": methods.guided(gamma, covariance_scale="raw"),
            "COSVM, trace": methods.guided(gamma),
        }
        for name, machine in contestants.items():
            found.append({"width": width, "method": name, **_brief(machine.fit(model.train), model)})
    return {"path": found}


_KINDS: dict[str, Callable[[Model], Result]] = {
    "table": table,
    "reference": reference,
    "eta": along_eta,
    "width": along_width,
}


def _judge(machine: Any, model: Model) -> Result:
    """AUC under every reading, how the threshold does on rows not seen, and how far from the optimum the fit is."""
    parts = {"train": model.train, "held_out": model.held_out, "outliers": model.outliers}
    scores = {name: machine.decision_function(rows) for name, rows in parts.items()}
    found = {"auc": areas(scores)}
    found["accepted"] = float((scores["held_out"] >= 0).mean())
    found["rejected"] = float((scores["outliers"] < 0).mean())
    gap = relative_gap(machine, len(model.train))
    found |= {} if gap is None else {"gap": gap}
    found |= {"eta": machine.eta_, "rule": machine.eta_rule_} if hasattr(machine, "eta_") else {}
    return found


def _brief(machine: Any, model: Model) -> Result:
    """The AUC on rows not seen and the gap: what a point of a path is kept for."""
    found = _judge(machine, model)
    return {"auc": round(found["auc"]["held out"], 6), "gap": found["gap"]}


def _both(targets: Any, outliers: Any) -> tuple[Any, Any]:
    return np.concatenate([targets, outliers]), np.r_[np.ones(len(targets)), -np.ones(len(outliers))].astype(int)
