"""The second pass: positives as points, negatives as moments and as a sample, and the rows held out for calibration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from askew.exceptions import DataError
from askew.moments import CovarianceModel
from askew.sources import Source
from askew.sources.source import count_rows
from askew.summaries import draw_by_number
from askew.tables import Progress, Survey, labels_of

MOST_BYTES = 2**28
"""Memory that any one of the gathered parts may take."""


@dataclass(frozen=True)
class Plan:
    """Which rows do what. A row trains or calibrates, never both.

    Attributes
    ----------
    held_share : float
        Share of negatives whose draw keeps them out of the training.
    held_positive_share : float
    most_held : int
        Calibration negatives kept at most.
    most_negatives : int
        Training negatives kept as rows, beside the moments of all.
    most_positives : int
    covariance : str or None
        Which moments of the training negatives to take; None for none.
    seed : int
    """

    held_share: float
    held_positive_share: float = 0.2
    most_held: int = 200_000
    most_negatives: int = 50_000
    most_positives: int = 20_000
    covariance: str | None = "full"
    seed: int = 0


@dataclass
class Gathered:
    """All that a fit looks at.

    Attributes
    ----------
    positives, negatives : array or sparse matrix
        Training rows; of the negatives at most ``most_negatives``.
    held_positives, held_negatives : array or sparse matrix
        Calibration rows.
    moments : Moments, DiagonalMoments or None
        Of all training negatives.
    n_positives, n_negatives : int
        Training rows there were.
    """

    positives: Any
    negatives: Any
    held_positives: Any
    held_negatives: Any
    moments: Any
    n_positives: int
    n_negatives: int

    @property
    def training(self) -> tuple[Any, Any]:
        """Rows and labels (1 for the event) of the kept training rows."""
        y = np.repeat([0, 1], [self.negatives.shape[0], self.positives.shape[0]])
        return stacked([self.negatives, self.positives]), y

    @property
    def held(self) -> tuple[Any, Any]:
        """Rows and labels of the calibration rows."""
        y = np.repeat([0, 1], [self.held_negatives.shape[0], self.held_positives.shape[0]])
        return stacked([self.held_negatives, self.held_positives]), y


def gather(source: Source, survey: Survey, plan: Plan, progress: Progress) -> Gathered:
    """Read every row a second time."""
    basket = _Basket(survey, plan)
    columns = source.columns and [*survey.preparation.needed_, *([survey.target.name] if survey.target else [])]
    start = 0
    for block in source.blocks(columns or None):
        n = count_rows(block)
        is_positive = np.zeros(n, bool)
        if survey.target is not None:
            is_positive = survey.target.is_positive(labels_of(block, survey.target.name, start), start)
        basket.add(survey.preparation.transform(block), is_positive, start)
        start += n
        progress("gathering", start, survey.n_rows)
    if start != survey.n_rows:
        raise DataError(f"{source.name} changed while it was read: {survey.n_rows:,} rows, then {start:,}.")
    return basket.gathered()


@dataclass
class _Basket:
    """Rows by what they are for."""

    survey: Survey
    plan: Plan
    parts: dict[str, list[Any]] = field(default_factory=dict)
    moments: Any = None
    n_positives: int = 0
    n_negatives: int = 0

    def __post_init__(self) -> None:
        d = len(self.survey.preparation.get_feature_names_out())
        plan, n_negative, n_positive = self.plan, self.survey.n_negative, self.survey.n_positive
        rows_that_fit = MOST_BYTES // (8 * max(d, 1))
        held = min(plan.held_share, min(plan.most_held, rows_that_fit) / max(n_negative, 1))
        self.held_below = held
        self.keep_negative = min(1.0, min(plan.most_negatives, rows_that_fit) / max(n_negative * (1 - held), 1))
        trained = n_positive * (1 - plan.held_positive_share)
        self.keep_positive = min(1.0, min(plan.most_positives, rows_that_fit) / max(trained, 1))
        self.parts = {name: [] for name in ("positives", "negatives", "held_positives", "held_negatives")}
        self.model = None if plan.covariance is None else CovarianceModel(plan.covariance)

    def add(self, X: Any, is_positive: Any, start: int) -> None:
        draw = draw_by_number(start, len(is_positive), self.plan.seed)
        second = draw_by_number(start, len(is_positive), self.plan.seed + 1)
        is_held = np.where(is_positive, second < self.plan.held_positive_share, draw < self.held_below)
        third = draw_by_number(start, len(is_positive), self.plan.seed + 2)
        trains = ~is_held
        self._keep("held_positives", X, is_held & is_positive)
        self._keep("held_negatives", X, is_held & ~is_positive)
        self._keep("positives", X, trains & is_positive & (third < self.keep_positive))
        self._keep("negatives", X, trains & ~is_positive & (third < self.keep_negative))
        self.n_positives += int((trains & is_positive).sum())
        rows = np.flatnonzero(trains & ~is_positive)
        self.n_negatives += len(rows)
        if self.model is not None and len(rows):
            fresh = self.model.moments_of(X[rows], None, streaming=True)
            self.moments = fresh if self.moments is None else self.moments + fresh

    def gathered(self) -> Gathered:
        d = len(self.survey.preparation.get_feature_names_out())
        parts = {name: stacked(rows) if rows else np.empty((0, d)) for name, rows in self.parts.items()}
        return Gathered(**parts, moments=self.moments, n_positives=self.n_positives, n_negatives=self.n_negatives)

    def _keep(self, name: str, X: Any, mask: Any) -> None:
        rows = np.flatnonzero(mask)
        if len(rows):
            self.parts[name].append(X[rows])


def stacked(parts: list[Any]) -> Any:
    """Blocks of rows as one."""
    filled = [part for part in parts if part.shape[0]] or parts[:1]
    if any(sparse.issparse(part) for part in filled):
        return sparse.vstack([sparse.csr_matrix(part) for part in filled], format="csr")
    return np.concatenate(filled)
