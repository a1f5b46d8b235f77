"""Draws by row number, and the column of the event."""

import numpy as np
import pyarrow as pa
import pytest

from askew.detection.draw import uniform
from askew.detection.target_column import TargetColumn, count_labels, labels_of
from askew.exceptions import DataError, ParameterError
from askew.sources import SparseBlock


def test_draws_are_uniform_and_independent_of_blocks():
    whole = uniform(0, 100_000, seed=3)
    np.testing.assert_array_equal(whole, np.concatenate([uniform(s, 10, 3) for s in range(0, 100_000, 10)]))
    assert whole.min() >= 0
    assert whole.max() < 1
    counts, _ = np.histogram(whole, bins=50, range=(0, 1))
    assert ((counts - 2000) ** 2 / 2000).sum() < 100  # chi squared, 49 degrees of freedom
    for other in (uniform(0, 100_000, seed=4), np.roll(whole, 1)):
        assert abs(np.corrcoef(whole, other)[0, 1]) < 0.015


def test_the_rarer_of_two_values_is_the_event():
    assert TargetColumn.chosen("y", {"0": 90, "1": 10}, None).positive == "1"
    assert TargetColumn.chosen("y", {"no": 10, "yes": 90}, None).positive == "no"
    asked = TargetColumn.chosen("y", {"a": 1, "b": 2, "c": 3}, "b")
    assert (asked.n_positive, asked.n_negative) == (2, 4)


def test_targets_that_say_nothing():
    with pytest.raises(DataError, match="one value only, '0'"):
        TargetColumn.chosen("y", {"0": 5}, None)
    with pytest.raises(ParameterError, match=r"3 values.*--positive"):
        TargetColumn.chosen("y", {"a": 1, "b": 1, "c": 1}, None)
    with pytest.raises(ParameterError, match=r"never takes the value 'frad'.*Did you mean 'fraud'"):
        TargetColumn.chosen("y", {"fraud": 1, "ok": 1}, "frad")
    with pytest.raises(DataError, match="a quantity, not a label"):
        count_labels({}, pa.array([str(k) for k in range(2000)]), "y")


@pytest.mark.parametrize("values", [[1, 0, 1], [1.0, 0.0, 1.0], ["1", "0", "1"]])
def test_labels_read_the_same_whatever_their_type(values):
    column = TargetColumn("y", "1", {})
    assert column.is_positive(pa.table({"y": values})).tolist() == [True, False, True]
    booleans = TargetColumn("y", "true", {}).is_positive(pa.table({"y": [True, False, True]}))
    assert booleans.tolist() == [True, False, True]
    sparse = SparseBlock(None, np.array([1.0, -1.0, 1.0]))
    assert column.is_positive(sparse).tolist() == [True, False, True]


@pytest.mark.parametrize("values", [[1.0, None], [1.0, np.nan], ["a", None], ["a", ""]])
def test_a_missing_label_says_where(values):
    with pytest.raises(DataError, match="'y' is missing or NaN in row 1,002"):
        labels_of(pa.table({"y": values}), "y", first_row=1000)


def test_an_unknown_column_names_the_nearest():
    with pytest.raises(ParameterError, match="Did you mean 'is_fraud'"):
        labels_of(pa.table({"is_fraud": [1]}), "fraud")
