"""The numbers of the protocol; what is changed here makes the finished cells void."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.moments.sets import N_FEATURES, SEED, SHARES

COSTS = 10.0 ** np.arange(-4, 6)
SHARES_OF_RATIO = (0.25, 0.5, 1.0, 2.0)
RIDGES = tuple(10.0**power for power in range(-4, 4))
FEW_RIDGES = (1e-4, 1.0, 100.0)
SMALL_RIDGE = RIDGES[0]
MOST_STEPS = 500_000
MOST_SWEEPS = 3000
PUBLISHED_SWEEPS = 1000  # LIBLINEAR's own limit, and so presumably the papers'
KERNEL_COSTS = (0.01, 1.0, 100.0)
KERNEL_RIDGES = (0.01, 1.0, 100.0)
KERNEL_WIDTHS = (0.01, 0.1, 1.0, 10.0)
TEST_SHARE = SHARES[2] / SHARES[0]
SEED_OF_DRAW = 17
SEED_OF_LIBLINEAR = 0


def weights(ratio: float) -> tuple[float, ...]:
    """Cost of a positive in units of a negative's: {1, r/4, r/2, r, 2r}."""
    return 1.0, *(share * ratio for share in SHARES_OF_RATIO)


SETTINGS: dict[str, Any] = {
    "costs": COSTS.tolist(),
    "weights": ["1", "r/4", "r/2", "r", "2r"],
    "ridges": RIDGES,
    "ridges of factor models": FEW_RIDGES,
    "shares": SHARES,
    "features": N_FEATURES,
    "steps of SVC": MOST_STEPS,
    "sweeps of LIBLINEAR": {"text": MOST_SWEEPS, "as published": PUBLISHED_SWEEPS},
    "kernel": {"costs": KERNEL_COSTS, "ridges": KERNEL_RIDGES, "widths": KERNEL_WIDTHS},
    "seed": SEED,
}

SEEDS = {
    "cuts": f"default_rng([number of the cut, {SEED}])",
    "negatives drawn by undersampling": f"default_rng([number of the cut, {SEED_OF_DRAW}])",
    "LIBLINEAR": f"random_state={SEED_OF_LIBLINEAR}",
}
