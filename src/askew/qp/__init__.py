"""Quadratic programmes: the problem, its solution, and a certificate that judges one against the other."""

from askew.qp.certificate import Certificate, certify
from askew.qp.constraints import Constraint, Free, GroupSums, Sum, SumAtMost
from askew.qp.problem import Problem
from askew.qp.solution import Solution, Status

__all__ = [
    "Certificate",
    "Constraint",
    "Free",
    "GroupSums",
    "Problem",
    "Solution",
    "Status",
    "Sum",
    "SumAtMost",
    "certify",
]
