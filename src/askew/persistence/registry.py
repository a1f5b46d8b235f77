"""The names that model files call types by, and where each of these types lives now.

A file holds no path of a module: ``MomentSVC`` in a file stays ``MomentSVC`` wherever the class moves in the house.
Whoever moves or renames a class changes its line here; a name is never given to another type.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from askew.exceptions import DataError

__all__ = ["name_of", "trusted_types", "type_named", "type_of_format_1"]

_HOMES = {
    # estimators and searches
    "AsymmetricSVC": "askew.estimators.AsymmetricSVC",
    "CovarianceOneClassSVM": "askew.estimators.CovarianceOneClassSVM",
    "GaussianDescription": "askew.estimators.GaussianDescription",
    "KNNDescription": "askew.estimators.KNNDescription",
    "KernelScaledSVC": "askew.estimators.KernelScaledSVC",
    "MomentSVC": "askew.estimators.MomentSVC",
    "MomentSVCCV": "askew.estimators.MomentSVCCV",
    "OneClassSVM": "askew.estimators.OneClassSVM",
    "ParzenDescription": "askew.estimators.ParzenDescription",
    "SVC": "askew.estimators.SVC",
    "SVDD": "askew.estimators.SVDD",
    "TablePreparation": "askew.estimators.TablePreparation",
    "ToleranceClassifier": "askew.tolerance.ToleranceClassifier",
    "ArtificialOutlierSearchCV": "askew.selection.ArtificialOutlierSearchCV",
    "ConsistencySearchCV": "askew.selection.ConsistencySearchCV",
    "ToleranceSearchCV": "askew.selection.ToleranceSearchCV",
    # what they are made of
    "Adaptive bend": "askew.kernels.bends.Adaptive",
    "Asymmetric bend": "askew.kernels.bends.Asymmetric",
    "Boundary bend": "askew.kernels.bends.Boundary",
    "Support bend": "askew.kernels.bends.Support",
    "Symmetric bend": "askew.kernels.bends.Symmetric",
    "Linear kernel": "askew.kernels.Linear",
    "Polynomial kernel": "askew.kernels.Polynomial",
    "RBF kernel": "askew.kernels.RBF",
    "Sigmoid kernel": "askew.kernels.Sigmoid",
    "Expansion": "askew.methods.expansion.Expansion",
    "Kernel scaling search": "askew.methods.kernel_scaling_search.Search",
    "Kernel scaling stage": "askew.methods.kernel_scaling.Stage",
    "Moment stream": "askew.summaries.Stream",
    "Rows of a stream": "askew.summaries.stream.KeptRows",
    "Score on the whitened kernel": "askew.methods.moment.geometry.KernelScore",
    "Covariance model": "askew.moments.CovarianceModel",
    "Diagonal moments": "askew.moments.DiagonalMoments",
    "Low-rank moments": "askew.moments.LowRankMoments",
    "Moments": "askew.moments.Moments",
    "Factor structure": "askew.moments.factor.Factor",
    "Full structure": "askew.moments.full.Full",
    "Category column": "askew.tables.CategoryColumn",
    "Date column": "askew.tables.DateColumn",
    "Number column": "askew.tables.NumberColumn",
    "Sparse columns": "askew.tables.SparseColumns",
    "Spelling of values": "askew.tables.Spelling",
    "Table columns": "askew.tables.TableColumns",
    "Calibration": "askew.tolerance.Calibration",
    "Certificate of a linear score": "askew.tolerance.certificate.LinearCertificate",
    "Certificate of an estimator": "askew.tolerance.certificate.OwnCertificate",
    "Classes of a decision": "askew.tolerance.target.Target",
    "Drift monitor": "askew.tolerance.drift.DriftMonitor",
    "Drift test": "askew.tolerance.DriftTest",
    "Score": "askew.tolerance.score.Score",
    "Threshold": "askew.tolerance.Threshold",
    # a whole detector; detection/ stands above this folder and is imported when a file names it
    "Card": "askew.detection.Card",
    "Detector": "askew.detection.Detector",
}
_OF_OTHERS = (
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
)
"""Types of other packages in models of askew that skops does not know to be safe."""

_FORMAT_1 = {
    "askew.detection.sparse_features.SparseFeatures": "TablePreparation",
    "askew.estimators.table_preparation.TablePreparation": "TablePreparation",
    "askew.estimators.table_number.NumberColumn": "Number column",
    "askew.estimators.table_category.CategoryColumn": "Category column",
    "askew.estimators.table_date.DateColumn": "Date column",
    "askew.estimators.moment_svc.MomentSVC": "MomentSVC",
    "askew.estimators.svc.SVC": "SVC",
    "askew.estimators.asymmetric_svc.AsymmetricSVC": "AsymmetricSVC",
    "askew.estimators.kernel_scaled_svc.KernelScaledSVC": "KernelScaledSVC",
    "askew.estimators.one_class_svm.OneClassSVM": "OneClassSVM",
    "askew.estimators.svdd.SVDD": "SVDD",
    "askew.estimators.covariance_one_class_svm.CovarianceOneClassSVM": "CovarianceOneClassSVM",
    "askew.kernels.bends.asymmetric.Asymmetric": "Asymmetric bend",
    "askew.methods.expansion.Expansion": "Expansion",
    "askew.methods.kernel_scaling.Stage": "Kernel scaling stage",
    "askew.methods.kernel_scaling_search.Search": "Kernel scaling search",
    "askew.moments.moments.DiagonalMoments": "Diagonal moments",
    "askew.moments.moments.Moments": "Moments",
    "askew.tolerance.calibration.Calibration": "Calibration",
    "askew.tolerance.certificate.OwnCertificate": "Certificate of an estimator",
    "askew.tolerance.classifier.ToleranceClassifier": "ToleranceClassifier",
    "askew.tolerance.drift.DriftMonitor": "Drift monitor",
    "askew.tolerance.drift.DriftTest": "Drift test",
    "askew.tolerance.score.Score": "Score",
    "askew.tolerance.target.Target": "Classes of a decision",
    "askew.tolerance.threshold.Threshold": "Threshold",
}
"""The paths that files of format 1 hold, and the names of today."""


def trusted_types() -> list[str]:
    """Paths of every type that a model of askew is made of, as ``skops.io.load(file, trusted=...)`` takes them.

    Needed only for files that ``skops.io.dump`` wrote; `askew.load` reads those of `askew.save`.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> "askew.tolerance.classifier.ToleranceClassifier" in trusted_types()
    True
    """
    return sorted([*(_path(type_named(name)) for name in _HOMES), *_OF_OTHERS])


def name_of(path: str) -> str | None:
    """The name of the type with this path; None where no model of askew has it."""
    return _names().get(path)


def type_of_format_1(path: str) -> type | None:
    """The type of today that a path in a file of format 1 stands for."""
    return type_named(_FORMAT_1[path]) if path in _FORMAT_1 else None


def type_named(name: str) -> type:
    """The type that a model file calls by this name."""
    if name not in _HOMES:
        raise DataError(f"{name!r} is no type that this version of askew knows.")
    module, _, attribute = _HOMES[name].rpartition(".")
    found: type = getattr(import_module(module), attribute)
    return found


@cache
def _names() -> dict[str, str]:
    """The name of every type by its path."""
    return {_path(type_named(name)): name for name in _HOMES}


def _path(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
