"""On a CUDA device: fused kernels against plain ones, fits against the host's, memory, and its end."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from askew import SVC, SVDD, AsymmetricSVC, CovarianceOneClassSVM, KernelScaledSVC, OneClassSVM
from askew.arrays import Home, host
from askew.exceptions import DataError
from askew.kernels import RBF, Gram, Linear, Polynomial, Precomputed, fused
from askew.qp import GroupSums, Problem, Sum, certify
from askew.selection import ToleranceSearchCV
from askew.solvers.working_set import smo_cuda as inner_device

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no CUDA device")
DEVICE = "cuda"
needs_triton = pytest.mark.skipif(
    torch.cuda.is_available() and fused._compiled() is None, reason="Triton is not installed: there is no fused form"
)

KERNELS = {
    "rbf": lambda d: RBF(1.0 / d),
    "poly 2": lambda d: Polynomial(1.0 / d, 2, 1.0),
    "poly 3": lambda d: Polynomial(1.0 / d, 3, 0.5),
    "linear": lambda d: Linear(),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
every_width = pytest.mark.parametrize("d", [3, 56, 130, 300])


def _there(x):
    return torch.tensor(np.ascontiguousarray(x), device=DEVICE)


# the fused update


@needs_triton
@every_kernel
@every_width
def test_the_fused_update_is_the_plain_one(kernel, d):
    """float32 rows, to 1e-5 of the size of the sums; 1,001 points and 77 rows fill no tile evenly."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((1001, d)).astype(np.float32)
    indices, steps, g = rng.permutation(1001)[:77], rng.standard_normal(77), rng.standard_normal(1001)
    matrix = Gram(kernel(d), _there(X))
    assert fused.can_fuse(matrix.function, matrix.X)
    found = host(matrix.add_product_at(_there(g), _there(indices), _there(steps), np.float32))
    rows = matrix.rows(indices, np.float32).astype(np.float64)  # a plain product, written out
    size = (np.abs(steps) @ np.abs(rows)).max()
    np.testing.assert_allclose(found, g + steps @ rows, rtol=0, atol=1e-5 * size)
    exact = Gram(kernel(d), X.astype(np.float64)).rows(indices)
    np.testing.assert_allclose(found, g + steps @ exact, rtol=0, atol=1e-5 * size)


@needs_triton
@every_kernel
@every_width
def test_fused_sums_in_float64_are_the_plain_ones(kernel, d):
    rng = np.random.default_rng(d)
    X, v = rng.standard_normal((1001, d)), rng.standard_normal(1001)
    matrix = Gram(kernel(d), _there(X))
    assert fused.can_fuse(matrix.function, _there(v))
    rows = matrix.rows(np.arange(1001))
    size = (np.abs(rows) @ np.abs(v)).max()
    np.testing.assert_allclose(matrix.matvec(v), rows @ v, rtol=0, atol=1e-12 * size)
    Z = rng.standard_normal((301, d))
    cross, several = matrix.cross(_there(Z)), np.stack([v, 2.0 * v[::-1]], axis=1)
    size = (np.abs(cross) @ np.abs(several)).max()
    np.testing.assert_allclose(matrix.weighted_sum(_there(Z), several), cross @ several, rtol=0, atol=1e-12 * size)


def test_kernels_without_a_fused_form_take_the_plain_way():
    rng = np.random.default_rng(0)
    X, v = 0.3 * np.abs(rng.standard_normal((300, 4))), rng.standard_normal(300)
    function = Polynomial(0.5, 2.5, 1.0)
    assert not fused.can_fuse(function, _there(v))
    np.testing.assert_allclose(Gram(function, _there(X)).matvec(v), Gram(function, X).matvec(v), rtol=1e-10)


# the problem inside a working set


def _block(q, groups, seed=0):
    """A working set sorted by group, its programme, and a feasible β that is not the optimum."""
    rng = np.random.default_rng(seed)
    X, split = rng.standard_normal((q, 5)), q // 3
    y = np.where(np.arange(q) < split, 1.0, -1.0)
    K = Gram(RBF(0.3), X).rows(np.arange(q))
    K = 0.5 * (K + K.T)
    lower, upper = np.where(y > 0, 0.0, -1.0), np.where(y > 0, 1.0, 0.0)
    matrix = Precomputed(K, is_psd=True)
    if groups == 1:
        return Problem(matrix, -y, lower, upper, Sum(0.0)), np.zeros(q), q
    beta = 0.3 * y
    totals = (float(beta[:split].sum()), float(beta[split:].sum()))
    return Problem(matrix, np.zeros(q), lower, upper, GroupSums(np.where(y > 0, 0, 1), totals)), beta, split


@pytest.mark.skipif(torch.cuda.is_available() and inner_device._compiled() is None, reason="Triton is not installed")
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("q", [64, 500, 1024, 3000])
def test_the_inner_problem_has_the_objective_of_the_host(q, groups):
    from askew.solvers.working_set import smo as inner

    tol, most = 1e-3, 10**6
    problem, start, split = _block(q, groups)
    K, diagonal = problem.matrix.rows(np.arange(q)).astype(np.float32), problem.matrix.diagonal().astype(np.float32)
    g, here = problem.gradient(start).astype(np.float32), start.copy()
    starts = np.array([0, q] if groups == 1 else [0, split, q])
    inner.solve_block(K, diagonal, g.copy(), here, problem.lower, problem.upper, starts, tol, most)
    block, beta = _there(K), _there(start.copy())
    assert inner_device.can_solve_on_device(block, groups)
    box = (_there(problem.lower), _there(problem.upper))
    steps = inner_device.solve_on_device(block, _there(diagonal), _there(g), beta, *box, split, tol, most)
    assert 0 < int(steps[0]) < most
    verdict, expected = certify(problem, host(beta)), certify(problem, here)
    assert verdict.is_optimal(1.1 * tol + 1e-4, 1e-9)  # float32 gradients drift a little
    apart = abs(verdict.objective - expected.objective)
    assert apart <= 1.001 * max(verdict.duality_gap, expected.duality_gap)


# fits

N = 3000  # float32 rows are used


def _data(n=N, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    noisy = X[:, 0] + 0.6 * X[:, 1] ** 2 + 0.2 * rng.standard_normal(n)
    return X, (noisy > np.quantile(noisy, 0.85)).astype(np.int64)


ESTIMATORS = {
    "SVC": SVC(C=5.0, tol=1e-4),
    "AsymmetricSVC": AsymmetricSVC(tol=1e-4),
    "KernelScaledSVC": KernelScaledSVC(C=5.0, k_majority=0.6, k_minority=0.2, tol=1e-4),
    "OneClassSVM": OneClassSVM(nu=0.1, tol=1e-4),
    "SVDD": SVDD(nu=0.1, tol=1e-4),
    "CovarianceOneClassSVM": CovarianceOneClassSVM(eta=0.6, nu=0.1, tol=1e-4),
}
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS.keys())


def _agree(found, expected, labels, reference):
    size = np.abs(expected).max()
    np.testing.assert_allclose(host(found), expected, rtol=0, atol=5e-3 * size)
    assert np.mean(host(labels) == reference) >= 0.995


@every_estimator
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fits_are_those_of_the_host(estimator, dtype):
    X, y = _data()
    X = X.astype(dtype)
    here = clone(estimator).fit(X, y)
    there = clone(estimator).fit(_there(X), _there(y), sample_weight=_there(np.ones(N)))
    rows = _there(X)
    scores, labels = there.decision_function(rows), there.predict(rows)
    assert scores.device == labels.device == there.support_vectors_.device == rows.device
    assert scores.dtype == torch.float64
    _agree(scores, here.decision_function(X), labels, here.predict(X))
    assert there.status_ == "optimal"
    _agree(there.decision_function(X), here.decision_function(X), there.predict(X), here.predict(X))  # NumPy rows
    _agree(here.decision_function(rows), here.decision_function(X), here.predict(rows), here.predict(X))
    moved = there.to_cpu()
    assert type(moved.support_vectors_) is np.ndarray
    np.testing.assert_allclose(moved.decision_function(X), host(scores), atol=1e-6 * np.abs(host(scores)).max())


def test_accuracy_and_magnification_of_rows_on_the_device():
    X, y = _data(1000)
    model = KernelScaledSVC(C=5.0, k_majority=0.6, k_minority=0.2).fit(_there(X), _there(y))
    assert model.score(_there(X), _there(y)) == pytest.approx(model.score(X, y), abs=0.01)
    volume = model.magnification(_there(X))
    assert volume.device == _there(X).device
    np.testing.assert_allclose(host(volume), model.magnification(X), rtol=1e-6)


@pytest.mark.parametrize("estimator", [SVC(tol=1e-4), OneClassSVM(nu=0.1, tol=1e-4)], ids=["SVC", "OneClassSVM"])
def test_cupy_in_cupy_out(estimator):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    X, y = _data()
    here, rows = clone(estimator).fit(X, y), cupy.asarray(X)
    there = clone(estimator).fit(rows, cupy.asarray(y))
    scores, labels = there.decision_function(rows), there.predict(rows)
    assert isinstance(scores, cupy.ndarray)
    assert isinstance(labels, cupy.ndarray)
    assert isinstance(there.support_vectors_, cupy.ndarray)
    _agree(scores, here.decision_function(X), labels, here.predict(X))
    tensors = there.decision_function(_there(X))  # rows of another library on the same device
    assert isinstance(tensors, torch.Tensor)
    _agree(tensors, here.decision_function(X), labels, here.predict(X))


# memory


@pytest.mark.parametrize("gamma", ["scale", 0.02])
def test_a_full_device_is_told_and_the_estimator_works_afterwards(gamma):
    X = torch.randn(1_000_000, 50, device=DEVICE)
    y = (X[:, 0] > 1.0).to(torch.int64)
    model = SVC(gamma=gamma)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    hog = torch.empty(free - 250 * 2**20, dtype=torch.uint8, device=DEVICE)  # less than two copies of X is left
    try:
        with pytest.raises(DataError, match=r"no memory left.*cache_size"):
            model.fit(X, y)
    finally:
        del hog
        torch.cuda.empty_cache()
    model.fit(X[:N], y[:N])
    assert model.status_ == "optimal"
    assert model.score(X[:N], y[:N]) > 0.8


@needs_triton
def test_memory_grows_with_the_points_and_not_with_pairs_of_them():
    """Peak ≤ 32 copies of the data + two tiles: less than a q×n block of float32, which is never written."""
    n, d, megabytes = 100_000, 20, 32
    generator = torch.Generator(DEVICE).manual_seed(0)
    X = torch.randn(n, d, device=DEVICE, generator=generator)
    y = (X[:, 0] + 0.3 * X[:, 1] > 1.5).to(torch.int64)
    SVC().fit(X[:N], y[:N])  # handles and compiled kernels are there
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    model = SVC(cache_size=megabytes).fit(X, y)
    peak = torch.cuda.max_memory_allocated() - before
    assert model.status_ == "optimal"
    bound = 32 * X.nbytes + 2 * megabytes * 2**20
    assert bound < 1024 * n * 4
    assert peak <= bound, f"{peak / 2**20:.0f} MiB"


@pytest.mark.parametrize("cache_size", [2000, 1])
def test_folds_side_by_side_do_not_disturb_each_other(cache_size):
    """One matrix serves every fold, each in a thread and a lane of its own; with and without room to store it."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6000, 8)).astype(np.float32)
    y = (np.sum(X[:, :3] ** 2, axis=1) + 0.5 * rng.normal(size=6000) > 6.5).astype(np.int64)
    grid = {"gamma": [0.02], "mu": [0.1 * y.mean(), 0.4 * y.mean()], "tau": [0.0]}
    options = {"tolerance": 0.1, "cv": 5, "refit": False, "cache_size": cache_size}

    def search(n_jobs, rows):
        return ToleranceSearchCV(AsymmetricSVC(), grid, n_jobs=n_jobs, **options).fit(rows, y).cv_results_

    one, many = (search(n_jobs, torch.asarray(X, device="cuda")) for n_jobs in (1, 5))
    here = search(1, X)
    assert many["is_resolved"].all()
    np.testing.assert_allclose(many["mean_test_score"], one["mean_test_score"], atol=1e-3)
    np.testing.assert_allclose(many["mean_test_score"], here["mean_test_score"], atol=1e-3)


def test_what_comes_to_the_host_stays_while_another_thread_fetches():
    home = Home(torch.zeros(1, device="cuda"))
    first = home.to_scratch(torch.ones(1000, device="cuda"))
    with ThreadPoolExecutor(1) as executor:
        executor.submit(home.fetch, torch.zeros(1000, device="cuda")).result()
    assert (first == 1).all()
