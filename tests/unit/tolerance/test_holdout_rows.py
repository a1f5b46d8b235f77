"""Which rows train and which calibrate; thinning by weight; rows of every container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats

from askew.exceptions import DataError
from askew.tolerance.holdout import Holdout, take_rows, thinned


def test_parts_are_disjoint_complete_and_of_the_asked_size():
    is_negative = np.arange(100) >= 20
    parts = Holdout.split(is_negative, 0.25, 0.2, np.random.RandomState(0))
    assert len(parts.negatives) == 20
    assert len(parts.positives) == 4
    together = np.concatenate([parts.train, parts.negatives, parts.positives])
    assert sorted(together) == list(range(100))
    assert is_negative[parts.negatives].all()
    assert not is_negative[parts.positives].any()


def test_groups_are_never_split():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 60, 500)
    is_negative = rng.random(500) < 0.8
    parts = Holdout.split(is_negative, 0.4, 0.3, np.random.RandomState(0), groups)
    held = np.concatenate([parts.negatives, parts.positives])
    assert not set(groups[held]) & set(groups[parts.train])
    assert len(held) + len(parts.train) == 500
    assert len(np.unique(groups[parts.negatives])) == 24


@pytest.mark.parametrize("fraction", [0.001, 0.999])
def test_both_parts_keep_a_negative_whatever_the_fraction(fraction):
    parts = Holdout.split(np.ones(3, dtype=bool), fraction, 0.0, np.random.RandomState(0))
    assert len(parts.train) >= 1
    assert len(parts.negatives) >= 1


def test_one_negative_cannot_do_both():
    with pytest.raises(DataError, match="n_samples=1 of the negative class"):
        Holdout.split(np.array([True, False, False]), 0.5, 0.0, np.random.RandomState(0))


def test_thinning_keeps_a_share_in_proportion_to_the_weight():
    rows = np.arange(30_000)
    weight = np.tile([0.0, 1.0, 4.0], 10_000)
    kept = thinned(rows, weight, np.random.RandomState(0))
    share = np.bincount(kept % 3, minlength=3)
    assert share[0] == 0
    assert share[2] == 10_000
    assert stats.binomtest(int(share[1]), 10_000, 0.25).pvalue > 1e-4


def test_equal_weights_and_no_weights_keep_everything():
    rows = np.array([3, 5, 8])
    for weight in (None, np.full(10, 0.3)):
        assert thinned(rows, weight, np.random.RandomState(0)).tolist() == [3, 5, 8]


@pytest.mark.parametrize(
    ("weight", "message"),
    [(-np.ones(3), "not negative"), (np.array([1, np.nan, 1]), "finite"), (np.zeros(3), "zero on every")],
)
def test_weights_that_weigh_nothing_are_refused(weight, message):
    with pytest.raises(DataError, match=message):
        thinned(np.arange(3), weight, np.random.RandomState(0))


VALUES = np.arange(12.0).reshape(6, 2)
CONTAINERS = {
    "array": VALUES,
    "list": VALUES.tolist(),
    "csr": sparse.csr_array(VALUES),
    "pandas": pd.DataFrame(VALUES, columns=["a", "b"], index=list("zyxwvu")),
    "polars": pl.DataFrame({"a": VALUES[:, 0], "b": VALUES[:, 1]}),
    "arrow": pa.table({"a": VALUES[:, 0], "b": VALUES[:, 1]}),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_rows_come_by_position_and_in_their_container(name):
    X = CONTAINERS[name]
    taken = take_rows(X, np.array([4, 1]))
    assert type(taken) is type(X)
    dense = taken.toarray() if name == "csr" else taken.to_pandas() if name == "arrow" else taken
    np.testing.assert_array_equal(np.asarray(dense), VALUES[[4, 1]])
