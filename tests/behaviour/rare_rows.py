"""A table with a rare class, the same on every machine and in every process."""

import numpy as np
import pandas as pd

FEATURES = [f"x{j}" for j in range(6)]


def table(n_negative=4000, n_positive=400, seed=0):
    """Columns x0 … x5 and "fraud", the classes mixed."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(6, 6))
    X = np.vstack([rng.normal(size=(n_negative, 6)) @ mixing + 5.0, rng.normal(size=(n_positive, 6)) + 6.5])
    frame = pd.DataFrame(X, columns=FEATURES)
    frame["fraud"] = np.repeat([0, 1], [n_negative, n_positive])
    return frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def relative_difference(model, reference):
    """Largest difference of weights and intercept, in units of the largest weight."""
    gap = np.abs(np.append(model.coef_ - reference.coef_, model.intercept_ - reference.intercept_)).max()
    return gap / np.abs(reference.coef_).max()
