"""The sets askew knows by name: which file, read how."""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import NamedTuple

from askew.datasets.archives import read_covtype, read_dense, read_subset, read_topics
from askew.datasets.dataset import Dataset
from askew.datasets.documents import read_documents
from askew.datasets.folder import find_folder
from askew.datasets.svmlight import read_svmlight
from askew.datasets.tables import read_table
from askew.exceptions import DataError, ParameterError


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


def available(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Names that ``load`` would read from the folder now.

    Parameters
    ----------
    folder : path, optional
        As for ``load``.

    Returns
    -------
    list of str
        Sorted; the small KEEL sets are called ``keel/NAME``.
    """
    place = find_folder(folder)
    known = [name for name, entry in _SETS.items() if (place / entry.file).is_file()]
    keel = [_KEEL + file.name.removesuffix(".csv.gz") for file in (place / "extra" / "keel").glob("*.csv.gz")]
    return sorted(known + keel)


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a data set from a local folder.

    Parameters
    ----------
    name : str
        A name from ``available()``, such as ``"pima"``, ``"ijcnn1"`` or ``"keel/yeast6"``.
    folder : path, optional
        Where the files lie. By default the environment variable ``ASKEW_DATA``, and without it
        ``../shared/data`` beside the working directory or the repository.

    Returns
    -------
    Dataset
        With y = +1 for the class of interest, or a column per topic for multi-topic sets.

    Raises
    ------
    ParameterError
        For a name that is not known.
    DataError
        When there is no folder, or the file is not in it.

    Examples
    --------
    >>> from askew.datasets import load
    >>> data = load("pima")                                     # doctest: +SKIP
    >>> data.X.shape, data.n_positive                           # doctest: +SKIP
    ((768, 8), 268)
    """
    place = find_folder(folder)
    entry = _SETS.get(name)
    if entry is None and name.startswith(_KEEL) and "/" not in name.removeprefix(_KEEL):
        entry = _Entry(f"extra/{name}.csv.gz", read_table)
        if not (place / entry.file).is_file():
            entry = None
    if entry is None:
        near = get_close_matches(name, {*_SETS, *available(place)}, n=3)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "available() lists what there is."
        raise ParameterError(f"There is no data set called {name!r}; {hint}")
    if not (place / entry.file).is_file():
        raise DataError(f"The file of {name!r} is missing: '{entry.file}' is not in '{place}'.")
    return entry.read(place / entry.file, name)
