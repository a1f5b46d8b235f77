"""What a fit did and promises, as plain data that any later version can read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from askew.findings import Finding
from askew.report import MethodResult, Promise

VERSION = 2
"""Raised when a field changes its meaning; new fields have a default and need no new version."""


@dataclass(frozen=True)
class Card:
    """All there is to know about a fitted `Detector`.

    Attributes
    ----------
    target : dict or None
        ``name``, ``positive`` and ``counts`` of the labels; None where all rows are normal.
    method, title : str
        Name of the method, and what a reader knows it by.
    params : dict
        Chosen by the search.
    settings : dict
        Parameters of the detector that were not left at None.
    n_rows, n_positive, n_training_positives, n_training_negatives : int
    base_rate : float
        Share of the event among all rows.
    tuning_score, tuning_tolerance : float or None
        Mean t-AUC over the folds of the search, divided by the tolerance it was judged up to.
    auc : float or None
        On the held-out rows.
    features, preparation : tuple of str
        Names of the prepared columns, and what was done to each column of the table.
    promise : Promise
    fit_seconds, seconds : float
        Of the last fit, and of all.
    methods : tuple of MethodResult
        Of a comparison.
    findings : tuple of Finding
    data, command : str
        Where the rows came from, and the command that was typed.
    version : int
    """

    target: dict[str, Any] | None
    method: str
    title: str
    params: dict[str, Any]
    settings: dict[str, Any]
    n_rows: int
    n_positive: int
    n_training_positives: int
    n_training_negatives: int
    base_rate: float
    tuning_score: float | None
    tuning_tolerance: float | None
    auc: float | None
    features: tuple[str, ...]
    preparation: tuple[str, ...]
    promise: Promise
    fit_seconds: float
    seconds: float
    methods: tuple[MethodResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    data: str = ""
    command: str = ""
    version: int = field(default=VERSION)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Card:
        """The card that plain data tell; what a later version added is left out."""
        known = {each.name: told[each.name] for each in fields(cls) if each.name in told}
        known["promise"] = Promise(**{**known["promise"], "tpr_interval": tuple(known["promise"]["tpr_interval"])})
        known["methods"] = tuple(MethodResult(**row) for row in known.get("methods", ()))
        known["findings"] = tuple(Finding(**row) for row in known.get("findings", ()))
        for name in ("features", "preparation"):
            known[name] = tuple(known[name])
        return cls(**known)

    @classmethod
    def of_format_1(cls, told: Mapping[str, Any]) -> Card:
        """The card of a model file of format 1, whose settings were called a request."""
        return cls.of({"data": "", "command": "", **told, "settings": dict(told["request"])})

    @property
    def event(self) -> str:
        """The event, by the column and the label that say it."""
        return f"{self.target['name']} = {self.target['positive']}" if self.target else "unusual rows"

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)

    def __getstate__(self) -> dict[str, Any]:
        return self.as_dict()

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(vars(Card.of(state)))
