"""From a table to a detector: survey, gather, train, calibrate, keep in a file, score.

The layer under the command line, without printing; ``askew.detection.load_detector`` opens in Python what ``askew fit``
wrote.
"""

from askew.detection.detector import Detector
from askew.detection.model_file import load_detector, read_card, save_detector
from askew.detection.training import Request, train

__all__ = ["Detector", "Request", "load_detector", "read_card", "save_detector", "train"]
