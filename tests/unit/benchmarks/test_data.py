"""The data folder: every kind of file read from one written here, and a local folder against its README."""

import bz2
import gzip
import json
import lzma
import re
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from askew import datasets
from askew.exceptions import DataError, ParameterError
from benchmarks.data import available, load, missing
from benchmarks.data.catalogue import find_folder


@pytest.fixture
def folder(tmp_path):
    """A folder with one small file per format."""
    (tmp_path / "extra" / "keel").mkdir(parents=True)
    with gzip.open(tmp_path / "pima.csv.gz", "wt") as stream:
        stream.write("age,colour,group,split,label,y\n1.5,red,p1,train,yes,1\n,blue,p2,test,no,-1\n2,,p2,test,no,-1\n")
    with gzip.open(tmp_path / "extra" / "keel" / "glass0.csv.gz", "wt") as stream:
        stream.write("a,b,label,y\n1,2,positive,1\n3,4,negative,-1\n")
    for part, lines in {"train": "+1 1:0.5 22:2\n-1 3:1\n", "test": "-1.0 2:4\n"}.items():
        with bz2.open(tmp_path / f"ijcnn1.{part}.svm.bz2", "wt") as stream:
            stream.write(lines)
    np.savez(tmp_path / "extra" / "http.npz", X=np.eye(3, dtype=np.float32), y=np.array([1, -1, -1], np.int8))
    words = sparse.csr_matrix(np.array([[0, 2.0], [1, 0]]))
    np.savez(
        tmp_path / "rcv1_topics_k500.npz",
        data=words.data, indices=words.indices, indptr=words.indptr, shape=words.shape,
        Y=np.eye(2, dtype=np.uint8), topics=np.array(["GCAT", "CCAT"]), features=np.array(["w1", "w2"]),
    )  # fmt: skip
    with lzma.open(tmp_path / "reuters21578.jsonl.xz", "wt") as stream:
        for split, topics in (("train", ["corn", "grain"]), ("unused", [])):
            record = {"title": "T", "text": "body é", "topics": topics, "split": split}
            stream.write(json.dumps(record) + "\n")
    return tmp_path


def test_available_lists_the_files_that_are_there(folder):
    assert available(folder) == ["http", "ijcnn1", "keel/glass0", "pima", "rcv1_topics_k500", "reuters21578"]


def test_a_table_gives_numbers_categories_and_what_is_known_of_rows(folder):
    data = load("pima", folder)
    assert data.feature_names == ("age", "colour=blue", "colour=red")
    np.testing.assert_array_equal(data.X, [[1.5, 0, 1], [np.nan, 1, 0], [2, 0, 0]])
    assert data.y.tolist() == [1, -1, -1]
    assert data.labels.tolist() == ["yes", "no", "no"]
    assert data.groups.tolist() == ["p1", "p2", "p2"]
    assert data.part("train").n_samples == 1
    assert load("keel/glass0", folder).X.tolist() == [[1, 2], [3, 4]]


def test_svmlight_joins_train_and_test_and_stays_sparse(folder):
    data = load("ijcnn1", folder)
    assert sparse.issparse(data.X)
    assert data.X.shape == (3, 22)
    assert data.X[0, 21] == 2
    assert data.X[2, 1] == 4
    assert data.y.tolist() == [1, -1, -1]
    assert data.split.tolist() == ["train", "train", "test"]


def test_archives_and_documents(folder):
    assert load("http", folder).X.dtype == np.float64
    topics = load("rcv1_topics_k500", folder)
    np.testing.assert_array_equal(topics.X.toarray(), [[0, 2], [1, 0]])
    assert topics.against_rest("CCAT").y.tolist() == [-1, 1]
    news = load("reuters21578", folder)
    assert news.X[0] == "T\nbody é"
    assert news.topics == ("corn", "grain")
    np.testing.assert_array_equal(news.y, [[1, 1], [0, 0]])
    assert news.split.tolist() == ["train", "unused"]


def test_a_wrong_name_gets_a_hint_and_a_missing_file_its_place(folder):
    with pytest.raises(ParameterError, match=r"no data set called 'pina'; did you mean 'pima'\?"):
        load("pina", folder)
    with pytest.raises(ParameterError, match="did you mean 'keel/glass0'"):
        load("keel/glass9", folder)
    with pytest.raises(ParameterError, match=r"no data set called 'keel/\.\./keel/glass0'"):
        load("keel/../keel/glass0", folder)
    with pytest.raises(DataError, match=r"'covtype.npz' is not in "):
        load("covtype", folder)


def test_a_table_without_y_is_refused(folder):
    with gzip.open(folder / "bupa.csv.gz", "wt") as stream:
        stream.write("a,b\n1,2\n")
    with pytest.raises(DataError, match="a column 'y'; its columns: a, b"):
        load("bupa", folder)


def test_the_folder_comes_from_the_argument_then_the_environment_then_the_neighbourhood(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("ASKEW_DATA", str(folder))
    assert find_folder() == folder
    assert find_folder(tmp_path / "extra") == tmp_path / "extra"
    monkeypatch.setenv("ASKEW_DATA", str(folder / "nowhere"))
    with pytest.raises(DataError, match=r"\$ASKEW_DATA must name an existing folder"):
        find_folder()
    with pytest.raises(DataError, match="folder must name an existing folder"):
        find_folder(folder / "nowhere")
    monkeypatch.delenv("ASKEW_DATA")
    beside = tmp_path / "home" / "shared" / "data"
    repository = tmp_path / "home" / "repository"
    beside.mkdir(parents=True)
    repository.mkdir()
    monkeypatch.chdir(repository)
    assert find_folder() == beside


@pytest.fixture
def no_folder(tmp_path, monkeypatch):
    """A place from which no data folder is found."""
    monkeypatch.delenv("ASKEW_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("benchmarks.data.catalogue._REPOSITORY", tmp_path / "a" / "repository")


@pytest.mark.usefixtures("no_folder")
def test_without_any_folder_the_error_says_how_to_point_to_one():
    with pytest.raises(DataError, match="set the environment variable ASKEW_DATA"):
        find_folder()
    with pytest.raises(DataError, match="set the environment variable ASKEW_DATA"):
        load("pima")


@pytest.mark.usefixtures("no_folder")
def test_what_is_missing_is_named_with_where_it_comes_from():
    found = missing(["pima", "aloi", "keel/poker-8_vs_6", "newsgroups20_f", "pima"])
    assert list(found) == ["pima", "aloi", "keel/poker-8_vs_6", "newsgroups20_f"]
    assert found["pima"].startswith("put 'pima.csv.gz' in a folder, and set ASKEW_DATA to it. OpenML has the same rows")
    assert found["aloi"].endswith("It comes from ADBench (github.com/Minqi824/ADBench, adbench/datasets/Classical).")
    assert "the KEEL repository" in found["keel/poker-8_vs_6"]
    assert found["newsgroups20_f"].endswith("set ASKEW_DATA to it.")


def test_a_set_that_is_there_is_not_missing(folder, monkeypatch):
    monkeypatch.setenv("ASKEW_DATA", str(folder))
    assert missing(["pima", "keel/glass0", "ijcnn1"]) == {}
    assert missing(["pima", "covtype"]) == {"covtype": f"put 'covtype.npz' in '{folder}'. {OF_COVTYPE}"}
    with pytest.raises(DataError, match=rf"'covtype.npz' is not in '.*'\. {re.escape(OF_COVTYPE)}"):
        load("covtype")


OF_COVTYPE = "OpenML has the same rows: askew.datasets.load('covtype')."


def _rows_of_readme():
    """(file, rows, positives) from the README of the local folder; nothing where there is none."""
    try:
        readme = find_folder() / "README.md"
    except DataError:
        return []
    if not readme.is_file():
        return []
    line = re.compile(r"^\| `([^`]+\.(?:csv\.gz|npz|svm\.bz2))` \|(.*)\|$", re.MULTILINE)
    found = []
    for file, rest in line.findall(readme.read_text(encoding="utf-8")):
        numbers = [int(cell.strip().replace(",", "")) for cell in rest.split("|") if re.fullmatch(r" [\d,]+ ", cell)]
        if len(numbers) >= 4:  # rows, features, positives, negatives; multi-topic sets have fewer
            found.append((file, numbers[0], numbers[2]))
    return found


def test_every_file_of_the_local_folder_has_the_counts_its_readme_states():
    stated = _rows_of_readme()
    if not stated:
        pytest.skip("no local folder of data sets with a README")
    read = cache(load)  # a train and a test file are one set
    for file, rows, positives in stated:
        name = re.sub(r"(\.(train|test)\.svm\.bz2|\.csv\.gz|\.npz)$", "", file).removeprefix("extra/")
        data = read(name)
        if ".svm." in file:
            data = data.part("test" if ".test." in file else "train")
        assert (data.n_samples, data.n_positive) == (rows, positives), file


def test_what_is_expected_of_openml_is_what_the_local_files_hold(monkeypatch):
    """Shapes and positives that ``askew.datasets.load`` asks for are those of the files the studies ran on."""
    if missing(datasets.available()):
        pytest.skip("no local folder with all of these sets")
    asked = {}
    monkeypatch.setattr(
        "askew.datasets.openml.fetch", lambda data_id, *, name, **expected: asked.update({name: expected})
    )
    for name in datasets.available():
        datasets.load(name)
        data = load(name)
        assert (data.X.shape, data.n_positive) == (asked[name]["shape"], asked[name]["n_positive"]), name
