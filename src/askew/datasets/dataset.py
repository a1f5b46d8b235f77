"""What every loader and generator hands back: always this type, whatever the file was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.exceptions import DataError, ParameterError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with what is known about them.

    Attributes
    ----------
    name : str
    X : array of shape (n, d), CSR matrix, or array of n texts
        One-hot columns stand for categories; NaN stands for a missing value.
    y : array of shape (n,) or (n, n_topics)
        +1 for the class of interest and −1 for the rest; where rows carry several topics, a 0/1 column each.
    feature_names : tuple of str
        One per column of X; empty for texts and for formats that carry no names.
    labels : array of shape (n,), optional
        The class as the source spells it, where there is more to know than y.
    topics : tuple of str
        Names of the columns of y where rows carry several topics.
    groups : array of shape (n,), optional
        The person, speaker or protein a row comes from: keep groups whole when splitting.
    split : array of shape (n,), optional
        ``"train"``, ``"test"`` or ``"unused"``, where the source fixes a split.
    truth : object, optional
        For generated sets: what is known of the distribution, such as its Bayes score.

    Examples
    --------
    >>> from askew.datasets import make_two_gaussians
    >>> data = make_two_gaussians(200, rare=0.1, random_state=0)
    >>> data.X.shape, data.n_positive
    ((200, 2), 20)
    """

    name: str
    X: Any
    y: Array
    feature_names: tuple[str, ...] = ()
    labels: Array | None = None
    topics: tuple[str, ...] = ()
    groups: Array | None = None
    split: Array | None = None
    truth: Any = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_positive(self) -> int:
        """Number of rows with y = +1."""
        self._require_single_label()
        return int(np.count_nonzero(self.y == 1))

    def take(self, rows: Any) -> Dataset:
        """The same set with some of its rows, by index, mask or slice."""
        kept = {
            field: getattr(self, field)[rows]
            for field in ("X", "y", "labels", "groups", "split")
            if getattr(self, field) is not None
        }
        return replace(self, **kept)

    def part(self, split: str) -> Dataset:
        """The rows of one part of the source's own split."""
        if self.split is None:
            raise ParameterError(f"{self.name} has no split of its own; use sklearn.model_selection instead.")
        mask = self.split == split
        if not mask.any():
            known = _few(np.unique(self.split).tolist())
            raise ParameterError(f"split must be one of {known} for {self.name}; got {split!r}.")
        return self.take(mask)

    def against_rest(self, label: Any) -> Dataset:
        """The same rows with y = +1 where the class is ``label`` (or the topics contain it)."""
        if self.topics:
            if label not in self.topics:
                raise ParameterError(f"{self.name} has no topic {label!r}; its topics: {_few(self.topics)}.")
            positive = self.y[:, self.topics.index(label)] == 1
        else:
            classes = self.y if self.labels is None else self.labels
            positive = classes == label
            if not np.any(positive):
                known = _few(np.unique(classes).tolist())
                raise ParameterError(f"{self.name} has no class {label!r}; its classes: {known}.")
        return replace(self, y=signs(positive), topics=(), name=f"{self.name}:{label}")

    def complete_rows(self) -> Dataset:
        """The rows without a missing value."""
        if self.X.dtype.kind not in "fiub":
            return self
        values = self.X.data if sparse.issparse(self.X) else self.X
        if not np.isnan(values).any():
            return self
        if sparse.issparse(self.X):
            missing = np.asarray((self.X != self.X).sum(axis=1)).ravel() > 0
        else:
            missing = np.isnan(self.X).any(axis=1)
        return self.take(~missing)

    def _require_single_label(self) -> None:
        if self.y.ndim != 1:
            raise DataError(f"Rows of {self.name} carry several topics; choose one with against_rest(topic).")


def signs(positive: Array) -> NDArray[np.int8]:
    """+1 where true, −1 elsewhere."""
    return np.where(positive, 1, -1).astype(np.int8)


def _few(values: Any, limit: int = 12) -> str:
    shown = ", ".join(repr(v) for v in values[:limit])
    return shown if len(values) <= limit else f"{shown}, … ({len(values)} in all)"
