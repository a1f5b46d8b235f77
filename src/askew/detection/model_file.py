"""A detector in a file: skops for the objects, and a card of plain data that anyone can read.

Loading runs no code from the file: skops builds only types that are named here or that it knows to be safe, and a file
with any other type is refused with that type's name. The card says who wrote the file and is read first, so that a file
of another version is refused before anything is built from it.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from copy import copy
from pathlib import Path
from typing import Any

import askew
from askew.detection.detector import Detector
from askew.exceptions import DataError, MissingDependencyError
from askew.sources import WholeFile

FORMAT = 1
"""Raised when older files can no longer be read."""
CARD = "askew.json"
TRUSTED = frozenset(
    {
        "askew.estimators.table_preparation.TablePreparation",
        "askew.tables.numbers.NumberColumn",
        "askew.tables.categories.CategoryColumn",
        "askew.tables.dates.DateColumn",
        "askew.estimators.moment_svc.MomentSVC",
        "askew.estimators.svc.SVC",
        "askew.estimators.asymmetric_svc.AsymmetricSVC",
        "askew.estimators.kernel_scaled_svc.KernelScaledSVC",
        "askew.estimators.one_class_svm.OneClassSVM",
        "askew.estimators.svdd.SVDD",
        "askew.estimators.covariance_one_class_svm.CovarianceOneClassSVM",
        "askew.kernels.bends.asymmetric.Asymmetric",
        "askew.methods.expansion.Expansion",
        "askew.methods.kernel_scaling.Stage",
        "askew.methods.kernel_scaling_search.Search",
        "askew.moments.moments.DiagonalMoments",
        "askew.moments.moments.Moments",
        "askew.tables.preparation.SparseColumns",
        "askew.tables.preparation.TableColumns",
        "askew.tables.values.Spelling",
        "askew.tolerance.calibration.Calibration",
        "askew.tolerance.certificate.OwnCertificate",
        "askew.tolerance.classifier.ToleranceClassifier",
        "askew.tolerance.drift.DriftMonitor",
        "askew.tolerance.drift.DriftTest",
        "askew.tolerance.score.Score",
        "askew.tolerance.target.Target",
        "askew.tolerance.threshold.Threshold",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    }
)


def save_detector(detector: Detector, path: str | Path) -> None:
    """Write a detector, whole or not at all.

    Parameters
    ----------
    detector : Detector
    path : str or Path
        Usually ends in ``.skops``.
    """
    skops = _skops()
    card = {"format": FORMAT, "versions": versions(), **detector.card}
    objects = {"preparation": detector.preparation, "classifier": _on_the_host(detector.classifier)}
    with WholeFile(path) as file:
        skops.dump(objects, file.beside, compression=zipfile.ZIP_DEFLATED, compresslevel=6)
        with zipfile.ZipFile(file.beside, "a") as archive:
            archive.writestr(CARD, json.dumps(card, indent=1, default=str))


def _on_the_host(classifier: Any) -> Any:
    """The classifier, its estimator brought to the host where it was fitted on a device; the one given stays there."""
    estimator = getattr(classifier, "estimator_", None)
    if not hasattr(estimator, "to_cpu"):
        return classifier
    classifier = copy(classifier)
    classifier.estimator_ = copy(estimator).to_cpu()
    return classifier


def read_card(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself; nothing is built from it."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path} does not exist. Write a model with: askew fit DATA --target COLUMN -o {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            card = json.loads(archive.read(CARD))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise DataError(f"{path} is not a model written by askew fit.") from error
    if card.get("format") != FORMAT:
        theirs = card.get("versions", {}).get("askew", "unknown")
        raise DataError(
            f"{path} was written by askew {theirs} in model format {card.get('format')}; this is askew "
            f"{askew.__version__}, which reads format {FORMAT}. Install askew=={theirs}, or fit the model again."
        )
    return card


def load_detector(path: str | Path) -> Detector:
    """Read a detector; a type that is not known to be safe is refused and named.

    Parameters
    ----------
    path : str or Path
    """
    skops = _skops()
    card = read_card(path)
    try:
        strange = sorted(set(skops.get_untrusted_types(file=path)) - TRUSTED)
        if strange:
            raise DataError(
                f"{path} holds the type {strange[0]!r}, which no model of askew has. It was not loaded: "
                "building an unknown type could run code from the file."
            )
        objects = skops.load(path, trusted=sorted(TRUSTED))
    except (zipfile.BadZipFile, KeyError, TypeError, AttributeError, ImportError) as error:
        raise DataError(
            f"{path} could not be rebuilt ({type(error).__name__}: {error}). It was written with "
            f"{_shown(card['versions'])}; here are {_shown(versions())}. Install those, or fit the model again."
        ) from error
    _warn_of_other_versions(path, card["versions"])
    return Detector(objects["preparation"], objects["classifier"], card)


def versions() -> dict[str, str]:
    """Of what a model depends on."""
    import numpy
    import sklearn

    return {"askew": askew.__version__, "scikit-learn": sklearn.__version__, "numpy": numpy.__version__}


def _warn_of_other_versions(path: str | Path, theirs: dict[str, str]) -> None:
    """The file could be read, but scikit-learn promises nothing about models of another minor version."""
    name, here = "scikit-learn", versions()
    if theirs.get(name, "").split(".")[:2] != here[name].split(".")[:2]:
        warnings.warn(
            f"{path} was written with {name} {theirs.get(name, 'of unknown version')}; here is {here[name]}. Scores "
            "may differ: check them, or fit the model again.",
            stacklevel=3,
        )


def _shown(found: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise MissingDependencyError("Model files need skops. Install it with: pip install 'askew[cli]'") from error
    return skops.io
