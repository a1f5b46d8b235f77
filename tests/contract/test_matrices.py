"""What the matrix of a programme declares, it does: every ability of every matrix against the dense array.

One list of matrices, in every memory order and precision, goes through every verb. What a matrix does not declare
cannot be called on it.
"""

from copy import deepcopy

import numpy as np
import pytest
from array_libraries import NAMES, lives_with, put
from scipy import sparse

from askew.arrays import Home, host
from askew.exceptions import ParameterError
from askew.kernels import (
    RBF,
    ArrayStored,
    Conformal,
    CovarianceGuided,
    Gram,
    HeldRows,
    KernelCovariance,
    Linear,
    LowRank,
    Nystroem,
    Polynomial,
    Precomputed,
    Recomputed,
    Stored,
)
from askew.qp import Ability, Free, Problem, SignedPoints
from askew.qp.matrix import PROTOCOLS, SymmetricMatrix, check_matrix, members_of

N, D = 29, 5
EPS = {np.float64: 1e-10, np.float32: 2e-5}
precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["in float64", "in float32"])


def _points(n=N):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D)) * (rng.random((n, D)) < 0.7)
    return X.astype(np.float32).astype(np.float64)  # the same numbers in both precisions


def _rbf(X, gamma=0.3):
    return np.exp(-gamma * np.square(X[:, None, :] - X[None, :, :]).sum(axis=2))


def _linear(X):
    return X @ X.T


def _cubic(X):
    return (0.2 * X @ X.T + 1.0) ** 3


KERNELS = {"rbf": (RBF(0.3), _rbf), "linear": (Linear(), _linear), "poly": (Polynomial(0.2, 3, 1.0), _cubic)}


def _strided(X):
    wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


ORDERS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "read-only": _read_only,
    "float32": lambda X: X.astype(np.float32),
}
SPARSE = {
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_matrix,
    "CSR float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
}
SIZES = {"": N, ", one row": 1, ", empty": 0}
FACTOR = np.append(np.exp(-np.random.default_rng(2).exponential(1.0, N - 1)), 0.0)
SCALES = np.array([2.0, 0.5, 1.0, 0.1, 3.0])
WEIGHT = np.random.default_rng(3).uniform(0.5, 2.0, N)


def _signed(X):
    """Twice X with one feature taken away and another number put in by signed columns."""
    e = np.column_stack([np.random.default_rng(4).standard_normal(len(X)), X[:, 0]])
    signs = np.array([1.0, -1.0])
    return SignedPoints(sparse.csr_array(2.0 * X), e, signs), 4.0 * X @ X.T + (e * signs) @ e.T


def _grams():
    X = _points()
    for kernel, (function, formula) in KERNELS.items():
        for form, of in (ORDERS | SPARSE).items():
            yield f"Gram {kernel}, {form}", lambda function=function, of=of: Gram(function, of(X)), formula(X)
        for size, n in list(SIZES.items())[1:]:
            yield f"Gram {kernel}{size}", lambda function=function, n=n: Gram(function, _points(n)), formula(_points(n))
            few = sparse.csr_array(_points(n))
            yield f"Gram {kernel}, CSR{size}", lambda f=function, few=few: Gram(f, few), formula(_points(n))
    yield "Gram linear, signed points", lambda: Gram(Linear(), _signed(X)[0]), _signed(X)[1]
    inner = _signed(X)[1]
    K = (0.2 * inner + 1.0) ** 3
    yield "Gram poly, signed points", lambda: Gram(Polynomial(0.2, 3, 1.0), _signed(X)[0]), K


def _grams_elsewhere():
    for kernel, (function, formula) in KERNELS.items():
        for library in NAMES:
            for size, n in SIZES.items():
                X = _points(n)
                yield f"{kernel} of {library}{size}", lambda f=function, a=library, X=X: Gram(f, put(a, X)), formula(X)
            X = _points().astype(np.float32)
            make = lambda f=function, a=library, X=X: Gram(f, put(a, X))  # noqa: E731
            yield f"{kernel} of {library}, float32", make, formula(_points())


def _held():
    for size, n in SIZES.items():
        K = _rbf(_points(n))
        for order, of in ORDERS.items():
            yield f"Precomputed, {order}{size}", lambda of=of, K=K: Precomputed(of(K)), of(K).astype(np.float64)
        for single in (False, True):
            name = f"Stored with{'' if single else 'out'} float32{size}"
            yield name, lambda n=n, single=single: Stored(Gram(RBF(0.3), _points(n)), single), K
        for library in NAMES:
            held = lambda a=library, n=n: ArrayStored(Gram(RBF(0.3), put(a, _points(n))), np.float64)  # noqa: E731
            yield f"ArrayStored of {library}{size}", held, K
    some, K = np.array([7, 0, 28, 7]), _rbf(_points())
    yield "Precomputed, some points", lambda: Precomputed(K).subset(some), K[np.ix_(some, some)]
    whole_numbers = np.array([[2, 1, 0], [1, 2, 1], [0, 1, 2]])
    yield "Precomputed of integers", lambda: Precomputed(whole_numbers), whole_numbers.astype(np.float64)


def _bent():
    X, D = _points(), FACTOR
    K = D[:, None] * _rbf(X) * D
    yield "bent Gram", lambda: Conformal(Gram(RBF(0.3), X), D), K
    yield "bent sparse Gram", lambda: Conformal(Gram(RBF(0.3), sparse.csr_array(X)), D), K
    yield "bent linear Gram", lambda: Conformal(Gram(Linear(), X), D), D[:, None] * _linear(X) * D
    yield "bent Precomputed", lambda: Conformal(Precomputed(_rbf(X)), D), K
    yield "bent Precomputed, Fortran order", lambda: Conformal(Precomputed(np.asfortranarray(_rbf(X))), D), K
    yield "bent Stored", lambda: Conformal(Stored(Gram(RBF(0.3), X), True), D), K
    yield "bent twice", lambda: Conformal(Conformal(Stored(Gram(RBF(0.3), X), False), D), D), D[:, None] * K * D
    yield "bent LowRank", lambda: Conformal(LowRank(X.copy(), SCALES), D), D[:, None] * (X * SCALES) @ X.T * D
    for library in NAMES:
        yield f"bent Gram of {library}", lambda a=library: Conformal(Gram(RBF(0.3), put(a, X)), D), K
        stored = lambda a=library: Conformal(ArrayStored(Gram(RBF(0.3), put(a, X)), np.float64), D)  # noqa: E731
        yield f"bent ArrayStored of {library}", stored, K


def _low_rank():
    for size, n in SIZES.items():
        for order, of in ORDERS.items():
            if order == "read-only":
                continue  # a solver may turn the features in place
            Z = _points(n)
            yield f"LowRank, {order}{size}", lambda of=of, Z=Z: LowRank(of(Z.copy()), SCALES), (Z * SCALES) @ Z.T
    X = _points()
    C, own = _rbf(X)[:, ::4], _rbf(X)[::4, ::4]
    nystroem = C @ np.linalg.pinv(own, rcond=1e-13, hermitian=True) @ C.T
    for form, of in {"array": np.asarray, "CSR": sparse.csr_array}.items():
        make = lambda of=of: Recomputed(Nystroem(RBF(0.3), of(X[::4])), HeldRows(of(X), 10))  # noqa: E731
        yield f"Recomputed, {form}", make, nystroem


def _guided():
    X, w = _points(), WEIGHT
    for name, of in {"Gram": lambda: Gram(RBF(0.3), X), "Precomputed": lambda: Precomputed(_rbf(X))}.items():
        for eta in (0.3, 1.0):
            for is_formed in (False, True):
                Q = _rbf(X)
                P = eta * Q + (1 - eta) * 0.7 * Q @ (np.diag(w) - np.outer(w, w) / w.sum()) @ Q

                def make(of=of, eta=eta, is_formed=is_formed):
                    covariance = KernelCovariance(of(), w)
                    if is_formed:
                        covariance.form()
                    return CovarianceGuided(covariance, eta, 0.7)

                yield f"CovarianceGuided on {name}, eta {eta}, {'formed' if is_formed else 'not formed'}", make, P


CASES = [*_grams(), *_grams_elsewhere(), *_held(), *_bent(), *_low_rank(), *_guided()]
every_matrix = pytest.mark.parametrize(("make", "K"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])


def _offering(ability):
    """The matrices that declare an ability; those of a library that is not installed are left to skip themselves."""
    chosen = []
    for case in CASES:
        try:
            is_offered = ability in case[1]().abilities
        except pytest.skip.Exception:
            is_offered = ability in (Ability.ROWS, Ability.UPDATES, Ability.DEVICE)
        if is_offered:
            chosen.append(case)
    return pytest.mark.parametrize(("make", "K"), [case[1:] for case in chosen], ids=[case[0] for case in chosen])


def _near(found, expected, K, dtype=np.float64, terms=1.0):
    size = max(1.0, float(np.abs(K).max(initial=0.0))) * terms
    np.testing.assert_allclose(found, expected, rtol=EPS[dtype], atol=EPS[dtype] * size)


def _slack(matrix):
    """The precision of sums over entries: those of a matrix kept in float32 are rounded once."""
    return np.float64 if getattr(matrix, "rounding", 0.0) < 1e-9 else np.float32


def _choice(n):
    """Some indices, out of order and one of them twice, as far as there are points."""
    return np.array([n - 1, 0, n // 2, 0], dtype=np.int64) if n else np.empty(0, np.int64)


def _vectors(n):
    rng = np.random.default_rng(5)
    dense = rng.standard_normal(n)
    return dense, np.where(rng.random(n) < 0.2, dense, 0.0), np.zeros(n)


@every_matrix
def test_it_has_what_it_declares(make, K):
    matrix = make()
    check_matrix(matrix)
    assert isinstance(matrix.abilities, frozenset)
    assert matrix.n == len(K)
    if matrix.is_psd and matrix.n:
        assert np.linalg.eigvalsh(K).min() >= -1e-9 * np.abs(K).max()
    assert 0.0 <= matrix.argument_bound() < np.inf


@every_matrix
def test_the_diagonal_is_that_of_the_array(make, K):
    diagonal = make().diagonal()
    assert type(diagonal) is np.ndarray
    assert diagonal.dtype == np.float64
    _near(diagonal, np.diagonal(K), K, np.float32 if diagonal.dtype != np.float64 else _slack(make()))


@every_matrix
def test_products_are_those_of_the_array(make, K):
    matrix = make()
    for v in _vectors(matrix.n):
        product = matrix.matvec(v)
        assert product.dtype == np.float64
        _near(product, K @ v, K, _slack(matrix), matrix.n)


@every_matrix
@precisions
def test_a_block_is_cut_from_the_array(make, K, dtype):
    matrix = make()
    for some in (_choice(matrix.n), np.empty(0, np.int64)):
        block = matrix.block(some, dtype)
        assert type(block) is np.ndarray
        assert (block.shape, block.dtype) == ((len(some), len(some)), dtype)
        _near(block, K[np.ix_(some, some)], K, np.float32 if dtype == np.float32 else _slack(matrix))
        block[...] = np.nan  # fresh memory: the matrix is as before
    assert np.isfinite(matrix.matvec(np.ones(matrix.n))).all()


@_offering(Ability.ROWS)
@precisions
def test_rows_and_tiles_are_cut_from_the_array(make, K, dtype):
    matrix = make()
    some, precision = _choice(matrix.n), np.float32 if dtype == np.float32 else _slack(matrix)
    rows = matrix.rows(some, dtype)
    assert (rows.shape, rows.dtype) == ((len(some), matrix.n), dtype)
    _near(rows, K[some], K, precision)
    columns = slice(matrix.n // 3, matrix.n)
    prepared, out = matrix.prepare(some, dtype), np.empty((len(some), matrix.n - matrix.n // 3), dtype)
    _near(matrix.tile(prepared, columns), K[some, columns], K, precision)
    assert matrix.tile(prepared, columns, out) is out
    _near(out, K[some, columns], K, precision)
    assert matrix.tile_width(max(1, len(some)), out.itemsize) >= 1


@_offering(Ability.WHOLE)
def test_the_stored_array_is_the_matrix_before_it_is_bent(make, K):
    matrix = make()
    single = matrix.whole(np.float32)
    assert matrix.bend.shape in ((0,), (matrix.n,))
    bend = matrix.bend if len(matrix.bend) else np.ones(matrix.n)
    if single is not None:
        assert single.dtype == np.float32
        _near(bend[:, None] * single * bend, K, K, np.float32)
    is_rough = matrix.rounding > 1e-9
    assert is_rough == (single is not None)
    matrix.sharpen()
    assert matrix.rounding < 1e-15
    array = matrix.whole(np.float64)
    assert (array.dtype, array.flags.c_contiguous) == (np.float64, True)
    _near(bend[:, None] * array * bend, K, K)
    assert matrix.whole(np.float64) is array  # no n×n array is made for the asking
    _near(matrix.matvec(np.ones(matrix.n)), K.sum(axis=1), K, terms=matrix.n)


@_offering(Ability.POINTS)
def test_the_points_have_the_entries_as_inner_products(make, K):
    matrix = make()
    z = matrix.inner_points()
    rows = z.rows.toarray() if sparse.issparse(z.rows) else z.rows
    assert rows.dtype == np.float64
    assert z.shape == rows.shape
    _near(rows @ rows.T + (z.columns * z.signs) @ z.columns.T, K, K)
    for dtype in EPS:
        filled = matrix.filled(dtype)
        assert (filled.shape, filled.dtype) == (K.shape, dtype)
        _near(filled, K, K, dtype)
    some = _choice(matrix.n)[:3]
    _near(matrix.subset(some).filled(), K[np.ix_(some, some)], K)


@_offering(Ability.FACTOR)
def test_the_factor_makes_the_matrix(make, K):
    matrix, single = make(), 1e-9
    n = matrix.n
    parts = [(first, np.asarray(block, np.float64)) for first, block in matrix.feature_blocks()]
    Z = np.concatenate([block for _, block in parts]) if parts else np.empty((0, len(matrix.scales)))
    assert [first for first, _ in parts] == list(np.cumsum([0, *(len(block) for _, block in parts)])[:-1])
    np.testing.assert_allclose((Z * matrix.scales) @ Z.T, K, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(K).max(initial=0)))
    v = _vectors(n)[1]
    many = np.column_stack([v, _vectors(n)[0]])
    np.testing.assert_allclose(matrix.combine(v), Z.T @ v, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(matrix.combine(many), Z.T @ many, rtol=1e-7, atol=1e-7)
    weights = np.linspace(-1.0, 1.0, len(matrix.scales))
    np.testing.assert_allclose(matrix.scores(weights), Z @ weights, rtol=1e-7, atol=1e-7)
    other = np.linspace(0.5, 2.0, len(matrix.scales))
    np.testing.assert_allclose(matrix.scaled(other).diagonal(), np.square(Z) @ other, rtol=1e-7, atol=1e-7)
    some = _choice(n)
    gathered = matrix.gather(some)
    assert Ability.HELD in gathered.abilities
    np.testing.assert_allclose(gathered.features, Z[some], rtol=single, atol=1e-7)
    turned, rotation = (
        deepcopy(matrix),
        np.linalg.qr(np.random.default_rng(6).standard_normal((len(other), len(other))))[0],
    )
    turned.scales = np.ones(len(other))
    turned.rotate(rotation)
    np.testing.assert_allclose(turned.combine(v), rotation.T @ (Z.T @ v), rtol=1e-5, atol=1e-5)


@_offering(Ability.HELD)
def test_features_stand_in_memory(make, K):
    matrix = make()
    (only,) = matrix.feature_blocks()
    assert only[1] is matrix.features
    assert len(matrix.features) == matrix.n


@_offering(Ability.UPDATES)
@precisions
def test_a_gradient_is_moved_along_rows(make, K, dtype):
    matrix = make()
    home = matrix.home if Ability.DEVICE in matrix.abilities else Home()
    some, g = _choice(matrix.n), np.linspace(-1.0, 1.0, matrix.n)
    steps = np.array([0.5, -2.0, 1.0, 0.25])[: len(some)]
    moved = matrix.add_product_at(home.put(g.copy()), home.put(some), home.put(steps), dtype)
    assert moved.dtype == home.dtype(np.float64)
    _near(host(moved), g + steps @ K[some], K, dtype, 4)


@_offering(Ability.DEVICE)
def test_what_is_asked_with_arrays_of_the_device_stays_there(make, K):
    matrix = make()
    home, some = matrix.home, _choice(matrix.n)
    like = home.put(np.ones(matrix.n))
    found = matrix.matvec(like), matrix.block(home.put(some), np.float64)
    for x, expected in zip(found, (K.sum(axis=1), K[np.ix_(some, some)]), strict=True):
        assert lives_with(x, like)
        assert x.dtype == home.dtype(np.float64)
        _near(host(x), expected, K, terms=max(1, matrix.n))


@_offering(Ability.CAREFUL)
def test_careful_products_are_those_of_the_array_within_the_bound(make, K):
    matrix, some = make(), _choice(len(K))
    assert matrix.argument_sizes().shape == (matrix.n,)
    for v in _vectors(matrix.n):
        bound = matrix.product_rounding(v)
        assert 0.0 <= bound <= 1e-10 * max(1.0, float(np.abs(K).max(initial=0.0))) * max(1, matrix.n)
        _near(matrix.careful_product(v, some), (K @ v)[some], K, terms=max(1, matrix.n))


@_offering(Ability.GUIDED)
def test_the_two_parts_of_a_guided_matrix(make, K):
    matrix = make()
    Q = matrix.covariance.matrix
    v = _vectors(matrix.n)[0]
    plain = matrix.plain(v)
    _near(plain, Q.matvec(v), K, terms=matrix.n)
    _near(matrix.eta * plain + matrix.share * matrix.covariance.matvec(v), K @ v, K, terms=matrix.n)
    for dtype in EPS:
        _near(matrix.matvec_from(plain, dtype), K @ v, K, dtype, matrix.n)


CALLS = {
    Ability.ROWS: lambda m: m.prepare(np.arange(1), np.float64),
    Ability.WHOLE: lambda m: m.whole(np.float64),
    Ability.POINTS: lambda m: m.inner_points(),
    Ability.FACTOR: lambda m: m.combine(np.ones(m.n)),
    Ability.HELD: lambda m: m.features,
    Ability.UPDATES: lambda m: m.add_product_at(np.zeros(m.n), np.arange(1), np.ones(1), np.float64),
    Ability.DEVICE: lambda m: m.home,
    Ability.CAREFUL: lambda m: m.careful_product(np.ones(m.n), np.arange(1)),
    Ability.GUIDED: lambda m: m.plain(np.ones(m.n)),
}


@every_matrix
def test_what_it_does_not_declare_cannot_be_called(make, K):
    matrix = make()
    for ability in set(Ability) - matrix.abilities:
        with pytest.raises((AttributeError, TypeError)):
            CALLS[ability](matrix)


def test_every_ability_has_members_and_a_matrix():
    assert set(PROTOCOLS) == set(Ability) == set(CALLS)
    assert all(members_of(protocol) for protocol in PROTOCOLS.values())
    offered = set()
    for _, make, _ in CASES:
        try:
            offered |= make().abilities
        except pytest.skip.Exception:
            continue
    assert offered == set(Ability)


class _Forgetful:
    """A matrix that declares rows and has none."""

    n, is_psd = 2, True
    abilities = frozenset({Ability.ROWS})

    def diagonal(self):
        return np.ones(2)

    def matvec(self, v):
        return v

    def block(self, indices, dtype=np.float64):
        return np.eye(2, dtype=dtype)[np.ix_(indices, indices)]

    def argument_bound(self):
        return 1.0


def _programme(matrix):
    return Problem(matrix, -np.ones(2), np.zeros(2), np.ones(2), Free())


def test_a_matrix_that_forgets_a_member_is_named_when_a_programme_is_made_of_it():
    with pytest.raises(ParameterError, match="_Forgetful declares ROWS and lacks prepare, rows, tile, tile_width"):
        _programme(_Forgetful())


def test_a_matrix_that_declares_nothing_is_refused_with_the_remedy():
    with pytest.raises(ParameterError, match=r"got dict, which has no attribute `abilities`.*askew\.qp\.Precomputed"):
        _programme({})


def test_products_blocks_and_a_diagonal_are_enough_for_a_programme():
    matrix = _Forgetful()
    matrix.abilities = frozenset()
    assert members_of(SymmetricMatrix) >= {"n", "is_psd", "abilities", "diagonal", "matvec", "block", "argument_bound"}
    assert _programme(matrix).objective(np.ones(2)) == -1.0
