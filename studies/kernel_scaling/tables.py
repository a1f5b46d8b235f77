"""The tables of the page, from the summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.kernel_scaling.parkinsons import DEALS, KERNELS
from studies.kernel_scaling.summary import MEASURES
from studies.protocol.page import markdown

Summary = Mapping[str, Any]

N_MINORITY = 48
SIZES = ("0", "24", "36", "42")
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


def pages(found: Summary) -> dict[str, str]:
    """The tables of README.md."""
    return {
        "facts": _facts(found),
        "compared_rows": _compared(found, "paper", "rows"),
        "compared_speakers": _compared(found, "paper", "speakers"),
        "against_svc": _against_svc(found, "paper"),
        "optimism": _optimism(found),
        "papers_k": _papers_k(found),
        "kernels": _kernels(found),
        "wide_rows": _compared(found, "wide", "rows"),
        "wide_speakers": _compared(found, "wide", "speakers"),
        "wide_against_svc": _against_svc(found, "wide"),
        "strengths": _strengths(found),
    }


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
    rows = []
    for deal in DEALS:
        sizes = found["compared"][setting][deal]
        for measure in ("accuracy", "balanced_accuracy"):
            for method in ("AKS, by accuracy", "AKS", "SVC, weighted", "SVC, moved", "Fisher"):
                tests = [sizes[removed][method][measure]["against_svc"] for removed in SIZES]
                rows.append([f"{deal}, {measure.replace('_', ' ')}: {method}", *map(_difference, tests)])
    return markdown(_sizes("less the plain SVC"), rows)


def _difference(test: Mapping[str, float]) -> str:
    text = f"{100 * test['difference']:+.1f} ± {100 * test['half_width']:.1f}"
    return f"**{text}**" if test["p_corrected"] < 0.05 else text


def _optimism(found: Summary) -> str:
    """Gain in accuracy over the plain SVC: k chosen on the test folds, against k chosen inside the training part."""
    rows = []
    for deal in DEALS:
        for removed in SIZES:
            best = found["surfaces"]["paper"][deal][removed]["best"]
            nested = found["compared"]["paper"][deal][removed]["AKS, by accuracy"]["accuracy"]["against_svc"]
            pair = f"{best['k_majority']:g}, {best['k_minority']:g}"
            line = [f"{deal}, {N_MINORITY - int(removed)} minority rows", pair]
            rows.append([*line, _difference(best["against_svc"]), _difference(nested), _probability(nested["p_naive"])])
    header = ["", "best k (majority, minority)", "chosen on the test folds", "chosen inside", "naive p of the latter"]
    return markdown(header, rows)


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
        line = [setting]
        for removed in SIZES:
            surface, best = sizes[removed], sizes[removed]["best"]
            plain = 100 * surface["accuracy"][0][0]
            line.append(f"{plain:.1f} → {100 * best['accuracy']:.1f} ({best['k_majority']:g}, {best['k_minority']:g})")
        rows.append(line)
    return markdown(_sizes("kernel: SVC → best AKS (its k)"), rows)


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


def _probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
