"""askew: support vector machines for skewed data.

Names are imported when they are first used, so that ``import askew`` and ``askew --help`` cost next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askew.detection import Detector
    from askew.estimators import (
        SVC,
        SVDD,
        AsymmetricSVC,
        CovarianceOneClassSVM,
        GaussianDescription,
        KernelScaledSVC,
        KNNDescription,
        MomentSVC,
        OneClassSVM,
        ParzenDescription,
        TablePreparation,
    )
    from askew.persistence import load, save, trusted_types
    from askew.tolerance import ToleranceClassifier

__all__ = [
    "SVC",
    "SVDD",
    "AsymmetricSVC",
    "CovarianceOneClassSVM",
    "Detector",
    "GaussianDescription",
    "KNNDescription",
    "KernelScaledSVC",
    "MomentSVC",
    "OneClassSVM",
    "ParzenDescription",
    "TablePreparation",
    "ToleranceClassifier",
    "load",
    "save",
    "trusted_types",
]
__version__ = "0.1.0"

_PACKAGES = {
    *("datasets", "detection", "displays", "estimators", "kernels", "metrics", "moments", "persistence", "qp"),
    *("report", "selection", "solvers", "sources", "tables", "tolerance"),
}
_HOMES = {
    "Detector": "detection",
    "ToleranceClassifier": "tolerance",
    **dict.fromkeys(("load", "save", "trusted_types"), "persistence"),
}
"""The packages of public names that are no estimators."""


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"askew.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"askew.{_HOMES.get(name, 'estimators')}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__, *_PACKAGES})
