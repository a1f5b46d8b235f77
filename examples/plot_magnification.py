"""
What bending a kernel does
==========================

A rare cluster sits inside a ring of common rows. A plain SVC sets its boundary too near the rare ones. The scalings of
:class:`askew.KernelScaledSVC` enlarge space where the classes meet, each in its own way: the colour is the
magnification √g(x) relative to the plain kernel, the dashed line the boundary of the first fit, the solid one that of
the second.
"""

import matplotlib.pyplot as plt

from askew import KernelScaledSVC
from askew.datasets import make_ring
from askew.displays import MagnificationDisplay

data = make_ring(700, rare=0.08, random_state=3)

strengths = {
    "asymmetric": {"k_majority": 10.0, "k_minority": 1.0},
    "symmetric": {"k": 3.0},
    "support": {"k": 10.0},
    "adaptive": {"k": 3.0},
    "boundary": {"k": 3.0},
}

# sphinx_gallery_defer_figures
figure, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
for ax, (scaling, k) in zip(axes.flat, strengths.items(), strict=False):
    model = KernelScaledSVC(C=10.0, scaling=scaling, **k).fit(data.X, data.y)
    MagnificationDisplay.from_estimator(model, data.X, data.y, ax=ax)
    ax.set_title(scaling)

# %%
# These strengths are set by hand to be seen. In the last panel they are chosen by cross-validation, as they are by
# default; no bend at all is always one of the choices.
model = KernelScaledSVC(C=10.0).fit(data.X, data.y)
MagnificationDisplay.from_estimator(model, data.X, data.y, ax=axes.flat[-1])
axes.flat[-1].set_title(f'asymmetric, "auto": {model.k_majority_[0]:g} and {model.k_minority_[0]:g}')
plt.show()
