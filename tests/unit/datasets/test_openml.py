"""Fetching: the answer of OpenML is checked before it is used, and its categories are encoded."""

import urllib.error

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from askew.datasets import available, fetch, fetchable, load
from askew.exceptions import DataError, ParameterError


@pytest.fixture
def answer(monkeypatch):
    """Answer in the place of the network; records what was asked."""
    questions = []
    bunch = Bunch(data=np.eye(3), target=np.array(["0", "1", "0"], dtype=object), feature_names=["a", "b", "c"])

    def give(**question):
        questions.append(question)
        if isinstance(bunch.get("error"), Exception):
            raise bunch.error
        return bunch

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", give)
    bunch.questions = questions
    return bunch


def pima_of(answer, rows=768, positives=268):
    """Make the answer look like the set on OpenML, or nearly."""
    answer.data = np.random.default_rng(0).normal(size=(rows, 8))
    answer.target = np.array(["tested_positive"] * positives + ["tested_negative"] * (rows - positives), dtype=object)
    answer.feature_names = [f"x{j}" for j in range(8)]


def test_the_positive_class_is_compared_as_text(answer):
    data = fetch(1597, positive=1, shape=(3, 3))
    assert data.y.tolist() == [-1, 1, -1]
    assert data.feature_names == ("a", "b", "c")
    assert data.name == "openml/1597"
    assert answer.questions[0]["data_id"] == 1597


@pytest.mark.usefixtures("answer")
def test_another_shape_or_class_is_refused():
    with pytest.raises(DataError, match=r"must have shape \(9, 3\); got \(3, 3\)"):
        fetch(1, positive=1, shape=(9, 3))
    with pytest.raises(
        DataError, match=r"positive=7 must be one of several classes of OpenML set 1: '0' \(2\), '1' \(1\)"
    ):
        fetch(1, positive=7, shape=(3, 3))
    with pytest.raises(DataError, match=r"must have 2 rows of \['1'\]; got 1"):
        fetch(1, positive=1, shape=(3, 3), n_positive=2)


def test_several_classes_may_be_positive_and_a_class_may_be_known_by_its_size(answer):
    answer.target = np.array(["u", "v", "w"], dtype=object)
    assert fetch(1, positive=("u", "w"), shape=(3, 3)).y.tolist() == [1, -1, 1]
    answer.target = np.array(["u", "v", "u"], dtype=object)
    assert fetch(1, shape=(3, 3), n_positive=1).y.tolist() == [-1, 1, -1]
    with pytest.raises(DataError, match="must have n_positive=3 rows; got 'u'"):
        fetch(1, shape=(3, 3), n_positive=3)
    with pytest.raises(DataError, match="must have n_positive=None rows"):
        fetch(1, shape=(3, 3))


def test_categories_become_a_column_per_level_and_numbers_in_words_a_number(answer):
    answer.feature_names = ["age", "colour", "year"]
    answer.categories = {"colour": ["red", "never", "blue"], "year": ["64", "58"]}
    answer.data = np.array([[1.5, 0, 1], [np.nan, 2, 0], [2, np.nan, np.nan]])
    answer.target = np.array(["yes", "no", "no"], dtype=object)
    fetched = fetch(1, positive="yes", shape=(3, 4))
    assert fetched.feature_names == ("age", "colour=blue", "colour=red", "year")
    np.testing.assert_array_equal(fetched.X, [[1.5, 0, 1, 58], [np.nan, 1, 0, 64], [2, 0, 0, np.nan]])
    assert fetched.y.tolist() == [1, -1, -1]


def test_a_known_set_is_fetched_by_its_number_and_checked(answer):
    pima_of(answer)
    data = load("pima", data_home="elsewhere")
    assert (data.name, data.X.shape, data.n_positive) == ("pima", (768, 8), 268)
    assert (answer.questions[0]["data_id"], answer.questions[0]["data_home"]) == (37, "elsewhere")
    pima_of(answer, positives=200)
    with pytest.raises(DataError, match=r"must have 268 rows of \['tested_positive'\]; got 200"):
        load("pima")
    pima_of(answer, rows=700)
    with pytest.raises(DataError, match=r"must have shape \(768, 8\); got \(700, 8\)"):
        load("pima")


def test_a_name_that_is_not_known_gets_a_hint():
    assert "pima" in available()
    assert fetchable() == available()
    with pytest.raises(ParameterError, match=r"no public set called 'pina'; did you mean 'pima'\?"):
        load("pina")
    with pytest.raises(ParameterError, match="did you mean 'keel/yeast6'"):
        load("keel/yeast66")
    with pytest.raises(ParameterError, match=r"available\(\) lists those it knows"):
        load("")


@pytest.mark.parametrize("error", [urllib.error.URLError("no route"), ValueError("Dataset with data_id 37 not found.")])
def test_without_a_network_or_a_set_the_error_says_what_to_do(answer, error):
    answer.error = error
    with pytest.raises(DataError, match=r"OpenML set 37 could not be fetched .*needs a network.*data_home") as caught:
        load("pima")
    assert caught.value.__cause__ is error
