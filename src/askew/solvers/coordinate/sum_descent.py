"""Coordinate descent on features with sums kept by an augmented Lagrangian, compiled.

Solves
    minimise ½ β'Kβ + p'β + Σ_g (σ/2 e_g² − λ_g e_g) over lower ≤ β ≤ upper,  e_g = Σ_{i in g} β_i − total_g,
    K = Z diag(a) Z', one coordinate at a time: β_i ← clip(β_i − d_i / (K_ii + σ)), d_i = z_i'v + p_i + σe_g − λ_g.
Given
    Features Z, and v = a∘Z'β and e, which are kept up to date: a coordinate costs 2r operations, whatever n.
Returns
    One sweep in random order, everything moved in place. Coordinates at a bound whose gradient is beyond all that moved
    in the last sweep rest.
Reference
    Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), A dual coordinate descent method for large-scale linear SVM;
    Bertsekas (1982), Constrained Optimization and Lagrange Multiplier Methods, chapter 2.
"""

from __future__ import annotations

from askew.compiled import compiled
from askew.solvers.coordinate.sweeps import projected, rests, shuffle

_compile = compiled(fastmath=True, error_model="numpy")


@_compile
def sweep_sums(  # type: ignore[no-untyped-def]
    Z, scales, p, diagonal, v, group, excess, multipliers, sigma, beta, lower, upper, order, active, seed, low, high
):
    """One sweep over order[:active]; returns (active, seed, lowest and highest slope seen, coordinates moved)."""
    r = Z.shape[1]
    seed = shuffle(order, active, seed)
    lowest, highest, at, moves = 0.0, 0.0, 0, 0
    while at < active:
        i = order[at]
        g = group[i]
        gradient = 0.0
        for k in range(r):
            gradient += Z[i, k] * v[k]
        gradient += p[i] + sigma * excess[g] - multipliers[g]
        if rests(gradient, beta[i], lower[i], upper[i], low, high):
            active -= 1
            order[at], order[active] = order[active], order[at]
            continue
        slope = projected(gradient, beta[i], lower[i], upper[i])
        lowest, highest = min(lowest, slope), max(highest, slope)
        if slope != 0.0:
            moved = min(max(beta[i] - gradient / (diagonal[i] + sigma), lower[i]), upper[i])
            step = moved - beta[i]
            beta[i] = moved
            excess[g] += step
            moves += 1
            for k in range(r):
                v[k] += step * scales[k] * Z[i, k]
        at += 1
    return active, seed, lowest, highest, moves
