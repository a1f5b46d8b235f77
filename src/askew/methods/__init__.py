"""Methods: one file per idea. ``formulate`` builds a programme, ``recover`` reads a score out of its solution.

Methods never import a solver; they are handed ``solve(problem) → Solution``, so an oracle passes through the same door.
"""
