"""The sets askew knows by name: which file, read how, and fetched from where without it."""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import NamedTuple

from askew.datasets import openml
from askew.datasets.archives import read_covtype, read_dense, read_subset, read_topics
from askew.datasets.dataset import Dataset
from askew.datasets.documents import read_documents
from askew.datasets.folder import find_folder
from askew.datasets.origins import ON_OPENML, home_of
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


def load(name: str, folder: str | os.PathLike[str] | None = None, *, fetch: bool = False) -> Dataset:
    """Read a data set from a local folder, or fetch it where it is not there and that is allowed.

    Parameters
    ----------
    name : str
        A name from ``available()``, such as ``"pima"``, ``"ijcnn1"`` or ``"keel/yeast6"``.
    folder : path, optional
        Where the files lie. By default the environment variable ``ASKEW_DATA``, and without it
        ``../shared/data`` beside the working directory or the repository.
    fetch : bool, default=False
        Where there is no folder, or the file is not in it, fetch the set from OpenML, if it is there row for row:
        ``fetchable()`` names those. The first time needs a network; shape and number of positives are checked.
        Groups and splits of a set are in the files only.

    Returns
    -------
    Dataset
        With y = +1 for the class of interest, or a column per topic for multi-topic sets.

    Raises
    ------
    ParameterError
        For a name that is not known.
    DataError
        When there is no folder, or the file is not in it, and the set was not fetched: why, and where it comes from.

    Examples
    --------
    >>> from askew.datasets import load
    >>> data = load("pima")                                     # doctest: +SKIP
    >>> data.X.shape, data.n_positive                           # doctest: +SKIP
    ((768, 8), 268)
    >>> data = load("keel/yeast4", fetch=True)                  # from OpenML without a folder  # doctest: +SKIP
    """
    try:
        place = find_folder(folder)
    except DataError:
        if not fetch:
            raise
        place = None
    entry = _entry_of(name, place, fetch)
    if place is not None and (place / entry.file).is_file():
        return entry.read(place / entry.file, name)
    if fetch and name in ON_OPENML:
        origin = ON_OPENML[name]
        return openml.fetch(
            origin.data_id, positive=origin.positive, shape=origin.shape, n_positive=origin.n_positive, name=name
        )
    raise DataError(_missing(name, entry.file, place, fetch))


def fetchable() -> list[str]:
    """Names that ``load(name, fetch=True)`` can get from OpenML.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from askew.datasets import fetchable
    >>> "pima" in fetchable()
    True
    """
    return sorted(ON_OPENML)


def _entry_of(name: str, place: Path | None, fetch: bool) -> _Entry:
    """File and reader of a name; a KEEL set is known by its file, or by its origin."""
    if name in _SETS:
        return _SETS[name]
    if name.startswith(_KEEL) and "/" not in name.removeprefix(_KEEL):
        entry = _Entry(f"extra/{name}.csv.gz", read_table)
        if name in ON_OPENML or (place is not None and (place / entry.file).is_file()):
            return entry
    known = {*_SETS, *(ON_OPENML if fetch else ()), *(() if place is None else available(place))}
    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "available() lists what there is."
    raise ParameterError(f"There is no data set called {name!r}; {hint}")


def _missing(name: str, file: str, place: Path | None, fetch: bool) -> str:
    """What is missing, and where it can be had."""
    where = f"'{file}' is not in '{place}'" if place is not None else f"there is no folder with '{file}'"
    message, home = f"The file of {name!r} is missing: {where}.", home_of(name)
    if name in ON_OPENML:
        return f"{message} load({name!r}, fetch=True) gets the set from {home}."
    if home is None:
        return message
    why = " It cannot be fetched as it is used here." if fetch else ""
    return f"{message}{why} It comes from {home}."
