"""Where the sets that askew knows by name can be had: their number on OpenML, or their home.

A number stands here only where OpenML's set is the one the studies used, row for row: the same shape, and as many rows
of the positive class, both of which are checked when it is fetched. Versions that differ (satimage has 6,430 rows there
and 6,435 here, segment 2,310 and 2,308) are left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple


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

_LIBSVM = "the data page of LIBSVM"
_UCI = "the UCI Machine Learning Repository"
_ADBENCH = "ADBench (github.com/Minqi824/ADBench, adbench/datasets/Classical)"
_CHALLENGE = "the WCCI 2006 performance prediction challenge (training part)"
_HOMES: dict[str, str] = {
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
_KEEL = "the imbalanced sets of the KEEL repository"


def home_of(name: str) -> str | None:
    """The place a set comes from, in words; None where the README of the data folder is all there is to say."""
    if name in ON_OPENML:
        return f"OpenML (set {ON_OPENML[name].data_id})"
    return _KEEL if name.startswith("keel/") else _HOMES.get(name)
