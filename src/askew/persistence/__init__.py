"""Models in files, which run no code when they are read."""

from askew.persistence.model_file import load, read_card, save
from askew.persistence.registry import trusted_types

__all__ = ["load", "read_card", "save", "trusted_types"]
