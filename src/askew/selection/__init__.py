"""Searches that share Gram matrices and warm starts across folds and grids."""

from askew.selection.tolerance_search import ToleranceSearchCV

__all__ = ["ToleranceSearchCV"]
