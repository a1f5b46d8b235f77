"""The kernel matrix of points in another array library is NumPy's."""

import numpy as np
import pytest
from array_libraries import everywhere, lives_with, put

from askew.arrays import host
from askew.kernels import RBF, Gram, Linear, Polynomial, Sigmoid
from askew.kernels.bends import NegativeDistance
from askew.kernels.conformal import Conformal
from askew.qp import Ability

FUNCTIONS = {
    "rbf": RBF(0.3),
    "poly 3": Polynomial(0.2, 3, 1.0),
    "poly 2": Polynomial(0.2, 2, -0.5),
    "poly 1.5": Polynomial(0.02, 1.5, 3.0),
    "linear": Linear(),
    "sigmoid": Sigmoid(0.1, 0.2),
    "distance": NegativeDistance(),
}
every_kernel = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
every_precision = pytest.mark.parametrize("asked", [np.float32, np.float64], ids=["in float32", "in float64"])
stored_both = pytest.mark.parametrize("stored", [np.float32, np.float64], ids=["float32 rows", "float64 rows"])
N = 150
SOME = np.array([140, 3, 77, 8, 3])


def _points(n=N, d=5, seed=0):
    return 0.8 * np.random.default_rng(seed).standard_normal((n, d)) + 0.3


def _pair(library, function, stored=np.float64):
    """The same matrix there and on the host; tiles so small that there are several of them."""
    X = _points().astype(stored)
    return Gram(function, put(library, X), tile_bytes=1), Gram(function, X.astype(np.float64))


def _close(found, expected, matrix, asked=np.float64, terms=1):
    assert type(found) is np.ndarray
    tolerance = 16 * np.finfo(asked).eps * max(1.0, matrix.argument_bound()) * terms
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@everywhere
@every_kernel
@stored_both
@every_precision
def test_entries_are_those_of_the_host(library, function, stored, asked):
    there, here = _pair(library, function, stored)
    rows = there.rows(SOME, asked)
    assert rows.dtype == asked
    _close(rows, here.rows(SOME), here, asked)
    _close(there.block(SOME, asked), here.block(SOME), here, asked)
    out = np.empty((len(SOME), 20), asked)
    assert there.tile(there.prepare(SOME, asked), slice(100, 120), out) is out
    _close(out, here.rows(SOME)[:, 100:120], here, asked)
    Z = _points(11, seed=1).astype(stored)
    _close(there.cross(put(library, Z), asked), here.cross(Z.astype(np.float64)), here, asked)


@everywhere
@every_kernel
@stored_both
def test_what_is_known_of_the_whole(library, function, stored):
    there, here = _pair(library, function, stored)
    assert (there.n, there.is_psd) == (here.n, here.is_psd)
    _close(there.diagonal(), here.diagonal(), here)
    assert there.argument_bound() == pytest.approx(here.argument_bound(), rel=1e-9)


@everywhere
@every_kernel
@stored_both
def test_products_and_sums(library, function, stored):
    there, here = _pair(library, function, stored)
    rng = np.random.default_rng(2)
    v = rng.standard_normal(N) * (rng.random(N) < 0.5)
    _close(there.matvec(v), here.matvec(v), here, terms=N)
    _close(there.matvec(np.zeros(N)), np.zeros(N), here)
    Z, many = _points(70, seed=3).astype(stored), rng.standard_normal((N, 3))
    expected = here.weighted_sum(Z.astype(np.float64), many)
    _close(there.weighted_sum(put(library, Z), many), expected, here, terms=N)
    _close(there.weighted_sum(Z, many[:, 1]), expected[:, 1], here, terms=N)


@everywhere
@every_kernel
@every_precision
def test_a_gradient_is_moved_where_it_lives(library, function, asked):
    there, here = _pair(library, function)
    rng = np.random.default_rng(4)
    indices, steps, g = np.array([9, 120, 55]), rng.standard_normal(3), rng.standard_normal(N)
    g_there = there.home.put(g.copy())
    moved = there.add_product_at(g_there, there.home.put(indices), there.home.put(steps), asked)
    assert lives_with(moved, g_there)
    assert moved.dtype == there.home.dtype(np.float64)
    _close(host(moved), g + steps @ here.rows(indices), here, asked, terms=10)


@everywhere
@every_kernel
def test_methods_of_the_loop_stay_where_the_points_are(library, function):
    there, here = _pair(library, function)
    like, indices = there.points.X, there.home.put(SOME)
    for x in (
        there.block(indices, np.float32),
        there.matvec(there.home.put(np.ones(N))),
    ):
        assert lives_with(x, like)
    _close(host(there.matvec(there.home.put(np.ones(N)))), here.rows(np.arange(N)).sum(axis=1), here, terms=N)


@everywhere
@every_kernel
@every_precision
def test_a_part_of_the_points(library, function, asked):
    there, here = _pair(library, function)
    chosen = np.array([4, 99, 23, 60])
    part = there.subset(chosen)
    assert part.n == 4
    assert part.points.tile_bytes == there.points.tile_bytes
    _close(part.rows(np.arange(4), asked), here.block(chosen), here, asked)
    _close(part.matvec(np.ones(4)), here.subset(chosen).matvec(np.ones(4)), here, terms=4)


@everywhere
@every_kernel
@every_precision
def test_a_bent_kernel(library, function, asked):
    there, here = _pair(library, function)
    rng = np.random.default_rng(5)
    factor = rng.uniform(0.0, 1.5, N)
    factor[10] = 0.0
    there, here = Conformal(there, factor), Conformal(here, factor)
    _close(there.block(SOME, asked), here.block(SOME), here, asked)
    _close(there.rows(SOME, asked), here.rows(SOME), here, asked)
    _close(there.diagonal(), here.diagonal(), here)
    v, home = rng.standard_normal(N), there.home
    _close(there.matvec(v), here.matvec(v), here, terms=N)
    _close(host(there.matvec(home.put(v))), here.matvec(v), here, terms=N)
    _close(host(there.block(home.put(SOME), asked)), here.block(SOME), here, asked)
    indices, steps = np.array([9, 120, 10]), rng.standard_normal(3)
    moved = there.add_product_at(home.put(v), home.put(indices), home.put(steps), asked)
    _close(host(moved), v + steps @ here.rows(indices), here, asked, terms=10)
    chosen = np.array([4, 99, 23])
    _close(there.subset(chosen).block(np.arange(3), asked), here.block(chosen), here, asked)


@everywhere
@every_precision
def test_rbf_keeps_its_digits_far_from_the_origin(library, asked):
    near = _points()
    far = Gram(RBF(0.3), put(library, near + 1e4))
    exact = Gram(RBF(0.3), near).rows(SOME)
    np.testing.assert_allclose(far.rows(SOME, asked), exact, atol=1e-5 if asked is np.float32 else 1e-9)


@everywhere
def test_rbf_of_huge_points_is_never_more_than_one(library):
    X = 1e6 * _points()
    for matrix in (Gram(RBF(10.0), put(library, X)), Gram(RBF(10.0), X)):
        assert matrix.block(np.arange(N)).max() <= 1.0
        assert matrix.matvec(np.ones(N)).max() <= 1.0 + 1e-12


@everywhere
def test_no_points_at_all(library):
    empty = Gram(RBF(1.0), put(library, np.empty((0, 3))))
    assert empty.n == 0
    assert empty.diagonal().shape == (0,)
    np.testing.assert_array_equal(empty.weighted_sum(_points(4, 3), np.empty(0)), np.zeros(4))


@everywhere
def test_the_matrix_lives_where_the_points_are(library):
    there, here = Gram(RBF(1.0), put(library, _points())), Gram(RBF(1.0), _points())
    assert lives_with(there.home.put(np.zeros(1)), there.points.X)
    assert not there.home.is_host
    assert Ability.DEVICE not in here.abilities


@everywhere
def test_parameters_that_are_numpy_numbers_do_not_pull_the_points_to_the_host(library):
    X = _points()
    for kind, plain in ((RBF, (0.3,)), (Polynomial, (0.2, 2, 1.0)), (Sigmoid, (0.1, 0.2))):
        there = Gram(kind(*(np.float64(value) for value in plain)), put(library, X))
        here = Gram(kind(*plain), X)
        _close(there.block(SOME), here.block(SOME), here)
        assert lives_with(there.block(there.home.put(SOME), np.float64), there.points.X)
