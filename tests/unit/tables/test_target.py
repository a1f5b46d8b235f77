"""Labels in every spelling, and the rule of which class is positive."""

from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from askew.exceptions import DataError, ParameterError
from askew.findings import FindingWarning
from askew.sources import SparseBlock
from askew.tables import (
    LabelCounts,
    Labels,
    Target,
    canonical_label,
    encode_labels,
    labels_of,
    positive_class,
    read_labels,
)


def chosen(counts, positive=None):
    return Target.chosen("y", LabelCounts(counts, counts), positive)


def test_the_larger_of_numbers_and_the_rarer_of_names_is_the_event():
    assert chosen({"0": 90, "1": 10}).positive == "1"
    assert chosen({"1": 90, "0": 10}).positive == "1"
    assert chosen({"-1": 10, "1": 90}).positive == "1"
    with pytest.warns(FindingWarning, match=r"ASK104: 'no', the rarer of 'no' and 'yes'.*pos_label"):
        assert chosen({"no": 10, "yes": 90}).positive == "no"
    asked = chosen({"a": 1, "b": 2, "c": 3}, "b")
    assert (asked.n_positive, asked.n_negative) == (2, 4)


@pytest.mark.parametrize(
    ("classes", "weights", "rows", "expected"),
    [
        (["fraud", "ok"], (2.0, 98.0), (2, 98), 0),
        (["fraud", "ok"], (98.0, 2.0), (2, 98), 1),
        (["fraud", "ok"], (50.0, 50.0 + 1e-12), (2, 98), 0),  # balanced by class weights: the rows tell
        (["fraud", "ok"], (50.0, 50.0), (50, 50), 1),
        ([1, 2], (3.0, 97.0), None, 0),
        (["01", "1"], (3.0, 97.0), None, 0),
    ],
)
def test_what_is_no_standard_pair_goes_by_rarity(classes, weights, rows, expected):
    with pytest.warns(FindingWarning, match="ASK104"):
        assert positive_class(classes, weights, rows=rows) == expected
    assert positive_class(classes, weights, classes[1]) == 1


@pytest.mark.parametrize("classes", [[0, 1], [-1.0, 1.0], [False, True], ["0", "1"], [" 0", "1.0"]])
def test_standard_pairs_need_no_warning(classes, recwarn):
    assert positive_class(classes, (97.0, 3.0)) == positive_class(classes, (3.0, 97.0)) == 1
    assert positive_class(classes[::-1], (3.0, 97.0)) == 0
    assert not recwarn


def test_targets_that_say_nothing():
    with pytest.raises(DataError, match="one value only, '0'"):
        chosen({"0": 5})
    with pytest.raises(ParameterError, match=r"3 values.*--positive"):
        chosen({"a": 1, "b": 1, "c": 1})
    with pytest.raises(ParameterError, match=r"never takes the value 'frad'.*Did you mean 'fraud'"):
        chosen({"fraud": 1, "ok": 1}, "frad")
    with pytest.raises(ParameterError, match=r"pos_label='frad' is not among the classes.*Did you mean 'fraud'"):
        positive_class(["fraud", "ok"], (1, 9), "frad")
    with pytest.raises(DataError, match="a quantity, not a label"):
        LabelCounts.of(Labels(tuple(range(2000)), np.arange(2000)))


SPELLINGS = {
    "bool": [True, False, True],
    "integer": [1, 0, 1],
    "float": [1.0, 0.0, 1.0],
    "decimal": [Decimal("1.00"), Decimal("0.00"), Decimal("1.00")],
    "text": ["1", "0", "1"],
    "blanks": [" 1", "0 ", "1"],
    "points": ["1.0", "0.", "1.00"],
    "words": ["True", "FALSE", "true"],
    "mixed": ["True", "0", "1.0"],
    "categories": pa.array(["1.0", " 0", "1"]).dictionary_encode(),
    "categories of numbers": pa.array([1.0, 0.0, 1.0]).dictionary_encode(),
    "pieces": pa.chunked_array([[True], [False, True]]),
    "single precision": pa.array([1, 0, 1], pa.float32()),
}


@pytest.mark.parametrize("values", SPELLINGS.values(), ids=SPELLINGS)
def test_one_label_in_every_spelling(values):
    column = Target("y", "1", {"0": 90, "1": 10})
    labels = labels_of(pa.table({"y": values}), "y")
    assert [labels.keys[code] for code in labels.codes] == ["1", "0", "1"]
    assert column.is_positive(labels).tolist() == [True, False, True]


def test_labels_of_sparse_rows():
    labels = labels_of(SparseBlock(None, np.array([1.0, -1.0, 1.0])), "label")
    assert Target("label", "1", {"-1": 2, "1": 1}).is_positive(labels).tolist() == [True, False, True]
    with pytest.raises(DataError, match="missing or NaN in row 2"):
        labels_of(SparseBlock(None, np.array([1.0, np.nan])), "label")


def test_different_labels_stay_different():
    numbers = [0, -1, 2, 10, 0.5, -0.25, 1e300, 1e-300, 12345678901234567890, 12345678901234567891]
    texts = ["yes", "Yes", "1a", "1_0", "inf", "none", "t", "0x1", "01", "010", "1e3", "00"]
    assert len({canonical_label(each) for each in (*numbers, *texts, True)}) == len(numbers) + len(texts) + 1
    for value in (*numbers, *texts):
        assert canonical_label(canonical_label(value)) == canonical_label(value)
    for value in texts:
        assert canonical_label(f" {value} ") == canonical_label(value)
    for one, other in (("-0.0", 0), ("+1", 1), (1e3, "1000"), (1e20, 10**20), ("-0.50", -0.5)):
        assert canonical_label(one) == canonical_label(other)


@pytest.mark.parametrize("values", [[1, 0, 2], ["1", "0", "yes"], ["a", "b", "c"]])
def test_a_label_the_fit_did_not_know_is_refused_by_name(values):
    column = Target("y", "1", {"0": 90, "1": 10})
    stranger, row = (repr(str(values[2])), 1003) if str(values[0]) == "1" else ("'a'", 1001)
    with pytest.raises(DataError, match=rf"'y' is {stranger} in row {row:,}, .*labels of the fit, '0' and '1'"):
        column.is_positive(labels_of(pa.table({"y": values}), "y"), first_row=1000)


def test_the_event_of_a_model():
    target = {"name": "fraud", "positive": "true", "counts": {"false": 90, "true": 10}}  # as older files spell it
    for positive in (None, "1", "True", "1.0"):
        column = Target.of_model(target, None, positive)
        assert (column.name, column.positive, column.counts) == ("fraud", "1", {"0": 90, "1": 10})
    assert Target.of_model(target, "is_fraud", None).name == "is_fraud"
    with pytest.raises(ParameterError, match=r"knows no label '9'.*'0' and '1'"):
        Target.of_model(target, None, "9")
    with pytest.raises(ParameterError, match="takes '0' as one of the negatives"):
        Target.of_model(target, None, "False")


def test_an_event_without_known_labels_must_occur():
    column = Target("y", "1", {})
    for counts in ({"0": 5}, {"-1": 5}, {"0": 5, "1": 1}, {"a": 5, "1": 1}):
        column.check_seen(counts)
    for counts in ({"no": 5}, {"0": 5, "2": 1}, {"fr": 3, "de": 4}):
        with pytest.raises(ParameterError, match="never takes the value '1'"):
            column.check_seen(counts)
    with pytest.raises(ParameterError, match=r"never takes the value 'frad'.*Did you mean 'fraud'"):
        Target("y", "frad", {}).check_seen({"ok": 5, "fraud": 1})


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


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [(["0", "1"], np.int64, [0, 1]), (["0.0", "1.0"], np.int64, [0, 1]), (["0.5", "1"], np.float64, [0.5, 1.0])],
)
def test_decimal_labels_are_plain_numbers(values, kind, expected):
    decimals = [Decimal(value) for value in values]
    for held in (pa.chunked_array([pa.array(decimals)]), np.array(decimals, dtype=object)):
        found = read_labels(held).values
        assert found.dtype == kind
        assert found.tolist() == expected
    with pytest.raises(DataError, match="missing or NaN in row 3"):
        read_labels(pa.chunked_array([pa.array([*decimals, None])]))
    with pytest.raises(DataError, match="numbers and text"):
        read_labels(np.array([*decimals, "yes"], dtype=object))


@pytest.mark.parametrize(
    "labels",
    [
        pa.chunked_array([pa.array([date(2026, 1, 1)])]),
        pa.chunked_array([pa.array([[1, 2]])]),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.array([date(2026, 1, 1)], dtype=object),
    ],
    ids=["arrow", "nested", "numpy", "objects"],
)
def test_labels_that_name_no_class(labels):
    with pytest.raises(DataError, match=r"the target holds .*, which names no class"):
        read_labels(labels)


def test_labels_of_any_holder_are_those_of_the_data():
    words = pa.array(["x", "z", " x"]).dictionary_encode()
    assert read_labels(words).values.tolist() == ["x", "z", "x"]
    assert read_labels(np.array([[1], [0]])).values.tolist() == [1, 0]
    assert read_labels(np.array([True, False], dtype=object)).values.dtype == bool
    with pytest.raises(DataError, match="A label for each row is needed"):
        read_labels(np.zeros((2, 3)))
    for missing in (np.array(["a", "nan"]), np.array(["a", ""]), np.array([1.0, np.nan])):
        with pytest.raises(DataError, match="the target is missing or NaN in row"):
            read_labels(missing)


def test_classes_of_arrays_are_as_they_stand_and_spellings_of_one_are_one():
    for y, classes, codes in (
        ([2, 1, 2], [1, 2], [1, 0, 1]),
        (["ok", "fraud"], ["fraud", "ok"], [1, 0]),
        (["1.0", "0", "1", " 1"], ["0", "1"], [1, 0, 1, 1]),
        (["01", "1"], ["01", "1"], [0, 1]),
        ([True, False], [False, True], [1, 0]),
    ):
        found, numbers = encode_labels(np.array(y))
        assert found.tolist() == classes
        assert numbers.tolist() == codes
    with pytest.raises(DataError, match="missing"):
        encode_labels(np.array(["a", "nan"]))


def test_counts_of_parts_are_those_of_the_whole():
    y = np.array(["1", "0", " 1", "1.0", "0"])
    parts = [LabelCounts.of(read_labels(y[rows])) for rows in (slice(0, 1), slice(1, 4), slice(4, 5))]
    whole = LabelCounts.of(read_labels(y))
    assert parts[0].merge(parts[1]).merge(parts[2]) == parts[2].merge(parts[1].merge(parts[0])) == whole
    assert whole == LabelCounts({"1": 3, "0": 2}, {"1": "1", "0": "0"})
