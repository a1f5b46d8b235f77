"""What paper 001 reports: the facts of its Table 1 and of its section 4, and nothing of ours."""

from __future__ import annotations

NU = 0.2
OUTLIER_FRACTION = 0.1
FRACTION_REJECTED = 0.2
REMOVED_SHARE = 0.1
N_MODELS = 10

METHODS = ("k-NN", "Parzen", "Gaussian", "SVDD", "OSVM", "COSVM")

TABLE_1 = {
    "haberman+": (43.33, 44.26, 51.36, 56.93, 62.85, 68.37),
    "haberman-": (62.55, 67.97, 60.10, 68.12, 68.62, 69.87),
    "bupa+": (60.02, 59.90, 59.59, 60.93, 61.73, 65.16),
    "bupa-": (50.34, 49.69, 50.76, 62.50, 63.70, 64.96),
    "spectf+": (84.28, 96.45, 93.90, 92.32, 95.29, 96.79),
    "spectf-": (19.74, 41.29, 26.39, 57.95, 69.49, 72.46),
    "colon+": (61.50, 50.00, 68.125, 55.50, 72.81, 72.81),
    "colon-": (68.86, 50.00, 60.68, 67.84, 72.48, 74.60),
}
"""Average AUC in per cent, in the order of ``METHODS``. The sign is that of the target class in the data folder.

Of Liver the paper does not say which selector it calls diseased; selector 1 is taken to be.
"""
