"""What paper 003 says of its experiment. It prints no table: its figures have no numbers to set beside ours."""

from __future__ import annotations

N_MINORITY = 48
"""Healthy rows of Parkinsons, against 147 others (section 4)."""
REMOVED = (0, 24, 36, 42)
"""Minority rows taken out."""
N_FOLDS = 5
C = 10.0
BASE = 0.5
"""Of the Gaussian kernel; whether this is γ or σ is not said, nor whether features were scaled."""
K_MAJORITY, K_MINORITY = 2.04e-6, 2e-5
"""Reported as best, k₁ and k₂ of eq. 9 in units of f², with the majority as the positive class."""
