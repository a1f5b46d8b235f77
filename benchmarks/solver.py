"""The solver against scikit-learn (LIBSVM, 2000 MB cache) and scikit-learn-intelex, at equal tolerance.

Run with ``make bench`` or ``python -m benchmarks.solver [--quick] [--rounds N]``. Every fit is judged by the same
certificate: KKT violation on a float64 gradient, computed from the programme and the multipliers each library reports.
Data: ijcnn1 from the folder in ASKEW_DATA, or generated data like it when the file is not there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.preprocessing import StandardScaler

from askew.datasets import make_ijcnn1_like
from askew.exceptions import DataError
from askew.kernels import RBF, Gram
from askew.methods import c_svc, one_class
from askew.qp import GroupSums, Problem, certify
from askew.solvers import solve
from benchmarks.contest import ratios, save, take_turns
from benchmarks.data import load

TOL = 1e-3
CACHE_MB = 2000


@dataclass(frozen=True)
class Case:
    """One programme and the peers that solve the same one."""

    name: str
    n: int
    make: Callable[[np.ndarray, np.ndarray], Problem]
    peer: Callable[[Any], Any]
    """A library's svm module → an unfitted estimator."""
    beta_of: Callable[[Any, np.ndarray], np.ndarray]
    to_reach: dict[str, float]
    note: str


def csvc_case(name: str, n: int, gamma: float, C: float, to_reach: dict[str, float]) -> Case:
    return Case(
        name,
        n,
        lambda X, y: c_svc.formulate(Gram(RBF(gamma), X), y, np.full(len(y), C)),
        lambda library: library.SVC(C=C, gamma=gamma, tol=TOL, cache_size=CACHE_MB),
        lambda model, y: _dense(model, len(y)),
        to_reach,
        f"C-SVC, standardised features, rbf gamma={gamma:g}, C={C:g}",
    )


def one_class_case(name: str, n: int, gamma: float, nu: float, to_reach: dict[str, float]) -> Case:
    return Case(
        name,
        n,
        lambda X, y: one_class.formulate(Gram(RBF(gamma), X), nu, np.ones(len(X))),
        lambda library: library.OneClassSVM(nu=nu, gamma=gamma, tol=TOL, cache_size=CACHE_MB),
        lambda model, y: _dense(model, len(y)),
        to_reach,
        f"one-class SVM, standardised features, rbf gamma={gamma:g}, nu={nu:g}",
    )


def nu_case(name: str, n: int, gamma: float, nu: float, to_reach: dict[str, float]) -> Case:
    def make(X: np.ndarray, y: np.ndarray) -> Problem:
        group = (y > 0).astype(np.int64)
        half = 0.5 * nu * len(y)
        return Problem(
            Gram(RBF(gamma), X),
            np.zeros(len(y)),
            np.minimum(y, 0.0),
            np.maximum(y, 0.0),
            GroupSums(group, (-half, half)),
        )

    def beta_of(model: Any, y: np.ndarray) -> np.ndarray:
        beta = _dense(model, len(y))
        return beta * (0.5 * nu * len(y) / beta[beta > 0].sum())  # peers divide by the margin: undo it

    return Case(
        name,
        n,
        make,
        lambda library: library.NuSVC(nu=nu, gamma=gamma, tol=TOL, cache_size=CACHE_MB),
        beta_of,
        to_reach,
        f"nu-SVC (one sum per class), standardised features, rbf gamma={gamma:g}, nu={nu:g}",
    )


def cases(is_quick: bool) -> list[Case]:
    small, large = (1000, 2000) if is_quick else (5000, 20000)
    return [
        csvc_case("c_svc_5k", small, 0.5, 1.0, {"scikit-learn": 2.5}),
        csvc_case("c_svc_20k", large, 0.5, 1.0, {"scikit-learn": 6.0, "intelex": 3.0}),
        csvc_case("c_svc_20k_wide_kernel", large, 1 / 22, 1.0, {}),
        csvc_case("hard_20k", large, 0.5, 100.0, {"scikit-learn": 4.0, "intelex": 2.0}),
        csvc_case("hard_20k_wide_kernel", large, 1 / 22, 100.0, {}),
        one_class_case("one_class_20k", large, 0.5, 0.2, {"scikit-learn": 9.0}),
        nu_case("two_sums_20k", large, 0.5, 0.1, {"scikit-learn": 5.0, "intelex": 2.5}),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="run the cases whose name contains this")
    options = parser.parse_args()
    X, y, source = ijcnn1()
    libraries = peers()
    record: dict[str, Any] = {"data": source, "tol": TOL, "rounds": options.rounds, "cases": {}}
    warm_up(X, y, libraries)
    for case in cases(options.quick):
        if options.only and options.only not in case.name:
            continue
        record["cases"][case.name] = run_case(case, X[: case.n], y[: case.n], libraries, options.rounds)
        report(case, record["cases"][case.name])
    if not options.only:
        record["growth"] = growth(
            X, y, libraries, [1000, 2000, 4000] if options.quick else [5000, 10000, 20000, 40000, 80000]
        )
        print("saved", save("solver_quick" if options.quick else "solver", record))


def run_case(case: Case, X: np.ndarray, y: np.ndarray, libraries: dict[str, Any], rounds: int) -> dict[str, Any]:
    """Time ours and every peer in turns, then judge all answers by one certificate."""
    contestants: dict[str, Callable[[], Any]] = {"askew": lambda: solve(case.make(X, y), tol=TOL)}
    for name, library in libraries.items():
        if has_peer(library, case):
            contestants[name] = lambda library=library: case.peer(library).fit(X, y)
    take_turns(contestants, 1)  # unmeasured: a virtual machine's memory is slow the first time anyone touches it
    seconds, last = take_turns(contestants, rounds)
    problem = case.make(X, y)
    judged = {}
    for name, answer in last.items():
        beta = answer.beta if name == "askew" else case.beta_of(answer, y)
        certificate = certify(problem, beta)
        judged[name] = {"violation": certificate.violation, "objective": certificate.objective}
    solution = last["askew"]
    return {
        "note": case.note,
        "n": len(y),
        "speed_up": ratios(seconds, "askew"),
        "to_reach": case.to_reach,
        "judged_in_float64": judged,
        "support_vectors": int(np.count_nonzero(solution.beta)),
        "rounds_of_working_sets": solution.n_outer,
        "where_time_goes": {
            stage: round(t / sum(solution.timings.values()), 3) for stage, t in solution.timings.items()
        },
        "distance_to_bandwidth": bandwidth_distance(problem, solution, min(seconds["askew"])),
        "seconds": {name: [round(t, 4) for t in times] for name, times in seconds.items()},
    }


def bandwidth_distance(problem: Problem, solution: Any, seconds: float) -> float:
    """Our time over that of the least memory traffic: each support vector's float32 row written and read once."""
    entries = np.count_nonzero(solution.beta) * problem.n
    source = np.ones(2**24, np.float32)
    target = np.empty_like(source)
    probe, _ = take_turns({"copy": lambda: np.copyto(target, source)}, 7)
    per_entry = min(probe["copy"]) / len(source)
    return round(seconds / (entries * per_entry), 2)


def growth(X: np.ndarray, y: np.ndarray, libraries: dict[str, Any], sizes: list[int]) -> dict[str, Any]:
    """One fit each along n; peers stop at 20,000, where they still end in reasonable time."""
    rows = []
    for n in sizes:
        rows.append(grow_to(n, X, y, libraries if n <= 20000 else {}))
        print("growth", rows[-1], flush=True)
    ns = np.log([row["n"] for row in rows])
    times = np.log([row["seconds"]["askew"] for row in rows])
    return {"rows": rows, "exponent": round(float(np.polyfit(ns, times, 1)[0]), 2)}


def grow_to(n: int, X: np.ndarray, y: np.ndarray, libraries: dict[str, Any]) -> dict[str, Any]:
    """One fit on n rows; beyond the data, rows are repeated with a little noise."""
    some = np.arange(n) % len(y)
    noise = np.random.default_rng(0).normal(scale=1e-2, size=(n, X.shape[1])) * (some != np.arange(n))[:, None]
    X, y = X[some] + noise, y[some]
    case = csvc_case("growth", n, 0.5, 1.0, {})
    contestants: dict[str, Callable[[], Any]] = {"askew": lambda: solve(case.make(X, y), tol=TOL)}
    for name, library in libraries.items():
        contestants[name] = lambda library=library: case.peer(library).fit(X, y)
    seconds, last = take_turns(contestants, 1)
    return {
        "n": n,
        "seconds": {name: round(times[0], 3) for name, times in seconds.items()},
        "violation": last["askew"].certificate.violation,
        "support_vectors": int(np.count_nonzero(last["askew"].beta)),
    }


def warm_up(X: np.ndarray, y: np.ndarray, libraries: dict[str, Any]) -> None:
    """Compile, load and page in what only the first call pays."""
    for n in (200, 3000):
        for case in cases(is_quick=True):
            solve(case.make(X[:n], y[:n]), tol=TOL)
            for library in libraries.values():
                if has_peer(library, case):
                    case.peer(library).fit(X[:n], y[:n])


def has_peer(library: Any, case: Case) -> bool:
    """Whether a library solves this programme at all (intelex has no one-class SVM)."""
    return hasattr(library, type(case.peer(svm)).__name__)


def report(case: Case, row: dict[str, Any]) -> None:
    speed = "  ".join(f"{name} {ratio:.1f}×" for name, ratio in row["speed_up"].items())
    goals = "  ".join(f"{name} ≥ {ratio:g}×" for name, ratio in case.to_reach.items()) or "none set"
    gaps = "  ".join(f"{name} {judged['violation']:.1e}" for name, judged in row["judged_in_float64"].items())
    print(f"{case.name:<22} n={row['n']:<6} faster than: {speed}   (to reach: {goals})")
    print(f"{'':<22} float64 violation: {gaps}")
    print(f"{'':<22} time: {row['where_time_goes']}  {row['distance_to_bandwidth']}× the bandwidth bound", flush=True)


def ijcnn1() -> tuple[np.ndarray, np.ndarray, str]:
    """Standardised rows in random order, labels ±1, and where they are from."""
    try:
        data = load("ijcnn1")
        X, y, source = data.X, data.y, "ijcnn1"
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    except DataError:
        data = make_ijcnn1_like(50000, random_state=0)
        X, y, source = data.X, data.y, "generated, like ijcnn1"
    order = np.random.default_rng(0).permutation(len(y))
    return StandardScaler().fit_transform(X)[order], np.asarray(y, dtype=np.float64)[order], source


def peers() -> dict[str, Any]:
    libraries: dict[str, Any] = {"scikit-learn": svm}
    try:
        from sklearnex import svm as intelex
    except ImportError:
        print('scikit-learn-intelex is not installed (pip install "askew[bench]"): its ratios are left out')
    else:
        libraries["intelex"] = intelex
    return libraries


def _dense(model: Any, n: int) -> np.ndarray:
    beta = np.zeros(n)
    beta[model.support_] = np.asarray(model.dual_coef_).ravel()
    return beta


if __name__ == "__main__":
    main()
