"""The sets of the data folder by name: which file, read how, and where it comes from when it is not there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import NamedTuple

from askew import datasets
from askew.datasets import Dataset
from askew.exceptions import DataError, ParameterError
from benchmarks.data.readers import (
    read_covtype,
    read_dense,
    read_documents,
    read_subset,
    read_svmlight,
    read_table,
    read_topics,
)

VARIABLE = "ASKEW_DATA"
_NEIGHBOUR = Path("shared") / "data"
_REPOSITORY = Path(__file__).resolve().parents[2]


class _Entry(NamedTuple):
    file: str
    read: Callable[[Path, str], Dataset]


def _tables(folder: str, *names: str) -> dict[str, _Entry]:
    return {name: _Entry(f"{folder}{name}.csv.gz", read_table) for name in names}


def _dense(folder: str, *names: str) -> dict[str, _Entry]:
    return {name: _Entry(f"{folder}{name}.npz", read_dense) for name in names}


def _svmlight(folder: str, **widths: int) -> dict[str, _Entry]:
    return {
        name: _Entry(f"{folder}{name}.train.svm.bz2", partial(read_svmlight, n_features=width))
        for name, width in widths.items()
    }


_SETS: dict[str, _Entry] = {
    **_tables("", "australian", "breast_wisconsin", "bupa", "colon", "german_categorical", "german_numeric"),
    **_tables("", "haberman", "ionosphere", "parkinsons", "pima", "spectf"),
    **_tables("extra/", "abalone", "caspase3_sites", "creditcard_sample", "letter", "phoneme", "satimage", "shuttle"),
    **_svmlight("", ijcnn1=22, rcv1_ccat_small=47236),
    **_svmlight("extra/", a9a=123, w8a=300, reuters_moneyfx=8315),
    **_dense("extra/", "ada", "aloi", "annthyroid", "campaign", "donors", "http", "mammography", "mnist"),
    **_dense("extra/", "pendigits", "sylva"),
    "covtype": _Entry("covtype.npz", read_covtype),
    "rcv1_topics_k500": _Entry("rcv1_topics_k500.npz", read_topics),
    "newsgroups20_f": _Entry("extra/newsgroups20_f.npz", read_topics),
    **{
        f"rcv1_subset{i}": _Entry(
            "rcv1_subsets_top944.npz", partial(read_subset, number=i, n_features=944, n_topics=101)
        )
        for i in (1, 2, 3)
    },
    "reuters21578": _Entry("reuters21578.jsonl.xz", read_documents),
}
_KEEL = "keel/"

_LIBSVM = "the data page of LIBSVM"
_UCI = "the UCI Machine Learning Repository"
_ADBENCH = "ADBench (github.com/Minqi824/ADBench, adbench/datasets/Classical)"
_CHALLENGE = "the WCCI 2006 performance prediction challenge (training part)"
_ORIGINS: dict[str, str] = {
    **dict.fromkeys(("a9a", "ijcnn1", "w8a"), _LIBSVM),
    **dict.fromkeys(("aloi", "annthyroid", "campaign", "donors", "http", "mnist", "pendigits"), _ADBENCH),
    **dict.fromkeys(("ada", "sylva"), _CHALLENGE),
    "bupa": f"{_UCI} (Liver Disorders; the class is the selector field)",
    "colon": "Alon et al. 1999, 2,000 genes (R package datamicroarray)",
    "creditcard_sample": "ULB's credit-card fraud set, of which it is a sample; the whole is OpenML set 1597",
    "german_numeric": f"{_UCI} (Statlog German Credit, the numeric file)",
    "rcv1_ccat_small": "the test folder of Vowpal Wabbit (rcv1_small)",
    "reuters21578": f"{_UCI} (Reuters-21578 text categorization collection)",
    "satimage": f"{_UCI} (Statlog Landsat Satellite; OpenML's copy lacks five rows)",
    "spectf": f"{_UCI} (SPECTF Heart, both files)",
}


def available(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Names that ``load`` would read from the folder now, sorted; the small KEEL sets are called ``keel/NAME``."""
    place = find_folder(folder)
    known = [name for name, entry in _SETS.items() if (place / entry.file).is_file()]
    keel = [_KEEL + file.name.removesuffix(".csv.gz") for file in (place / "extra" / "keel").glob("*.csv.gz")]
    return sorted(known + keel)


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a set from the data folder.

    Parameters
    ----------
    name : str
        A name from ``available()``, such as ``"pima"``, ``"ijcnn1"`` or ``"keel/yeast6"``.
    folder : path, optional
        By default the environment variable ``ASKEW_DATA``, and without it ``../shared/data`` beside the working
        directory or the repository.

    Returns
    -------
    Dataset
        With y = +1 for the class of interest, or a column per topic for multi-topic sets.

    Raises
    ------
    ParameterError
        For a name that is not known.
    DataError
        When there is no folder, or the file is not in it: which file, and where it comes from.
    """
    place = find_folder(folder)
    entry = _entry_of(name)
    if entry is None or (name not in _SETS and not (place / entry.file).is_file()):
        near = get_close_matches(name, {*_SETS, *available(place)}, n=3)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "available() lists what there is."
        raise ParameterError(f"There is no data set called {name!r}; {hint}")
    if not (place / entry.file).is_file():
        raise DataError(f"The file of {name!r} is missing: '{entry.file}' is not in '{place}'.{_origin(name)}")
    return entry.read(place / entry.file, name)


def missing(names: Iterable[str]) -> dict[str, str]:
    """Those of the sets that are not in the data folder, each with one line that says how to get it."""
    place, found = _usual_folder(), {}
    for name in dict.fromkeys(names):
        entry = _entry_of(name)
        file = name if entry is None else entry.file
        if place is None or not (place / file).is_file():
            where = f"'{place}'" if place is not None else f"a folder, and set {VARIABLE} to it"
            found[name] = f"put '{file}' in {where}.{_origin(name)}"
    return found


def find_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder given, else ``$ASKEW_DATA``, else ``../shared/data`` beside where we are or beside the repository."""
    place = _existing(Path(folder), "folder") if folder is not None else _usual_folder()
    if place is None:
        raise DataError(
            f"There is no folder of data sets: pass `folder`, or set the environment variable {VARIABLE} to it. "
            "Without files, the make_* generators of askew.datasets serve."
        )
    return place


def _usual_folder() -> Path | None:
    """The folder that is used when none is given; None where there is none."""
    if os.environ.get(VARIABLE):
        return _existing(Path(os.environ[VARIABLE]), f"${VARIABLE}")
    candidates = (place.parent / _NEIGHBOUR for place in (Path.cwd(), _REPOSITORY))
    return next((candidate for candidate in candidates if candidate.is_dir()), None)


def _existing(path: Path, origin: str) -> Path:
    if not path.is_dir():
        raise DataError(f"{origin} must name an existing folder of data sets; got '{path}'.")
    return path


def _entry_of(name: str) -> _Entry | None:
    """File and reader of a name; a KEEL set is known by its file."""
    if name in _SETS:
        return _SETS[name]
    if name.startswith(_KEEL) and "/" not in name.removeprefix(_KEEL):
        return _Entry(f"extra/{name}.csv.gz", read_table)
    return None


def _origin(name: str) -> str:
    """A sentence on where a set can be had; empty where the README of the data folder is all there is to say."""
    if name in datasets.available():
        return f" OpenML has the same rows: askew.datasets.load({name!r})."
    home = "the imbalanced sets of the KEEL repository" if name.startswith(_KEEL) else _ORIGINS.get(name)
    return f" It comes from {home}." if home else ""
