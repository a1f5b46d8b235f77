"""Every route against Clarabel, and the certificate as judge of both, on random programmes."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from oracle.clarabel_oracle import answered, gradient_unit, objective_scale
from oracle.zoo import KERNELS, SHAPES, TRAITS, draw, kernel_of, trait_of

from askew.exceptions import ParameterError
from askew.kernels import Gram
from askew.kernels.low_rank import LowRank
from askew.qp import Ability, Precomputed, Status, certify
from askew.solvers import route_of, solve

SEEDS_PER_SHAPE = 220
CHUNK = 44
CHUNKS = [range(start, start + CHUNK) for start in range(0, SEEDS_PER_SHAPE, CHUNK)]
TOL = 1e-6  # in units of the gradient: of p, or of K times the box where there is no p

over_the_zoo = pytest.mark.parametrize(
    ("shape", "seeds"),
    [(s, c) for s in SHAPES for c in CHUNKS],
    ids=lambda v: v if isinstance(v, str) else f"{v[0]}+",
)


def _about(shape, seed, problem):
    return f"draw({shape!r}, {seed}): n = {problem.n}, {trait_of(seed)}, {kernel_of(seed)}"


ROUTES = ("box", "points", "explicit", "low_rank", "out_of_core", "by_rows", "relaxed")
"""All but ``surrogate``, whose matrices have a zoo of their own (``test_covariance_one_class_oracle``)."""
LIKE = {"free": {"box", "points", "by_rows"}, "sum_at_most": {"relaxed", "by_rows"}}
SUMS = {"explicit", "low_rank", "out_of_core", "by_rows"}


def forms(problem):
    """The programme as it was drawn, and on the same matrix as an array and as a product of features."""
    yield problem
    K = problem.matrix.rows(np.arange(problem.n))
    yield replace(problem, matrix=Precomputed(0.5 * (K + K.T), is_psd=True))
    if isinstance(problem.matrix, Gram) and Ability.POINTS in problem.matrix.abilities:
        yield replace(problem, matrix=LowRank(np.ascontiguousarray(problem.matrix.points.X, np.float64)))


def routes_of(problem):
    """Every route that accepts a programme, whatever it costs."""
    for name in ROUTES:
        try:
            yield route_of(problem, route=name).name
        except ParameterError:
            continue


@over_the_zoo
def test_every_route_reaches_the_objective_of_the_oracle_and_is_certified(monkeypatch, shape, seeds):
    monkeypatch.setattr("askew.solvers.coordinate.low_rank.FEW", 0)  # sweeps however few the variables
    wrong, taken = [], Counter()
    for seed in seeds:
        problem, beta, optimum = answered(shape, seed)
        tol, unit = TOL * gradient_unit(problem), objective_scale(problem, beta, optimum)
        for form in forms(problem):
            for route in routes_of(form):
                solution = solve(form, tol=tol, route=route)
                verdict = certify(problem, solution.beta)  # its own gradient, not the route's
                error = abs(solution.objective - optimum) / unit
                allowed = 1e-6 + max(0.0, verdict.duality_gap) / unit  # what tol leaves of the objective
                drift = 1e-10 if route == "by_rows" else 1e-9  # of the sums, over up to a million pairs
                is_right = solution.status is Status.OPTIMAL and verdict.is_optimal(1.01 * tol, drift)
                taken[route] += 1
                if not is_right or error > allowed:
                    wrong.append(
                        f"{_about(shape, seed, problem)}, {route} on {type(form.matrix).__name__}: "
                        f"{solution.status}, error {error:.2g}, {verdict}"
                    )
    assert not wrong, "\n".join(wrong)
    assert set(taken) == LIKE.get(shape, SUMS)


@over_the_zoo
def test_the_solution_reports_what_the_problem_says_of_its_point(shape, seeds):
    for seed in seeds[::11]:
        problem = draw(shape, seed)
        solution = solve(problem, tol=TOL * gradient_unit(problem))
        about = _about(shape, seed, problem)
        size = np.abs(problem.matrix.diagonal()).max() * np.abs(solution.beta).sum() + np.abs(problem.linear).max()
        np.testing.assert_allclose(
            solution.gradient, problem.gradient(solution.beta), atol=1e-13 * size, rtol=1e-12, err_msg=about
        )
        assert solution.certificate == certify(problem, solution.beta, solution.gradient), about
        assert np.all((problem.lower <= solution.beta) & (solution.beta <= problem.upper)), about


@over_the_zoo
def test_the_certificate_accepts_the_oracle(shape, seeds):
    """An interior-point method has the optimum to a few digits less in β than in the objective."""
    for seed in seeds:
        problem, beta, _ = answered(shape, seed)
        verdict = certify(problem, beta)
        assert verdict.is_optimal(3e-5 * gradient_unit(problem), 1e-9), _about(shape, seed, problem)


def test_the_zoo_is_what_it_says():
    for shape in SHAPES:
        sizes = [draw(shape, seed).n for seed in range(SEEDS_PER_SHAPE)]
        assert min(sizes) == 1
        assert 200 < max(sizes) <= 300
    pairs = Counter((trait_of(seed), kernel_of(seed)) for seed in range(SEEDS_PER_SHAPE))
    assert len(pairs) == len(TRAITS) * len(KERNELS)
    assert min(pairs.values()) >= 5


def test_the_zoo_has_the_optima_it_promises():
    """All variables at a bound, sums that bind and sums that do not: each occurs often."""
    all_at_bound, slack_sums, binding_sums = 0, 0, 0
    for seed in range(SEEDS_PER_SHAPE):
        problem, beta, _ = answered("sum_at_most", seed)
        total = problem.constraint.totals[0]
        all_at_bound += problem.n > 1 and bool(np.all((beta == problem.lower) | (beta == problem.upper)))
        is_slack = beta.sum() < total * (1 - 1e-6)
        slack_sums, binding_sums = slack_sums + is_slack, binding_sums + (total > 0 and not is_slack)
    assert min(all_at_bound, slack_sums, binding_sums) >= 20


def test_a_problem_is_reproducible():
    one, same = draw("sum", 11), draw("sum", 11)
    np.testing.assert_array_equal(one.matrix.rows(np.arange(one.n)), same.matrix.rows(np.arange(one.n)))
    np.testing.assert_array_equal(one.upper, same.upper)
    assert one.constraint == same.constraint
