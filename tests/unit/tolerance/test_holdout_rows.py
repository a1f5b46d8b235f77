"""Which rows train and which calibrate; thinning by weight; rows of every container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats

from askew.exceptions import DataError, ParameterError
from askew.tolerance.holdout import Holdout, bound_of, take_rows, thinned


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
    weight = np.tile([0.0, 1.0, 9.0], 10_000)
    kept = thinned(rows, weight, 4.0, np.random.RandomState(0))  # 9 counts as 4
    share = np.bincount(kept % 3, minlength=3)
    assert share[0] == 0
    assert share[2] == 10_000
    assert stats.binomtest(int(share[1]), 10_000, 0.25).pvalue > 1e-4


def test_weights_equal_to_the_bound_keep_everything():
    assert thinned(np.array([3, 5, 8]), np.full(10, 0.3), 0.3, np.random.RandomState(0)).tolist() == [3, 5, 8]


def test_groups_are_kept_whole_by_their_largest_weight_but_for_rows_of_weight_zero():
    groups = np.repeat(np.arange(20_000), 3)
    weight = np.tile([0.0, 1.0, 2.0], 20_000)
    kept = thinned(np.arange(60_000), weight, 4.0, np.random.RandomState(0), groups)
    rows_of_each = np.bincount(groups[kept], minlength=20_000)
    assert set(rows_of_each) == {0, 2}
    assert (weight[kept] > 0).all()
    assert stats.binomtest(int((rows_of_each > 0).sum()), 20_000, 0.5).pvalue > 1e-4


def test_the_bound_comes_from_the_user_or_the_training_rows_and_never_from_those_held_out():
    weight = np.array([1.0, 3.0, 9.0, 9.0, 2.0])
    assert bound_of(weight, np.array([2]), np.array([0, 1]), None, "negatives") == 3.0
    assert bound_of(weight, np.array([2]), np.array([0, 1]), 5, "negatives") == 5.0
    nobody = np.empty(0, dtype=int)
    assert bound_of(weight, np.array([2, 3]), nobody, None, "negatives") == 9.0
    with pytest.raises(ParameterError, match=r"differs among the negatives, from 2 to 9.*Give `weight_bound`"):
        bound_of(weight, np.array([2, 3, 4]), nobody, None, "negatives")
    with pytest.raises(DataError, match="zero on all positives of the training part"):
        bound_of(np.zeros(5), np.array([2]), np.array([0]), None, "positives")


def test_each_class_has_a_bound_of_its_own():
    is_negative = np.arange(40) < 30
    parts = Holdout.split(is_negative, 0.5, 0.5, np.random.RandomState(0))
    weight = np.where(is_negative, 1.0, 50.0)
    weight[parts.negatives[:4]] = 7.0
    weighed = parts.weighed(weight, is_negative, None, np.random.RandomState(0))
    assert weighed.weight_bound == 1.0
    assert weighed.n_above_bound == 4
    assert weighed.negatives.tolist() == parts.negatives.tolist()
    assert weighed.positives.tolist() == parts.positives.tolist()


@pytest.mark.parametrize(
    ("weight", "message"),
    [(-np.ones(3), "not negative"), (np.array([1, np.nan, 1]), "finite"), (np.zeros(3), "zero on every held-out")],
)
def test_weights_that_weigh_nothing_are_refused(weight, message):
    parts = Holdout.of_everything(np.ones(3, dtype=bool))
    with pytest.raises(DataError, match=message):
        parts.weighed(weight, np.ones(3, dtype=bool), 1.0, np.random.RandomState(0))


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
