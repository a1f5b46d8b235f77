"""
Boundaries of the covariance-guided one-class SVM
=================================================

The boundary of :class:`askew.CovarianceOneClassSVM` moves outwards as ``eta`` falls from 1, where it is the one-class
SVM. The rule ``eta="auto"`` stops where a tenth of the training rows is outside. This is figure 2 of Khan,
Ksantini, Ahmad and Guan, on data from a Gaussian with one wide and one narrow direction.

Run it with ``python examples/plot_covariance_one_class.py [FILE]``; without a file name the picture is shown.
"""

# %%
# Data from one elongated Gaussian, 200 rows as in the paper.
import sys

import matplotlib.pyplot as plt
import numpy as np

from askew import CovarianceOneClassSVM
from askew.displays import BoundaryDisplay

X = np.random.default_rng(0).multivariate_normal([0.0, 0.0], [[4.0, 1.5], [1.5, 1.0]], size=200)

# %%
# One model per eta, at the scale of the paper (``covariance_scale="raw"``), and the rule.
figure, panels = plt.subplots(2, 3, figsize=(13, 8), layout="constrained", sharex=True, sharey=True)
for ax, eta in zip(panels.flat[:5], (1.0, 0.8, 0.5, 0.3, 0.1), strict=True):
    model = CovarianceOneClassSVM(eta=eta, nu=0.2, covariance_scale="raw").fit(X)
    BoundaryDisplay.from_estimator(model, X, name=f"boundary, eta = {eta:g}", ax=ax)
    ax.set_title(f"eta = {eta:g}: {np.mean(model.predict(X) == -1):.1%} outside")

chosen = CovarianceOneClassSVM(nu=0.2, outlier_fraction=0.1).fit(X)
ax = panels.flat[5]
BoundaryDisplay.from_estimator(chosen, X, name="boundary", ax=ax, colour="C2")
ax.set_title(f'eta = "auto" (trace scale): {chosen.eta_:.3g}, {np.mean(chosen.predict(X) == -1):.1%} outside')
for ax in panels.flat:
    ax.label_outer()
figure.suptitle("The boundary moves outwards as the covariance counts more (rbf kernel, nu = 0.2)")

# %%
# The path the rule has walked.
for eta, fraction in zip(chosen.eta_path_["eta"], chosen.eta_path_["outlier_fraction"], strict=True):
    print(f"eta = {eta:.4f}: {fraction:.3f} outside")

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=110)
else:
    plt.show()
