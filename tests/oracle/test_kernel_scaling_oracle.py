"""Given D, the second programme of every scaling is solved as well as Clarabel solves it."""

import numpy as np
import pytest
from oracle.clarabel_oracle import objective_scale, solve_with_clarabel

from askew.kernels import RBF, Gram, Linear, Polynomial
from askew.kernels.bends import on_rows
from askew.kernels.conformal import Conformal
from askew.methods import c_svc
from askew.methods.kernel_scaling import Task, first_fit, input_space
from askew.methods.kernel_scaling_rules import SCALINGS, rule_of
from askew.qp import certify
from askew.solvers import solve

PER_SCALING = 104
CHUNK = 26
TOL = 1e-6


def _task(seed):
    """A skewed problem: 8 to 90 points, three kernels, C over three decades, sometimes weights and repeated rows."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 91)), int(rng.integers(2, 9))
    y = np.where(rng.random(n) < rng.uniform(0.1, 0.5), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.standard_normal((n, d)) + rng.uniform(0, 1.5) * (y[:, None] > 0)
    identity = np.arange(n)
    if seed % 5 == 0:
        identity = rng.integers(0, n, n)
        X = X[identity]
    function = (RBF(rng.uniform(0.5, 3.0) / d), Linear(), Polynomial(1.0 / d, 2, 1.0))[seed % 3]
    weight = rng.integers(1, 4, n).astype(float) if seed % 2 else np.ones(n)
    cost = 10.0 ** rng.uniform(-1, 2) * weight
    return Task(Gram(function, X), y, cost, weight, identity, input_space(X)), rng


def _second_programme(scaling, seed):
    task, rng = _task(seed)
    strengths = tuple(10.0 ** rng.uniform(-1, 1, 2))
    first = first_fit(task, lambda problem, start=None: solve(problem, start=start, tol=1e-4))
    bend = rule_of(scaling, strengths if scaling == "asymmetric" else (strengths[0],) * 2)(task, first)
    factor = np.exp(on_rows(bend, first.score, task.distances(bend.space)))
    return c_svc.formulate(Conformal(task.matrix, factor), task.y, task.cost), first.solution.beta


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("start", range(0, PER_SCALING, CHUNK))
def test_the_bent_programme_reaches_the_objective_of_the_oracle(scaling, start):
    for seed in range(start, start + CHUNK):
        problem, warm = _second_programme(scaling, seed)
        ours = solve(problem, start=warm, tol=TOL)
        beta, objective = solve_with_clarabel(problem)
        excess = (ours.objective - objective) / objective_scale(problem, beta, objective)
        assert excess <= TOL, f"{scaling}, seed {seed}: {excess:.2e} above the oracle"
        assert ours.status.has_converged, f"{scaling}, seed {seed}: {ours.status}"
        assert certify(problem, ours.beta).is_optimal(TOL)


def test_a_perturbed_answer_is_refused():
    problem, warm = _second_programme("asymmetric", 1)
    beta = solve(problem, start=warm, tol=TOL).beta.copy()
    inside = np.flatnonzero((beta > problem.lower) & (beta < problem.upper))[:2]
    assert len(inside) == 2
    beta[inside] += 1e-2 * np.array([1.0, -1.0]) * np.min(problem.upper[inside] - problem.lower[inside])
    assert not certify(problem, beta).is_optimal(TOL)
