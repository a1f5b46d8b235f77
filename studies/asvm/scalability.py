"""Figure 3: CPU seconds of a fit as the rows grow, and those of LIBSVM's ν-SVC, which ASVM was built upon."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import NuSVC

from askew import AsymmetricSVC
from studies.asvm.sets import read
from studies.protocol.cells import Cell

MU, TAU, GAMMA, SEED = 0.05, 0.01, 0.05, 0


def scale(cell: Cell) -> dict[str, Any]:
    """The last of several fits on so many rows of IJCNN, shuffled and standardised."""
    data = read("ijcnn1")
    rows = np.random.default_rng(SEED).permutation(len(data.y))[: cell["rows"]]
    X = data.X[rows]
    X, y = StandardScaler().fit_transform(X.toarray() if hasattr(X, "toarray") else X), data.y[rows]
    make = _asymmetric if cell["machine"] == "ASVM" else _libsvm
    for _ in range(cell["fits"]):  # the first one also loads compiled code and touches fresh memory
        begin = time.process_time()
        model = make().fit(X, y)
        seconds = time.process_time() - begin
    ending = {"relative_violation": float(model.relative_violation_[0])} if cell["machine"] == "ASVM" else {}
    return {"seconds": seconds, "support": len(model.support_), **ending}


def _asymmetric() -> Any:
    return AsymmetricSVC(MU, TAU, gamma=GAMMA)


def _libsvm() -> Any:
    return NuSVC(nu=2 * MU, gamma=GAMMA, cache_size=1024)
