"""A run as tables in the README, figures and a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from studies.moments import evidence, figures, paper, tables
from studies.moments.grids import SEEDS, SETTINGS
from studies.moments.outcome import Outcome
from studies.moments.sets import DENSE, DENSE_RARE, RCV1, RCV1_BINARY, REUTERS, REUTERS_RARE, TEXT
from studies.protocol.command import Order, save_summary
from studies.protocol.page import fill

GROUPS = {
    "dense": DENSE,
    "RCV1 (500 words)": RCV1,
    "RCV1 (944 words)": RCV1_BINARY,
    "Reuters-21578": REUTERS,
    "Reuters-21578 1:1000": REUTERS_RARE,
}
_COLLECTIONS = (*((name,) for name in DENSE), RCV1, RCV1_BINARY, REUTERS)
_RANKED = {
    "dense sets and collections": _COLLECTIONS,
    "every task by itself": tuple((task,) for tasks in _COLLECTIONS for task in tasks),
    "Reuters-21578 1:1000": (REUTERS_RARE,),
}
_KINDS = {"dense": DENSE, "text": TEXT}
_PEERS = ("cost-sensitive", "undersampling", "fisher", "SVC, threshold moved")
_MINE = ("MIBC", "MIBC, ridge chosen")


def publish(order: Order, rows: Sequence[Mapping[str, Any]], timed: Sequence[Mapping[str, Any]]) -> None:
    """Draw and write everything; in a quick run the README stays as it is."""
    outcome = Outcome([*rows, *timed])
    made = _tables(outcome)
    _figures(outcome, order)
    minutes = {"quality": sum(row["cpu"] for row in rows) / 60, "times": sum(row["cpu"] for row in timed) / 60}
    numbers = {"areas": _areas(outcome), "tests": _tests(outcome)}
    known = {"cpu_minutes": minutes, "n_cells": len(rows) + len(timed)}
    save_summary(order, SETTINGS, {**known, **numbers}, seeds=SEEDS)
    if order.quick:
        print("\n\n".join(made[name] for name in ("dense", "text", "times-dense", "times-text")))
    else:
        fill(order.folder / "README.md", made)
    print(f"processor time: {minutes['quality']:.1f} + {minutes['times']:.1f} minutes")


def _tables(outcome: Outcome) -> dict[str, str]:
    return {
        "sets": tables.sets(outcome, (*DENSE, *RCV1, *RCV1_BINARY, *REUTERS)),
        "dense": tables.areas(outcome, DENSE, tables.DENSE_METHODS, paper.AREAS_DENSE),
        "dense-tests": tables.differences(outcome, DENSE, "MIBC", _PEERS),
        "dense-tests-chosen": tables.differences(outcome, DENSE, "MIBC, ridge chosen", _PEERS),
        "rarity": tables.rarity(outcome, DENSE, "@100"),
        "times-dense": tables.times(outcome, DENSE, "full", paper.TIMES_DENSE),
        "text": tables.areas(outcome, TEXT, tables.TEXT_METHODS, paper.AREAS_TEXT),
        "factor": tables.areas(outcome, TEXT, tables.FACTOR_METHODS),
        "wins-factor": tables.wins(outcome, GROUPS, "factor, ridge chosen", ("MIBC, ridge chosen", *_PEERS)),
        "words": evidence.unseen_words(outcome, (*REUTERS, *REUTERS_RARE)),
        "text-tests": tables.differences(outcome, TEXT, "MIBC", _PEERS),
        "text-tests-chosen": tables.differences(outcome, TEXT, "MIBC, ridge chosen", _PEERS),
        "ranks": tables.ranks(outcome, _RANKED, tables.TEXT_METHODS),
        "wins": tables.wins(outcome, GROUPS, "MIBC", _PEERS),
        "wins-auto": tables.wins(outcome, GROUPS, "MIBC, ridge auto", ("MIBC", *_PEERS)),
        "wins-chosen": tables.wins(outcome, GROUPS, "MIBC, ridge chosen", ("MIBC", *_PEERS)),
        "times-text": tables.times(outcome, TEXT, "diagonal", paper.TIMES_TEXT),
        "times-factor": tables.times(outcome, TEXT, "factor", {}),
        "all-positives": tables.finding_all(outcome, TEXT, (*_MINE, *_PEERS), _MINE),
        "thresholds": tables.thresholds(outcome, (*DENSE, *TEXT), (*_MINE, *_PEERS)),
        "bounds": evidence.bounds(outcome, _KINDS),
        "promises": evidence.promises(outcome, _KINDS),
        "kernels": evidence.kernel_areas(outcome, DENSE),
        "gaps": evidence.gaps(outcome, _KINDS),
    }


def _figures(outcome: Outcome, order: Order) -> None:
    figures.roc(outcome, DENSE, order.results, "roc_dense", columns=2)
    figures.roc(outcome, RCV1, order.results, "roc_rcv1", columns=3, zoom=0.5)
    figures.roc(outcome, REUTERS_RARE, order.results, "roc_reuters_1000", columns=3, zoom=0.2)
    figures.certificate(outcome, _KINDS, order.results)
    figures.times(outcome, (*DENSE, REUTERS_RARE[1], RCV1[0]), order.results)


def _areas(outcome: Outcome) -> dict[str, Any]:
    """Means and intervals of AUC by task and method."""
    methods = (*tables.DENSE_METHODS, *tables.FACTORS)
    tasks = (*DENSE, *DENSE_RARE, *TEXT)
    return {
        task: {method: outcome.area(task, method) for method in methods if outcome.has(task, method)}
        for task in tasks
        if outcome.has(task, "MIBC")
    }


def _tests(outcome: Outcome) -> dict[str, Any]:
    """Every paired test of AUC, in points, by task."""
    found: dict[str, Any] = {}
    mines = ("MIBC", "MIBC, ridge auto", "MIBC, ridge chosen")
    for task in (*DENSE, *DENSE_RARE, *TEXT):
        pairs = {f"{mine} - {peer}": outcome.compare(task, mine, peer) for mine in mines for peer in _PEERS}
        known = {pair: asdict(test) for pair, test in pairs.items() if test is not None}
        if known:
            found[task] = known
    return found
