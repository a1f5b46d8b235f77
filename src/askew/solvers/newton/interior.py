"""Interior point for a box and a matrix of few columns: a fixed, small number of passes over the points.

Solves
    minimise ½ β'ZZ'β + p'β   subject to   lower ≤ β ≤ upper,   Z of n rows and d columns, n large, d small.
    With s = β − lower, t = upper − β and multipliers y, z > 0: ZZ'β + p − y + z = 0, s∘y = t∘z = μ, μ → 0.
    A Newton step is (ZZ' + D)Δβ = r with D = y/s + z/t, solved by Woodbury through the d×d matrix I + Z'D⁻¹Z; one
    step predicts how far μ may fall, the second goes there.
Given
    Points that coordinate descent is slow on: many overlap, so that thousands of α sit at their bounds in the end and
    none of them alone finds its way there.
Returns
    β at the optimum to rounding, where the last step succeeds (``settle``): variables next to a bound are put on it,
    the few that are left are moved to where their gradient is zero, and who would cross a bound or leave one changes
    sides. What is found then no longer depends on the way there: data that differ by rounding (summed in another order,
    say) have the same model to the last digits. Where it does not, β strictly inside the box, close to the optimum:
    sweeps put it on its bounds.
Stops when
    the gap s'y + t'z and the residual are small against tol, or when steps no longer make progress.
Reference
    Ferris, Munson (2003), Interior-point methods for massive support vector machines, SIAM J. Optim. 13:783;
    Mehrotra (1992), On the implementation of a primal-dual interior point method, SIAM J. Optim. 2:575;
    Hintermüller, Ito, Kunisch (2002), The primal-dual active set strategy as a semismooth Newton method, SIAM J.
    Optim. 13:865, for the last step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from askew.threads import spans

Vector = NDArray[np.float64]

_MOST = 200  # a bound on time, not a tuning knob
_CHUNK = 2**18  # entries of the points that are weighted at a time
_SHORT = 0.995  # of the way to the box
_NEAR = 1e-6  # of its box: as close to a bound as this a variable is on it
_INSIDE = 2048  # variables of the last step
_RANK = 1e-12  # singular values below this, of the largest, are zero
_EXCHANGES = 10
_ROUNDING = 1e-12  # of the terms of a gradient


def price(d: int) -> float:
    """About how many full sweeps of coordinate descent cost as much: 35 steps of a product and of some vectors each."""
    return 35.0 * (d / 16.0 + 4.0)


class _Step(NamedTuple):
    """Changes of β, y and z."""

    beta: Vector
    y: Vector
    z: Vector


@dataclass
class _State:
    """A point strictly inside with s = ``below`` and t = ``above``, its multipliers, and v = Z'β."""

    beta: Vector
    below: Vector
    above: Vector
    y: Vector
    z: Vector
    v: Vector

    @property
    def level(self) -> float:
        """μ: the mean of the products s∘y and t∘z."""
        return float(self.below @ self.y + self.above @ self.z) / (2 * len(self.beta))

    def level_after(self, step: _Step, length: float) -> float:
        """μ after a step."""
        total = (self.below + length * step.beta) @ (self.y + length * step.y)
        total += (self.above - length * step.beta) @ (self.z + length * step.z)
        return float(total) / (2 * len(self.beta))

    def longest(self, step: _Step) -> float:
        """How much of a step may be gone before s, t, y or z meets zero."""
        pairs = ((self.below, step.beta), (self.above, -step.beta), (self.y, step.y), (self.z, step.z))
        return min(1.0 / max(float(np.max(-change / value)), 1e-300) for value, change in pairs)

    def move(self, step: _Step, length: float, Z: Vector) -> None:
        # what is left to a bound is kept beside β: near the bound their difference would round to nothing
        self.beta = self.beta + length * step.beta
        self.below, self.above = self.below + length * step.beta, self.above - length * step.beta
        self.y, self.z = self.y + length * step.y, self.z + length * step.z
        self.v = Z.T @ self.beta


def interior_point(Z: Vector, p: Vector, lower: Vector, upper: Vector, tol: float) -> Vector:
    """β near the optimum of the box programme.

    Parameters
    ----------
    Z : array of shape (n, d)
    p, lower, upper : arrays of shape (n,)
        The box is finite and has an inside everywhere.
    tol : float
        Largest KKT violation the caller is after.
    """
    state = _start(Z, p, lower, upper)
    widest = float(np.max(upper - lower))
    for _ in range(_MOST):
        residual = Z @ state.v + p - state.y + state.z
        if state.level <= (0.01 * tol) ** 2 * widest and float(np.max(np.abs(residual))) <= 0.01 * tol:
            break
        try:
            newton = _Newton(Z, state, residual)
        except LinAlgError:
            break
        step = newton.predicted_and_corrected()
        length = min(1.0, _SHORT * state.longest(step))
        if not length > 1e-8:
            break
        state.move(step, length, Z)
    settled = settle(Z, p, lower, upper, state.beta)
    return state.beta if settled is None else settled


def settle(
    Z: Vector, p: Vector, lower: Vector, upper: Vector, beta: Vector, total: float | None = None
) -> Vector | None:
    """The optimum next to ``beta``, with Σβ = total where one is given, or None where equations do not lead there.

    Parameters
    ----------
    Z : array of shape (n, d)
    p, lower, upper, beta : arrays of shape (n,)
    total : float, optional
        What β sums to.
    """
    near = _NEAR * (upper - lower)
    settled = np.where(beta - lower < near, lower, np.where(upper - beta < near, upper, beta))
    is_inside = (settled > lower) & (settled < upper)
    for _ in range(_EXCHANGES):
        inside = np.flatnonzero(is_inside)
        if len(inside) > _INSIDE or (len(inside) == 0 and total is not None):
            return None
        settled[inside], level = _equations(Z, p, settled, inside, total)
        is_out = is_inside & ((settled < lower) | (settled > upper))
        if is_out.any():
            settled = np.clip(settled, lower, upper)
            is_inside &= ~is_out
            continue
        v = Z.T @ settled
        slope = Z @ v + p - level
        rounding = _ROUNDING * (np.abs(Z) @ np.abs(v) + np.abs(p) + abs(level))
        leaves = ~is_inside & (((settled == lower) & (slope < -rounding)) | ((settled == upper) & (slope > rounding)))
        leaves &= lower < upper
        if not leaves.any():
            return settled
        is_inside |= leaves
    return None


def _equations(
    Z: Vector, p: Vector, beta: Vector, inside: NDArray[np.int64], total: float | None
) -> tuple[Vector, float]:
    """β of the variables inside, the rest as they are, and λ.

    The step is the shortest of all that do: more than d variables may share the optimum.
    """
    if len(inside) == 0:
        return beta[inside], 0.0
    points, moved, level = Z[inside], beta[inside], 0.0
    if total is not None:
        moved = moved + (total - float(beta.sum())) / len(inside)
        beta = beta.copy()
        beta[inside] = moved
    gradient = points @ (Z.T @ beta) + p[inside]
    centred = points
    if total is not None:  # about their means λ drops out, and a step among the centred points has no sum
        centred, level = points - points.mean(axis=0), float(gradient.mean())
    turn = np.linalg.lstsq(centred, level - gradient, rcond=_RANK)[0]
    step = np.linalg.lstsq(centred.T, turn, rcond=_RANK)[0]
    if total is not None:
        level += float(np.mean(points @ (points.T @ step)))
    return moved + step, level


class _Newton:
    """The factorised system at one state, and the steps it gives."""

    def __init__(self, Z: Vector, state: _State, residual: Vector) -> None:
        self.Z, self.state, self.residual = Z, state, residual
        self.inverse = 1.0 / (state.y / state.below + state.z / state.above)
        inner = np.eye(Z.shape[1])
        for first, last in spans(len(Z), max(1, _CHUNK // max(1, Z.shape[1]))):
            rows = Z[first:last]
            inner += (rows * self.inverse[first:last, None]).T @ rows
        self.factor = cho_factor(inner, lower=True, check_finite=False)

    def towards(self, below: Vector | float, above: Vector | float) -> _Step:
        """The step that would bring s∘y to ``below`` and t∘z to ``above``, were they linear."""
        state = self.state
        to_y, to_z = below / state.below - state.y, above / state.above - state.z
        right = self.inverse * (to_y - to_z - self.residual)
        move = right - self.inverse * (self.Z @ cho_solve(self.factor, self.Z.T @ right, check_finite=False))
        return _Step(move, to_y - state.y / state.below * move, to_z + state.z / state.above * move)

    def predicted_and_corrected(self) -> _Step:
        """A step straight to the optimum shows how far μ can fall and how the products bend; the second goes there."""
        state, level = self.state, self.state.level
        step = self.towards(0.0, 0.0)
        ahead = state.level_after(step, min(1.0, state.longest(step)))
        aim = level * (ahead / level) ** 3
        return self.towards(aim - step.beta * step.y, aim + step.beta * step.z)


def _start(Z: Vector, p: Vector, lower: Vector, upper: Vector) -> _State:
    """Middle of the box, every product s∘y and t∘z alike: far from the optimum, but far from every bound too."""
    beta, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    v = Z.T @ beta
    level = float(np.mean(np.abs(Z @ v + p) * half)) + 1e-300
    return _State(beta, half, half.copy(), level / half, level / half, v)
