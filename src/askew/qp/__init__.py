"""Quadratic programmes: the problem, what its matrix offers, its solution, and a certificate that judges it."""

from askew.qp.certificate import Certificate, certify, relative_violation, spread
from askew.qp.constraints import Constraint, Free, GroupSums, Sum, SumAtMost
from askew.qp.matrix import Ability, SignedPoints, SymmetricMatrix
from askew.qp.precomputed import Precomputed
from askew.qp.problem import Problem
from askew.qp.solution import Solution, Status

__all__ = [
    "Ability",
    "Certificate",
    "Constraint",
    "Free",
    "GroupSums",
    "Precomputed",
    "Problem",
    "SignedPoints",
    "Solution",
    "Status",
    "Sum",
    "SumAtMost",
    "SymmetricMatrix",
    "certify",
    "relative_violation",
    "spread",
]
