"""The working-set solver on matrices that live in another array library: the optimum of the host, certified."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from array_libraries import everywhere, put
from oracle.clarabel_oracle import gradient_unit, objective_scale
from oracle.zoo import SHAPES, draw, kernel_of, trait_of

from askew.exceptions import DataError
from askew.kernels import RBF, Gram, Linear, Polynomial, Sigmoid
from askew.kernels.conformal import Conformal
from askew.qp import Ability, Free, GroupSums, Problem, Status, Sum, SumAtMost, certify
from askew.solvers import solve as solve_by_any_route

solve = partial(solve_by_any_route, route="by_rows")
TOL = 1e-6  # in units of the gradient
SEEDS = {"torch": [*range(30), *range(40, 50)], "strict": range(0, 30, 2), "device": range(1, 30, 2)}
AT_LEAST = {"torch": 25, "strict": 8, "device": 8}


def _drawn(library, shape):
    """(seed, programme, the same programme on points elsewhere) of the zoo, where there are points."""
    for seed in SEEDS[library]:
        problem = draw(shape, seed)
        if isinstance(problem.matrix, Gram):
            X = put(library, problem.matrix.points.X)
            yield seed, problem, replace(problem, matrix=Gram(problem.matrix.function, X))


@everywhere
@pytest.mark.parametrize("shape", SHAPES)
def test_random_programmes_have_the_optimum_of_the_host(library, shape):
    count, wrong = 0, []
    for seed, problem, elsewhere in _drawn(library, shape):
        tol = TOL * gradient_unit(problem)
        here, there = solve(problem, tol=tol), solve(elsewhere, tol=tol)
        verdict = certify(problem, there.beta)  # by the host's matrix, not the one it was solved on
        error = abs(there.objective - here.objective) / objective_scale(problem, here.beta, here.objective)
        if there.status is not Status.OPTIMAL or not verdict.is_optimal(tol, 1e-10) or error > 1e-6:
            wrong.append(f"draw({shape!r}, {seed}), {trait_of(seed)}, {kernel_of(seed)}: {there.status}, {error:.2g}")
        count += 1
    assert not wrong, "\n".join(wrong)
    assert count >= AT_LEAST[library]


N = 1300  # float32 rows are used from 1000 on


def _problem(shape, X, function=RBF(0.4), n=N):  # noqa: B008
    """A programme of a shape on given rows."""
    rng = np.random.default_rng(7)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    matrix, lower, upper = Gram(function, X), np.where(y > 0, 0.0, -5.0), np.where(y > 0, 5.0, 0.0)
    if shape == "sum":
        return Problem(matrix, -y, lower, upper, Sum(0.0))
    if shape == "group_sums":
        return Problem(matrix, np.zeros(n), lower, upper, GroupSums(np.where(y > 0, 0, 1), (90.0, -200.0)))
    constraint = Free() if shape == "free" else SumAtMost(20.0)
    return Problem(matrix, -np.ones(n), np.zeros(n), np.full(n, 2.0), constraint)


def _rows(n=N, dtype=np.float32):
    return np.random.default_rng(8).standard_normal((n, 6)).astype(dtype)


@everywhere
@pytest.mark.parametrize("shape", SHAPES)
def test_larger_programmes_on_float32_rows(library, shape):
    X, tol = _rows(), 1e-3
    here, elsewhere = _problem(shape, X), _problem(shape, put(library, X))
    assert Ability.DEVICE in elsewhere.matrix.abilities
    expected, found = solve(here, tol=tol), solve(elsewhere, tol=tol)
    verdict = certify(here, found.beta)
    assert found.status is Status.OPTIMAL
    assert found.certificate.violation <= tol
    assert verdict.is_optimal(1.001 * tol)
    assert verdict.violation == pytest.approx(found.certificate.violation, rel=1e-3, abs=1e-8)
    apart = abs(found.objective - expected.objective)
    assert apart <= 1.001 * max(found.certificate.duality_gap, expected.certificate.duality_gap)
    assert type(found.beta) is type(found.gradient) is np.ndarray
    np.testing.assert_allclose(found.gradient, here.gradient(found.beta), rtol=1e-9, atol=1e-9)


@everywhere
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_many_rounds_of_small_working_sets(monkeypatch, library, shape, dtype):
    monkeypatch.setattr("askew.solvers.working_set.loop.row_precision", lambda *_: np.dtype(dtype))
    monkeypatch.setattr("askew.solvers.working_set.loop.default_size", lambda *_: 40)
    X = _rows(400)
    problem = _problem(shape, put(library, X), n=400)
    found = solve(problem, tol=1e-4)
    assert found.n_outer >= 5
    assert certify(_problem(shape, X, n=400), found.beta).is_optimal(1.001e-4)


@everywhere
@pytest.mark.parametrize("function", [Linear(), Polynomial(0.3, 3, 1.0)], ids=["linear", "poly"])
def test_other_kernels(library, function):
    X = _rows(500)
    here, elsewhere = _problem("sum", X, function, 500), _problem("sum", put(library, X), function, 500)
    expected, found = solve(here, tol=1e-5), solve(elsewhere, tol=1e-5)
    assert certify(here, found.beta).is_optimal(1.001e-5)
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)


@everywhere
def test_a_bent_kernel(library):
    X, factor = _rows(500), np.random.default_rng(9).uniform(0.3, 1.0, 500)
    here, elsewhere = _problem("sum", X, n=500), _problem("sum", put(library, X), n=500)
    here, elsewhere = (replace(p, matrix=Conformal(p.matrix, factor)) for p in (here, elsewhere))
    expected, found = solve(here, tol=1e-5), solve(elsewhere, tol=1e-5)
    assert certify(here, found.beta).is_optimal(1.001e-5)
    assert found.objective == pytest.approx(expected.objective, rel=1e-7)


@everywhere
def test_a_warm_start_is_taken_up(library):
    problem = _problem("sum", put(library, _rows()))
    cold = solve(problem, tol=1e-3)
    warm = solve(problem, start=cold.beta, tol=1e-3)
    assert warm.n_iter == 0
    np.testing.assert_allclose(warm.beta, cold.beta, rtol=0, atol=1e-12)  # the sum is rounded


@everywhere
def test_limits_are_kept_and_told(monkeypatch, library):
    monkeypatch.setattr("askew.solvers.working_set.loop.default_size", lambda *_: 10)
    problem = _problem("sum", put(library, _rows(300)), n=300)
    assert solve(problem, max_iter=5).status is Status.MAX_ITER
    assert solve(problem, on_round=lambda: True).status is Status.STOPPED


@everywhere
def test_an_indefinite_kernel_ends_in_a_stationary_point(library):
    function = Sigmoid(0.5, -1.0)
    found = solve(_problem("sum", put(library, _rows(300)), function, 300), tol=1e-3)
    assert found.status is Status.STATIONARY
    assert found.certificate.violation <= 1e-3


@everywhere
def test_values_beyond_float64_are_refused(library):
    X = put(library, 1e80 * _rows(50, np.float64))
    with pytest.raises(DataError, match="not finite"):
        solve(_problem("sum", X, Polynomial(1.0, 3, 0.0), 50))
