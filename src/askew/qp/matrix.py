"""What the matrix of a programme offers to a solver.

A matrix K declares its abilities as a set of names; each name stands for a small protocol of members. A route of
``askew.solvers`` is entered only where the matrix declares every ability that the route needs. Every matrix offers the
members of ``SymmetricMatrix``; the rest is optional. ``check_matrix`` compares what is declared with what is there, so
that a matrix that forgets a member is named when a ``Problem`` is made of it.

=============  ===============  ======================================================================================
ability        protocol         meaning
=============  ===============  ======================================================================================
``ROWS``       OffersRows       rows of K at a cost far below that of the whole, tile by tile
``WHOLE``      OffersWhole      K is stored, or cheap to store: an n×n array without further kernel values
``POINTS``     OffersPoints     K_ij = z_i'z_j (and a few signed columns): the points themselves can be swept over
``FACTOR``     OffersFactor     K = Z diag(a) Z' with few columns; Z is passed over in blocks
``HELD``       OffersHeld       the Z of ``FACTOR`` stands in memory
``UPDATES``    OffersUpdates    moves a gradient along chosen rows faster than the rows could be made
``DEVICE``     OffersDevice     K lives in another array library's memory, a GPU's say; vectors of a solve live there too
``GUIDED``     OffersGuided     K = ηQ + (1−η)sΔ, whose rows are dear and whose products are not
=============  ===============  ======================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import ParameterError

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]


class Ability(Enum):
    """A name for something that a matrix offers beyond products."""

    ROWS = "rows"
    WHOLE = "whole"
    POINTS = "points"
    FACTOR = "factor"
    HELD = "held"
    UPDATES = "updates"
    DEVICE = "device"
    GUIDED = "guided"


class SymmetricMatrix(Protocol):
    """What every matrix of a programme offers."""

    n: int
    is_psd: bool | None
    """True or False when known from the formula, None when only the numbers could tell."""
    abilities: frozenset[Ability]

    def diagonal(self) -> Vector:
        """K_ii in float64."""
        ...

    def matvec(self, v: Vector) -> Vector:
        """Kv in float64, at a cost proportional to the non-zeros of v."""
        ...

    def block(self, indices: Indices, dtype: Any = np.float64) -> NDArray[Any]:
        """K[indices][:, indices] as a fresh (m, m) array."""
        ...

    def argument_bound(self) -> float:
        """Largest size of the terms summed for one entry: what float32 rounding is relative to."""
        ...


class OffersRows(Protocol):
    """Rows of K, tile by tile."""

    def rows(self, indices: Indices, dtype: Any = np.float64) -> NDArray[Any]:
        """K[indices, :] as a fresh (m, n) array."""
        ...

    def prepare(self, indices: Indices, dtype: Any) -> Any:
        """Whatever ``tile`` needs to know of these rows, computed once."""
        ...

    def tile(self, prepared: Any, columns: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """K[indices, columns] for prepared indices, into ``out`` when given."""
        ...

    def tile_width(self, m: int, itemsize: int) -> int:
        """How many columns of m rows are best produced at a time."""
        ...


class OffersWhole(Protocol):
    """K as an array."""

    def whole(self, dtype: Any) -> NDArray[Any] | None:
        """All of K in a precision, where it is kept in that; in float64 always."""
        ...

    @property
    def rounding(self) -> float:
        """How far an entry of products may be from K_ij, in units of K_ij; 0 where entries are exact."""
        ...

    def sharpen(self) -> None:
        """Go over to float64 entries."""
        ...


class OffersPoints(Protocol):
    """Points whose inner products are the entries of K."""

    def inner_points(self) -> tuple[Any, Vector, Vector]:
        """Rows, columns and signs with K_ij = rows_i · rows_j + Σ_k signs_k columns_ik columns_jk."""
        ...

    def filled(self, dtype: Any = np.float64) -> NDArray[Any]:
        """All of K, for points few enough to store it."""
        ...

    def subset(self, indices: Indices) -> Any:
        """The matrix of some of the points."""
        ...


class OffersFactor(Protocol):
    """K = Z diag(scales) Z', Z of few columns."""

    scales: Vector

    def feature_blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """The number of each block's first row, and the rows of Z in the block."""
        ...

    def combine(self, v: Vector) -> Vector:
        """Z'v in float64; v may have several columns."""
        ...

    def scores(self, weights: Vector) -> Vector:
        """Zw in float64."""
        ...

    def scaled(self, scales: Vector) -> Any:
        """The matrix of the same Z with other scales."""
        ...

    def rotate(self, rotation: Vector) -> None:
        """Turn the columns of Z by an orthogonal matrix."""
        ...

    def gather(self, indices: Indices, dtype: Any = np.float64) -> Any:
        """The matrix of some of the points, its rows of Z held in memory."""
        ...


class OffersHeld(Protocol):
    """Z in memory."""

    features: NDArray[Any]


class OffersUpdates(Protocol):
    """Products of chosen rows with steps, without the rows."""

    def add_product_at(self, g: Any, indices: Any, steps: Any, dtype: Any) -> Any:
        """g + steps @ K[indices]; g may be changed in place."""
        ...


class OffersDevice(Protocol):
    """Verbs on arrays that live where K lives."""

    home: Any

    def diagonal_at(self) -> Any:
        """K_ii in float64, where K lives."""
        ...

    def block_at(self, indices: Any, dtype: Any) -> Any:
        """K[indices][:, indices], where K lives."""
        ...

    def matvec_at(self, v: Any) -> Any:
        """Kv in float64, where K lives."""
        ...


class OffersGuided(Protocol):
    """K = ηQ + (1−η)sΔ."""

    eta: float
    covariance: Any

    @property
    def share(self) -> float:
        """(1−η)s, the weight of Δ."""
        ...

    def plain(self, v: Vector) -> Vector:
        """Qv in float64."""
        ...

    def matvec_from(self, plain: Vector, dtype: Any = np.float64) -> Vector:
        """Kv from Qv."""
        ...


PROTOCOLS: dict[Ability, Any] = {
    Ability.ROWS: OffersRows,
    Ability.WHOLE: OffersWhole,
    Ability.POINTS: OffersPoints,
    Ability.FACTOR: OffersFactor,
    Ability.HELD: OffersHeld,
    Ability.UPDATES: OffersUpdates,
    Ability.DEVICE: OffersDevice,
    Ability.GUIDED: OffersGuided,
}


def members_of(protocol: Any) -> list[str]:
    """Names of the members that a protocol asks for."""
    named = [*vars(protocol).get("__annotations__", {}), *vars(protocol)]
    return sorted({name for name in named if not name.startswith("_")})


def check_matrix(matrix: Any) -> None:
    """Name what a matrix declares and does not have."""
    declared = getattr(matrix, "abilities", None)
    if declared is None:
        raise ParameterError(
            f"A matrix of a programme declares its abilities, a set of askew.qp.Ability; {type(matrix).__name__} has "
            "none. Wrap an array by askew.kernels.Precomputed."
        )
    for protocol in (SymmetricMatrix, *(PROTOCOLS[ability] for ability in declared)):
        missing = [name for name in members_of(protocol) if not hasattr(matrix, name)]
        if missing:
            raise ParameterError(
                f"{type(matrix).__name__} declares {protocol.__name__} and lacks {', '.join(missing)}."
            )
