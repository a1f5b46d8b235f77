"""MIBC: positives as points against negatives as mean and covariance. Programme, ridge, machines, path, certificate."""

from askew.methods.moment import cantelli
from askew.methods.moment.few import fit_few
from askew.methods.moment.geometry import Geometry, Kernel, KernelScore
from askew.methods.moment.machines import Machine, Machines, Setting, Solvers, fit_machines, is_few
from askew.methods.moment.path import MomentPath, fit_path
from askew.methods.moment.programme import Fit, Formulation, fit, formulate
from askew.methods.moment.ridge import choose_ridge, distinct_rows, left_out_losses, smallest_good

__all__ = [
    "Fit",
    "Formulation",
    "Geometry",
    "Kernel",
    "KernelScore",
    "Machine",
    "Machines",
    "MomentPath",
    "Setting",
    "Solvers",
    "cantelli",
    "choose_ridge",
    "distinct_rows",
    "fit",
    "fit_few",
    "fit_machines",
    "fit_path",
    "formulate",
    "is_few",
    "left_out_losses",
    "smallest_good",
]
