"""Solvers: a ``Problem`` in, a ``Solution`` with its certificate out. They report a status and never warn or print."""
