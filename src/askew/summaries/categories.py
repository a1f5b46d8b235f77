"""Categories learnt while rows pass by: their 0/1 columns stand beside the numbers in the moments, and grow.

A part of the rows knows only the categories it has met. A category it has not met would be a column of zeros there, of
mean and scatter zero, so two parts are put on common columns exactly, and then they merge as moments do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.exceptions import DataError
from askew.moments import place_moments
from askew.sources import as_table
from askew.sources.categories import Level, read_categories, sort_levels
from askew.sources.rows import FINITE, check_finite, columns_of
from askew.sources.source import naming

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Levels:
    """The levels of categories met so far, and their weight.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    most : int
        Categories a column may have.
    weights : tuple of dict of level to float
        For every column: its categories in order, and the weight of their rows.
    """

    names: tuple[str, ...] = ()
    most: int = 0
    weights: tuple[dict[Level, float], ...] = ()

    @classmethod
    def of(cls, names: tuple[str, ...], most: int, levels: Any, codes: NDArray[np.int32], weight: Vector) -> Levels:
        """Levels of some rows."""
        sums = [np.bincount(codes[:, j], weight, len(levels[j])) for j in range(len(names))]
        found = tuple(dict(zip(known, each.tolist(), strict=True)) for known, each in zip(levels, sums, strict=True))
        return cls(names, most, found)._checked()

    @property
    def keys(self) -> tuple[tuple[Level, ...], ...]:
        """The categories of every column."""
        return tuple(map(tuple, self.weights))

    def joined(self, other: Levels) -> Levels:
        """Both together; without names, nothing has been met yet."""
        if not (self.names and other.names):
            return self if self.names else other
        found = []
        for name, mine, theirs in zip(self.names, self.weights, other.weights, strict=True):
            of_both = {*mine, *theirs}
            both = mine if mine.keys() == theirs.keys() else naming(f"column {name!r}", sort_levels, of_both)
            found.append({level: mine.get(level, 0.0) + theirs.get(level, 0.0) for level in both})
        return Levels(self.names, self.most, tuple(found))._checked()

    def kept(self) -> Levels:
        """Without the categories that only rows of weight zero have."""
        found = tuple({level: sum_ for level, sum_ in mine.items() if sum_ > 0} for mine in self.weights)
        return Levels(self.names, self.most, found)

    def places(self, other: Levels, n_numbers: int) -> NDArray[np.int64]:
        """Where the columns of moments with the categories ``other`` stand among those with these; -1 for nowhere."""
        places, start = list(range(n_numbers)), n_numbers
        for mine, theirs in zip(self.keys, other.keys, strict=True):
            place = {level: start + k for k, level in enumerate(mine)}
            places += [place.get(level, -1) for level in theirs]
            start += len(mine)
        return np.array(places, dtype=np.int64)

    def fitted(self, moments: Any, to: Levels) -> Any:
        """Moments with these categories as moments with the categories ``to``."""
        if self.keys == to.keys:
            return moments
        n_numbers = moments.n_features - sum(map(len, self.keys))
        places = to.places(self, n_numbers)
        return place_moments(moments, places, n_numbers + sum(map(len, to.keys)))

    def order(self, features: tuple[str, ...]) -> NDArray[np.int64]:
        """For columns in the order of ``features``, each category in the place of its own: where they stand now."""
        numbers = [name for name in features if name not in self.names]
        stands = {name: [k] for k, name in enumerate(numbers)}
        ends = np.cumsum([len(numbers), *map(len, self.keys)])
        stands |= {name: list(range(ends[j], ends[j + 1])) for j, name in enumerate(self.names)}
        return np.array([place for name in features for place in stands[name]], dtype=np.int64)

    def _checked(self) -> Levels:
        check_numbers(self.names, map(len, self.weights), self.most)
        return self


def check_numbers(names: tuple[str, ...], numbers: Iterable[int], most: int) -> None:
    """Refuse a column of too many categories: names or identifiers, whose moments nobody could hold."""
    for name, number in zip(names, numbers, strict=True):
        if number > most:
            raise DataError(
                f"column {name!r} has at least {number} different values, and max_categories={most} are "
                "allowed. Raise `max_categories`, put rare values together, or leave the column out."
            )


def one_hot(codes: NDArray[np.int32], sizes: list[int]) -> Any:
    """A 0/1 column for every category of every column, sparse; a code of -1 is none of them."""
    starts = np.cumsum([0, *sizes])
    is_known = codes >= 0
    indices = (codes + starts[:-1].astype(np.int32))[is_known]
    ends = np.append(0, np.cumsum(is_known.sum(axis=1)))
    return sparse.csr_array((np.ones(len(indices)), indices, ends), shape=(len(codes), int(starts[-1])))


@lru_cache(1024)
def level_numbers(levels: tuple[Level, ...]) -> Vector:
    """A number for each category that depends on nothing but itself: rows with them can be kept, hashed and drawn.

    53 bits of a hash, so that float64 holds it exactly; two of a thousand categories share one with probability 1e-10.
    """
    digests = [blake2b(repr(level).encode(), digest_size=8).digest() for level in levels]
    return np.array([int.from_bytes(digest, "big") >> 11 for digest in digests], dtype=np.float64)


def expanded(kept: Vector, levels: Levels) -> Vector:
    """Rows that hold the number of a category in each of their last columns, with a 0/1 column for every category."""
    n_numbers = kept.shape[1] - len(levels.names)
    parts = [kept[:, :n_numbers]]
    parts += [(kept[:, [n_numbers + j]] == level_numbers(mine)).astype(float) for j, mine in enumerate(levels.keys)]
    return np.hstack(parts)


def encode(frame: Any, features: Sequence[str], categories: Mapping[str, Sequence[Level]]) -> Vector:
    """Numbers as they are, and a 0/1 column for every category; one that the fit has not met is zero in all of them.

    Parameters
    ----------
    frame : pandas, Polars or Arrow frame, or dict of columns
    features : sequence of str
        Columns the model was fitted with.
    categories : mapping of str to sequence
        Of those that are categories.

    Examples
    --------
    >>> frame = {"amount": [1.5, 2.0, 3.0], "country": ["fr", "de", "it"]}
    >>> encode(frame, ["amount", "country"], {"country": ["de", "fr"]}).tolist()
    [[1.5, 0.0, 1.0], [2.0, 1.0, 0.0], [3.0, 0.0, 0.0]]
    """
    table, texts = _as_table(frame), [name for name in features if name in categories]
    found = read_categories(table, texts, [tuple(categories[name]) for name in texts])
    parts = []
    for name in features:
        if name in categories:
            j = texts.index(name)
            parts.append(one_hot(found.codes[:, [j]], [len(found.levels[j])]).toarray())
        else:
            parts.append(columns_of(table, (name,))[0].astype(np.float64)[:, None])
            check_finite(parts[-1], (name,), where="of X", largest=FINITE)
    return np.hstack(parts)


def encoded_names(features: Sequence[str], categories: Mapping[str, Sequence[Level]]) -> NDArray[Any]:
    """Names of the columns that ``encode`` gives.

    Examples
    --------
    >>> encoded_names(["amount", "country"], {"country": ["de", "fr"]}).tolist()
    ['amount', 'country=de', 'country=fr']
    """
    names = []
    for name in features:
        levels = categories.get(name)
        names += [name] if levels is None else [_column_name(name, level) for level in levels]
    return np.array(names, dtype=object)


def _column_name(name: str, level: Level) -> str:
    return f"{name} is missing" if level is None else f"{name}={level}"


def _as_table(frame: Any) -> Any:
    if hasattr(frame, "shape") and not hasattr(frame, "columns") and not hasattr(frame, "column_names"):
        raise DataError(
            "The model was fitted with columns of categories and needs a frame with the same columns to score; got "
            f"{type(frame).__name__}."
        )
    return as_table(frame)
