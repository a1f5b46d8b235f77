"""Moments: exact, stable, mergeable, and the same however the data arrive."""

import numpy as np
import pytest
from scipy import sparse

from askew.exceptions import DataError
from askew.moments import DiagonalMoments, LowRankMoments, Moments
from askew.moments.moments import can_subtract, without_each
from askew.moments.sparse_sweeps import remove_rows


def exact(X, weight=None):
    """Mean and covariance in extended precision."""
    X = np.asarray(X, dtype=np.longdouble)
    weight = np.ones(len(X), np.longdouble) if weight is None else np.asarray(weight, np.longdouble)
    mean = weight @ X / weight.sum()
    centred = X - mean
    return mean, (centred * weight[:, None]).T @ centred / weight.sum()


def relative_error(covariance, expected):
    scale = np.sqrt(np.diagonal(expected))
    return float(np.max(np.abs(covariance - expected) / np.multiply.outer(scale, scale)))


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(5003, 7)) @ rng.normal(size=(7, 7)) + 1e8


def test_an_offset_of_1e8_loses_nothing(data):
    mean, covariance = exact(data)
    moments = Moments.of(data)
    assert relative_error(moments.covariance, covariance) < 1e-13
    assert np.max(np.abs(moments.mean - mean) / np.abs(mean)) < 1e-15
    assert relative_error(np.diag(DiagonalMoments.of(data).variance), np.diag(np.diagonal(covariance))) < 1e-13


def test_order_and_chunking_do_not_matter(data):
    _, covariance = exact(data)
    rng = np.random.default_rng(1)
    whole = Moments.of(data)
    for _ in range(5):
        shuffled = data[rng.permutation(len(data))]
        cuts = np.sort(rng.integers(0, len(data), 12))
        total = Moments.empty(data.shape[1])
        for part in np.split(shuffled, cuts):
            total = total + Moments.of(part)
        assert total.n_samples == len(data)
        assert relative_error(total.covariance, covariance) < 1e-12
        assert relative_error(total.covariance, whole.covariance) < 1e-12


@pytest.mark.parametrize("d", [1, 30, 128, 129])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_and_columns_in_memory_and_narrow_and_wide_are_the_same(d, order):
    """Many narrow rows are multiplied by compiled code, wide ones by BLAS; columns that stand apart stay apart."""
    rng = np.random.default_rng(d)
    X = np.asarray(rng.normal(size=(9001, d)) @ rng.normal(size=(d, d)) + 1e6, order=order)
    for weight in (None, rng.integers(0, 3, len(X)).astype(float)):
        moments = Moments.of(X[5:], None if weight is None else weight[5:])
        mean, covariance = exact(X[5:], None if weight is None else weight[5:])
        assert relative_error(moments.covariance, covariance) < 1e-13
        assert np.max(np.abs(moments.mean - mean) / np.abs(mean)) < 1e-15
        np.testing.assert_array_equal(moments.scatter, moments.scatter.T)


def test_what_was_merged_can_be_taken_away(data):
    some, rest = data[:1234], data[1234:]
    left = Moments.of(data) - Moments.of(some)
    assert relative_error(left.covariance, exact(rest)[1]) < 1e-12
    assert (left - Moments.of(rest)).n_samples == 0


def test_weights_equal_repetition(data):
    weight = np.random.default_rng(2).integers(0, 4, len(data))
    weighted, repeated = Moments.of(data, weight), Moments.of(np.repeat(data, weight, axis=0))
    assert weighted.n_samples == repeated.n_samples
    assert relative_error(weighted.covariance, repeated.covariance) < 1e-12
    assert relative_error(Moments.of(data, np.full(len(data), 0.37)).covariance, exact(data)[1]) < 1e-12


@pytest.mark.parametrize("kind", [Moments, DiagonalMoments])
@pytest.mark.parametrize("weigh", [False, True])
def test_sparse_equals_dense(kind, weigh):
    rng = np.random.default_rng(3)
    offset = sparse.csr_array(rng.normal(size=(2000, 2)) + 1e8)  # full columns far from zero
    X = sparse.hstack([sparse.random(2000, 20, 0.1, random_state=0), offset], format="csr")
    weight = rng.integers(0, 3, 2000).astype(float) if weigh else None
    expected = exact(X.toarray(), weight)[1]
    found = kind.of(X, weight)
    covariance = np.diag(found.variance) if found.is_diagonal else found.covariance
    wanted = np.diag(np.diagonal(expected)) if found.is_diagonal else expected
    assert relative_error(covariance, wanted) < 1e-12


def test_sparse_duplicates_are_summed():
    X = sparse.coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [0, 0, 1])), shape=(3, 2)).tocsr()
    doubled = sparse.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3, 3])), shape=(3, 2))
    np.testing.assert_allclose(Moments.of(doubled).covariance, Moments.of(X).covariance)


def test_float32_rows_are_summed_in_float64():
    rng = np.random.default_rng(4)
    X = (rng.normal(size=(200_000, 5)) + 100).astype(np.float32)
    covariance = exact(X)[1]
    assert relative_error(Moments.of(X).covariance, covariance) < 2e-6
    naive = X.T @ X / np.float32(len(X)) - np.outer(X.mean(0), X.mean(0))
    assert relative_error(naive, covariance) > 1e-4  # what it is all for


def test_float32_squares_that_overflow_are_retried():
    for repeats in (1, 2000):  # BLAS, and the compiled product of many rows
        X = np.array(repeats * [[1e30], [3e30], [-2e30]], dtype=np.float32)
        expected = np.cov(X.T.astype(float), bias=True).reshape(1, 1)
        np.testing.assert_allclose(Moments.of(X).covariance, expected, rtol=1e-6)


def test_integers_and_fortran_order():
    X = np.arange(60).reshape(20, 3) ** 2
    np.testing.assert_allclose(Moments.of(np.asfortranarray(X)).covariance, np.cov(X.T, bias=True))


@pytest.mark.parametrize("kind", [Moments, DiagonalMoments, LowRankMoments])
def test_save_and_load(tmp_path, kind, data):
    moments = kind.of(data)
    moments.save(tmp_path / "m.npz")
    loaded = kind.load(tmp_path / "m.npz")
    for name, value in moments._arrays().items():
        np.testing.assert_array_equal(loaded._arrays()[name], value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.npz"]
    other = DiagonalMoments if kind is Moments else Moments
    with pytest.raises(DataError, match=f"load it with askew.moments.{kind.__name__}"):
        other.load(tmp_path / "m.npz")


def test_a_failed_save_leaves_the_old_file(tmp_path, data, monkeypatch):
    Moments.of(data).save(tmp_path / "m.npz")
    before = (tmp_path / "m.npz").read_bytes()
    monkeypatch.setattr(np, "savez", lambda *a, **k: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        Moments.of(data[:10]).save(tmp_path / "m.npz")
    assert (tmp_path / "m.npz").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_errors_name_the_trouble():
    X = np.ones((4, 2))
    with pytest.raises(DataError, match="NaN or infinity"):
        Moments.of(np.array([[1.0, np.nan]]))
    with pytest.raises(DataError, match="two dimensions"):
        Moments.of(np.ones(3))
    with pytest.raises(DataError, match="one entry per row"):
        Moments.of(X, np.ones(3))
    with pytest.raises(DataError, match="≥ 0"):
        Moments.of(X, [-1, 1, 1, 1])
    with pytest.raises(DataError, match="cannot combine"):
        Moments.of(X) + Moments.of(np.ones((4, 3)))
    with pytest.raises(DataError, match="Only Moments combine"):
        Moments.of(X) + DiagonalMoments.of(X)
    with pytest.raises(DataError, match="Cannot take"):
        Moments.of(X[:1]) - Moments.of(X)
    with pytest.raises(DataError, match="no points"):
        Moments.empty(2).covariance  # noqa: B018
    with pytest.raises(DataError, match=r"19 GiB.*DiagonalMoments"):
        Moments.of(sparse.csr_array((3, 50_000)))


def test_low_rank_merges_exactly_below_its_rank():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 40)) + 5.0
    parts = LowRankMoments.of(X[:100], rank=5) + LowRankMoments.of(X[100:], rank=5)
    np.testing.assert_allclose(parts.basis @ parts.basis.T / 300, np.cov(X.T, bias=True), atol=1e-9)
    np.testing.assert_allclose(parts.variance, X.var(axis=0))
    with pytest.raises(DataError, match="do not subtract"):
        parts - parts


def test_low_rank_never_exceeds_the_scatter():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 30)) * np.linspace(0.1, 3, 30)
    sketch = LowRankMoments.of(X[:200], rank=4) + LowRankMoments.of(X[200:], rank=4).weighted(1.0)
    scatter = np.cov(X.T, bias=True) * 400
    assert np.linalg.eigvalsh(scatter - sketch.basis @ sketch.basis.T).min() > -1e-8 * np.trace(scatter)
    for w in rng.normal(size=(20, 30)):
        assert sketch.score_variance(w) >= np.var(X @ w) * (1 - 1e-10)
        assert DiagonalMoments.of(X).score_variance(w) >= np.var(X @ w) * (1 - 1e-10)
        np.testing.assert_allclose(Moments.of(X).score_variance(w), np.var(X @ w))


def test_fifty_thousand_features_without_a_square_matrix():
    X = sparse.random(300, 50_000, 0.001, format="csr", random_state=0)
    assert DiagonalMoments.of(X).scatter.shape == (50_000,)
    assert LowRankMoments.of(X, rank=5).basis.shape == (50_000, 5)


def test_all_but_a_class_equals_the_rest_alone():
    rng = np.random.default_rng(7)
    X = sparse.random(500, 30, 0.1, format="csr", random_state=1)
    X.data += 3.0
    weight = rng.integers(0, 3, 500).astype(float)
    total = DiagonalMoments.of(X, weight)
    assert can_subtract(X, total)
    groups = [rng.permutation(500)[:size] for size in (0, 1, 60, 499, 500)]
    found = without_each(total, X, groups, weight)
    for rows, mine in zip(groups[:-1], found[:-1], strict=True):
        rest = np.setdiff1d(np.arange(500), rows)
        alone = DiagonalMoments.of(X[rest], weight[rest])
        assert mine.n_samples == pytest.approx(alone.n_samples)
        np.testing.assert_allclose(mine.mean, alone.mean, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(mine.scatter, alone.scatter, rtol=1e-9, atol=1e-9)
        out = np.empty((2, 2, X.shape[1]))
        for each, form in zip(out, (remove_rows, remove_rows.py_func), strict=True):
            form(X.data, X.indices, X.indptr, rows, weight, 500.0, total.mean, total.scatter, *each)
        np.testing.assert_allclose(out[0], out[1], atol=1e-9)
    assert found[-1].n_samples == 0
    full = sparse.csr_array(rng.normal(size=(20, 2)) + 1e8)  # a column without a zero is not taken this way
    assert not can_subtract(full, DiagonalMoments.of(full))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", [Moments, DiagonalMoments])
@pytest.mark.parametrize("value", [0.1, 1e15 / 3, 2.0**60])
def test_a_constant_feature_has_that_mean_and_no_scatter(value, kind, form):
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.normal(size=999), np.full(999, value), rng.normal(size=999)])
    X[0, 1] += 1.0 + value  # a row without weight has no say
    weight = rng.uniform(0.5, 2.0, 999)
    weight[0] = 0.0
    parts = [kind.of(form(X[at]), weight[at]) for at in np.array_split(np.arange(999), 4)]
    for moments in (kind.of(form(X), weight), parts[0] + parts[1] + parts[2] + parts[3]):
        assert moments.mean[1] == value
        assert not moments.scatter[1].any()
        assert (moments.variance[[0, 2]] > 0.5).all()
