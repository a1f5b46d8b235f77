"""Solvers for a matrix that is formed whole."""
