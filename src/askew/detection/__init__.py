"""From a table to a detector: survey, gather, train, calibrate, keep in a file, score.

The layer under the command line, without printing; `askew.load` opens in Python what ``askew fit`` wrote.
"""

from askew.detection.detector import Detector
from askew.detection.training import Request, train

__all__ = ["Detector", "Request", "train"]
