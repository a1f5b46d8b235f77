"""askew: support vector machines for skewed data.

Names are imported when they are first used, so that ``import askew`` and ``askew --help`` cost next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from askew.tolerance import ToleranceClassifier

__all__ = [
    "SVC",
    "SVDD",
    "AsymmetricSVC",
    "CovarianceOneClassSVM",
    "GaussianDescription",
    "KNNDescription",
    "KernelScaledSVC",
    "MomentSVC",
    "OneClassSVM",
    "ParzenDescription",
    "TablePreparation",
    "ToleranceClassifier",
]
__version__ = "0.1.0"

_PACKAGES = {
    *("datasets", "detection", "estimators", "kernels", "metrics", "moments", "qp", "selection", "solvers"),
    *("sources", "tables", "tolerance"),
}


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"askew.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    package = "askew.tolerance" if name == "ToleranceClassifier" else "askew.estimators"
    value = globals()[name] = getattr(import_module(package), name)
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__, *_PACKAGES})
