"""The whole job on a table as one object: survey, hold out, choose, promise, explain, keep in a file, score."""

from askew.detection.card import Card
from askew.detection.detector import Detector
from askew.detection.methods import METHODS
from askew.detection.scoring import Counts, Evaluation

__all__ = ["METHODS", "Card", "Counts", "Detector", "Evaluation"]
