"""The compiled scatter of narrow rows: what NumPy computes, compiled or not."""

import numpy as np
import pytest

from askew.moments import narrow_product
from askew.moments.narrow_product import TILE, add_rows, empty_tile, narrow_scatter


def expected(X, shift, factor):
    Z = np.column_stack([(X - shift) * factor[:, None], factor]).astype(np.float64)
    return Z.T @ Z


@pytest.fixture(params=["compiled", "plain"])
def form(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(narrow_product, "_compiled", lambda dtype: add_rows)
    return request.param


@pytest.mark.parametrize("n", [0, 1, TILE - 1, TILE, TILE + 1])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_products_are_those_of_numpy(form, n, d):
    rng = np.random.default_rng(n + d)
    X, shift, factor = rng.normal(size=(n, d)), rng.normal(size=d), rng.random(n)
    found = narrow_scatter(X, shift, factor, empty_tile(d, np.float64))
    np.testing.assert_allclose(found, expected(X, shift, factor), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["C", "F", "part of F", "every other row", "read-only"])
def test_rows_lie_in_memory_as_they_like(dtype, layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 8)).astype(dtype)
    rows = {
        "C": X[:600],
        "F": np.asfortranarray(X[:600]),
        "part of F": np.asfortranarray(X)[:600],
        "every other row": np.repeat(X, 2, axis=0)[:1200:2],
        "read-only": X[:600].copy(),
    }[layout]
    rows.flags.writeable = layout != "read-only"
    shift, factor, tile = np.zeros(8, dtype), np.ones(600, dtype), empty_tile(8, dtype)
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    for _ in range(2):  # a tile is used again
        found = narrow_scatter(rows, shift, factor, tile)
        np.testing.assert_allclose(found, expected(X[:600], shift, factor), rtol=tolerance, atol=600 * tolerance)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_stays_so(bad):
    X = np.zeros((300, 4))
    X[299, 2] = bad
    found = narrow_scatter(X, np.zeros(4), np.ones(300), empty_tile(4, np.float64))
    assert not np.isfinite(found[2, 2])
    assert np.isfinite(np.delete(np.delete(found, 2, 0), 2, 1)).all()
