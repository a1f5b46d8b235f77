"""What the matrix of a programme offers to a solver.

A matrix K declares its abilities as a set of names; each name stands for a small protocol of members. A route of
``askew.solvers`` is entered only where the matrix declares every ability that the route needs. Every matrix offers the
members of ``SymmetricMatrix``; the rest is optional. ``check_matrix`` compares what is declared with what is there, so
that a matrix that forgets a member is named when a ``Problem`` is made of it.

=============  ===============  ======================================================================================
ability        protocol         meaning
=============  ===============  ======================================================================================
``ROWS``       OffersRows       rows of K at a cost far below that of the whole, tile by tile
``WHOLE``      OffersWhole      K is stored: an n×n array without further kernel values, perhaps to be bent
``POINTS``     OffersPoints     K_ij = z_i'z_j (see ``SignedPoints``): the points themselves can be swept over
``FACTOR``     OffersFactor     K = Z diag(a) Z' with few columns; Z is passed over in blocks
``HELD``       OffersHeld       the Z of ``FACTOR`` stands in memory
``UPDATES``    OffersUpdates    moves a gradient along chosen rows faster than the rows could be made
``DEVICE``     OffersDevice     K lives in another array library's memory, a GPU's say; so do the vectors of a solve
``CAREFUL``    OffersCareful    the error of products is bounded, and some of Kv can be computed without cancellation
``GUIDED``     OffersGuided     K = ηQ + (1−η)sΔ, whose rows are dear and whose products are not
=============  ===============  ======================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.exceptions import ParameterError

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]


class Ability(Enum):
    """A name for something that a matrix offers beyond products."""

    __hash__ = object.__hash__  # members are asked for in every solve, and Enum's own hash is interpreted
    ROWS = "rows"
    WHOLE = "whole"
    POINTS = "points"
    FACTOR = "factor"
    HELD = "held"
    UPDATES = "updates"
    DEVICE = "device"
    CAREFUL = "careful"
    GUIDED = "guided"


class SymmetricMatrix(Protocol):
    """What every matrix of a programme offers."""

    n: int
    is_psd: bool | None
    """True or False when known from the formula, None when only the numbers could tell."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What is offered beyond these members."""
        ...

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
    """K as a stored array A, bent by a factor per point or not: K_ij = bend_i A_ij bend_j."""

    bend: Vector
    """The factors; empty where K is A."""

    def whole(self, dtype: Any) -> NDArray[Any] | None:
        """A in a precision, where it is kept in that; in float64 always."""
        ...

    @property
    def rounding(self) -> float:
        """How far an entry of A may be from what it stands for, in units of the entry; 0 where entries are exact."""
        ...

    def sharpen(self) -> None:
        """Go over to float64 entries."""
        ...


class OffersPoints(Protocol):
    """Points whose inner products are the entries of K."""

    def inner_points(self) -> SignedPoints:
        """Points z in float64 with K_ij = z_i'z_j."""
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
    """``block``, ``matvec`` and ``add_product_at`` take and give arrays that live where K lives, as well as NumPy's."""

    home: Any
    """The library and device where K lives."""


class OffersCareful(Protocol):
    """What a certificate asks that does not trust the arguments of a kernel; see ``certificate``."""

    def argument_sizes(self) -> Vector:
        """What the rounding of each point's arguments grows with."""
        ...

    def product_rounding(self, v: Vector) -> float:
        """Bound of the error of an entry of Kv as ``matvec`` computes it."""
        ...

    def careful_product(self, v: Vector, indices: Indices) -> Vector:
        """(Kv)[indices] in float64, from entries whose argument was computed without cancellation."""
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
    Ability.CAREFUL: OffersCareful,
    Ability.GUIDED: OffersGuided,
}


_complete: set[tuple[type, frozenset[Ability]]] = set()  # classes that were found to have what they declare


class RowsOfTiles:
    """Base of matrices that offer ``ROWS``: what follows from ``prepare`` and ``tile``."""

    n: int
    prepare: Any
    tile: Any

    def rows(self, indices: Indices, dtype: Any = np.float64) -> NDArray[Any]:
        """K[indices, :] as a fresh (m, n) array."""
        rows: NDArray[Any] = self.tile(self.prepare(indices, dtype), slice(0, self.n))
        return rows


class SignedPoints:
    """Points z given as rows r and a few signed columns e: z_i'z_j = r_i'r_j + Σ_k signs_k e_ik e_jk.

    A centring and a low-rank correction cost a few columns, and sparse rows stay sparse. Points are cut like an array.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n, d)
    columns : array of shape (n, k), optional
        None for k = 0: the rows are the points.
    signs : array of shape (k,), optional
        Each 1 or −1.
    """

    def __init__(self, rows: Any, columns: Vector | None = None, signs: Vector | None = None) -> None:
        self.rows = rows.tocsr() if sparse.issparse(rows) else rows
        self.columns = np.zeros((rows.shape[0], 0)) if columns is None else np.ascontiguousarray(columns)
        self.signs = np.zeros(0) if signs is None else signs
        self.shape = rows.shape

    def __getitem__(self, key: Any) -> SignedPoints:
        return SignedPoints(self.rows[key], self.columns[key], self.signs)

    @cached_property
    def transposed(self) -> Any:
        """The rows as columns."""
        return self.rows.T


def members_of(protocol: Any) -> set[str]:
    """Names of the members that a protocol asks for."""
    named = {*vars(protocol).get("__annotations__", {}), *vars(protocol)}
    return {name for name in named if not name.startswith("_")}


def check_matrix(matrix: Any) -> None:
    """Name what a matrix declares and does not have; a class that has what it declares is looked at once."""
    declared = getattr(matrix, "abilities", None)
    if declared is None:
        raise ParameterError(
            "The matrix of a programme is an n×n array, or declares its abilities as a set of askew.qp.Ability; "
            f"got {type(matrix).__name__}, which has no attribute `abilities`. Wrap an array by askew.qp.Precomputed."
        )
    if (type(matrix), declared) in _complete:
        return
    missing = sorted(name for name in _members_of(declared) if not hasattr(matrix, name))
    if missing:
        raise ParameterError(
            f"{type(matrix).__name__} declares {', '.join(a.name for a in Ability if a in declared) or 'no ability'} "
            f"and lacks {', '.join(missing)}. Add the members, or declare less (askew.qp.matrix lists what each "
            "ability asks for)."
        )
    _complete.add((type(matrix), declared))


def _members_of(declared: frozenset[Ability]) -> set[str]:
    """Names of all members that a matrix with these abilities has."""
    protocols = [SymmetricMatrix, *(PROTOCOLS[ability] for ability in declared)]
    return {name for protocol in protocols for name in members_of(protocol)}
