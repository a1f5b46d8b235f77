"""What an estimator has learnt: forgotten before a fit, taken over whole after it.

A fit works on a copy that has learnt nothing, and only a fit that has succeeded is committed. So one that fails, or is
interrupted, leaves the estimator as it was: an earlier model stays usable and unchanged.
"""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

from askew.sklearn_private import check_parameters

Estimator = TypeVar("Estimator")


def begin(estimator: Estimator) -> Estimator:
    """Check an estimator's parameters; return a copy that has learnt nothing, for a fit to work on."""
    check_parameters(estimator)
    return blank(estimator)


def blank(estimator: Estimator) -> Estimator:
    """A copy that has learnt nothing."""
    new = copy(estimator)
    for name in learnt(estimator):
        delattr(new, name)
    return new


def commit(estimator: Estimator, new: Any) -> Estimator:
    """Replace everything an estimator has learnt by what another has learnt, all at once."""
    forgotten = set(learnt(estimator))
    kept = {name: value for name, value in vars(estimator).items() if name not in forgotten}
    estimator.__dict__ = kept | {name: vars(new)[name] for name in learnt(new)}  # one step, which nothing interrupts
    return estimator


def learnt(estimator: Any) -> list[str]:
    """Names of the attributes that a fit has set: those that end in an underscore, and the private ones that the class
    lists in ``_learnt_privately``."""
    private = getattr(estimator, "_learnt_privately", frozenset())
    return [name for name in vars(estimator) if name in private or (name.endswith("_") and not name.endswith("__"))]
