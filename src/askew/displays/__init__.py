"""Pictures in scikit-learn's manner: ``Display.from_estimator``, ``from_predictions``, ``plot``."""

from askew.displays.boundary import BoundaryDisplay
from askew.displays.magnification import MagnificationDisplay
from askew.displays.np_roc import NpRocDisplay
from askew.displays.roc_hull import RocHullDisplay
from askew.displays.tolerance_roc import ToleranceRocDisplay

__all__ = ["BoundaryDisplay", "MagnificationDisplay", "NpRocDisplay", "RocHullDisplay", "ToleranceRocDisplay"]
