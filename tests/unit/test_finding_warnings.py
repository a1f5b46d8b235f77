"""A warning of the library has its code, keeps its category, and points at the line that called askew."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from askew import SVC, AsymmetricSVC, OneClassSVM, ToleranceClassifier
from askew.selection import ConsistencySearchCV, ToleranceSearchCV

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.repeat([0, 1], [45, 15])


@pytest.mark.parametrize(
    ("code", "category", "fit"),
    [
        ("ASK201", ConvergenceWarning, lambda: SVC(C=100.0, max_iter=1).fit(X, Y)),
        ("ASK202", ConvergenceWarning, lambda: AsymmetricSVC(0.1, 0.0, max_iter=1).fit(X, Y)),
        ("ASK203", UserWarning, lambda: SVC(approximation="nystroem", n_landmarks=100).fit(X, Y)),
        (
            "ASK205",
            FitFailedWarning,
            lambda: ToleranceSearchCV(SVC(), {"class_weight": [None, {7: 2.0}]}, cv=2).fit(X, Y),
        ),
        (
            "ASK206",
            UserWarning,
            lambda: ConsistencySearchCV(OneClassSVM(nu=0.01), param_range=[1e4], n_sigma=0.0).fit(X),
        ),
        ("ASK302", UserWarning, lambda: ToleranceClassifier(OneClassSVM(), 0.3, 0.5).fit(X, Y)),
    ],
)
def test_a_warning_has_a_code_and_points_at_its_caller(code, category, fit):
    with pytest.warns(category, match=f"^{code}: ") as told:
        fit()
    mine = [warning for warning in told if str(warning.message).startswith(code)]
    assert all(warning.filename == __file__ for warning in mine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=code)
        fit()
