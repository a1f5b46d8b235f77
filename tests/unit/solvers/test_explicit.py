"""The rows that may move, kept side by side: the right rows, the right block, the same answers."""

import numpy as np
import pytest

from askew.kernels import RBF, Gram
from askew.kernels.stored import Stored
from askew.methods import asymmetric, c_svc
from askew.qp import Status, certify
from askew.solvers import prepare, solve
from askew.solvers.explicit.active_block import ActiveBlock, find_movers


def overlapping(n=500, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.2, 1.0, -1.0)
    return Gram(RBF(0.3), rng.standard_normal((n, 4)) + 0.7 * (y[:, None] > 0)), y


def path(matrix, y):
    """Programmes on one matrix, of one sum and of two, some rows held out."""
    weight = np.ones(matrix.n)
    weight[::10] = 0.0
    return {
        "one sum": [c_svc.formulate(matrix, y, cost * weight) for cost in (0.1, 1.0, 10.0, 0.5)],
        "two sums": [asymmetric.formulate(matrix, y, weight, mu, 0.01) for mu in (0.15, 0.08, 0.02, 0.12)],
        "now one, now two": [
            make(matrix, y, weight, *shares)
            for shares in ((0.08, 0.02), (0.02, 0.04))
            for make in (lambda K, y, s, mu, tau: asymmetric.formulate_touching(K, y, s, tau), asymmetric.formulate)
        ],
    }


def rows_of(block):
    return block.rows[block.first : block.last]


@pytest.mark.parametrize("sums", ["one sum", "two sums", "now one, now two"])
@pytest.mark.parametrize("with_float32", [False, True])
@pytest.mark.parametrize("largest", [2048, 60])  # everything at once, and rounds until few enough are left
def test_a_path_on_one_block_finds_what_each_programme_finds_alone(monkeypatch, sums, with_float32, largest):
    monkeypatch.setattr("askew.solvers.explicit.loop.LARGEST_BLOCK", largest)
    matrix, y = overlapping()
    stored, last = Stored(matrix, with_float32), None
    prepared = prepare(stored)
    for exact, problem in zip(path(matrix, y)[sums], path(stored, y)[sums], strict=True):
        found = prepared.solve(problem, start=last, tol=1e-4)
        assert found.route == "explicit"
        last = found.beta
        assert found.status is Status.OPTIMAL
        np.testing.assert_allclose(found.gradient, exact.gradient(found.beta), atol=1e-5)
        assert certify(exact, found.beta).is_optimal(1.1e-4, 1e-9)
        assert found.objective == pytest.approx(solve(exact, tol=1e-5).objective, rel=1e-4)


def test_movers_are_all_that_violate_and_all_inside_their_box():
    stored, y = overlapping(300)
    problem = asymmetric.formulate(Stored(stored, False), y, np.ones(300), 0.1, 0.02)
    found = solve(problem, tol=1e-2, route="explicit")
    labels, box = problem.constraint.labels(300), (problem.lower, problem.upper)
    movers, violation = find_movers(found.gradient, found.beta, *box, labels, 2, 300)
    assert violation == pytest.approx(found.certificate.violation)
    inside = np.flatnonzero((found.beta > problem.lower) & (found.beta < problem.upper))
    assert set(inside) <= set(movers)
    assert len(inside) < len(movers) < 300
    held = np.ones(300, bool)
    held[movers] = False
    for g in (0, 1):  # whoever is left out would not move, whatever a mover of its group does
        mine, moving = held & (labels == g), ~held & (labels == g)
        highest = found.gradient[moving & (found.beta > problem.lower)].max()
        lowest = found.gradient[moving & (found.beta < problem.upper)].min()
        assert np.all(found.gradient[mine & (found.beta == problem.lower)] >= highest)
        assert np.all(found.gradient[mine & (found.beta == problem.upper)] <= lowest)
    assert len(find_movers(found.gradient, found.beta, *box, labels, 2, len(inside) - 1)[0]) == 0


@pytest.mark.parametrize("groups", [1, 2])
def test_newcomers_join_the_block_and_it_is_gathered_anew_when_it_is_far_too_large(groups):
    rng = np.random.default_rng(0)
    K, labels = rng.standard_normal((200, 200)), rng.integers(0, groups, 200)
    K = K + K.T
    block, wanted = ActiveBlock(), np.arange(0, 80)
    assert block.hold(K, wanted, labels, groups)
    assert not block.hold(K, wanted[5:], labels, groups)
    for size in (86, 95, 150, 20):
        assert block.hold(K, np.arange(size), labels, groups) == (size > 80)
        rows = rows_of(block)
        assert set(range(size)) <= set(rows)
        assert len(np.unique(rows)) == len(rows)
        inner = block._block[block.first : block.last, block.first : block.last]
        np.testing.assert_array_equal(inner, K[np.ix_(rows, rows)])
        if groups == 2:
            assert np.all(labels[block.rows[block.first : block.middle]] == 0)
            assert np.all(labels[block.rows[block.middle : block.last]] == 1)
    assert len(rows) == 20


def test_a_block_that_is_told_to_forget_reads_the_matrix_again():
    K, labels = np.eye(50), np.zeros(50, np.int64)
    block = ActiveBlock()
    block.hold(K, np.arange(30), labels, 1)
    K *= 3.0  # the memory of one matrix is written over by the next
    block.forget()
    block.hold(K, np.arange(30), labels, 1)
    np.testing.assert_array_equal(block._block[block.first : block.last, block.first : block.last], 3.0 * np.eye(30))
