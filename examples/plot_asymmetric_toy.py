"""
Two margins of the asymmetric SVM
=================================

Figure 2 of Wu, Lin, Chen and Chen on data drawn here: ``mu`` widens the margin between the classes as C does in an
SVC, ``tau`` lets the ranking start in a dense and pure core of the positives, and what that gains is seen where false
alarms are few. Dashed lines are the margins of :class:`askew.AsymmetricSVC` (of the positives and of the negatives),
full lines where the decision changes.

Run it with ``python examples/plot_asymmetric_toy.py [FILE]``; without a file name the picture is shown.
"""

# %%
# Two toy sets. In the first the classes lie beside each other and overlap; in the second the positives come in three
# clumps between negatives.
import sys

import matplotlib.pyplot as plt
import numpy as np

from askew import SVC, AsymmetricSVC, OneClassSVM
from askew.displays import ToleranceRocDisplay
from askew.metrics import tolerance_auc_score


def side_by_side(n, seed):
    rng = np.random.default_rng(seed)
    core, fringe = rng.normal([1.3, 0.0], 0.35, (n // 4, 2)), rng.normal([0.4, 0.0], 1.0, (n // 4, 2))
    negatives = rng.normal([-1.2, 0.0], [0.9, 1.0], (n - 2 * (n // 4), 2))
    return np.vstack([core, fringe, negatives]), np.r_[np.ones(2 * (n // 4)), -np.ones(n - 2 * (n // 4))]


def clumps(n, seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[-1.4, 1.0], [1.5, 1.1], [0.1, -1.3]])
    positives = centres[rng.integers(0, 3, n // 2)] + rng.normal(scale=0.35, size=(n // 2, 2))
    negatives = rng.normal([0.1, 0.4], 0.5, (n - n // 2, 2))
    return np.vstack([positives, negatives]), np.r_[np.ones(n // 2), -np.ones(n - n // 2)]


first, second = side_by_side(200, seed=0), clumps(200, seed=0)

# %%
# One panel per model: its rows, where its decision changes, and its two margins where it has them.

# sphinx_gallery_defer_figures
figure, panels = plt.subplots(2, 5, figsize=(19, 8), layout="constrained")


def show(ax, data, title, model=None, margins=()):
    X, y = data
    ax.scatter(*X[y < 0].T, s=12, c="tab:grey", label="negative")
    ax.scatter(*X[y > 0].T, s=12, c="tab:red", label="positive")
    if model is not None:
        low, high = X.min(axis=0) - 0.6, X.max(axis=0) + 0.6
        grid = np.stack(np.meshgrid(*np.linspace(low, high, 150).T), axis=-1)
        scores = model.decision_function(grid.reshape(-1, 2)).reshape(150, 150)
        for level in margins:
            ax.contour(grid[..., 0], grid[..., 1], scores, levels=[level], colors="tab:blue", linestyles="dashed")
        ax.contour(grid[..., 0], grid[..., 1], scores, levels=[0.0], colors="black")
    ax.set(title=title, xticks=[], yticks=[])


def asymmetric(data, mu, tau, gamma):
    model = AsymmetricSVC(mu=mu, tau=tau, gamma=gamma).fit(*data)
    half = 0.5 * model.class_margin_ * float(model.norm_[0])  # the margins lie at ± half of the class margin
    return model, (-half, half)


plain = SVC(C=1.0, gamma=0.5).fit(*first)
ball = OneClassSVM(nu=0.25, gamma=1.0).fit(second[0][second[1] > 0])
show(panels[0, 0], first, "(a) first set")
show(panels[1, 0], second, "(b) second set")
panels[0, 0].legend(loc="upper left")
show(panels[0, 1], first, "(c) SVC", plain, (-1.0, 1.0))
show(panels[1, 1], second, "(d) one-class SVM of the positives", ball)
for ax, data, letter, mu, tau, gamma in (
    (panels[0, 2], first, "e", 0.15, 0.0, 0.5),
    (panels[1, 2], second, "f", 0.15, 0.0225, 1.5),
    (panels[0, 3], first, "g", 0.3, 0.0, 0.5),
    (panels[1, 3], first, "h", 0.15, 0.05, 0.5),
):
    model, margins = asymmetric(data, mu, tau, gamma)
    show(ax, data, f"({letter}) ASVM, mu = {mu:g}, tau = {tau:g}", model, margins)

# %%
# Rankings of new rows by (c) and (h): the whole ROC curve, and the part where at most one in ten negatives is taken.
core, _ = asymmetric(first, 0.15, 0.05, 0.5)
X_new, y_new = side_by_side(20_000, seed=1)
for ax, tolerance, letter in ((panels[0, 4], 1.0, "i"), (panels[1, 4], 0.1, "j")):
    for name, model, colour in (("SVC (c)", plain, "tab:orange"), ("ASVM (h)", core, "tab:blue")):
        scores = model.decision_function(X_new)
        ToleranceRocDisplay.from_predictions(y_new, scores, tolerance=tolerance, name=name, ax=ax, color=colour)
        area = tolerance_auc_score(y_new, scores, tolerance, normalize=True)
        print(f"{name}, t = {tolerance:g}: t-AUC / t = {area:.3f}")
    ax.set_title(f"({letter}) ROC on new rows, up to {tolerance:g}")

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=80)
else:
    plt.show()
