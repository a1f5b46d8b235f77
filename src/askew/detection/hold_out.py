"""Which rows do what: those that train, those that place the threshold and choose nothing, and what is kept of each.

A row is drawn by its number in the order of the source, so two equal rows may fall on both sides, and every pass draws
the same. Two passes: one learns the preparation, one gathers positives as points and negatives as moments and a sample.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from askew.exceptions import DataError, InfeasibleError
from askew.moments import CovarianceModel
from askew.sources import Source
from askew.sources.source import count_rows
from askew.summaries import draw_by_number
from askew.tables import Progress, Survey, labels_of, take_survey
from askew.tolerance import negatives_required

MOST_BYTES = 2**28
"""Memory that any one of the gathered parts may take."""
LARGEST_SHARE = 0.5
"""Of the negatives, held out where they are few."""
FULL_COVARIANCE = 2000
"""Features up to which the full covariance of the negatives is kept."""


@dataclass(frozen=True)
class Plan:
    """Which rows do what. A row trains or calibrates, never both.

    Attributes
    ----------
    held_share, held_positive_share : float
        Shares of negatives and of positives whose draw keeps them out of the training.
    most_held : int
        Calibration negatives kept at most.
    most_negatives, most_positives : int
        Training rows kept, of the negatives beside the moments of all.
    has_moments : bool
        Whether moments of the training negatives are taken.
    seed : int
    """

    held_share: float
    held_positive_share: float
    most_held: int = 200_000
    most_negatives: int = 50_000
    most_positives: int = 20_000
    has_moments: bool = True
    seed: int = 0


def survey_rows(
    source: Source,
    prepared: Any,
    target: str | None,
    positive: object,
    share: float,
    needed: int,
    seed: int,
    progress: Progress,
) -> tuple[Survey, float]:
    """A survey whose preparation saw no calibration row, and the share of negatives held out for calibration.

    Parameters
    ----------
    prepared : callable
        Makes an unfitted preparation.
    share : float
        Asked for; where that leaves hardly ``needed`` negatives, half of them are held out.
    """

    def survey(held: float) -> Survey:
        trains = lambda start, n: draw_by_number(start, n, seed) >= held  # noqa: E731
        preparation = prepared()
        drop = preparation.drop
        return take_survey(source, preparation, target, positive, drop=drop, trains=trains, progress=progress)

    found = survey(share)
    if share < LARGEST_SHARE and found.n_negative * share < 1.2 * needed + 10:
        share = LARGEST_SHARE
        if found.n_negative * share >= needed:
            found = survey(share)
    return found, share


def check_feasible(n_negative: int, share: float, tolerance: float, confidence: float) -> None:
    """Refuse a promise that the held-out negatives cannot carry, before anything is fitted."""
    needed = negatives_required(tolerance, confidence)
    if n_negative * share < needed:
        raise InfeasibleError(
            f"tolerance={tolerance:g} at confidence={confidence:g} needs at least {needed:,} negatives for "
            f"calibration, beside those for training; the data hold {n_negative:,} in all, of which a share of "
            f"{share:g} is held out. Raise --tolerance, lower --confidence, add negatives, or take a threshold without "
            "this promise: --guarantee moments (with --method moment) or --guarantee empirical."
        )


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
        rows_that_fit, held = MOST_BYTES // (8 * max(d, 1)), plan.held_share
        self.keep_held = min(1.0, min(plan.most_held, rows_that_fit) / max(n_negative * held, 1))
        self.keep_negative = min(1.0, min(plan.most_negatives, rows_that_fit) / max(n_negative * (1 - held), 1))
        trained = n_positive * (1 - plan.held_positive_share)
        self.keep_positive = min(1.0, min(plan.most_positives, rows_that_fit) / max(trained, 1))
        self.parts = {name: [] for name in ("positives", "negatives", "held_positives", "held_negatives")}
        structure = "full" if d <= FULL_COVARIANCE else "diagonal"
        self.model = CovarianceModel(structure) if plan.has_moments else None

    def add(self, X: Any, is_positive: Any, start: int) -> None:
        draw = draw_by_number(start, len(is_positive), self.plan.seed)
        thinned = draw_by_number(start, len(is_positive), self.plan.seed + 1)
        is_held = draw < np.where(is_positive, self.plan.held_positive_share, self.plan.held_share)
        trains = ~is_held
        self._keep("held_positives", X, is_held & is_positive)
        self._keep("held_negatives", X, is_held & ~is_positive & (thinned < self.keep_held))
        self._keep("positives", X, trains & is_positive & (thinned < self.keep_positive))
        self._keep("negatives", X, trains & ~is_positive & (thinned < self.keep_negative))
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
