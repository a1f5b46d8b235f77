"""The covariance-guided matrix and its stand-in, against their formulae written out."""

import numpy as np
import pytest
from scipy import sparse

from askew.exceptions import ParameterError
from askew.kernels import RBF, Gram, Linear, Polynomial, Precomputed, Sigmoid
from askew.kernels.covariance_guided import CovarianceGuided, eta_from_blend, scale_of, trace_scale
from askew.kernels.kernel_covariance import KernelCovariance
from askew.kernels.symmetric_product import symmetric_product
from askew.solvers.covariance_sketch import CovarianceSketch

N = 300


def kernel_on(kind, X):
    if kind == "precomputed":
        return Precomputed(Gram(RBF(0.3), X).rows(np.arange(len(X))), is_psd=True)
    function = {"rbf": RBF(0.3), "linear": Linear(), "poly": Polynomial(0.2, 2, 1.0)}.get(kind, RBF(0.3))
    return Gram(function, sparse.csr_array(X) if kind == "sparse" else X)


@pytest.fixture(params=["rbf", "linear", "poly", "precomputed", "sparse"])
def case(request):
    """A kernel matrix, weights, and Δ written out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)) * [1.0, 2.0, 0.5, 1.0] + 0.5
    weight = rng.integers(1, 4, N).astype(float)
    matrix = kernel_on(request.param, X)
    Q = matrix.rows(np.arange(N))
    centring = np.diag(weight) - np.outer(weight, weight) / weight.sum()
    return matrix, weight, Q, Q @ centring @ Q


@pytest.mark.parametrize("formed", [False, True])
def test_every_reading_of_the_matrix_is_the_formula(case, formed):
    matrix, weight, Q, delta = case
    covariance = KernelCovariance(matrix, weight)
    if formed:
        covariance.form()
    guided = CovarianceGuided(covariance, 0.3, 0.01)
    expected = 0.3 * Q + 0.007 * delta
    size = np.abs(expected).max()
    some = np.random.default_rng(1).permutation(N)[:40]
    v = np.random.default_rng(2).normal(size=N)
    np.testing.assert_allclose(guided.rows(some), expected[some], atol=1e-12 * size)
    np.testing.assert_allclose(guided.block(some), expected[np.ix_(some, some)], atol=1e-12 * size)
    np.testing.assert_allclose(guided.diagonal(), np.diagonal(expected), atol=1e-12 * size)
    np.testing.assert_allclose(guided.matvec(v), expected @ v, atol=1e-11 * size * N)
    tile = np.empty((len(some), 30))
    assert guided.tile(guided.prepare(some, np.float64), slice(50, 80), tile) is tile
    np.testing.assert_allclose(tile, expected[some, 50:80], atol=1e-12 * size)
    np.testing.assert_allclose(guided.rows(some, np.float32), expected[some], atol=1e-5 * size)


def test_a_float32_covariance_still_gives_float64_rows(case):
    matrix, weight, _, delta = case
    covariance = KernelCovariance(matrix, weight, np.float32)
    covariance.form()
    some = np.arange(10)
    rows = CovarianceGuided(covariance, 0.0, 1.0).rows(some)
    np.testing.assert_allclose(rows, delta[some], atol=1e-12 * np.abs(delta).max())


def test_a_weight_is_a_repetition():
    rng = np.random.default_rng(3)
    X, weight = rng.normal(size=(40, 3)), rng.integers(1, 4, 40)
    repeated = np.repeat(np.arange(40), weight)
    once = KernelCovariance(Gram(RBF(0.4), X), weight.astype(float))
    often = KernelCovariance(Gram(RBF(0.4), X[repeated]), np.ones(len(repeated)))
    v = rng.normal(size=40)
    rows = CovarianceGuided(once, 0.0, 1.0).rows(np.arange(40))
    many = CovarianceGuided(often, 0.0, 1.0).rows(np.arange(len(repeated)))
    np.testing.assert_allclose(many, rows[np.ix_(repeated, repeated)], rtol=1e-10, atol=1e-10)
    assert once.trace() == pytest.approx(often.trace(), rel=1e-12)
    for name in ("raw", "mean", "trace"):
        assert scale_of(once, name) == pytest.approx(scale_of(often, name), rel=1e-12)
    spread = v @ once.matvec(v)
    assert spread == pytest.approx(weight.sum() * np.cov(once.matrix.matvec(v), fweights=weight, bias=True), rel=1e-9)


def test_the_trace_scale_matches_traces_and_travels():
    X = np.random.default_rng(4).normal(size=(1200, 3))
    ratios = []
    for n in (150, 1200):
        covariance = KernelCovariance(Gram(RBF(0.2), X[:n]), np.ones(n))
        guided = CovarianceGuided(covariance, 0.0, trace_scale(covariance))
        assert guided.diagonal().sum() == pytest.approx(n)
        assert guided.size == pytest.approx(1.0)
        ratios.append(1.0 / trace_scale(covariance) / n)
    assert ratios[0] == pytest.approx(ratios[1], rel=0.2)  # Δ itself is eight times larger, relative to Q


def test_scales_are_one_family():
    covariance = KernelCovariance(Gram(RBF(0.3), np.random.default_rng(5).normal(size=(50, 2))), np.ones(50))
    matched = CovarianceGuided(covariance, 0.7, trace_scale(covariance)).rows(np.arange(50))
    for name in ("raw", "mean", "trace"):
        scale = scale_of(covariance, name)
        guided = CovarianceGuided(covariance, eta_from_blend(0.7, covariance, scale), scale)
        np.testing.assert_allclose(guided.rows(np.arange(50)) / guided.size, matched, rtol=1e-10)
    assert eta_from_blend(1.0, covariance, 1.0) == 1.0


def test_an_unknown_scale_is_refused():
    covariance = KernelCovariance(Gram(RBF(0.3), np.eye(3)), np.ones(3))
    with pytest.raises(ParameterError, match="covariance_scale must be one of 'raw', 'mean', 'trace'; got 'sum'"):
        scale_of(covariance, "sum")


def test_a_constant_kernel_has_no_covariance_and_a_scale_of_one():
    covariance = KernelCovariance(Gram(RBF(0.0), np.random.default_rng(6).normal(size=(20, 2))), np.ones(20))
    assert trace_scale(covariance) == 1.0


def test_forming_is_chosen_by_cost_and_memory():
    X = np.zeros((3000, 1))
    assert not KernelCovariance(Gram(RBF(1.0), X), np.ones(3000), np.float32).pays_to_form(2**30)
    assert KernelCovariance(Gram(RBF(1.0), X[:300]), np.ones(300)).pays_to_form(2**30)
    indefinite = KernelCovariance(Gram(Sigmoid(1.0, 0.0), X), np.ones(3000), np.float32)
    assert indefinite.pays_to_form(2**30)
    assert not indefinite.pays_to_form(2**20)
    assert not indefinite.is_formed


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 700])
def test_a_symmetric_product_is_the_product(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    v = np.random.default_rng(1).normal(size=n)
    gram = Gram(RBF(0.5), X)
    np.testing.assert_allclose(symmetric_product(gram, v), gram.matvec(v), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(symmetric_product(gram, v, np.float32), gram.matvec(v), atol=1e-5 * np.sqrt(n))


@pytest.mark.parametrize("gamma", [1e-5, 0.3, 30.0])
@pytest.mark.parametrize(("dtype", "rounding"), [(np.float64, 1e-9), (np.float32, 2e-3)])
def test_one_pass_gives_the_trace_and_a_product(gamma, dtype, rounding):
    """Also for a kernel so wide that all its entries are the same to four digits."""
    rng = np.random.default_rng(9)
    n = 900
    weight, gram = rng.uniform(0.5, 2.0, n), Gram(RBF(gamma), rng.normal(size=(n, 2)))
    v = rng.normal(size=n)
    exact = KernelCovariance(gram, weight)
    covariance = KernelCovariance(gram, weight, dtype)
    spread = covariance.survey(gram.matvec(v))
    expected = exact.matvec(v)
    np.testing.assert_allclose(spread, expected, atol=rounding * np.abs(expected).max())
    assert covariance.trace() == pytest.approx(float(weight @ exact.diagonal()), rel=rounding)


class TestStandIn:
    @pytest.fixture
    def guided(self, case):
        matrix, weight, _, _ = case
        covariance = KernelCovariance(matrix, weight)
        return CovarianceGuided(covariance, 0.4, trace_scale(covariance))

    def test_its_readings_agree(self, guided):
        surrogate = CovarianceSketch(guided.covariance, 20).surrogate(guided)
        every = np.arange(N)
        whole = surrogate.block(every)
        size = np.abs(whole).max()
        np.testing.assert_allclose(whole, whole.T, atol=1e-10 * size)
        np.testing.assert_allclose(surrogate.diagonal(), np.diagonal(whole), atol=1e-10 * size)
        np.testing.assert_allclose(surrogate.block(every[5:40]), whole[5:40, 5:40], atol=1e-10 * size)
        v = np.random.default_rng(7).normal(size=N)
        np.testing.assert_allclose(surrogate.matvec(v), whole @ v, atol=1e-9 * size * N)

    def test_with_all_columns_it_is_the_matrix_and_more_of_them_come_nearer(self, guided):
        every = np.arange(N)
        expected = guided.rows(every)
        misses = []
        for rank in (1, 12, N):
            believed = CovarianceSketch(guided.covariance, rank).surrogate(guided).block(every)
            misses.append(np.linalg.norm(believed - expected) / np.linalg.norm(expected))
        # the span of all kernel columns is cut where they are the same to ten digits
        assert misses[2] < 1e-3
        assert misses[2] < misses[1] < max(0.6 * misses[0], 1e-3)

    def test_the_matrix_itself_in_low_precision(self, guided):
        surrogate = CovarianceSketch(guided.covariance, 10).surrogate(guided)
        v = np.random.default_rng(10).normal(size=N)
        expected = guided.matvec(v)
        np.testing.assert_allclose(
            surrogate.product(v, surrogate.matvec(v)), expected, atol=1e-8 * np.abs(expected).max()
        )

    def test_the_marks_know_the_trace_and_where_points_are_few(self, guided):
        sketch = CovarianceSketch(guided.covariance, N // 5)
        assert sketch.trace == pytest.approx(guided.covariance.trace(), rel=0.3)
        even = guided.matvec(guided.covariance.weight)
        assert np.corrcoef(sketch.surrogate(guided).even_gradient(), even)[0, 1] > 0.9

    def test_a_step_teaches_it_the_curvature(self, guided):
        rng = np.random.default_rng(8)
        surrogate = CovarianceSketch(guided.covariance, 10).surrogate(guided)
        for _ in range(3):
            move = rng.normal(size=N)
            surrogate = surrogate.refine(move, guided.matvec(move), surrogate.matvec(move))
            np.testing.assert_allclose(
                surrogate.matvec(move), guided.matvec(move), atol=1e-6 * np.abs(guided.matvec(move)).max()
            )
        assert np.linalg.eigvalsh(surrogate.block(np.arange(N))).min() > -1e-6 * guided.diagonal().max()
