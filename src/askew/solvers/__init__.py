"""Solvers: ``solve(problem)`` → ``Solution``, and ``prepare`` for many problems on one matrix. See ``routes``."""

from askew.solvers.prepared import Prepared, prepare, solve, solve_each
from askew.solvers.routes import Route, route_of

__all__ = ["Prepared", "Route", "prepare", "route_of", "solve", "solve_each"]
