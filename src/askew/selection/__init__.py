"""Searches that share Gram matrices and warm starts across folds and grids."""

from askew.selection.one_class_consistency import ConsistencySearchCV
from askew.selection.one_class_outliers import ArtificialOutlierSearchCV
from askew.selection.one_class_uniform import uniform_outliers
from askew.selection.tolerance_search import ToleranceSearchCV

__all__ = ["ArtificialOutlierSearchCV", "ConsistencySearchCV", "ToleranceSearchCV", "uniform_outliers"]
