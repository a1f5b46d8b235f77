"""Pictures in scikit-learn's manner: ``Display.from_estimator``, ``from_predictions``, ``plot``."""

from askew.report.displays.boundary import BoundaryDisplay
from askew.report.displays.magnification import MagnificationDisplay
from askew.report.displays.np_roc import NpRocDisplay
from askew.report.displays.roc_hull import RocHullDisplay
from askew.report.displays.tolerance_roc import ToleranceRocDisplay

__all__ = ["BoundaryDisplay", "MagnificationDisplay", "NpRocDisplay", "RocHullDisplay", "ToleranceRocDisplay"]
