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
from askew.methods.moment_evidence import Stream
from askew.moments import CovarianceModel, DiagonalMoments, LowRankMoments, Moments
from askew.sources import WholeFile

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
    for group, moments in enumerate(stream.moments):
        if moments is not None:
            arrays |= {f"moments.{group}.{name}": value for name, value in moments._arrays().items()}
            arrays[f"moments.{group}.kind"] = np.array(type(moments).__name__)
    for k, ((X, weight, rows), codes) in enumerate(zip(stream.kept, stream.codes, strict=True)):
        arrays |= _rows_as_arrays(f"kept.{k}.", X)
        arrays |= {f"kept.{k}.weight": weight, f"kept.{k}.rows": rows, f"kept.{k}.codes": codes}
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
    positive = int(arrays["positive"])
    stream = Stream(model, len(arrays["classes"]), None if positive < 0 else positive, forgetting)
    for group in range(len(stream.moments)):
        kind = arrays.get(f"moments.{group}.kind")
        if kind is not None:
            stream.moments[group] = KINDS[str(kind)]._from_arrays(_under(arrays, f"moments.{group}."))
    for k in range(int(arrays["n_kept"])):
        mine = _under(arrays, f"kept.{k}.")
        stream.kept.append((_rows_from_arrays(mine), mine["weight"], mine["rows"]))
        stream.codes.append(mine["codes"])
    stream.n_seen = int(arrays["n_seen"])
    names = arrays["names"].astype(object)
    return stream, arrays["classes"], names if len(names) else None


def _model_name(model: CovarianceModel) -> str:
    """The parameters that decide which moments are kept."""
    return (
        f"covariance={model.name!r}, n_factors={model.n_factors}"
        if model.name == "factor"
        else (f"covariance={model.name!r}")
    )


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


def _rows_from_arrays(mine: dict[str, Any]) -> Any:
    if "X" in mine:
        return mine["X"]
    return sparse.csr_array((mine["data"], mine["indices"], mine["indptr"]), shape=tuple(mine["shape"]))


class ResumesStreams:
    """A mixin: a stream of ``partial_fit`` can be put down in a file and taken up again, in another process.

    The estimator holds ``_stream`` and ``_stream_classes`` while it streams.
    """

    @property
    def n_samples_seen_(self) -> int:
        """Rows that ``partial_fit`` has taken in: where to go on after :meth:`load_stream`."""
        if not hasattr(self, "_stream"):
            raise AttributeError("n_samples_seen_ exists once partial_fit has been called.")
        return self._stream.n_seen

    def save_stream(self, path: str | os.PathLike[str]) -> None:
        """Write the state of the stream, whole or not at all: positives, moments, and how many rows it has seen.

        Parameters
        ----------
        path : str or path
            Usually ends in ``.npz``. A file that is there is replaced at the last moment.
        """
        if not hasattr(self, "_stream"):
            raise DataError("There is no stream to save: call partial_fit first.")
        save_stream(self._stream, self._stream_classes, getattr(self, "feature_names_in_", None), path)

    def load_stream(self, path: str | os.PathLike[str]) -> Any:
        """Take up a stream where ``save_stream`` put it down; ``n_samples_seen_`` says how far that was.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        self
            With the parameters it has now, fitted to all rows of the stream so far if there are enough of them.

        Examples
        --------
        >>> import tempfile, numpy as np
        >>> from askew import MomentSVC
        >>> rng = np.random.default_rng(0)
        >>> X, y = np.vstack([rng.normal(size=(90, 2)), rng.normal(size=(10, 2)) + 3]), np.repeat([0, 1], [90, 10])
        >>> path = tempfile.mkdtemp() + "/stream.npz"
        >>> MomentSVC().partial_fit(X, y, classes=[0, 1]).save_stream(path)
        >>> resumed = MomentSVC().load_stream(path)
        >>> resumed.n_samples_seen_
        100
        """
        stream, classes, names = load_stream(path, self._model(), self.forgetting)
        return self._resume(stream, classes, names)
