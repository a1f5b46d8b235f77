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
from functools import partial

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
    from askew.kernels import RBF, Gram
    from askew.kernels.conformal import Conformal
    from askew.kernels.stored import Stored
    from askew.moments import Moments
    from askew.qp import Problem, Sum
    from askew.selection import ToleranceSearchCV
    from askew.solvers import solve

    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    y = (X[:, 0] + rng.normal(size=len(X)) > 1.0).astype(int)
    few = np.concatenate([np.flatnonzero(y == 0)[:150], np.flatnonzero(y == 1)[:50]])
    S = sparse.random(1500, 300, 0.02, format="csr", random_state=0)
    S_y = (np.asarray(S[:, :30].sum(axis=1)).ravel() > 0.4).astype(int)
    unsorted = sparse.csr_array((S.data, 299 - S.indices, S.indptr), S.shape)

    yield "SVC, 200 rows", lambda: SVC().fit(X[few], y[few])
    yield "SVC, 1,500 rows", lambda: SVC().fit(X[:1500], y[:1500])
    yield "SVC, small cache", lambda: SVC(cache_size=1).fit(X[:1500], y[:1500])
    yield "SVC, sparse rows", lambda: SVC().fit(S, S_y)
    yield "SVC, Nyström", lambda: SVC(approximation="nystroem", n_landmarks=50).fit(X, y)
    yield "OneClassSVM", lambda: OneClassSVM(nu=0.2).fit(X[:1500])
    yield "AsymmetricSVC", lambda: AsymmetricSVC().fit(X[few], y[few])
    yield "CovarianceOneClassSVM", lambda: CovarianceOneClassSVM().fit(X[few])
    yield "KernelScaledSVC", lambda: KernelScaledSVC().fit(X[few], y[few])
    for name, rows in (("", X), (", float32", X.astype(np.float32)), (", few rows", X[few])):
        yield f"MomentSVC{name}", lambda rows=rows: MomentSVC().fit(rows, y if len(rows) == len(y) else y[few])
    for structure in ("full", "diagonal", "factor"):
        model = MomentSVC(covariance=structure)
        yield f"MomentSVC, sparse rows, {structure}", lambda model=model: model.fit(S, S_y)
    model = MomentSVC(covariance="diagonal")
    yield "MomentSVC, sparse rows, most of them positive", lambda: model.fit(unsorted, 1 - S_y, sample_weight=1.0 + S_y)
    yield "MomentSVC, sparse rows, three classes", lambda: model.fit(S, S_y + (rng.random(1500) < 0.1))
    yield "false_positive_bound", lambda: model.fit(S, S_y).false_positive_bound()
    search = ToleranceSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=3)
    yield "ToleranceSearchCV", lambda: search.fit(X[:600], y[:600])
    side = np.where(y[:600] > 0, 1.0, -1.0)
    for precision in ("float32", "float64"):
        stored = Stored(Gram(RBF(0.2), X[:600]), with_float32=precision == "float32")
        bent = Conformal(stored, np.linspace(0.5, 1.0, 600))
        programme = Problem(bent, -side, np.minimum(side, 0.0), np.maximum(side, 0.0), Sum(0.0))
        yield f"Bent kernel stored in {precision}", partial(solve, programme, route="explicit")
    yield "Moments of unsorted rows", lambda: Moments.of(unsorted)


if __name__ == "__main__":
    main()
