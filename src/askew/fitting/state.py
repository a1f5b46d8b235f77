"""What an estimator has learnt: forgotten before a fit, taken over whole after it.

A fit works on a copy that has learnt nothing, and only a fit that has succeeded is committed. So one that fails, or is
interrupted, leaves the estimator as it was: an earlier model stays usable and unchanged.
"""

from __future__ import annotations

from typing import Any, TypeVar

from askew.sklearn_private import check_parameters

Estimator = TypeVar("Estimator")


def begin(estimator: Estimator) -> Estimator:
    """Check an estimator's parameters; return a copy that has learnt nothing, for a fit to work on."""
    check_parameters(estimator)
    return blank(estimator)


def blank(estimator: Estimator) -> Estimator:
    """A copy that has learnt nothing."""
    new = object.__new__(type(estimator))  # not copy(), which would grow what a description leaves out of its state
    forgotten = set(learnt(estimator))
    new.__dict__ = {name: value for name, value in vars(estimator).items() if name not in forgotten}
    return new


def commit(estimator: Estimator, new: Any) -> Estimator:
    """Replace everything an estimator has learnt by what another has learnt, all at once."""
    if not hasattr(new, "_fitted_with_"):
        names = [name for name in getattr(new, "_scored_with", ()) if hasattr(new, name)]
        new._fitted_with_ = {name: getattr(new, name) for name in names}
    forgotten = set(learnt(estimator))
    kept = {name: value for name, value in vars(estimator).items() if name not in forgotten}
    estimator.__dict__ = kept | {name: vars(new)[name] for name in learnt(new)}  # one step, which nothing interrupts
    return estimator


def as_fitted(estimator: Any, name: str) -> Any:
    """A parameter as it was in the fit, for scoring: ``set_params`` changes no score before the next fit.

    A class lists such parameters in ``_scored_with``. Within a fit, and in older model files, it is the parameter as it
    stands.
    """
    return getattr(estimator, "_fitted_with_", {}).get(name, getattr(estimator, name, None))


def learnt(estimator: Any) -> list[str]:
    """Names of the attributes that a fit has set.

    They are those that end in an underscore, and the private ones that the class lists in ``_learnt_privately``.
    """
    private = getattr(estimator, "_learnt_privately", frozenset())
    return [name for name in vars(estimator) if name in private or (name.endswith("_") and not name.endswith("__"))]
