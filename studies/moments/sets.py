"""The tasks of this study and how each is cut into training, validation and test rows.

Everything that is learnt from data (which features, their scale, idf) is learnt on the training rows of a cut.
Topics are spaced evenly by frequency: six of those with 60 to 130 documents in each part of RCV1, and every third of
those with 60 to 180 in Reuters-21578. A name that ends in @1000 has positives left out of its training rows until
there are 1000 negatives to one; validation and test rows keep theirs, so that the areas are not measured on a handful.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import StandardScaler

from askew.datasets import Dataset
from benchmarks.data import load

DENSE = ("caspase3_sites", "mammography", "sylva", "satimage")
DENSE_RARE = tuple(f"{name}@100" for name in DENSE)
RCV1 = tuple(
    f"rcv1_topics_k500/{topic}"
    for topic in ("GCAT.GJOB", "MCAT.M14.M142", "CCAT.C15.C151.C1511", "GCAT.GDIS", "ECAT.E51.E512", "GCAT.G15.G154")
)
RCV1_BINARY = tuple(f"rcv1_subset1/topic{k}" for k in (87, 88, 18, 78, 79, 27))
_REUTERS = ("oilseed", "gnp", "soybean", "livestock", "reserves", "copper")
REUTERS = tuple(f"reuters21578/{topic}" for topic in _REUTERS)
REUTERS_RARE = tuple(f"reuters21578/{topic}@1000" for topic in _REUTERS)
TEXT = (*RCV1, *RCV1_BINARY, *REUTERS, *REUTERS_RARE)

N_FEATURES = 150
SHARES = (0.5, 0.2, 0.3)
SEED = 2016
_AS_THEY_ARE = {"caspase3_sites"}  # 0/1 columns of one-hot windows


@dataclass(frozen=True)
class Part:
    """Rows and their classes, +1 or −1."""

    X: Any
    y: NDArray[np.int64]

    @property
    def negatives(self) -> Any:
        return self.X[self.y < 0]

    @property
    def positives(self) -> Any:
        return self.X[self.y > 0]


@dataclass(frozen=True)
class Cut:
    """One random division of a task."""

    train: Part
    validation: Part
    test: Part

    @property
    def ratio(self) -> float:
        """Negatives to a positive in training."""
        n_positive = int(np.count_nonzero(self.train.y > 0))
        return (len(self.train.y) - n_positive) / n_positive

    @property
    def unit(self) -> float:
        """Mean variance of the features over the training negatives: ridges are measured in it."""
        X = self.train.negatives
        squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
        variance = np.asarray(squares.mean(axis=0)).ravel() - np.asarray(X.mean(axis=0)).ravel() ** 2
        return float(variance.mean())


@lru_cache(maxsize=2)
def cut(name: str, repeat: int) -> Cut:
    """The ``repeat``-th cut of a task; the same for every method."""
    task, _, ratio = name.partition("@")
    data = _read(task)
    y = np.asarray(data.y, dtype=np.int64)
    rng = np.random.default_rng([repeat, SEED])
    rows = _by_group(data.groups, rng) if data.groups is not None else _stratified(y, rng)
    if ratio:
        rows[0] = thinned(rows[0], y, int(ratio))
    return Cut(*(Part(X, y[mine]) for X, mine in zip(_prepared(task, data.X, y, rows), rows, strict=True)))


def title(name: str) -> str:
    """The task as tables call it."""
    task, _, ratio = name.partition("@")
    folder, _, topic = task.partition("/")
    short = {"rcv1_topics_k500": "RCV1", "rcv1_subset1": "RCV1-944", "reuters21578": "Reuters"}.get(folder, folder)
    return " ".join(filter(None, [short, topic.rsplit(".", 1)[-1], f"1:{ratio}" if ratio else ""]))


def describe(name: str) -> dict[str, Any]:
    """Positives, negatives and features of the whole task."""
    data = _read(name.partition("@")[0])
    n_positive = int(np.count_nonzero(data.y > 0))
    return {"n_positive": n_positive, "n_negative": len(data.y) - n_positive, "n_features": int(data.X.shape[1])}


@cache
def _read(task: str) -> Dataset:
    name, _, topic = task.partition("/")
    if not topic:
        return load(name)
    return _documents(name).against_rest(topic)


@cache
def _documents(name: str) -> Dataset:
    """Texts as counts of words, the rest as their files have them."""
    data = load(name)
    if name != "reuters21578":
        return data
    assert data.split is not None
    data = data.take(np.isin(data.split, ["train", "test"]))
    counts = sparse.csr_matrix(CountVectorizer(dtype=np.float64).fit_transform(data.X))
    return Dataset(data.name, counts, data.y, topics=data.topics)


def _stratified(y: NDArray[np.int64], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Random rows of each class in the shares of the protocol."""
    pieces: list[list[NDArray[np.int64]]] = [[], [], []]
    for sign in (-1, 1):
        rows = rng.permutation(np.flatnonzero(y == sign))
        for piece, part in zip(pieces, np.split(rows, _ends(len(rows))), strict=True):
            piece.append(part)
    return [rng.permutation(np.concatenate(piece)) for piece in pieces]


def _by_group(groups: NDArray[Any], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Whole groups in random order: windows of one protein overlap and must not stand on both sides."""
    _, codes = np.unique(groups, return_inverse=True)
    order = rng.permutation(codes.max() + 1)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    rows = np.argsort(place[codes], kind="stable")
    last = np.searchsorted(np.cumsum(np.bincount(codes)[order]), _ends(len(rows)))
    part = np.searchsorted(last, place[codes[rows]], side="left")
    return [rng.permutation(rows[part == k]) for k in range(3)]


def _ends(n: int) -> list[int]:
    return [round(SHARES[0] * n), round((SHARES[0] + SHARES[1]) * n)]


def thinned(rows: NDArray[np.int64], y: NDArray[np.int64], ratio: int) -> NDArray[np.int64]:
    """The rows with positives left out until there are ``ratio`` negatives to one; two positives at least stay."""
    negative, positive = rows[y[rows] < 0], rows[y[rows] > 0]
    return np.concatenate([negative, positive[: max(2, round(len(negative) / ratio))]])


def _prepared(task: str, X: Any, y: NDArray[np.int64], rows: list[NDArray[np.int64]]) -> list[Any]:
    if sparse.issparse(X):
        return _weighted_words(X, rows, is_weighted=task.startswith("rcv1_topics_k500"))
    train = np.asarray(X[rows[0]], dtype=np.float64)
    chosen = most_correlated(train, y[rows[0]], N_FEATURES)
    parts = [np.asarray(X[mine], dtype=np.float64)[:, chosen] for mine in rows]
    if task in _AS_THEY_ARE:
        return parts
    scaler = StandardScaler().fit(parts[0])
    return [scaler.transform(part) for part in parts]


def most_correlated(X: NDArray[np.float64], y: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The k features of largest absolute correlation with the class, in their old order."""
    centred = X - X.mean(axis=0)
    length = np.sqrt(np.sum(centred**2, axis=0))
    strength = np.abs((y - y.mean()) @ centred) / np.where(length > 0, length, np.inf)
    return np.sort(np.argsort(-strength, kind="stable")[:k])


def _weighted_words(X: Any, rows: list[NDArray[np.int64]], *, is_weighted: bool) -> list[Any]:
    """tf-idf with the idf of the training rows, without words they do not hold."""
    X = sparse.csr_matrix(X, dtype=np.float64)
    seen = np.flatnonzero(np.bincount(X[rows[0]].indices, minlength=X.shape[1]))
    parts = [X[mine][:, seen] for mine in rows]
    if is_weighted:
        return parts
    idf = TfidfTransformer(sublinear_tf=True).fit(parts[0])
    return [sparse.csr_matrix(idf.transform(part)) for part in parts]
