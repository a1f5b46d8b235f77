"""Fetching: the answer of OpenML is checked before it is used, and its categories are encoded as a local table's."""

import gzip
import urllib.error

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from askew.datasets import fetch, fetchable, load
from askew.datasets.origins import ON_OPENML, home_of
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


@pytest.fixture
def no_folder(tmp_path, monkeypatch):
    """A place from which no data folder is found."""
    monkeypatch.delenv("ASKEW_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("askew.datasets.folder.__file__", str(tmp_path / "a" / "b" / "c" / "d" / "folder.py"))


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


def test_categories_are_encoded_as_in_a_local_table(answer, tmp_path):
    """The same rows once as OpenML codes them, once as a file: words, numbers in words, missing entries."""
    answer.feature_names = ["age", "colour", "year"]
    answer.categories = {"colour": ["red", "never", "blue"], "year": ["64", "58"]}
    answer.data = np.array([[1.5, 0, 1], [np.nan, 2, 0], [2, np.nan, np.nan]])
    answer.target = np.array(["yes", "no", "no"], dtype=object)
    fetched = fetch(1, positive="yes", shape=(3, 4))
    with gzip.open(tmp_path / "pima.csv.gz", "wt") as stream:
        stream.write("age,colour,year,label,y\n1.5,red,58,yes,1\n,blue,64,no,-1\n2,,,no,-1\n")
    local = load("pima", tmp_path)
    np.testing.assert_array_equal(fetched.X, local.X)
    assert fetched.feature_names == local.feature_names
    np.testing.assert_array_equal(fetched.y, local.y)


@pytest.mark.usefixtures("no_folder")
def test_a_known_set_is_fetched_where_there_is_no_folder_only_if_that_is_allowed(answer):
    pima_of(answer)
    with pytest.raises(DataError, match="set the environment variable ASKEW_DATA"):
        load("pima")
    assert answer.questions == []
    data = load("pima", fetch=True)
    assert (data.name, data.X.shape, data.n_positive) == ("pima", (768, 8), 268)
    assert answer.questions[0]["data_id"] == 37
    pima_of(answer, positives=200)
    with pytest.raises(DataError, match=r"must have 268 rows of \['tested_positive'\]; got 200"):
        load("pima", fetch=True)


def test_a_file_that_is_there_is_read_and_one_that_is_not_is_fetched(answer, tmp_path):
    pima_of(answer)
    with pytest.raises(DataError, match=r"load\('pima', fetch=True\) gets the set from OpenML \(set 37\)"):
        load("pima", tmp_path)
    assert load("pima", tmp_path, fetch=True).X.shape == (768, 8)
    with gzip.open(tmp_path / "pima.csv.gz", "wt") as stream:
        stream.write("a,y\n1,1\n2,-1\n")
    assert load("pima", tmp_path, fetch=True).X.shape == (2, 1)
    assert len(answer.questions) == 1


@pytest.mark.usefixtures("no_folder", "answer")
def test_a_set_that_is_not_on_openml_as_it_is_used_here_names_its_home():
    with pytest.raises(DataError, match=r"there is no folder with 'extra/aloi.npz'.*It comes from ADBench"):
        load("aloi", fetch=True)
    with pytest.raises(ParameterError, match=r"did you mean 'pima'\?"):
        load("pina", fetch=True)
    with pytest.raises(ParameterError, match="did you mean 'keel/yeast6'"):
        load("keel/yeast66", fetch=True)


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize("error", [urllib.error.URLError("no route"), ValueError("Dataset with data_id 37 not found.")])
def test_without_a_network_or_a_set_the_error_says_what_to_do(answer, error):
    answer.error = error
    with pytest.raises(
        DataError, match=r"OpenML set 37 could not be fetched .*needs a network.*set ASKEW_DATA"
    ) as caught:
        load("pima", fetch=True)
    assert caught.value.__cause__ is error


def test_what_is_expected_of_openml_is_what_the_local_files_hold():
    """Shapes and positives in the table are those of the files the studies ran on."""
    for name in fetchable():
        try:
            data = load(name)
        except DataError:
            pytest.skip("no local folder with all of these sets")
        expected = ON_OPENML[name]
        assert (data.X.shape, data.n_positive) == (expected.shape, expected.n_positive), name


def test_every_home_is_said_in_words():
    assert home_of("keel/poker-8_vs_6") == "the imbalanced sets of the KEEL repository"
    assert home_of("pima") == "OpenML (set 37)"
    assert home_of("newsgroups20_f") is None
