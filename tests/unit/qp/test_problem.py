"""Problem: what it refuses, and the arithmetic it offers."""

import dataclasses

import numpy as np
import pytest

from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.qp import Free, GroupSums, Precomputed, Problem, Sum, SumAtMost


def make(n=3, constraint=None, **changes):
    parts = {
        "matrix": Precomputed(np.eye(n)),
        "linear": -np.ones(n),
        "lower": np.zeros(n),
        "upper": np.ones(n),
        "constraint": constraint or Free(),
    }
    return Problem(**{**parts, **changes})


@pytest.mark.parametrize("name", ["linear", "lower", "upper"])
@pytest.mark.parametrize("shape", [(2,), (3, 1), ()])
def test_a_vector_of_the_wrong_shape_is_named(name, shape):
    with pytest.raises(ParameterError, match=rf"{name} must have shape \(3,\), one entry per row of the matrix; got"):
        make(**{name: np.zeros(shape)})


def test_an_empty_box_is_named():
    with pytest.raises(InfeasibleError, match="box of variable 1 is empty: lower=2 exceeds upper=1"):
        make(lower=[0, 2, 3])


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (Sum(3.5), r"group 0 can sum to \[0, 3\] within their box; the constraint asks for 3.5"),
        (Sum(-0.1), r"\[0, 3\]"),
        (GroupSums(np.array([0, 1, 1]), (1.0, 2.5)), r"group 1 can sum to \[0, 2\]"),
        (GroupSums(np.array([0, 0, 0]), (1.0, 0.5)), r"group 1 can sum to \[0, 0\]"),
        (SumAtMost(-1.0), r"asks for -1"),
    ],
)
def test_a_sum_out_of_reach_is_named_with_what_is_in_reach(constraint, message):
    with pytest.raises(InfeasibleError, match=message):
        make(constraint=constraint)


@pytest.mark.parametrize(
    "constraint",
    [Sum(3.0), Sum(0.0), SumAtMost(0.0), SumAtMost(99.0), GroupSums(np.array([0, 0, 0]), (1.0, 0.0)), Sum(0.1 * 30)],
)
def test_sums_at_the_edge_are_within_reach(constraint):
    assert make(constraint=constraint).n == 3


def test_an_open_box_reaches_every_sum():
    assert make(upper=np.full(3, np.inf), constraint=Sum(1e9)).n == 3


def test_any_real_vector_becomes_float64():
    problem = make(linear=[1, 2, 3], upper=np.float32([1, 1, 1]))
    assert problem.linear.dtype == problem.upper.dtype == np.float64


def test_it_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make().linear = np.zeros(3)


def test_objective_and_gradient_are_those_of_the_formula():
    rng = np.random.default_rng(0)
    A, p, beta = rng.standard_normal((5, 5)), rng.standard_normal(5), rng.uniform(0, 1, 5)
    K = A @ A.T
    problem = make(5, matrix=Precomputed(K), linear=p)
    np.testing.assert_allclose(problem.gradient(beta), K @ beta + p)
    expected = 0.5 * beta @ K @ beta + p @ beta
    assert problem.objective(beta) == pytest.approx(expected)
    assert problem.objective(beta, K @ beta + p) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["linear", "lower", "upper"])
def test_nan_is_refused_by_name(name):
    vectors = {"linear": np.zeros(3), "lower": np.zeros(3), "upper": np.ones(3)}
    vectors[name][1] = np.nan
    with pytest.raises(ParameterError, match=f"{name} must hold numbers; entry 1 is NaN"):
        Problem(Precomputed(np.eye(3)), **vectors, constraint=Free())


def test_groups_must_cover_every_variable():
    with pytest.raises(ParameterError, match=r"a group to each of 3 variables; got \(2,\)"):
        Problem(Precomputed(np.eye(3)), np.zeros(3), np.zeros(3), np.ones(3), GroupSums(np.array([0, 1]), (1.0, 1.0)))


def test_a_problem_in_another_box_is_the_same_but_for_the_box():
    one = Problem(Precomputed(np.eye(3)), -np.ones(3), np.zeros(3), np.ones(3), Sum(1.0))
    other = one.in_box(np.zeros(3), [0.5, 0.5, 2.0])
    assert other.matrix is one.matrix
    assert other.constraint is one.constraint
    np.testing.assert_array_equal(other.upper, [0.5, 0.5, 2.0])
    np.testing.assert_array_equal(one.upper, np.ones(3))
    with pytest.raises(InfeasibleError, match="group 0 can sum to"):
        one.in_box(np.zeros(3), np.full(3, 0.1))
    with pytest.raises(InfeasibleError, match="box of variable 1 is empty"):
        one.in_box(np.zeros(3), [1.0, -1.0, 1.0])
    with pytest.raises(ParameterError, match="upper must hold numbers; entry 2 is NaN"):
        one.in_box(np.zeros(3), [1.0, 1.0, np.nan])
    with pytest.raises(ParameterError, match=r"lower must have shape \(3,\)"):
        one.in_box(np.zeros(2), np.ones(3))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_a_plain_array_is_a_matrix(order, dtype):
    K = np.array([[2, 1, 0], [1, 2, 1], [0, 1, 2]], dtype=dtype, order=order)
    problem = make(matrix=K)
    assert isinstance(problem.matrix, Precomputed)
    np.testing.assert_array_equal(problem.gradient(np.array([1.0, 0.0, 2.0])), [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.eye(3)[:2], r"must be square, n×n; got an array of shape \(2, 3\)"),
        (np.zeros(3), r"must be square, n×n; got an array of shape \(3,\)"),
        (np.diag([1.0, np.nan, 1.0]), "must be finite; got NaN or infinity"),
        (np.triu(np.ones((3, 3))), r"differs from its transpose by 1. Pass \(K \+ K.T\) / 2"),
    ],
    ids=["a part", "a vector", "NaN", "half of it"],
)
def test_an_array_that_is_no_symmetric_matrix_is_refused(K, message):
    with pytest.raises(DataError, match=message):
        make(matrix=K)
