"""The cells of this study: one method on one cut of one task."""

from __future__ import annotations

from typing import Any

from studies.moments import kernels, machines, mibc, words
from studies.moments.sets import DENSE, DENSE_RARE, REUTERS, REUTERS_RARE, TEXT, cut, describe
from studies.protocol.cells import Cell

PEERS = ("cost-sensitive", "undersampling", "fisher")


def dense_cells(sets: tuple[str, ...] = DENSE, repeats: int = 20) -> list[dict[str, Any]]:
    """Tables 1–3 of the papers."""
    methods = ("MIBC full", *PEERS, "liblinear")
    return [{"set": s, "repeat": r, "method": m} for s in sets for r in range(repeats) for m in methods]


def rare_cells(sets: tuple[str, ...] = DENSE_RARE, repeats: int = 10) -> list[dict[str, Any]]:
    """The same sets with positives left out of training: is MIBC better the rarer they are?"""
    methods = ("MIBC full", *PEERS)
    return [{"set": s, "repeat": r, "method": m} for s in sets for r in range(repeats) for m in methods]


def text_cells(sets: tuple[str, ...] = TEXT, repeats: int = 10) -> list[dict[str, Any]]:
    """Tables 4 and 5."""
    return [
        {"set": s, "repeat": r, "method": m}
        for s in sets
        for r in range(repeats)
        for m in ("MIBC diagonal", "MIBC factor", *PEERS)
    ]


def kernel_cells(sets: tuple[str, ...] = DENSE, repeats: int = 10) -> list[dict[str, Any]]:
    """Section 3.3 of paper 000."""
    return [{"set": s, "repeat": r, "method": m} for s in sets for r in range(repeats) for m in kernels.METHODS]


def word_cells(sets: tuple[str, ...] = (*REUTERS, *REUTERS_RARE), repeats: int = 3) -> list[dict[str, Any]]:
    """What the score of a topic rests on."""
    return [{"set": s, "repeat": r, "method": "words"} for s in sets for r in range(repeats)]


def count_cells(sets: tuple[str, ...]) -> list[dict[str, Any]]:
    """Table 1, kept so that pages can be made where the data are not."""
    return [{"set": s, "repeat": 0, "method": "count"} for s in sets if "@" not in s]


def work(cell: Cell) -> dict[str, Any]:
    """One cell."""
    if cell["method"] == "count":
        return describe(cell["set"])
    here, method = cut(cell["set"], cell["repeat"]), cell["method"]
    if method.startswith("MIBC"):
        return mibc.measure(here, method.split()[1])
    if method in kernels.METHODS:
        return kernels.measure(here, method)
    if method == "cost-sensitive":
        return machines.cost_sensitive(here)
    if method == "undersampling":
        return machines.undersampled(here, cell["repeat"])
    if method == "words":
        return words.measure(here)
    if method == "liblinear":
        return machines.as_published(here)
    return machines.fisher(here)
