"""A table with a rare class, the same on every machine and in every process."""

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, StandardScaler

FEATURES = [f"x{j}" for j in range(6)]


def table(n_negative=4000, n_positive=400, seed=0):
    """Columns x0 … x5 and "fraud", the classes mixed."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(6, 6))
    X = np.vstack([rng.normal(size=(n_negative, 6)) @ mixing + 5.0, rng.normal(size=(n_positive, 6)) + 6.5])
    frame = pd.DataFrame(X, columns=FEATURES)
    frame["fraud"] = np.repeat([0, 1], [n_negative, n_positive])
    return frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def mixed_table(n=6000, seed=0):
    """Numbers far from zero and of different size, text, a category with missing values, and "fraud"."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.05).astype(int)
    frame = pd.DataFrame(
        {
            "amount": rng.normal(size=n) * 30 + 1000 + 20 * y,
            "country": np.where(rng.random(n) < 0.2 * y, "es", rng.choice(["fr", "de", "it"], n, p=[0.6, 0.3, 0.1])),
            "age": rng.normal(size=n),
            "kind": pd.Categorical(rng.choice(["card", "cash", None], n)),
        }
    )
    return frame.assign(fraud=y)


MIXED = ["amount", "country", "age", "kind"]


def encoded_by_hand(frame, scale):
    """What scikit-learn's encoder and scaler make of ``mixed_table``, in the order of its columns."""
    texts = frame[["country", "kind"]].astype(object)
    texts = texts.where(texts.notna(), None)
    places = OneHotEncoder(sparse_output=False).fit(texts)
    assert [list(each) for each in places.categories_] == [["de", "es", "fr", "it"], ["card", "cash", None]]
    marks = places.transform(texts)
    X = np.column_stack([frame["amount"], marks[:, :4], frame["age"], marks[:, 4:]])
    return StandardScaler().fit_transform(X) if scale else X


def relative_difference(model, reference):
    """Largest difference of weights and intercept, in units of the largest weight."""
    gap = np.abs(np.append(model.coef_ - reference.coef_, model.intercept_ - reference.intercept_)).max()
    return gap / np.abs(reference.coef_).max()
