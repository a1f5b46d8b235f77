"""The files that benchmarks, studies and some tests run on: sets by name from one folder, which is no part of askew."""

from benchmarks.data.catalogue import available, load, missing

__all__ = ["available", "load", "missing"]
