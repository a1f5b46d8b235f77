"""Fetching: the answer of OpenML is checked before it is used."""

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from askew.datasets import fetch
from askew.exceptions import DataError


@pytest.fixture
def asked(monkeypatch):
    """Answer in the place of the network; records what was asked."""
    questions = []

    def answer(**question):
        questions.append(question)
        return Bunch(data=np.eye(3), target=np.array(["0", "1", "0"], dtype=object), feature_names=["a", "b", "c"])

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer)
    return questions


def test_the_positive_class_is_compared_as_text(asked):
    data = fetch(1597, positive=1, shape=(3, 3))
    assert data.y.tolist() == [-1, 1, -1]
    assert data.feature_names == ("a", "b", "c")
    assert data.name == "openml/1597"
    assert asked[0]["data_id"] == 1597


@pytest.mark.usefixtures("asked")
def test_another_shape_or_class_is_refused():
    with pytest.raises(DataError, match=r"must have shape \(9, 3\); got \(3, 3\)"):
        fetch(1, positive=1, shape=(9, 3))
    with pytest.raises(DataError, match="positive=7 must be one of several classes of OpenML set 1: '0', '1'"):
        fetch(1, positive=7, shape=(3, 3))
