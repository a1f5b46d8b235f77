"""The state of a stream in one file: the rows of the positives, the moments of the negatives, and how far it came.

Plain arrays in a NumPy archive, written whole or not at all; nothing in it is ever run.
"""

from __future__ import annotations

import os
import zipfile
from typing import Any

import numpy as np
from scipy import sparse

from askew.exceptions import DataError
from askew.moments import CovarianceModel, DiagonalMoments, LowRankMoments, Moments
from askew.sources import WholeFile
from askew.summaries.stream import KeptRows, Stream

FORMAT = 1
KINDS = {kind.__name__: kind for kind in (Moments, DiagonalMoments, LowRankMoments)}


def save_stream(stream: Stream, classes: Any, names: Any, path: str | os.PathLike[str]) -> None:
    """Write a stream so that :func:`load_stream` goes on from here."""
    arrays: dict[str, Any] = {
        "format": np.array(FORMAT),
        "classes": _plain(classes),
        "names": np.array([] if names is None else list(names), dtype=str),
        "positive": np.array(-1 if stream.positive is None else stream.positive),
        "model": np.array(_model_name(stream.model)),
        "n_seen": np.array(stream.n_seen),
        "n_kept": np.array(len(stream.kept)),
    }
    for code, moments in enumerate(stream.moments):
        if moments is not None:
            arrays |= {f"moments.{code}.{name}": value for name, value in moments._arrays().items()}
            arrays[f"moments.{code}.kind"] = np.array(type(moments).__name__)
    for k, part in enumerate(stream.kept):
        arrays |= _rows_as_arrays(f"kept.{k}.", part.X)
        arrays |= {f"kept.{k}.weight": part.weight, f"kept.{k}.rows": part.rows, f"kept.{k}.codes": part.codes}
    with WholeFile(path) as file, file.beside.open("wb") as sink:
        np.savez(sink, **arrays)
        sink.flush()
        os.fsync(sink.fileno())


def load_stream(path: str | os.PathLike[str], model: CovarianceModel, forgetting: float) -> tuple[Stream, Any, Any]:
    """The stream of a file, its classes, and the names of its features or None."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if int(arrays["format"]) != FORMAT:
            raise DataError(f"{os.fspath(path)} has checkpoint format {arrays['format']}; this askew reads {FORMAT}.")
        if str(arrays["model"]) != _model_name(model):
            raise DataError(
                f"{os.fspath(path)} was written with {arrays['model']}, and this estimator has {_model_name(model)}. "
                "Resume with the same parameters."
            )
        return _rebuilt(arrays, model, forgetting)
    except FileNotFoundError as error:
        raise DataError(f"{os.fspath(path)} does not exist, so there is no stream to resume.") from error
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{os.fspath(path)} is not a checkpoint written by save_stream: {error}") from error


def _rebuilt(arrays: dict[str, Any], model: CovarianceModel, forgetting: float) -> tuple[Stream, Any, Any]:
    moments: list[Any] = []
    for code in range(len(arrays["classes"])):
        kind = arrays.get(f"moments.{code}.kind")
        moments.append(None if kind is None else KINDS[str(kind)]._from_arrays(_under(arrays, f"moments.{code}.")))
    kept = []
    for k in range(int(arrays["n_kept"])):
        part = _under(arrays, f"kept.{k}.")
        kept.append(KeptRows(_rows_from_arrays(part), part["weight"], part["rows"], part["codes"]))
    positive, names = int(arrays["positive"]), arrays["names"].astype(object)
    stream = Stream(
        model, None if positive < 0 else positive, forgetting, tuple(moments), tuple(kept), int(arrays["n_seen"])
    )
    return stream, arrays["classes"], names if len(names) else None


def _model_name(model: CovarianceModel) -> str:
    """The parameters that decide which moments are kept."""
    factors = f", n_factors={model.n_factors}" if model.name == "factor" else ""
    return f"covariance={model.name!r}{factors}"


def _plain(classes: Any) -> Any:
    """Labels in a type that needs no pickle."""
    labels = np.asarray(classes)
    return labels if labels.dtype.kind != "O" else np.array(labels.tolist())


def _under(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


def _rows_as_arrays(prefix: str, X: Any) -> dict[str, Any]:
    if not sparse.issparse(X):
        return {f"{prefix}X": X}
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    return {prefix + name: value for name, value in parts.items()}


def _rows_from_arrays(part: dict[str, Any]) -> Any:
    if "X" in part:
        return part["X"]
    return sparse.csr_array((part["data"], part["indices"], part["indptr"]), shape=tuple(part["shape"]))
