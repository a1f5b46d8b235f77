"""askew: support vector machines for skewed data."""

__version__ = "0.1.0"
