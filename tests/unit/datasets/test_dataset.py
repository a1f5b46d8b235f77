"""Dataset: choosing rows, parts, classes and topics."""

import numpy as np
import pytest
from scipy import sparse

from askew.datasets import Dataset
from askew.exceptions import DataError, ParameterError


@pytest.fixture
def several_classes():
    return Dataset(
        "letters",
        X=np.arange(12.0).reshape(6, 2),
        y=np.array([1, -1, -1, -1, 1, -1]),
        labels=np.array(["z", "a", "b", "a", "z", "b"]),
        groups=np.array([0, 0, 1, 1, 2, 2]),
        split=np.array(["train"] * 4 + ["test"] * 2),
    )


@pytest.fixture
def several_topics():
    y = np.array([[1, 0], [1, 1], [0, 0]], dtype=np.uint8)
    return Dataset("news", X=sparse.csr_matrix(np.eye(3)), y=y, topics=("corn", "wheat"))


def test_part_keeps_every_row_attribute_in_step(several_classes):
    test = several_classes.part("test")
    np.testing.assert_array_equal(test.X, [[8, 9], [10, 11]])
    np.testing.assert_array_equal(test.y, [1, -1])
    np.testing.assert_array_equal(test.groups, [2, 2])
    assert test.labels.tolist() == ["z", "b"]
    assert test.n_samples == 2
    assert test.n_positive == 1


def test_against_rest_of_a_class_and_of_a_topic(several_classes, several_topics):
    assert several_classes.against_rest("a").y.tolist() == [-1, 1, -1, 1, -1, -1]
    wheat = several_topics.against_rest("wheat")
    assert wheat.y.tolist() == [-1, 1, -1]
    assert wheat.topics == ()
    assert wheat.n_positive == 1


def test_mistakes_are_named(several_classes, several_topics):
    with pytest.raises(ParameterError, match="no class 'q'; its classes: 'a', 'b', 'z'"):
        several_classes.against_rest("q")
    with pytest.raises(ParameterError, match="no topic 'oats'; its topics: 'corn', 'wheat'"):
        several_topics.against_rest("oats")
    with pytest.raises(ParameterError, match="one of 'test', 'train' for letters; got 'validation'"):
        several_classes.part("validation")
    with pytest.raises(ParameterError, match="news has no split of its own"):
        several_topics.part("train")
    with pytest.raises(DataError, match=r"choose one with against_rest\(topic\)"):
        _ = several_topics.n_positive


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_complete_rows_drops_the_rows_with_a_missing_value(container):
    X = np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, 4.0]])
    data = Dataset("holes", X=container(X), y=np.array([1, 1, -1])).complete_rows()
    kept = data.X.toarray() if sparse.issparse(data.X) else data.X
    np.testing.assert_array_equal(kept, X[[0, 2]])
    assert data.y.tolist() == [1, -1]


def test_complete_rows_of_complete_data_and_of_texts_is_the_same_set(several_classes):
    assert several_classes.complete_rows() is several_classes
    texts = Dataset("texts", X=np.array(["a", "b"], dtype=object), y=np.array([1, -1]))
    assert texts.complete_rows() is texts
