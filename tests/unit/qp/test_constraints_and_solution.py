"""Constraint shapes as sums over groups with a slack, and the statuses of a solution."""

import numpy as np
import pytest

from askew.kernels import Precomputed
from askew.qp import Free, GroupSums, Problem, Solution, Status, Sum, SumAtMost, certify


@pytest.mark.parametrize(
    ("constraint", "totals", "slack", "labels"),
    [
        (Free(), (0.0,), (-np.inf, np.inf), [0, 0, 0]),
        (Sum(2.0), (2.0,), None, [0, 0, 0]),
        (SumAtMost(2.0), (2.0,), (0.0, np.inf), [0, 0, 0]),
        (GroupSums(np.array([1, 0, 1]), (2.0, 3.0)), (2.0, 3.0), None, [1, 0, 1]),
    ],
)
def test_every_shape_is_sums_over_groups_with_a_slack(constraint, totals, slack, labels):
    assert constraint.totals == totals
    assert constraint.slack == slack
    np.testing.assert_array_equal(constraint.labels(3), labels)


def test_only_a_met_tolerance_counts_as_converged():
    assert {status for status in Status if status.has_converged} == {Status.OPTIMAL, Status.STATIONARY}


def test_a_solution_takes_its_numbers_from_its_certificate():
    problem = Problem(Precomputed(np.eye(2)), np.array([-1.0, -3.0]), np.zeros(2), np.full(2, 5.0), Sum(2.0))
    beta = np.array([0.0, 2.0])
    verdict = certify(problem, beta)
    solution = Solution(beta, problem.gradient(beta), Status.OPTIMAL, verdict, n_iter=1, n_outer=1, timings={})
    assert solution.objective == pytest.approx(0.5 * 4 - 6)
    assert solution.multipliers == verdict.multipliers == pytest.approx((-1.0,))
