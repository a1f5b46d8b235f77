"""The six descriptions of Table 1, and the variants that our readings of the paper need."""

from __future__ import annotations

from typing import Any

from askew import SVDD, CovarianceOneClassSVM, OneClassSVM
from askew.estimators import GaussianDescription, KNNDescription, ParzenDescription
from askew.selection import ConsistencySearchCV
from studies.cosvm.paper import FRACTION_REJECTED, NU, OUTLIER_FRACTION

TOOLBOX_GAMMA = 1 / 5.0**2
"""DDtools' documented default width of its SVDD, 5, in a kernel exp(−d²/σ²)."""

NEIGHBOURS, CONSISTENCY_FOLDS, CONSISTENCY_SEED = (1, 5), 5, 0


def simple() -> dict[str, Any]:
    """Those without a kernel width."""
    return {
        "k-NN": KNNDescription(NEIGHBOURS[0], fraction_rejected=FRACTION_REJECTED),
        f"k-NN, k = {NEIGHBOURS[1]}": KNNDescription(NEIGHBOURS[1], fraction_rejected=FRACTION_REJECTED),
        "Parzen": ParzenDescription(fraction_rejected=FRACTION_REJECTED),
        "Gaussian": GaussianDescription(fraction_rejected=FRACTION_REJECTED),
    }


def machines(gamma: float) -> dict[str, Any]:
    """The support vector machines at one width; COSVM as the paper writes it, ours, and ours with its own kernel."""
    return {
        "SVDD": SVDD(nu=NU, gamma=gamma),
        "SVDD, toolbox width": SVDD(nu=NU, gamma=TOOLBOX_GAMMA),
        "COSVM": guided(gamma, covariance_scale="raw"),
        "COSVM, trace": guided(gamma),
        "COSVM, modified": guided(gamma, score="modified"),
    }


def guided(gamma: float, **options: Any) -> CovarianceOneClassSVM:
    """COSVM with the paper's ν and rule for η, unless told otherwise."""
    return CovarianceOneClassSVM(**{"nu": NU, "outlier_fraction": OUTLIER_FRACTION, "gamma": gamma, **options})


def by_support() -> OneClassSVM:
    """The one-class SVM with the paper's rule for the width; its ``gamma_`` serves the others."""
    return OneClassSVM(nu=NU, gamma="support")


def by_consistency() -> ConsistencySearchCV:
    """The same with the width by consistency (Tax and Müller 2004), which the toolbox offers."""
    return ConsistencySearchCV(OneClassSVM(nu=NU), cv=CONSISTENCY_FOLDS, random_state=CONSISTENCY_SEED)
