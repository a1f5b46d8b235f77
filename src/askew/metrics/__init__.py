"""How well a score ranks where false positives are few (t-AUC, ROC hull, averaged ROC), and intervals of rates."""

from askew.metrics import clopper_pearson
from askew.metrics.averaged import AveragedRoc, averaged_roc
from askew.metrics.curve import RocCurve
from askew.metrics.hull import HullPoint, HullRange, RocHull, hull_of_curves, roc_hull
from askew.metrics.sample import ScoredSample
from askew.metrics.tolerance_auc import tolerance_auc, tolerance_auc_score
from askew.metrics.tpr_at_fpr import tpr_at_fpr

__all__ = [
    "AveragedRoc",
    "HullPoint",
    "HullRange",
    "RocCurve",
    "RocHull",
    "ScoredSample",
    "averaged_roc",
    "clopper_pearson",
    "hull_of_curves",
    "roc_hull",
    "tolerance_auc",
    "tolerance_auc_score",
    "tpr_at_fpr",
]
