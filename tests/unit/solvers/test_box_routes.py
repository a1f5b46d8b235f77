"""Coordinate descent on a stored matrix and on points: the same optimum, judged by the certificate."""

import numpy as np
import pytest
from scipy import sparse

from askew.exceptions import ParameterError
from askew.kernels import RBF, Gram, Linear, Precomputed
from askew.qp import Free, Problem, SignedPoints, Status, Sum, SumAtMost, certify
from askew.solvers import route_of, solve
from askew.solvers.coordinate import sweeps
from askew.solvers.explicit import box_rounds
from askew.solvers.newton import interior
from askew.solvers.working_set.rows import RowCache


def problem_on(matrix, upper, constraint=None):
    n = matrix.n
    return Problem(matrix, -np.ones(n), np.zeros(n), np.broadcast_to(upper, n), constraint or Free())


def signed_points(n=40, d=60, seed=0):
    rng = np.random.default_rng(seed)
    rows = sparse.random(n, d, 0.2, format="csr", random_state=seed)
    columns = np.column_stack([0.3 * rng.normal(size=n), 0.05 * rng.normal(size=n)])
    return SignedPoints(rows, columns, np.array([1.0, -1.0]))


@pytest.fixture(params=["dense", "sparse"])
def matrix(request):
    if request.param == "sparse":
        return Gram(Linear(), signed_points())
    return Gram(Linear(), np.random.default_rng(1).normal(size=(80, 5)) + 0.7)


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
def test_three_routes_meet(matrix, C):
    problem = problem_on(matrix, C)
    answers = [solve(problem, tol=1e-7, route=route) for route in ("box", "by_rows", "points")]
    for answer in answers:
        assert answer.status is Status.OPTIMAL
        assert certify(problem, answer.beta).violation <= 1e-7
        assert answer.objective == pytest.approx(answers[0].objective, rel=1e-6, abs=1e-9)


def test_the_certificate_refuses_a_perturbed_answer(matrix):
    problem = problem_on(matrix, 1.0)
    beta = solve(problem, tol=1e-8, route="box").beta
    inside = np.argmax(beta * (1 - beta))
    beta[inside] = 0.5 * beta[inside]
    assert certify(problem, beta).violation > 1e-3


def test_a_badly_conditioned_matrix_is_finished_by_newton():
    rng = np.random.default_rng(2)
    Z = (rng.normal(size=(60, 12)) + 1.0) * np.logspace(-3, 2, 12)
    problem = problem_on(Gram(Linear(), Z), 1e3)
    answer = solve(problem, tol=1e-6, route="box")
    assert answer.status is Status.OPTIMAL
    assert answer.n_iter < 100_000


def test_compiled_and_plain_steps_agree():
    K = np.cov(np.random.default_rng(3).normal(size=(10, 30)))
    results = []
    for function in (sweeps.descend_stored, sweeps.descend_stored.py_func):
        beta, g = np.zeros(10), -np.ones(10)
        function(K, np.diagonal(K).copy(), g, beta, np.zeros(10), np.full(10, 2.0), 1e-9, 10_000)
        np.testing.assert_allclose(g, K @ beta - 1, atol=1e-10)
        results.append(beta)
    np.testing.assert_allclose(*results, atol=1e-8)


@pytest.mark.parametrize("road", ["compiled", "plain", "plain with LAPACK"])
def test_compiled_and_plain_rounds_agree(monkeypatch, road):
    rng = np.random.default_rng(4)
    Z = (rng.normal(size=(14, 6)) + 0.5) * np.logspace(-2, 1, 6)
    K, p, lower, upper = Z @ Z.T, -np.ones(14), np.zeros(14), np.full(14, 3.0)
    expected = solve(Problem(Precomputed(K), p, lower, upper, Free()), tol=1e-9, route="box").gradient
    if road != "compiled":
        monkeypatch.setattr(box_rounds, "run_rounds", box_rounds.run_rounds.py_func)
    if road == "plain with LAPACK":
        monkeypatch.setattr(box_rounds, "_NARROW", 0)
    beta, g = np.zeros(14), np.empty(14)
    assert box_rounds.solve_box(K, p, lower, upper, beta, g, 1e-9, 10**6)[2] == box_rounds.GOOD
    np.testing.assert_allclose(g, K @ beta - 1, atol=1e-9)
    np.testing.assert_allclose(g, expected, atol=1e-6)


@pytest.mark.parametrize("n", [1, 5, 64])
def test_a_newton_step_inside_is_exact_by_either_road(n):
    rng = np.random.default_rng(6)
    Z = rng.normal(size=(n, n + 3))
    K, start, box = Z @ Z.T, np.zeros(n), (np.full(n, -1e9), np.full(n, 1e9))
    g = rng.normal(size=n)
    memory = np.empty((64, 64)), np.empty(64), np.append(np.arange(n), np.zeros(64 - n, int))
    roads = [start.copy(), start.copy(), start.copy()]
    box_rounds.step_inside(K, n, *memory, g, roads[0], *box)
    box_rounds.step_inside.py_func(K, n, *memory, g, roads[1], *box)
    box_rounds.move_inside(K.copy(), np.trace(K), np.arange(n), g, roads[2], *box)
    for beta in roads:
        np.testing.assert_allclose(K @ beta, -g, atol=1e-7)


def test_no_newton_step_is_taken_on_an_indefinite_matrix():
    K, g, box = np.array([[1.0, 2.0], [2.0, 1.0]]), -np.ones(2), (np.zeros(2), np.ones(2))
    by_loops, by_lapack = np.full(2, 0.5), np.full(2, 0.5)
    box_rounds.step_inside(K, 2, np.empty((64, 64)), np.empty(64), np.arange(64), g, by_loops, *box)
    box_rounds.move_inside(K.copy(), np.trace(K), np.arange(2), g, by_lapack, *box)
    np.testing.assert_array_equal([by_loops, by_lapack], 0.5)


def test_a_step_over_many_variables_ends_at_the_optimum():
    """More variables inside than the compiled step takes: LAPACK steps between compiled rounds."""
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(300, 200)) + 0.1
    K, target = Z @ Z.T, rng.uniform(0.1, 0.9, 300)
    K[np.diag_indices(300)] += 1.0
    beta, g = np.zeros(300), np.empty(300)
    steps, _, ending = box_rounds.solve_box(K, -K @ target, np.zeros(300), np.ones(300), beta, g, 1e-8, 10**9)
    assert ending == box_rounds.GOOD
    np.testing.assert_allclose(beta, target, atol=1e-7)
    assert steps < 20_000


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_interior_point_ends_where_the_others_do(C):
    """Thousands of overlapping points, nearly all of which end at a bound."""
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(3000, 8)) + np.linspace(0.0, 0.4, 8)
    problem = problem_on(Gram(Linear(), Z), C)
    beta = interior.interior_point(Z, problem.linear, problem.lower, problem.upper, 1e-4)
    assert ((beta >= 0) & (beta <= C)).all()
    swept = solve(problem, start=beta, tol=1e-4, max_iter=20, route="points")
    assert swept.status is Status.OPTIMAL
    assert swept.n_iter <= 20
    assert certify(problem, swept.beta).relative_gap <= 1e-6  # what is left to the optimum, whoever found it


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2])
def test_a_leap_ends_at_the_optimum_itself(C):
    """Rounding in the points is rounding in the answer: nothing of the way there is left in it."""
    rng = np.random.default_rng(9)
    Z = rng.normal(size=(4000, 6)) + 0.2
    found = []
    for points in (Z, Z * (1.0 + 1e-15 * rng.normal(size=Z.shape))):
        problem = problem_on(Gram(Linear(), points), C)
        beta = interior.interior_point(points, problem.linear, problem.lower, problem.upper, 1e-6)
        assert certify(problem, beta).violation < 1e-9 * max(1.0, C)
        found.append(points.T @ beta)
    assert np.abs(found[0] - found[1]).max() < 1e-11 * np.abs(found[0]).max()


@pytest.mark.parametrize("share", [None, 0.3])
def test_what_is_near_the_optimum_is_settled(share):
    """Also where variables next to a bound stand on its wrong side, and under a sum that binds."""
    rng = np.random.default_rng(11)
    Z = rng.normal(size=(500, 5)) + 0.2
    free = problem_on(Gram(Linear(), Z), 0.1)
    near = solve(free, tol=1e-2, route="points").beta
    total = None
    if share is not None:
        total = share * near.sum()
        free = problem_on(Gram(Linear(), Z), 0.1, SumAtMost(total))
        near = solve(free, tol=1e-3, route="by_rows").beta
    settled = interior.settle(Z, free.linear, free.lower, free.upper, near, total)
    assert certify(free, settled).violation < 1e-12
    assert certify(free, settled).infeasibility < 1e-13


def test_what_cannot_be_settled_stays_inside():
    """Twice the same points: the optimum is a whole face, and any point of it will do."""
    Z = np.repeat(np.random.default_rng(10).normal(size=(1500, 4)) + 0.3, 2, axis=0)
    problem = problem_on(Gram(Linear(), Z), 1.0)
    beta = interior.interior_point(Z, problem.linear, problem.lower, problem.upper, 1e-6)
    assert ((beta >= 0) & (beta <= 1)).all()
    assert certify(problem, beta).violation < 1e-5


def test_sweeps_that_are_slow_leap(monkeypatch):
    """Dense points by the interior point, sparse ones by Newton; without it neither ends in these many sweeps."""
    rng = np.random.default_rng(6)
    dense = rng.normal(size=(6000, 6)) * np.logspace(0, -1, 6) + 0.1
    twins = sparse.random(60, 400, 0.1, "csr", random_state=7)  # pairs of rows that are nearly the same
    twins = sparse.vstack([twins, twins + sparse.random(60, 400, 0.02, "csr", random_state=8) * 0.05]).tocsr()
    none = np.zeros((120, 0))
    for points, C in ((dense, 100.0), (SignedPoints(twins, none, np.zeros(0)), 1e4)):
        problem = problem_on(Gram(Linear(), points), C)
        answer = solve(problem, tol=1e-5, max_iter=150, route="points")
        assert answer.status is Status.OPTIMAL
        assert answer.n_outer > 1
        with monkeypatch.context() as patch:
            patch.setattr("askew.solvers.coordinate.points._Run.is_leap_due", lambda *_: False)
            assert solve(problem, tol=1e-5, max_iter=150, route="points").status is Status.MAX_ITER


def test_limits_are_reported_not_raised(matrix):
    problem = problem_on(matrix, 10.0)
    assert solve(problem, tol=1e-12, max_iter=2, route="box").status is Status.MAX_ITER
    assert solve(problem, tol=1e-12, max_iter=1, route="points").status is Status.MAX_ITER


def test_a_warm_start_is_warm(matrix):
    problem = problem_on(matrix, 10.0)
    first = solve(problem, tol=1e-6, route="points")
    assert solve(problem, start=first.beta, tol=1e-6, route="points").n_iter < first.n_iter


def test_a_point_at_the_mean_goes_to_its_bound():
    Z = np.vstack([np.zeros(3), np.eye(3)])
    for route in ("box", "points"):
        answer = solve(problem_on(Gram(Linear(), Z), 2.0), tol=1e-9, route=route)
        np.testing.assert_allclose(answer.beta, [2.0, 1.0, 1.0, 1.0])


def test_sums_are_refused_where_they_cannot_be_kept():
    problem = problem_on(Gram(Linear(), np.eye(3)), 1.0, Sum(1.0))
    for route in ("box", "points"):
        with pytest.raises(ParameterError, match=f"route='{route}'.*constraints Free.*is Sum.*'by_rows'"):
            solve(problem, route=route)


def test_a_sum_that_does_not_bind_changes_nothing():
    matrix = Gram(Linear(), np.random.default_rng(4).normal(size=(30, 4)) + 1.0)
    free = solve(problem_on(matrix, 0.5), tol=1e-8)
    loose = solve(problem_on(matrix, 0.5, SumAtMost(free.beta.sum() + 1)), tol=1e-8)
    np.testing.assert_allclose(loose.beta, free.beta)
    assert loose.multipliers == (0.0,)
    bound = problem_on(matrix, 0.5, SumAtMost(0.5 * free.beta.sum()))
    answer = solve(bound, tol=1e-8)
    assert certify(bound, answer.beta).violation <= 1e-8
    assert answer.multipliers[0] < 0


def test_the_cheaper_route_is_chosen():
    rng = np.random.default_rng(5)
    assert route_of(problem_on(Gram(Linear(), rng.normal(size=(50, 500))), 1.0)).name == "box"
    assert route_of(problem_on(Gram(Linear(), rng.normal(size=(3000, 10))), 1.0)).name == "points"
    assert route_of(problem_on(Precomputed(np.eye(200)), 1.0)).name == "box"
    assert route_of(problem_on(Gram(RBF(0.5), rng.normal(size=(1500, 10))), 1.0)).name == "by_rows"


def test_signed_rows_make_one_symmetric_matrix():
    points = signed_points()
    gram = Gram(Linear(), points)
    z = gram.inner_points()
    rows, columns, signs = z.rows, z.columns, z.signs
    expected = (rows @ rows.T).toarray() + (columns * signs) @ columns.T
    everything = np.arange(gram.n)
    np.testing.assert_allclose(gram.filled(), expected, atol=1e-12)
    np.testing.assert_allclose(gram.rows(everything), expected, atol=1e-12)
    np.testing.assert_allclose(gram.block(everything[::2]), expected[::2, ::2], atol=1e-12)
    np.testing.assert_allclose(gram.diagonal(), np.diagonal(expected), atol=1e-12)
    v = np.random.default_rng(6).normal(size=gram.n)
    np.testing.assert_allclose(gram.matvec(v), expected @ v, atol=1e-12)
    np.testing.assert_allclose(gram.subset(everything[5:9]).filled(), expected[5:9, 5:9], atol=1e-12)


def test_a_whitened_matrix_is_never_filled_for_its_rows():
    """Filling it is for those few enough; whoever wants rows of many points gets rows."""
    gram = Gram(Linear(), np.random.default_rng(11).normal(size=(3000, 4)))
    cache = RowCache(gram, np.float32, budget=2**20)
    assert cache.capacity < gram.n
