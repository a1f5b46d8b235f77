"""The public sets that askew knows by name: their number on OpenML, and what is expected there.

A set stands here only where OpenML's rows are those that askew was measured on: the same shape, and as many rows of the
positive class, both of which are checked when it is fetched. Versions that differ (satimage has 6,430 rows there and
6,435 in the studies, segment 2,310 and 2,308) are left out.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, NamedTuple

from askew.datasets import openml
from askew.datasets.dataset import Dataset
from askew.exceptions import ParameterError


class Origin(NamedTuple):
    """A set on OpenML: number, rows and encoded columns, positives, and their class (else: the one of that size)."""

    data_id: int
    shape: tuple[int, int]
    n_positive: int
    positive: Any = None


ON_OPENML: dict[str, Origin] = {
    "abalone": Origin(183, (4177, 10), 32, "19"),
    "australian": Origin(40981, (690, 14), 307, "1"),
    "breast_wisconsin": Origin(15, (699, 9), 241, "malignant"),
    "covtype": Origin(1596, (581012, 54), 2747, "4"),
    "german_categorical": Origin(31, (1000, 61), 300, "bad"),
    "haberman": Origin(43, (306, 3), 81, "2"),
    "ionosphere": Origin(59, (351, 34), 126, "b"),
    "letter": Origin(6, (20000, 16), 734, "Z"),
    "mammography": Origin(310, (11183, 6), 260),
    "parkinsons": Origin(1488, (195, 22), 48),
    "phoneme": Origin(1489, (5404, 5), 1586),
    "pima": Origin(37, (768, 8), 268, "tested_positive"),
    "shuttle": Origin(40685, (58000, 9), 3511, ("2", "3", "5", "6", "7")),
    "keel/glass0": Origin(41, (214, 9), 70),
    "keel/glass1": Origin(41, (214, 9), 76),
    "keel/glass2": Origin(41, (214, 9), 17),
    "keel/glass4": Origin(41, (214, 9), 13),
    "keel/glass5": Origin(41, (214, 9), 9),
    "keel/glass6": Origin(41, (214, 9), 29),
    "keel/iris0": Origin(61, (150, 4), 50, "Iris-setosa"),
    "keel/vehicle0": Origin(54, (846, 18), 199, "van"),
    "keel/vehicle1": Origin(54, (846, 18), 217, "saab"),
    "keel/vehicle2": Origin(54, (846, 18), 218, "bus"),
    "keel/vehicle3": Origin(54, (846, 18), 212, "opel"),
    "keel/yeast1": Origin(181, (1484, 8), 429, "NUC"),
    "keel/yeast3": Origin(181, (1484, 8), 163, "ME3"),
    "keel/yeast4": Origin(181, (1484, 8), 51, "ME2"),
    "keel/yeast5": Origin(181, (1484, 8), 44, "ME1"),
    "keel/yeast6": Origin(181, (1484, 8), 35, "EXC"),
}


def available() -> list[str]:
    """Names of the public sets that ``load`` gets from OpenML.

    Returns
    -------
    list of str
        Sorted; the small KEEL sets are called ``keel/NAME``.

    Examples
    --------
    >>> from askew.datasets import available
    >>> "pima" in available()
    True
    """
    return sorted(ON_OPENML)


def load(name: str, *, data_home: str | None = None) -> Dataset:
    """Get a public set by name, from OpenML or from scikit-learn's cache of it.

    The first call for a set needs a network; its shape and its number of positives are checked. Other sets of OpenML
    are had by number with ``fetch``.

    Parameters
    ----------
    name : str
        A name from ``available()``, such as ``"pima"`` or ``"keel/yeast6"``.
    data_home : str, optional
        Folder of the cache; scikit-learn's own by default.

    Returns
    -------
    Dataset
        With y = +1 for the class of interest; without ``groups`` and ``split``, which OpenML does not carry.

    Raises
    ------
    ParameterError
        For a name that is not known.
    DataError
        When the set cannot be had, or is not what was expected.

    Examples
    --------
    >>> from askew.datasets import load
    >>> data = load("pima")                                     # doctest: +SKIP
    >>> data.X.shape, data.n_positive                           # doctest: +SKIP
    ((768, 8), 268)
    """
    if name not in ON_OPENML:
        near = get_close_matches(name, ON_OPENML, n=3)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "available() lists those it knows."
        raise ParameterError(
            f"askew knows no public set called {name!r}; {hint} fetch() gets any set of OpenML by number."
        )
    origin = ON_OPENML[name]
    return openml.fetch(
        origin.data_id,
        positive=origin.positive,
        shape=origin.shape,
        n_positive=origin.n_positive,
        name=name,
        data_home=data_home,
    )
