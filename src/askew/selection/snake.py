"""An order of candidates in which neighbours differ little, so that each starts from the last one's solution."""

from __future__ import annotations

from typing import Any


def snake(candidates: list[dict[str, Any]]) -> list[int]:
    """Indices of the candidates, like an ox ploughs: the last parameter runs up, then down, as the others advance.

    Values of a parameter are taken in ascending order where they have one, else in the order they come.

    Examples
    --------
    >>> grid = [{"mu": mu, "tau": tau} for mu in (0.2, 0.1) for tau in (0.0, 0.5)]
    >>> [tuple(grid[i].values()) for i in snake(grid)]
    [(0.1, 0.0), (0.1, 0.5), (0.2, 0.5), (0.2, 0.0)]
    """
    names = list(dict.fromkeys(name for candidate in candidates for name in candidate))
    places = [_places([candidate.get(name) for candidate in candidates]) for name in names]
    return _ordered(list(range(len(candidates))), places)


def _ordered(members: list[int], places: list[list[int]]) -> list[int]:
    if not places or len(members) < 2:
        return members
    order: list[int] = []
    for turn, place in enumerate(sorted({places[0][i] for i in members})):
        part = _ordered([i for i in members if places[0][i] == place], places[1:])
        order += part if turn % 2 == 0 else part[::-1]
    return order


def _places(values: list[Any]) -> list[int]:
    """Rank of each value among the distinct ones."""
    keys = [repr(value) for value in values]
    distinct = dict(zip(keys, values, strict=True))
    try:
        ranked = sorted(distinct, key=distinct.__getitem__)
    except TypeError:  # None, dicts, mixtures: no order but the one they came in
        ranked = list(distinct)
    rank = {key: place for place, key in enumerate(ranked)}
    return [rank[key] for key in keys]
