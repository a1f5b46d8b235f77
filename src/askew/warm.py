"""``python -m askew.warm``: compile everything in advance, so that no later fit waits for it.

For the image of a container (``RUN python -m askew.warm`` after the installation) or a fresh machine. What is compiled
is kept beside the package where that can be written, else in the user's cache or in ``NUMBA_CACHE_DIR``; whoever may
read it there need not compile. It serves machines with the same kind of processor: set ``NUMBA_CPU_NAME=generic``
at both places where they differ.

Everything is compiled by being used: small fits that go, between them, through every compiled function, with the types
that real fits have.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator

from askew.compiled import compilations


def main() -> None:
    """Compile, print what is done, and exit with 1 where nothing could be kept."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fits are too small to mean anything
        for name, fit in _fits():
            before, since = compilations()[0], time.perf_counter()
            print(f"{name:<44}", end="", flush=True)
            fit()
            print(f"{compilations()[0] - before:3d} compiled {time.perf_counter() - since:6.1f} s", flush=True)
    count, folders = compilations()
    print(f"{count} functions compiled in {time.perf_counter() - begin:.0f} s; all others were found compiled.")
    if count and not folders:
        sys.exit(
            "None could be kept: no folder for the cache can be written. Run this as a user who may write beside the "
            "package, or set NUMBA_CACHE_DIR to a folder that can be written now and read later."
        )
    for folder in folders:
        print(f"kept in {folder}")


def _fits() -> Iterator[tuple[str, Callable[[], object]]]:
    """Names of fits, and the fits."""
    import numpy as np
    from scipy import sparse

    from askew import SVC, AsymmetricSVC, CovarianceOneClassSVM, KernelScaledSVC, MomentSVC, OneClassSVM
    from askew.selection import ToleranceSearchCV

    rng = np.random.default_rng(0)
    n = 1500
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] + rng.normal(size=n) > 1.0).astype(int)
    few = np.concatenate([np.flatnonzero(y == 0)[:150], np.flatnonzero(y == 1)[:50]])
    S = sparse.random(n, 300, 0.02, format="csr", random_state=0)
    S_y = (np.asarray(S[:, :30].sum(axis=1)).ravel() > 0.4).astype(int)
    many = rng.normal(size=(6000, 5))
    many_y = (many[:, 0] + rng.normal(size=len(many)) > 0.5).astype(int)

    yield "SVC, few rows", lambda: SVC().fit(X[few], y[few])
    yield "SVC", lambda: SVC(cache_size=4).fit(X, y)
    yield "SVC, linear, unsorted weights", lambda: SVC(kernel="linear").fit(X, y, sample_weight=1.0 + y)
    yield "SVC, sparse rows", lambda: SVC().fit(S, S_y)
    yield "SVC, Nyström", lambda: SVC(approximation="nystroem", n_landmarks=50).fit(X, y)
    yield "OneClassSVM", lambda: OneClassSVM(nu=0.2).fit(X)
    yield "AsymmetricSVC", lambda: AsymmetricSVC().fit(X[few], y[few])
    yield "CovarianceOneClassSVM", lambda: CovarianceOneClassSVM().fit(X[few])
    yield "KernelScaledSVC", lambda: KernelScaledSVC().fit(X[few], y[few])
    yield "MomentSVC", lambda: MomentSVC().fit(many, many_y)
    yield "MomentSVC, float32", lambda: MomentSVC().fit(many.astype(np.float32), many_y)
    yield "MomentSVC, few positives", lambda: MomentSVC().fit(X[few], y[few])
    yield "MomentSVC, two slacks", lambda: MomentSVC(formulation="two_slack").fit(X[few], y[few])
    for structure in ("full", "diagonal", "factor"):
        yield (
            f"MomentSVC, sparse rows, {structure}",
            lambda covariance=structure: MomentSVC(covariance=covariance).fit(S, S_y),
        )
    yield (
        "MomentSVC, sparse rows, many positives",
        lambda: MomentSVC(covariance="diagonal").fit(sparse.vstack([S] * 8, format="csr"), np.tile(1 - S_y, 8)),
    )
    yield "ToleranceSearchCV", lambda: ToleranceSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=3).fit(X[:600], y[:600])


if __name__ == "__main__":
    main()
