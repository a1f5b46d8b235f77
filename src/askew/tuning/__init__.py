"""Folds × parameters on programmes: the protocol between searches and estimators, and folds of moment machines."""

from askew.tuning.moment import MomentFold, best_cost, cost_areas, mean_variance, rank_scores, search_stages
from askew.tuning.protocol import (
    Candidate,
    Fold,
    PathPoint,
    Searchable,
    Stage,
    for_another_kernel,
    offers_paths,
    start_from,
    stretched_from,
    widths,
)

__all__ = [
    "Candidate",
    "Fold",
    "MomentFold",
    "PathPoint",
    "Searchable",
    "Stage",
    "best_cost",
    "cost_areas",
    "for_another_kernel",
    "mean_variance",
    "offers_paths",
    "rank_scores",
    "search_stages",
    "start_from",
    "stretched_from",
    "widths",
]
