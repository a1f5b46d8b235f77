"""Many small machines at once: each as if it were alone, as the plain road has it, and judged from its own numbers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from askew import MomentSVC, solvers
from askew.exceptions import DataError
from askew.kernels import Precomputed
from askew.kernels.sparse_products import gram_of_rows
from askew.methods.moment import Formulation, Kernel, Setting, fit_machines, formulate, is_few
from askew.moments import CovarianceModel, DiagonalMoments, ridged_rows
from askew.moments.factor import Factor
from askew.moments.sparse_sweeps import directions_of_rows, invert_variances, sum_of_deviations, whiten_rows
from askew.qp import certify
from askew.solvers import solve, solve_each
from askew.summaries import gather

FEW = 128  # more positives than this have a matrix of their own


@pytest.fixture
def documents():
    """Sparse rows, labels that overlap and differ in size, weights."""
    rng = np.random.default_rng(0)
    X = sparse.random(900, 200, 0.06, "csr", random_state=rng)
    sizes = (3, 20, 90, FEW + 40)
    member = np.zeros((900, len(sizes)), dtype=bool)
    for c, size in enumerate(sizes):
        rows = rng.choice(900, size, replace=False)
        member[rows, c] = True
        X = X + sparse.csr_array((np.full(size, 0.3), (rows, np.full(size, 7 * c))), shape=X.shape)
    return sparse.csr_array(X), member, rng.uniform(0.5, 2.0, 900)


@pytest.mark.parametrize(
    "formulation", [Formulation(), Formulation(C=0.02), Formulation(C=50.0), Formulation("nu", nu=0.3)]
)
def test_at_once_is_one_by_one_is_the_plain_road(documents, formulation):
    X, member, weight = documents
    evidence = gather(X, member, weight, CovarianceModel("diagonal"))[:3]
    setting = Setting(formulation, Kernel(), "diagonal", 0.01, 1e-3, -1, solvers)
    by_itself = replace(setting, covariance="factor")
    assert all(is_few(e, setting) and not is_few(e, by_itself) for e in evidence)
    few, plain = fit_machines(evidence, setting), fit_machines(evidence, by_itself)
    np.testing.assert_allclose(few.coefs, plain.coefs, rtol=1e-8, atol=1e-8 * np.abs(plain.coefs).max())
    for one, other in zip(few.each, plain.each, strict=True):
        assert one.fit.status.has_converged
        assert one.fit.status is other.fit.status
        assert one.fit.violation <= 1e-8
        assert one.fit.intercept == other.fit.intercept
        assert one.deviation == pytest.approx(other.deviation)
        assert one.centre == pytest.approx(other.centre)
    for k in range(3):
        alone = fit_machines(evidence[k : k + 1], setting)
        np.testing.assert_array_equal(alone.coefs[0], few.coefs[k])
        np.testing.assert_array_equal(alone.each[0].fit.alpha, few.each[k].fit.alpha)


@pytest.mark.parametrize("rho", ["auto", 0.003])
def test_one_call_for_all_labels_is_one_fit_per_label(documents, rho):
    """Also the label with more positives than fit here, and every attribute."""
    X, member, weight = documents
    together = MomentSVC(covariance="diagonal", rho=rho).fit(X, member.astype(int), weight)
    assert together.status_ == "optimal"
    for c in range(member.shape[1]):
        alone = MomentSVC(covariance="diagonal", rho=together.rho_).fit(X, member[:, c], weight)
        atol = 1e-8 if member[:, c].sum() <= FEW else 2e-3
        scores, expected = together.decision_function(X)[:, c], alone.decision_function(X)
        np.testing.assert_allclose(scores, expected, atol=atol * np.abs(expected).max())
        assert together.kkt_violation_[c] <= 1e-3
        assert together.dual_gap_[c] >= 0.0
        negatives = scores[~member[:, c]]
        shares = weight[~member[:, c]] / weight[~member[:, c]].sum()
        assert shares[negatives >= 0].sum() <= together.false_positive_bound_[c]


def test_every_certificate_is_that_of_its_programme(documents):
    X, member, weight = documents
    evidence = gather(X, member, weight, CovarianceModel("diagonal"))[:3]
    for max_iter in (-1, 5):
        problems = []
        for e in evidence:
            rows = e.structure.with_ridge(0.02).whiten(e.X)
            K = (rows.rows @ rows.rows.T).toarray() + (rows.columns * rows.signs) @ rows.columns.T
            problems.append(formulate(Precomputed(K, is_psd=True), Formulation(C=0.5), e.weight))
        found = solve_each(problems, tol=np.full(3, 1e-8), max_iter=max_iter)
        for problem, mine in zip(problems, found, strict=True):
            judged = certify(problem, mine.beta)
            alone = solve(problem, tol=1e-8, max_iter=max_iter, route="box")
            np.testing.assert_array_equal(mine.beta, alone.beta)
            assert mine.status is alone.status
            assert mine.n_iter == alone.n_iter
            for name in ("objective", "violation", "duality_gap", "infeasibility"):
                assert getattr(mine.certificate, name) == pytest.approx(getattr(judged, name), rel=1e-9, abs=1e-12)


def test_compiled_and_plain_rows_agree(documents, monkeypatch):
    X, member, _weight = documents
    moments, rows = DiagonalMoments.of(X), X[np.flatnonzero(member[:, 1])]
    entries, ridges = (rows.data, rows.indices, rows.indptr), np.array([0.5, 0.01])
    inverse = np.empty((2, 200))
    for out, form in zip(inverse, (invert_variances, invert_variances.py_func), strict=True):
        assert form(moments.scatter, 900.0, 0.1, out) == pytest.approx(moments.variance.min() + 0.1)
    np.testing.assert_allclose(inverse[0], 1.0 / (moments.variance + 0.1))
    np.testing.assert_allclose(inverse[0], inverse[1])
    for form in (sum_of_deviations, sum_of_deviations.py_func):
        assert form(-moments.mean, moments.scatter) == pytest.approx(np.abs(moments.mean) @ np.sqrt(moments.scatter))
    white = [form(*entries, moments.mean, inverse[0]) for form in (whiten_rows, whiten_rows.py_func)]
    for quick, plain in zip(*white, strict=True):
        np.testing.assert_allclose(quick, plain)
    for form in (gram_of_rows, gram_of_rows.py_func):
        np.testing.assert_allclose(form(*entries, 200), (rows @ rows.T).toarray(), atol=1e-12)
    coefficients = np.random.default_rng(1).normal(size=(20, 3))
    structure = Factor(moments.mean, moments.variance, ridge=0.1)
    expected = structure.solve(structure.centred_sum(rows, coefficients)).T
    for form in (directions_of_rows, directions_of_rows.py_func):
        out = np.empty((3, 200))
        form(*entries, coefficients, moments.mean, inverse[0], out)
        np.testing.assert_allclose(out, expected, atol=1e-12)
    quick = ridged_rows.products_by_ridge(*entries, moments.mean, moments.variance, ridges)
    for loop in ("sum_means", "meet_rows"):
        monkeypatch.setattr(ridged_rows, loop, getattr(ridged_rows, loop).py_func)
    plain = ridged_rows.products_by_ridge(*entries, moments.mean, moments.variance, ridges)
    for one, other in zip(quick, plain, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_no_variance_and_no_ridge_is_refused():
    X = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 1.0], [3.0, 1.0, 0.0], [2.0, 0.0, 1.0]]))
    with pytest.raises(DataError, match="no variance of their own and rho=0"):
        MomentSVC(covariance="diagonal", rho=0.0).fit(X, [0, 0, 1, 0])


def test_a_path_on_a_stored_matrix_is_one_solution_after_the_other():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(30, 5)) + 0.3
    K, weight, Cs = Z @ Z.T, rng.uniform(0.5, 2.0, 30), np.array([1e-3, 0.1, 0.05, 10.0])
    matrix = Precomputed(K, is_psd=True)
    problems = [formulate(matrix, Formulation(C=C), weight) for C in Cs]
    for problem, mine in zip(problems, solve_each(problems, tol=1e-9, in_turn=True), strict=True):
        judged = certify(problem, mine.beta)
        assert mine.status.has_converged
        assert judged.infeasibility == 0.0
        assert judged.violation <= 2e-9
        assert mine.certificate.duality_gap == pytest.approx(judged.duality_gap, abs=1e-9)
        assert mine.objective == pytest.approx(solve(problem, tol=1e-9, route="box").objective, rel=1e-9)
