"""The methods, each with a grid of at most twelve candidates.

All machines on an rbf kernel choose among the same three widths; all with a cost C among the same four values. Widths
are in units of 1 / (features that vary), scikit-learn's ``gamma="scale"`` on standardised columns.

Detectors become classifiers: fitted on the rows of one class, scored towards the positives. It is customary to describe
the normal rows, here the negatives: there are many of them, and what does not look like them is the alarm. Describing
the few positives instead is how the one-class papers treat their target class. Both are run for askew's own detectors;
PyOD's, which are made for the first, describe the negatives.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from askew import SVC, SVDD, AsymmetricSVC, CovarianceOneClassSVM, KernelScaledSVC, MomentSVC, OneClassSVM
from studies.protocol.controls import FisherDirection

COSTS, WIDTHS = (0.1, 1.0, 10.0, 100.0), (0.1, 1.0, 10.0)
NUS = (0.02, 0.1, 0.3, 0.5)
GUIDED_NUS, ETAS = (0.02, 0.2), (0.8, 0.2)
COST_TOL = 1e-5  # a tolerance is in units of the score, so at a large C one of 1e-3 left relative gaps of some per cent
ONE_CLASS_TOL = 1e-5  # their multipliers are small: at 1e-3 relative gaps of some per cent were seen
MOMENT_COSTS, RIDGES = (1e-2, 1.0, 1e2, 1e4), (0.01, 0.1, 1.0)
MU_SHARES = (0.2, 0.5, 0.8, 0.95)
CORELESS = "AsymmetricSVC, τ = 0, as it comes"
UNBENT = {"k_majority": 0.0, "k_minority": 0.0}
Grid = dict[str, list[Any]] | list[dict[str, list[Any]]]
_MODULES = {
    **dict.fromkeys(("OnNegatives", "OnPositives", "PyOD"), "studies.across.detectors"),
    "Resampled": "studies.across.resampled",
    "FisherDirection": "studies.protocol.controls",
    "SVC": "askew.estimators.svc",
    "SVDD": "askew.estimators.svdd",
    "AsymmetricSVC": "askew.estimators.asymmetric_svc",
    "CovarianceOneClassSVM": "askew.estimators.covariance_one_class_svm",
    "KernelScaledSVC": "askew.estimators.kernel_scaled_svc",
    "MomentSVC": "askew.estimators.moment_svc",
    "OneClassSVM": "askew.estimators.one_class_svm",
}
"""Where our classes stood when the cells were computed: a class that is only moved makes no cell void."""


class _OfOneClass(ClassifierMixin, BaseEstimator):
    """A detector fitted on the rows with y = ``described``; its score points to the class it was shown."""

    described: int

    def __init__(self, detector: Any) -> None:
        self.detector = detector

    def fit(self, X: Any, y: Any) -> Any:
        y = np.asarray(y)
        self.classes_ = np.unique(y)
        self.detector_ = clone(self.detector).fit(X[y == self.described])
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return self.described * np.asarray(self.detector_.decision_function(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        return np.where(np.asarray(self.detector_.predict(X)) > 0, self.described, -self.described)


class OnNegatives(_OfOneClass):
    """Shown the negatives; what is unlike them is positive."""

    described = -1


class OnPositives(_OfOneClass):
    """Shown the positives; what is like them is positive."""

    described = 1


class PyOD(BaseEstimator):
    """A PyOD detector in scikit-learn's sign convention: a score below 0 is an outlier.

    Parameters
    ----------
    name : {"ECOD", "IForest", "KNN", "LOF"}
    options : dict
        Its parameters.
    """

    def __init__(self, name: str, options: Any = None) -> None:
        self.name = name
        self.options = options

    def fit(self, X: Any, y: Any = None) -> PyOD:
        from importlib import import_module

        family = getattr(import_module(f"pyod.models.{self.name.lower()}"), self.name)
        self.model_ = family(**(self.options or {})).fit(X)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        scores = np.nan_to_num(self.model_.decision_function(X), posinf=np.finfo(np.float32).max)
        return self.model_.threshold_ - scores

    def predict(self, X: Any) -> NDArray[np.int64]:
        return np.where(self.decision_function(X) >= 0, 1, -1)


class Resampled(ClassifierMixin, BaseEstimator):
    """A classifier fitted on resampled rows.

    Parameters
    ----------
    sampler : imbalanced-learn sampler
    machine : classifier

    Attributes
    ----------
    is_resampled_ : bool
        False where the sampler refused the rows (ADASYN and Borderline-SMOTE do when no positive lies among
        negatives) and the classifier was fitted on the rows as they were.
    """

    def __init__(self, sampler: Any, machine: Any) -> None:
        self.sampler = sampler
        self.machine = machine

    def resample(self, X: Any, y: Any) -> tuple[Any, Any, bool]:
        """Resampled rows; the rows as they are, and False, where the sampler refuses them."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return *clone(self.sampler).fit_resample(X, y), True
        except (ValueError, RuntimeError):
            return X, y, False

    def fit(self, X: Any, y: Any) -> Resampled:
        self.classes_ = np.unique(y)
        X, y, self.is_resampled_ = self.resample(X, y)
        self.machine_ = clone(self.machine).fit(X, y)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return self.machine_.decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        return self.machine_.predict(X)


@dataclass(frozen=True)
class Facts:
    """What a grid is laid out by: columns that vary, and the share of positives, both of the training part."""

    n_features: int
    share: float


@dataclass(frozen=True)
class Method:
    """A way to score rows.

    Attributes
    ----------
    machine : callable
        Gives a fresh estimator; a scaler goes in front of it.
    grid : callable
        Candidates from the facts of a training part; None where there is nothing to choose.
    kind : {"askew", "reference", "control", "detector", "default"}
        "default" are askew's estimators as they come, or with another default; they are not part of the rankings.
    fixed : mapping
        Parameters of the search that the final fit does not keep.
    """

    machine: Callable[[], Any]
    grid: Callable[[Facts], Grid] | None
    kind: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def candidates(self, facts: Facts) -> Grid | None:
        """The grid with names as the pipeline spells them."""
        if self.grid is None:
            return None
        found = self.grid(facts)
        grids = [{f"machine__{name}": values for name, values in part.items()} for part in _listed(found)]
        return grids if isinstance(found, list) else grids[0]

    def pipeline(self, **fixed: Any) -> Pipeline:
        """Scaler and machine."""
        return Pipeline([("scale", StandardScaler()), ("machine", self.machine().set_params(**fixed))])

    @property
    def recipe(self) -> str:
        """Digest of estimator and grid: a result computed by another recipe does not count.

        All parameters count, those at their defaults too, so that a change of a default voids the cells.
        """
        parts = [_spelt(self.machine()), _spelt(self.candidates(Facts(10, 0.1))), _spelt(dict(self.fixed))]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]


def _spelt(value: Any) -> Any:
    """Plain data: an estimator as its class and all its parameters, those inside it likewise."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        name = type(value).__qualname__
        return {
            "class": f"{_MODULES.get(name, type(value).__module__)}.{name}",
            "parameters": _spelt(value.get_params(deep=False)),
        }
    if isinstance(value, Mapping):
        return {str(name): _spelt(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_spelt(each) for each in value]
    return repr(value)


def _listed(grid: Grid) -> list[dict[str, list[Any]]]:
    return grid if isinstance(grid, list) else [grid]


def _widths(facts: Facts) -> list[float]:
    return [width / facts.n_features for width in WIDTHS]


def _costs_and_widths(prefix: str = "", costs: tuple[float, ...] = COSTS) -> Callable[[Facts], Grid]:
    return lambda facts: {f"{prefix}gamma": _widths(facts), f"{prefix}C": list(costs)}


def _nus_and_widths(facts: Facts) -> Grid:
    return {"detector__gamma": _widths(facts), "detector__nu": list(NUS)}


def _shares_and_widths(facts: Facts) -> Grid:
    """Smallest ν of the one-class SVM's grid, which it takes most, and the paper's 0.2; η given, not by its rule."""
    return {"detector__gamma": _widths(facts), "detector__nu": list(GUIDED_NUS), "detector__eta": list(ETAS)}


def _margins_and_widths(facts: Facts) -> Grid:
    """μ as a share of the positives, from hard to soft as C is; τ = 0, as in the first stage of the paper's search."""
    safe = 0.97 * facts.share  # feasible in every fold
    return {"gamma": _widths(facts), "mu": [share * safe for share in MU_SHARES], "tau": [0.0]}


def _ridges_and_costs(_: Facts) -> Grid:
    return {"rho": list(RIDGES), "C": list(MOMENT_COSTS)}


def _trees(_: Facts) -> Grid:
    """Fewer candidates than the others have: they cost most, and these two decide most."""
    return {"learning_rate": [0.05, 0.2], "max_leaf_nodes": [4, 16]}


def _neighbours(_: Facts) -> Grid:
    counts, ways = (2, 5, 10, 20), ("largest", "mean", "median")
    return {"detector__options": [{"n_neighbors": k, "method": way} for k in counts for way in ways]}


def _local(_: Facts) -> Grid:
    return {"detector__options": [{"n_neighbors": k} for k in (2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60)]}


def _regularised(_: Facts) -> Grid:
    return {"C": np.logspace(-4, 3, 12).tolist()}


def _boosting() -> HistGradientBoostingClassifier:
    """As many bins as a thousand rows need, leaves as small as a few positives need."""
    return HistGradientBoostingClassifier(class_weight="balanced", max_bins=63, min_samples_leaf=10, random_state=0)


def _resampled(name: str) -> Callable[[], Resampled]:
    def machine() -> Resampled:
        import imblearn.over_sampling as over
        import imblearn.under_sampling as under

        sampler = getattr(over, name, None) or getattr(under, name)
        return Resampled(sampler(random_state=0), _machine())

    return machine


def _shown(way: Callable[[Any], Any], detector: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: way(detector())


def _machine(class_weight: str | None = None) -> SVC:
    return SVC(class_weight=class_weight, tol=COST_TOL)


def _bent(class_weight: str | None = None) -> KernelScaledSVC:
    """C and width are searched without a bend, its strength by the estimator itself, with as many folds."""
    return KernelScaledSVC(class_weight=class_weight, n_folds=3, tol=COST_TOL)


def _one_class() -> OneClassSVM:
    return OneClassSVM(tol=ONE_CLASS_TOL)


def _guided() -> CovarianceOneClassSVM:
    return CovarianceOneClassSVM(tol=ONE_CLASS_TOL)


def _quadratic() -> SVDD:
    """With the rbf kernel SVDD ranks as the one-class SVM does, so it is run with the kernel that is its own."""
    return SVDD(kernel="poly", degree=2, coef0=1.0, tol=ONE_CLASS_TOL)


def _forest() -> PyOD:
    return PyOD("IForest", {"random_state": 0})


METHODS: dict[str, Method] = {
    "SVC": Method(_machine, _costs_and_widths(), "askew"),
    "SVC balanced": Method(lambda: _machine("balanced"), _costs_and_widths(), "askew"),
    "AsymmetricSVC": Method(AsymmetricSVC, _margins_and_widths, "askew"),
    "KernelScaledSVC": Method(_bent, _costs_and_widths(), "askew", UNBENT),
    "KernelScaledSVC balanced": Method(lambda: _bent("balanced"), _costs_and_widths(), "askew", UNBENT),
    "MomentSVC": Method(MomentSVC, _ridges_and_costs, "askew"),
    "MomentSVC rbf": Method(lambda: MomentSVC(kernel="rbf"), _costs_and_widths(costs=MOMENT_COSTS), "askew"),
    "OneClassSVM": Method(_shown(OnNegatives, _one_class), _nus_and_widths, "askew"),
    "CovarianceOneClassSVM": Method(_shown(OnNegatives, _guided), _shares_and_widths, "askew"),
    "SVDD": Method(_shown(OnNegatives, _quadratic), _nus_and_widths, "askew"),
    "OneClassSVM on positives": Method(_shown(OnPositives, _one_class), _nus_and_widths, "askew"),
    "CovarianceOneClassSVM on positives": Method(_shown(OnPositives, _guided), _shares_and_widths, "askew"),
    "SVDD on positives": Method(_shown(OnPositives, _quadratic), _nus_and_widths, "askew"),
    "logistic regression": Method(
        lambda: LogisticRegression(class_weight="balanced", max_iter=1000), _regularised, "reference"
    ),
    "gradient boosting": Method(_boosting, _trees, "reference"),
    "undersampling + SVC": Method(_resampled("RandomUnderSampler"), _costs_and_widths("machine__"), "reference"),
    "oversampling + SVC": Method(_resampled("RandomOverSampler"), _costs_and_widths("machine__"), "reference"),
    "SMOTE + SVC": Method(_resampled("SMOTE"), _costs_and_widths("machine__"), "reference"),
    "Borderline-SMOTE + SVC": Method(_resampled("BorderlineSMOTE"), _costs_and_widths("machine__"), "reference"),
    "ADASYN + SVC": Method(_resampled("ADASYN"), _costs_and_widths("machine__"), "reference"),
    "PyOD IForest": Method(_shown(OnNegatives, _forest), None, "detector"),
    "PyOD ECOD": Method(_shown(OnNegatives, lambda: PyOD("ECOD")), None, "detector"),
    "PyOD KNN": Method(_shown(OnNegatives, lambda: PyOD("KNN")), _neighbours, "detector"),
    "PyOD LOF": Method(_shown(OnNegatives, lambda: PyOD("LOF")), _local, "detector"),
    "Fisher direction": Method(FisherDirection, None, "control"),
    "SVC as it comes": Method(SVC, None, "default"),
    "AsymmetricSVC as it comes": Method(AsymmetricSVC, None, "default"),
    CORELESS: Method(lambda: AsymmetricSVC(tau=0.0), None, "default"),
    "MomentSVC as it comes": Method(MomentSVC, None, "default"),
    "MomentSVC rbf as it comes": Method(lambda: MomentSVC(kernel="rbf"), None, "default"),
    "MomentSVC, ν = 0.1, as it comes": Method(lambda: MomentSVC(formulation="nu", nu=0.1), None, "default"),
    "OneClassSVM, ν = 0.5, as it comes": Method(_shown(OnNegatives, lambda: OneClassSVM(nu=0.5)), None, "default"),
    "OneClassSVM, ν = 0.2, as it comes": Method(_shown(OnNegatives, lambda: OneClassSVM(nu=0.2)), None, "default"),
    "OneClassSVM as it comes": Method(_shown(OnNegatives, OneClassSVM), None, "default"),
    "CovarianceOneClassSVM as it comes": Method(_shown(OnNegatives, CovarianceOneClassSVM), None, "default"),
}
RANKED = tuple(name for name, method in METHODS.items() if method.kind != "default")


def label(method: str) -> str:
    """A method's name on the page: askew's in bold."""
    return f"**{method}**" if METHODS[method].kind == "askew" else method
