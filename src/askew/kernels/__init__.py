"""Kernels: scalar functions of one inner product, the matrices they make on points, and their bends."""

from askew.kernels.array_stored import ArrayStored
from askew.kernels.choice import make_function, resolve_gamma
from askew.kernels.conformal import Conformal
from askew.kernels.covariance_guided import CovarianceGuided
from askew.kernels.function import RBF, KernelFunction, Linear, Polynomial, Sigmoid
from askew.kernels.gram import Gram
from askew.kernels.kernel_covariance import KernelCovariance
from askew.kernels.low_rank import LowRank
from askew.kernels.low_rank_covariance import LowRankCovariance
from askew.kernels.nystroem import Nystroem
from askew.kernels.recomputed import HeldRows, Recomputed
from askew.kernels.stored import Stored
from askew.qp import Precomputed

__all__ = [
    "RBF",
    "ArrayStored",
    "Conformal",
    "CovarianceGuided",
    "Gram",
    "HeldRows",
    "KernelCovariance",
    "KernelFunction",
    "Linear",
    "LowRank",
    "LowRankCovariance",
    "Nystroem",
    "Polynomial",
    "Precomputed",
    "Recomputed",
    "Sigmoid",
    "Stored",
    "make_function",
    "resolve_gamma",
]
