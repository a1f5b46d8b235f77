"""Kernels: scalar functions of one inner product, the matrices they make on points, and their bends."""

from askew.kernels.choice import make_function, resolve_gamma
from askew.kernels.function import KernelFunction
from askew.kernels.gram import Gram
from askew.kernels.linear import Linear
from askew.kernels.polynomial import Polynomial
from askew.kernels.rbf import RBF
from askew.kernels.sigmoid import Sigmoid
from askew.qp import Precomputed

__all__ = [
    "RBF",
    "Gram",
    "KernelFunction",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "make_function",
    "resolve_gamma",
]
