"""Rows as numbers: the features of a block as a matrix, its labels and its weights beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.exceptions import DataError
from askew.sources.arrow import arrow
from askew.sources.names import nearest

Vector = NDArray[np.float64]
PIECE, HIGHEST = 2**19, 2**14
"""Entries and rows of a piece, at most: few enough to stay in the cache while they are filled and summed."""
LARGEST = 1e150
"""Size of a number up to which the squares of a hundred million rows still have a sum in float64."""
FINITE = float(np.finfo(np.float64).max)


class LabelledRows(NamedTuple):
    """Rows of one block with the labels and weights that came beside them."""

    X: Any
    y: Any = None
    weight: Any = None


@dataclass(frozen=True)
class Layout:
    """Where features, label and weight stand in a block.

    Attributes
    ----------
    features : tuple of str
        Columns of a table; empty for blocks without names.
    categories : tuple of str
        Those of the features that are categories; ``read`` leaves them to ``askew.tables``.
    target, weight : str or None
        Columns; None where they come beside the rows, or not at all.
    """

    features: tuple[str, ...] = ()
    target: str | None = None
    weight: str | None = None
    categories: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[str, ...]:
        """Those of the features that are numbers."""
        return tuple(name for name in self.features if name not in self.categories)

    @property
    def columns(self) -> list[str] | None:
        """Everything to be read, None for blocks without names."""
        extra = [name for name in (self.target, self.weight) if name is not None]
        return [*self.features, *extra] if self.features else None

    def read(self, block: Any) -> Iterator[LabelledRows]:
        """The rows in pieces that fit a core's cache, as they are; see :meth:`check` for what is not a number.

        Features are float64 (or CSR), in memory that is used again for the next piece; labels are as they stand in
        the block (``askew.tables.read_labels`` reads them), weights float64 or None.

        Examples
        --------
        >>> import pyarrow as pa
        >>> layout = Layout(("a", "b"), target="fraud")
        >>> [piece] = layout.read(pa.table({"fraud": [0, 1], "b": [3, 4], "a": [1.0, 2.0]}))
        >>> piece.X.tolist(), piece.y.tolist()
        ([[1.0, 3.0], [2.0, 4.0]], [0, 1])
        """
        rows = block if hasattr(block, "X") else LabelledRows(block)
        X, y, weight = rows.X, rows.y, getattr(rows, "weight", None)
        if hasattr(X, "column_names"):
            y = y if self.target is None else _column(X, self.target)
            weight = weight if self.weight is None else _column(X, self.weight)
            n, X = X.num_rows, columns_of(X, self.numbers)
        else:
            X = X if sparse.issparse(X) else np.atleast_2d(X)
            n = X.shape[0]
        weight = None if weight is None else _weights(weight)
        _check_lengths(n, y, weight)
        width = len(X) if isinstance(X, list) else X.shape[1]
        step = n if sparse.issparse(X) else int(np.clip(PIECE // max(1, width), 256, HIGHEST))
        by_column: Any = "F" if isinstance(X, list) else "C"
        out = None if sparse.issparse(X) else np.empty((min(n, step), width), order=by_column)
        for start in range(0, n, max(1, step)):
            part = slice(start, min(n, start + step))
            piece = X if out is None else _filled(out, X, part)
            yield LabelledRows(piece, None if y is None else y[part], None if weight is None else weight[part])

    def check(self, block: Any) -> None:
        """Refuse NaN, infinity and what is too large to be squared, by the name of their column."""
        start = 0
        for piece in self.read(block):
            check_finite(piece.X, self.numbers, start)
            start += piece.X.shape[0]


def _filled(out: Vector, X: Any, part: slice) -> Vector:
    """Rows of an array, or of columns that stand apart, as one piece of float64."""
    if not isinstance(X, list):
        rows = X[part]
        out[: len(rows)] = rows
        return out[: len(rows)]
    height, width = part.stop - part.start, len(X)
    flat = out.reshape(-1, order="F")[: height * width]
    if width:
        np.concatenate([column[part] for column in X], out=flat)
    return flat.reshape(height, width, order="F")


def columns_of(table: Any, names: tuple[str, ...]) -> list[NDArray[Any]]:
    """Columns of numbers as arrays; what is missing becomes NaN."""
    place = {name: index for index, name in enumerate(table.column_names)}
    pa = arrow()
    plain = {pa.float64(), pa.float32(), pa.int64(), pa.int32()}
    return [
        _as_numbers(table.column(place[name]) if name in place else _column(table, name), name, plain) for name in names
    ]


def _as_numbers(values: Any, name: str, plain: set[Any]) -> NDArray[Any]:
    pa, kind = arrow(), values.type
    if kind not in plain and not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        if not (pa.types.is_boolean(kind) or pa.types.is_decimal(kind)):
            raise DataError(
                f"Column {name!r} holds {kind}, and numbers are needed. Leave it out, or encode it in numbers first."
            )
        values = values.cast(pa.int8() if pa.types.is_boolean(kind) else pa.float64())
    return values.to_numpy() if values.num_chunks != 1 else values.chunk(0).to_numpy(zero_copy_only=False)


def check_finite(
    X: Any, names: tuple[str, ...] = (), start: int = 0, where: str = "there", largest: float = LARGEST
) -> None:
    """Refuse NaN, infinity and what is too large to be squared, by the name of the column.

    Parameters
    ----------
    X : array or sparse matrix
    names : tuple of str
        Of the columns, where they have any.
    start : int
        Number of the first row.
    where : str
        What the number of a row is counted in.
    largest : float
        Size of a number that is allowed.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(X.sum(axis=0), np.float64).ravel()
    for j in np.flatnonzero(~(np.abs(sums) <= largest)):  # a small sum has no such term, or they cancel exactly
        column = np.asarray(X[:, [j]].toarray().ravel() if sparse.issparse(X) else X[:, j], np.float64)
        name = repr(names[j]) if names else f"number {j}"
        bad = ~np.isfinite(column)
        if bad.any():
            raise DataError(
                f"column {name} is missing, NaN or infinite, for the first time in row "
                f"{start + int(np.argmax(bad)) + 1} {where}. Remove or impute such rows."
            )
        huge = np.abs(column) > largest
        if huge.any():
            first = int(np.argmax(huge))
            raise DataError(
                f"column {name} is {column[first]:.3g} in row {start + first + 1} {where}, and squares are summed in "
                f"float64: numbers must lie within ±{largest:g}. Divide the column by a constant, or remove such rows."
            )


def _column(table: Any, name: str) -> Any:
    if name not in table.column_names:
        raise DataError(f"there is no column {name!r}. {nearest(name, table.column_names)}")
    return table.column(name)


def _weights(weight: Any) -> Vector:
    values = weight.to_numpy() if hasattr(weight, "combine_chunks") else np.asarray(weight)
    try:
        if values.dtype.kind not in "biufO":
            raise TypeError
        values = values.astype(np.float64).reshape(-1)
    except (ValueError, TypeError) as error:
        raise DataError(f"sample weights must be numbers; got {getattr(weight, 'type', values.dtype)}.") from error
    if not np.isfinite(values).all() or values.min(initial=0.0) < 0:
        raise DataError("sample weights must be finite and ≥ 0.")
    return values


def _check_lengths(n: int, y: Any, weight: Any) -> None:
    for what, values in (("labels", y), ("weights", weight)):
        if values is not None and len(values) != n:
            raise DataError(
                f"there are {n:,} rows and {len(values):,} {what}. Cut both into the same partitions, "
                "for instance by taking them from one frame."
            )
