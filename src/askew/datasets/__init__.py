"""Data sets: generated with a known truth, or public ones by name, fetched from OpenML and checked."""

from askew.datasets.catalogue import available, load
from askew.datasets.dataset import Dataset
from askew.datasets.gaussians import GaussianClasses, make_skewed, make_two_gaussians
from askew.datasets.ijcnn1_like import make_ijcnn1_like
from askew.datasets.openml import fetch
from askew.datasets.ring import make_ring
from askew.datasets.transactions import Transactions, write_transactions

fetchable = available  # its former name

__all__ = [
    "Dataset",
    "GaussianClasses",
    "Transactions",
    "available",
    "fetch",
    "fetchable",
    "load",
    "make_ijcnn1_like",
    "make_ring",
    "make_skewed",
    "make_two_gaussians",
    "write_transactions",
]
