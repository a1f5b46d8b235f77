"""What estimators share: rows read, kernels made, programmes solved, what was learnt kept or left as it was."""

from askew.fitting.block_scoring import ScoresAnywhere, scored_anywhere
from askew.fitting.callbacks import telling_callbacks
from askew.fitting.classifier import Classifies
from askew.fitting.data_description import DataDescription
from askew.fitting.machine import KernelMachine
from askew.fitting.multiclass import (
    classes_against_rest,
    counts_by_class,
    pairs_of,
    signs_of,
    unite_supports,
    votes_of_pairs,
)
from askew.fitting.nystroem import MEGABYTE, PARAMETERS, check_approximation, keep_landmarks
from askew.fitting.rows import (
    READ,
    check_in_memory,
    check_sizes,
    naming_columns,
    opened_rows,
    read_classes,
    read_labelled,
    read_rows,
    read_scoring,
    telling_of_memory,
    weights_of_classes,
)
from askew.fitting.state import as_fitted, begin, blank, commit, learnt

__all__ = [
    "MEGABYTE",
    "PARAMETERS",
    "READ",
    "Classifies",
    "DataDescription",
    "KernelMachine",
    "ScoresAnywhere",
    "as_fitted",
    "begin",
    "blank",
    "check_approximation",
    "check_in_memory",
    "check_sizes",
    "classes_against_rest",
    "commit",
    "counts_by_class",
    "keep_landmarks",
    "learnt",
    "naming_columns",
    "opened_rows",
    "pairs_of",
    "read_classes",
    "read_labelled",
    "read_rows",
    "read_scoring",
    "scored_anywhere",
    "signs_of",
    "telling_callbacks",
    "telling_of_memory",
    "unite_supports",
    "votes_of_pairs",
    "weights_of_classes",
]
