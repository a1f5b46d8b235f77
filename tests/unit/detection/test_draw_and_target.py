"""Draws by row number, and the column of the event."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from askew.detection.target_column import TargetColumn, canonical_label, count_labels, labels_of
from askew.exceptions import DataError, ParameterError
from askew.sources import SparseBlock
from askew.summaries import draw_by_number


def test_draws_are_uniform_and_independent_of_blocks():
    whole = draw_by_number(0, 100_000, seed=3)
    np.testing.assert_array_equal(whole, np.concatenate([draw_by_number(s, 10, 3) for s in range(0, 100_000, 10)]))
    assert whole.min() >= 0
    assert whole.max() < 1
    counts, _ = np.histogram(whole, bins=50, range=(0, 1))
    assert ((counts - 2000) ** 2 / 2000).sum() < 100  # chi squared, 49 degrees of freedom
    for other in (draw_by_number(0, 100_000, seed=4), np.roll(whole, 1)):
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


SPELLINGS = {
    "bool": [True, False, True],
    "integer": [1, 0, 1],
    "float": [1.0, 0.0, 1.0],
    "decimal": [Decimal("1.00"), Decimal("0.00"), Decimal("1.00")],
    "text": ["1", "0", "1"],
    "blanks": [" 1", "0 ", "1"],
    "points": ["1.0", "0.", "1e0"],
    "words": ["True", "FALSE", "true"],
    "mixed": ["True", "0", "1.0"],
    "categories": pa.array(["1.0", " 0", "1"]).dictionary_encode(),
    "categories of numbers": pa.array([1.0, 0.0, 1.0]).dictionary_encode(),
    "pieces": pa.chunked_array([[True], [False, True]]),
    "single precision": pa.array([1, 0, 1], pa.float32()),
}


@pytest.mark.parametrize("values", SPELLINGS.values(), ids=SPELLINGS)
def test_one_label_in_every_spelling(values):
    column = TargetColumn("y", "1", {"0": 90, "1": 10})
    labels = labels_of(pa.table({"y": values}), "y")
    assert labels.to_pylist() == ["1", "0", "1"]
    assert column.is_positive(labels).tolist() == [True, False, True]


def test_labels_of_sparse_rows():
    labels = labels_of(SparseBlock(None, np.array([1.0, -1.0, 1.0])), "label")
    assert TargetColumn("label", "1", {"-1": 2, "1": 1}).is_positive(labels).tolist() == [True, False, True]
    with pytest.raises(DataError, match="missing or NaN in row 2"):
        labels_of(SparseBlock(None, np.array([1.0, np.nan])), "label")


def test_different_labels_stay_different():
    numbers = [0, -1, 2, 10, 0.5, -0.25, 1e300, 1e-300, 12345678901234567890, 12345678901234567891]
    texts = ["yes", "Yes", "1a", "1_0", "inf", "none", "t", "0x1"]
    assert len({canonical_label(each) for each in (*numbers, *texts, True)}) == len(numbers) + len(texts) + 1
    for value in (*numbers, *texts):
        assert canonical_label(canonical_label(value)) == canonical_label(value)
        assert canonical_label(f" {value} ") == canonical_label(value)
    for one, other in (("-0.0", 0), ("1e3", 1000), ("010", 10), ("1E+20", 10**20), ("-0.50", -0.5)):
        assert canonical_label(one) == canonical_label(other)


@pytest.mark.parametrize("values", [[1, 0, 2], ["1", "0", "yes"], ["a", "b", "c"]])
def test_a_label_the_fit_did_not_know_is_refused_by_name(values):
    column = TargetColumn("y", "1", {"0": 90, "1": 10})
    stranger, row = (repr(str(values[2])), 1003) if str(values[0]) == "1" else ("'a'", 1001)
    with pytest.raises(DataError, match=rf"'y' is {stranger} in row {row:,}, .*labels of the fit, '0' and '1'"):
        column.is_positive(labels_of(pa.table({"y": values}), "y"), first_row=1000)


def test_the_event_of_a_model():
    target = {"name": "fraud", "positive": "true", "counts": {"false": 90, "true": 10}}  # as older files spell it
    for positive in (None, "1", "True", "1.0"):
        column = TargetColumn.of_model(target, None, positive)
        assert (column.name, column.positive, column.counts) == ("fraud", "1", {"0": 90, "1": 10})
    assert TargetColumn.of_model(target, "is_fraud", None).name == "is_fraud"
    with pytest.raises(ParameterError, match=r"knows no label '9'.*'0' and '1'"):
        TargetColumn.of_model(target, None, "9")
    with pytest.raises(ParameterError, match="takes '0' as one of the negatives"):
        TargetColumn.of_model(target, None, "False")


def test_an_event_without_known_labels_must_occur():
    column = TargetColumn("y", "1", {})
    for counts in ({"0": 5}, {"-1": 5}, {"0": 5, "1": 1}, {"a": 5, "1": 1}):
        column.check_seen(counts)
    for counts in ({"no": 5}, {"0": 5, "2": 1}, {"fr": 3, "de": 4}):
        with pytest.raises(ParameterError, match="never takes the value '1'"):
            column.check_seen(counts)
    with pytest.raises(ParameterError, match=r"never takes the value 'frad'.*Did you mean 'fraud'"):
        TargetColumn("y", "frad", {}).check_seen({"ok": 5, "fraud": 1})


def test_a_target_that_names_no_class():
    with pytest.raises(DataError, match=r"'y' holds list<.*names no class"):
        labels_of(pa.table({"y": [[1], [0]]}), "y")


@pytest.mark.parametrize(
    "values",
    [
        [1.0, None],
        [1.0, np.nan],
        ["a", None],
        ["a", ""],
        ["a", "  "],
        ["a", "NaN"],
        [True, None],
        pa.array([1.0, np.nan]).dictionary_encode(),
        pa.array(["a", None]).dictionary_encode(),
    ],
)
def test_a_missing_label_says_where(values):
    with pytest.raises(DataError, match="'y' is missing or NaN in row 1,002"):
        labels_of(pa.table({"y": values}), "y", first_row=1000)


def test_an_unknown_column_names_the_nearest():
    with pytest.raises(ParameterError, match="Did you mean 'is_fraud'"):
        labels_of(pa.table({"is_fraud": [1]}), "fraud")
