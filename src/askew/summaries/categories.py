"""Categories learnt while rows pass by: their 0/1 columns stand beside the numbers in the moments, and grow.

A part of the rows knows only the categories it has met. A category it has not met would be a column of zeros there, of
mean and scatter zero, so two parts are put on common columns exactly, and then they merge as moments do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError
from askew.moments import place_moments
from askew.tables import Level, sort_levels

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
        for mine, theirs in zip(self.weights, other.weights, strict=True):
            of_both = {*mine, *theirs}
            both = mine if mine.keys() == theirs.keys() else sort_levels(of_both)
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
