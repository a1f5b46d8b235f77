"""Kernel scaling on the rows of a fold: learnt from some of them, seen on all.

Solves
    The fits of ``kernel_scaling`` on all rows at once, where rows that are held out have C_i = 0 and never support a
    score. A bend is made from the training rows alone and laid on all; the solver's gradient then holds the score of
    every row, and no row is scored a second time.
Given
    A ``Task`` on all rows, and which of them are for training.
Returns
    A rule for ``kernel_scaling.scale``.
"""

from __future__ import annotations

from dataclasses import replace

from askew.kernels.bends import Bend
from askew.methods.kernel_scaling import Fitted, Indices, Rule, Task


def of_training_rows(rule: Rule, train: Indices) -> Rule:
    """The same rule, blind to all rows but these."""

    def blind(task: Task, fitted: Fitted) -> Bend | None:
        bend = rule(task.part(train), _part(fitted, train))
        return None if bend is None else bend.moved(train)

    return blind


def _part(fitted: Fitted, rows: Indices) -> Fitted:
    solution = replace(fitted.solution, beta=fitted.solution.beta[rows], gradient=fitted.solution.gradient[rows])
    return Fitted(solution, fitted.score[rows], fitted.log_factor[rows], fitted.stage)
