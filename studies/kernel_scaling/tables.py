"""The tables of the page, from the summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.kernel_scaling.paper import N_MINORITY, REMOVED
from studies.kernel_scaling.sets import DEALS, KERNELS
from studies.kernel_scaling.summary import MEASURES
from studies.protocol.tables import Test, adjusted, difference, markdown, probability

Summary = Mapping[str, Any]

SIZES = tuple(map(str, REMOVED))
ORDER = (
    "always majority",
    "SVC",
    "SVC, weighted",
    "SVC, moved",
    "Fisher",
    "AKS, paper's k",
    "KS, by accuracy",
    "AKS, by accuracy",
    "KS",
    "AKS",
    "Amari-Wu",
    "ACT",
    "KBA",
)
CONTROLS = ("SVC, moved", "Fisher")


def _facts(found: Summary) -> str:
    rows = [
        [f"repeats of 5 folds, {kind}, kernel “{s}”", n] for kind, of in found["repeats"].items() for s, n in of.items()
    ]
    rows.append(["largest relative duality gap of any fit", f"{found['largest_relative_gap']:.0e}"])
    rows.append(["CPU minutes, one thread", found["cpu_minutes"]])
    return markdown(["", ""], rows)


def _sizes(first: str) -> list[str]:
    return [first, *(f"{N_MINORITY - int(removed)} minority rows" for removed in SIZES)]


def _compared(found: Summary, setting: str, deal: str) -> str:
    """Accuracy / balanced accuracy / AUC in per cent."""
    sizes = found["compared"][setting][deal]
    rows = [[method, *(_three(sizes[removed][method]) for removed in SIZES)] for method in ORDER]
    return markdown(_sizes("accuracy / balanced accuracy / AUC"), rows)


def _three(method: Mapping[str, Any]) -> str:
    return " / ".join(f"{100 * method[measure]['mean']:.1f}" for measure in MEASURES)


def _against_svc(found: Summary, setting: str) -> str:
    """Differences to the plain SVC with corrected intervals."""
    tests = _contrasts(found, setting)
    by_test, rows = adjusted(tests), []
    for line in dict.fromkeys(line for line, _ in tests):
        of = [(line, removed) for removed in SIZES]
        rows.append([line, *(difference(tests[each], by_test[each]) for each in of)])
    return markdown(_sizes("less the plain SVC"), rows)


def _contrasts(found: Summary, setting: str) -> dict[tuple[str, str], Test]:
    """The tests of one table against the plain SVC, by line and column."""
    return {
        (f"{deal}, {measure.replace('_', ' ')}: {method}", removed): size[method][measure]["against_svc"]
        for deal in DEALS
        for measure in ("accuracy", "balanced_accuracy")
        for method in ("AKS, by accuracy", "AKS", "SVC, weighted", *CONTROLS)
        for removed, size in ((removed, found["compared"][setting][deal][removed]) for removed in SIZES)
    }


def _single_tests(found: Summary) -> str:
    """What would be below 0.05 if it were the only test made, with all three p."""
    rows = []
    for setting in ("paper", "wide"):
        tests = _contrasts(found, setting)
        by_test = adjusted(tests)
        for (line, removed), test in tests.items():
            if test["p_corrected"] < 0.05:
                where = [setting, line, f"{N_MINORITY - int(removed)}"]
                p = [test["p_naive"], test["p_corrected"], by_test[line, removed]]
                rows.append([*where, difference(test, by_test[line, removed]), *map(probability, p)])
    header = ["kernel", "less the plain SVC", "minority rows", "difference", "p naive", "p corrected"]
    return markdown([*header, f"p Holm, of {len(_contrasts(found, 'paper'))}"], rows)


def _optimism(found: Summary) -> str:
    """Gain in accuracy over the plain SVC: k chosen on the test folds, against k chosen inside the training part."""
    tests: dict[tuple[str, str, str], Test] = {}
    for deal in DEALS:
        for removed in SIZES:
            compared = found["compared"]["paper"][deal][removed]
            tests[deal, removed, "hindsight"] = found["surfaces"]["paper"][deal][removed]["best"]["against_svc"]
            for method in ("AKS, by accuracy", *CONTROLS):
                tests[deal, removed, method] = compared[method]["accuracy"]["against_svc"]
    by_test, rows = adjusted(tests), []
    for deal in DEALS:
        for removed in SIZES:
            best = found["surfaces"]["paper"][deal][removed]["best"]
            pair = f"{best['k_majority']:g}, {best['k_minority']:g}"
            line = [f"{deal}, {N_MINORITY - int(removed)} minority rows", pair]
            inside = deal, removed, "AKS, by accuracy"
            p = tests[inside]["p_naive"], tests[inside]["p_corrected"], by_test[inside]
            each = [(deal, removed, method) for method in ("hindsight", "AKS, by accuracy", *CONTROLS)]
            shown = [difference(tests[one], by_test[one]) for one in each]
            rows.append([*line, *shown[:2], " / ".join(map(probability, p)), *shown[2:]])
    header = ["", "best k (majority, minority)", "chosen on the test folds", "chosen inside"]
    return markdown([*header, f"its p: naive / corrected / Holm, of {len(tests)}", *CONTROLS], rows)


def _papers_k(found: Summary) -> str:
    """What the paper's own strengths do."""
    rows = []
    for setting in ("paper", "wide"):
        for deal in DEALS:
            of = [found["compared"][setting][deal][removed]["AKS, paper's k"] for removed in SIZES]
            changed = sum(method["predictions_changed"] for method in of)
            largest = max(method["largest_change_of_score"] for method in of)
            rows.append(
                [f"kernel “{setting}”, folds by {deal}", sum(m["n_folds"] for m in of), changed, f"{largest:.0e}"]
            )
    return markdown(["", "fits", "test predictions changed", "largest change of a score"], rows)


def _kernels(found: Summary) -> str:
    """Plain accuracy and the best on the grid (chosen on the test folds) for every reading of the kernel, by rows."""
    rows = []
    for setting in KERNELS:
        sizes = found["surfaces"][setting]["rows"]
        rows.append([f"{setting}: SVC → best AKS (its k)", *(_to_the_best(sizes[removed]) for removed in SIZES)])
        for name in CONTROLS:
            rows.append([f"{setting}: {name}", *(f"{100 * sizes[removed]['controls'][name]:.1f}" for removed in SIZES)])
    return markdown(_sizes("accuracy"), rows)


def _to_the_best(surface: Mapping[str, Any]) -> str:
    best, plain = surface["best"], 100 * surface["accuracy"][0][0]
    return f"{plain:.1f} → {100 * best['accuracy']:.1f} ({best['k_majority']:g}, {best['k_minority']:g})"


def _strengths(found: Summary) -> str:
    """How often a search bends at all, in per cent of folds."""
    rows = []
    for setting in ("paper", "wide"):
        for deal in DEALS:
            sizes = found["compared"][setting][deal]
            for method in ("AKS, by accuracy", "AKS", "KS", "Amari-Wu", "ACT", "KBA"):
                shares = [f"{100 * sizes[removed][method]['bent_share']:.0f}" for removed in SIZES]
                rows.append([f"{setting}, {deal}: {method}", *shares])
    return markdown(_sizes("folds with k > 0, per cent"), rows)


TABLES = {
    "facts": _facts,
    "compared_rows": lambda found: _compared(found, "paper", "rows"),
    "compared_speakers": lambda found: _compared(found, "paper", "speakers"),
    "against_svc": lambda found: _against_svc(found, "paper"),
    "single_tests": _single_tests,
    "optimism": _optimism,
    "papers_k": _papers_k,
    "kernels": _kernels,
    "wide_rows": lambda found: _compared(found, "wide", "rows"),
    "wide_speakers": lambda found: _compared(found, "wide", "speakers"),
    "wide_against_svc": lambda found: _against_svc(found, "wide"),
    "strengths": _strengths,
}
QUICK = ("facts",)
