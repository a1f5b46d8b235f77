"""The door to the solvers: what is chosen, what is refused and why, what is kept, what is reported."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import askew.solvers
from askew.exceptions import ParameterError
from askew.kernels import RBF, Gram, Linear
from askew.kernels.low_rank import LowRank
from askew.kernels.nystroem import Nystroem
from askew.kernels.recomputed import HeldRows, Recomputed
from askew.kernels.stored import Stored
from askew.methods import asymmetric, c_svc
from askew.qp import Ability, Certificate, Free, Precomputed, Problem, Solution, Status, Sum, SumAtMost, certify
from askew.solvers import Route, prepare, route_of, solve, solve_each
from askew.solvers.status import judge

N = 400


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(N) < 0.3, 1.0, -1.0)
    return rng.standard_normal((N, 4)) + 0.8 * (y[:, None] > 0), y


def box(matrix, upper=1.0, constraint=None):
    n = matrix.n
    return Problem(matrix, -np.ones(n), np.zeros(n), np.full(n, upper), constraint or Free())


def test_the_door_is_six_names():
    assert set(askew.solvers.__all__) == {"Prepared", "Route", "prepare", "route_of", "solve", "solve_each"}


def test_the_door_loads_no_numba():
    program = "import sys; from askew.solvers import solve, prepare, route_of; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_every_kind_of_matrix_and_constraint_has_its_route(rows):
    X, y = rows
    kernel, linear = Gram(RBF(0.5), X), Gram(Linear(), X)
    origin = Nystroem(RBF(0.5), X[:40])
    held, recomputed = LowRank(origin.features(X), None, origin), Recomputed(origin, HeldRows(X))

    def name(problem):
        return route_of(problem).name

    assert name(c_svc.formulate(kernel, y, np.ones(N))) == "by_rows"
    assert name(asymmetric.formulate(kernel, y, np.ones(N), 0.1, 0.01)) == "by_rows"
    assert name(c_svc.formulate(held, y, np.ones(N))) == "low_rank"
    assert name(c_svc.formulate(recomputed, y, np.ones(N))) == "out_of_core"
    assert name(box(kernel)) == "box"
    assert name(box(linear)) == "points"
    assert name(box(linear, constraint=SumAtMost(3.0))) == "relaxed"
    stored = c_svc.formulate(Stored(kernel, False), y, np.ones(N))
    assert name(stored) == "by_rows"
    assert route_of(stored, is_repeated=True).name == "explicit"
    assert isinstance(route_of(stored), Route)


def test_the_solution_names_the_route_that_was_taken(rows):
    X, y = rows
    problem = c_svc.formulate(Stored(Gram(RBF(0.5), X), False), y, np.ones(N))
    assert solve(problem).route == "by_rows"
    assert solve(problem, route="explicit").route == "explicit"
    with prepare(problem.matrix) as prepared:
        assert prepared.solve(problem).route == "explicit"
        assert prepared.solve(problem, route="by_rows").route == "by_rows"
    assert solve(problem, tol_unit="spread").route == "by_rows"


def test_a_route_that_does_not_fit_says_what_is_missing(rows):
    X, y = rows
    problem = c_svc.formulate(Gram(RBF(0.5), X), y, np.ones(N))
    with pytest.raises(ParameterError, match=r"route='explicit'.*needs WHOLE.*Gram does not offer.*'by_rows'"):
        solve(problem, route="explicit")
    with pytest.raises(ParameterError, match=r"route='box'.*takes the constraints Free.*this one is Sum"):
        solve(problem, route="box")
    with pytest.raises(ParameterError, match=r"route must be one of 'box', .*got 'fastest'"):
        solve(problem, route="fastest")
    with pytest.raises(ParameterError, match="tol_unit must be 'absolute' or 'spread'; got 'relative'"):
        solve(problem, tol_unit="relative")


def test_a_problem_without_a_route_names_what_each_route_misses(rows):
    X, _ = rows
    problem = box(Recomputed(Nystroem(RBF(0.5), X[:40]), HeldRows(X)))
    with pytest.raises(ParameterError, match=r"No route.*box: it needs ROWS.*out_of_core: it takes the constr"):
        route_of(problem)


def test_a_problem_on_another_matrix_is_refused(rows):
    X, _ = rows
    with (
        prepare(Gram(RBF(0.5), X)) as prepared,
        pytest.raises(ParameterError, match="prepared matrix has 400 rows and the problem 30"),
    ):
        prepared.solve(box(Gram(RBF(0.5), X[:30])))


@pytest.mark.parametrize("kind", ["by_rows", "explicit", "box"])
def test_a_prepared_path_ends_where_single_solves_end(rows, kind):
    X, y = rows
    matrix = Gram(RBF(0.5), X)
    matrix = Stored(matrix, False) if kind == "explicit" else matrix
    costs = (0.1, 1.0, 5.0, 0.3)
    problems = [box(matrix, C) if kind == "box" else c_svc.formulate(matrix, y, np.full(N, C)) for C in costs]
    with prepare(matrix) as prepared:
        start = None
        for problem in problems:
            found = prepared.solve(problem, start=start, tol=1e-6)
            assert found.route == kind
            assert certify(problem, found.beta).is_optimal(1.01e-6)
            assert found.objective == pytest.approx(solve(problem, tol=1e-6).objective, rel=1e-6)
            start = found.beta


def test_a_prepared_solver_turns_to_another_matrix_whatever_stands_in_its_memory(rows):
    """The next matrix may be written over the array of the last: nothing gathered from it may be believed."""
    X, y = rows
    K = Gram(RBF(0.5), X).rows(np.arange(N))
    with prepare(Precomputed(K, is_psd=True)) as prepared:
        prepared.solve(c_svc.formulate(prepared.matrix, y, np.ones(N)))
        K *= 3.0
        prepared.turn_to(Precomputed(K, is_psd=True))
        problem = c_svc.formulate(prepared.matrix, y, np.ones(N))
        found = prepared.solve(problem, tol=1e-6)
    assert certify(problem, found.beta).is_optimal(1.01e-6)


def test_a_formed_matrix_is_formed_once(rows, monkeypatch):
    X, _ = rows
    matrix = Gram(RBF(0.5), X)
    with prepare(matrix) as prepared:
        first = prepared.solve(box(matrix, 1.0))
        monkeypatch.setattr(Gram, "rows", None)
        second = prepared.solve(box(matrix, 2.0), start=first.beta)
    assert (first.route, second.route) == ("box", "box")
    assert second.status is Status.OPTIMAL


def test_many_small_problems_end_as_each_alone(rows):
    """Lower bounds, linear terms and matrices of any kind; sizes from one variable on; none at all."""
    X, _ = rows
    rng = np.random.default_rng(3)
    problems = []
    for n in (1, 2, 30, 127):
        lower = -rng.random(n)
        p, upper = rng.standard_normal(n), lower + rng.random(n)
        problems.append(Problem(Gram(RBF(1.0), X[:n]), p, lower, upper, Free()))
    for problem, found in zip(problems, solve_each(problems, tol=1e-8), strict=True):
        alone, judged = solve(problem, tol=1e-8), certify(problem, found.beta)
        assert found.route == alone.route == "box"
        np.testing.assert_allclose(found.beta, alone.beta, atol=1e-9)
        for name in ("objective", "violation", "duality_gap"):
            assert getattr(found.certificate, name) == pytest.approx(getattr(judged, name), rel=1e-9, abs=1e-12)
    assert solve_each([]) == []


def test_problems_that_are_not_small_are_solved_one_by_one(rows):
    X, y = rows
    matrix = Gram(RBF(0.5), X)
    problems = [c_svc.formulate(matrix, y, np.full(N, C)) for C in (0.5, 1.0)]
    found = solve_each(problems, tol=1e-6, in_turn=True)
    assert [one.route for one in found] == ["by_rows", "by_rows"]
    assert all(certify(problem, one.beta).is_optimal(1.01e-6) for problem, one in zip(problems, found, strict=True))


def test_the_sum_of_two_slacks_ends_at_the_optimum_to_rounding():
    """Two roundings of the same points: what a search or a path finds is the fit's own answer to the last digits."""
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((300, 5)) + np.array([4.0, 0.0, 0.0, 0.0, 0.0])
    total = 0.5 * solve(box(Gram(Linear(), Z), 0.1)).beta.sum()
    found = []
    for points in (Z, Z * (1.0 + 1e-15 * rng.standard_normal(Z.shape))):
        matrix = Gram(Linear(), points)
        with prepare(matrix) as prepared:
            solution = prepared.solve(box(matrix, 0.1, SumAtMost(total)))
        assert solution.route == "relaxed"
        assert solution.multipliers[0] < 0
        assert solution.certificate.violation < 1e-10
        found.append(points.T @ solution.beta)
    assert np.abs(found[0] - found[1]).max() < 1e-10 * np.abs(found[0]).max()


def test_one_judgement_of_all_endings():
    def ending(is_psd=True, violation=0.0, objective=1.0, **options):
        problem = box(Precomputed(np.eye(2), is_psd=is_psd))
        certificate = Certificate(objective, violation, 0.0, 0.0, (0.0,))
        return judge(problem, certificate, 1e-3, **{"has_run_out": False, **options})

    assert ending() is Status.OPTIMAL
    assert ending(is_psd=False) is Status.STATIONARY
    assert ending(is_psd=None) is Status.OPTIMAL
    assert ending(is_psd=None, least_curvature=-1e-3) is Status.STATIONARY
    assert ending(is_psd=None, least_curvature=-1e-15) is Status.OPTIMAL
    assert ending(is_psd=None, least_curvature=-1e-6, precision=np.float32) is Status.OPTIMAL
    assert ending(violation=2e-3) is Status.STALLED
    assert ending(violation=2e-3, has_run_out=True) is Status.MAX_ITER
    for broken in (np.nan, np.inf):
        assert ending(objective=broken) is Status.STALLED
        assert ending(violation=broken) is Status.STALLED


def test_a_watcher_stops_a_solve(rows):
    X, y = rows
    problem = c_svc.formulate(Gram(RBF(0.5), X), y, np.full(N, 10.0))
    stopped = solve(problem, on_round=lambda: True)
    assert stopped.status is Status.STOPPED
    assert stopped.n_outer == 1
    assert solve(problem, tol=1e-9, tol_unit="spread", on_round=lambda: True).status is Status.STOPPED


def test_a_solution_made_by_hand_has_no_route():
    problem = box(Precomputed(np.eye(2)))
    beta = np.ones(2)
    made = Solution(beta, problem.gradient(beta), Status.OPTIMAL, certify(problem, beta), 0, 0, {})
    assert made.route == ""


def test_a_stranger_s_matrix_of_products_and_rows_is_enough(rows):
    """Nothing of the kernels: a class with the members of the protocols, and no base."""

    class Spring:
        """Neighbours in a chain pull at one another."""

        abilities = frozenset({Ability.ROWS})
        is_psd = True

        def __init__(self, n):
            self.n = n

        def entries(self, rows, columns):
            gaps = np.abs(np.asarray(rows)[:, None] - np.asarray(columns)[None, :])
            return np.where(gaps == 0, 2.5, np.where(gaps == 1, -1.0, 0.0))

        def diagonal(self):
            return np.full(self.n, 2.5)

        def matvec(self, v):
            return self.entries(range(self.n), range(self.n)) @ v

        def block(self, indices, dtype=np.float64):
            return self.entries(indices, indices).astype(dtype)

        def argument_bound(self):
            return 2.5

        def rows(self, indices, dtype=np.float64):
            return self.entries(indices, range(self.n)).astype(dtype)

        def prepare(self, indices, dtype):
            return indices, dtype

        def tile(self, prepared, columns, out=None):
            tile = self.entries(prepared[0], np.arange(self.n)[columns]).astype(prepared[1])
            if out is None:
                return tile
            out[...] = tile
            return out

        def tile_width(self, m, itemsize):
            return self.n

    p = np.random.default_rng(5).standard_normal(60)
    problem = Problem(Spring(60), p, np.zeros(60), np.ones(60), Sum(10.0))
    dense = replace(problem, matrix=Precomputed(problem.matrix.rows(np.arange(60))))
    ours, theirs = solve(problem, tol=1e-8), solve(dense, tol=1e-8, route="explicit")
    assert ours.certificate.is_optimal(1e-8)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-9)
