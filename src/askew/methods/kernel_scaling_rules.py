"""From the name of a scaling and its strengths to the bend for a fitted machine.

Given
    Strengths (k_majority, k_minority) in the units of the bend's file; scalings with one k take the first.
Returns
    A rule: ``rule(task, fitted) → Bend``, or None where all k = 0 and nothing is to be bent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from askew.kernels.bends import Adaptive, Asymmetric, Bend, Boundary, Support, Symmetric, balanced_share
from askew.kernels.bends import with_unit_mean_square as in_unit
from askew.methods.kernel_scaling import Fitted, Rule, Task

Strengths = tuple[float, float]


def rule_of(scaling: str, strengths: Strengths) -> Rule:
    """The rule of a scaling at given strengths."""
    make = _MAKERS[scaling]

    def rule(task: Task, fitted: Fitted) -> Bend | None:
        return None if strengths == (0.0, 0.0) else make(task, fitted, strengths)

    return rule


def _symmetric(task: Task, fitted: Fitted, strengths: Strengths) -> Bend:
    return Symmetric.of(fitted.score, strengths[0])


def _asymmetric(task: Task, fitted: Fitted, strengths: Strengths) -> Bend:
    return Asymmetric.of(fitted.score, task.majority_sign, *strengths)


def _support(task: Task, fitted: Fitted, strengths: Strengths) -> Bend:
    distances: Any = task.distances(Support.space)
    rows = task.anchors(fitted.solution.beta)
    return in_unit(Support.of(rows, distances, strengths[0]), fitted.score, distances, task.weight)


def _adaptive(task: Task, fitted: Fitted, strengths: Strengths) -> Bend:
    distances: Any = task.distances(Adaptive.space)
    rows = task.anchors(fitted.solution.beta)
    bend = Adaptive.of(rows, task.is_minority[rows], distances, strengths[0])
    return in_unit(bend, fitted.score, distances, task.weight)


def _boundary(task: Task, fitted: Fitted, strengths: Strengths) -> Bend:
    distances: Any = task.distances(Boundary.space)
    rows = task.anchors(fitted.solution.beta)
    share = balanced_share(-task.majority_sign * fitted.score, task.is_minority, task.weight)
    bend = Boundary.of(rows, task.is_minority[rows], distances, share, strengths[0])
    return in_unit(bend, fitted.score, distances, task.weight)


_MAKERS: dict[str, Callable[[Task, Fitted, Strengths], Bend]] = {
    "asymmetric": _asymmetric,
    "symmetric": _symmetric,
    "support": _support,
    "adaptive": _adaptive,
    "boundary": _boundary,
}
SCALINGS = tuple(_MAKERS)
ANCHORED = ("support", "adaptive", "boundary")
"""Scalings that measure distances from support vectors."""
