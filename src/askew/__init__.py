"""askew: support vector machines for skewed data."""

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
    "ToleranceClassifier",
    "load",
    "save",
    "trusted_types",
]
__version__ = "0.1.0"

_ROOMS = {
    "Detector": "detection",
    "ToleranceClassifier": "tolerance",
    "load": "persistence",
    "save": "persistence",
    "trusted_types": "persistence",
}
"""Where a public name lives; the others are estimators. A room is entered when one of its names is asked for."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'askew' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"askew.{_ROOMS.get(name, 'estimators')}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
