"""``askew demo``: the whole way on a million transactions that never happened."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from askew.cli import options
from askew.cli.console import Console, percent
from askew.cli.failures import told

TARGET = "is_fraud"


def demo(
    folder: Annotated[
        str, typer.Option("--folder", "-o", help="Where to put data, model, scores and page.")
    ] = "demo-output",
    rows: Annotated[
        int, typer.Option(min=20_000, help="Transactions to learn from, and as many to score.")
    ] = 1_000_000,
    tolerance: options.Tolerance = 0.001,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Generate transactions, fit under a tolerance, score as many new ones, check the promise, write the page.

    0.2 % of them are frauds, and which ones is known, so what was promised can be held against the truth.
    """
    console = Console(as_json=as_json, quiet=quiet)
    with told(console):
        from askew.cli.fit import show as show_fit
        from askew.cli.page import page_summary, write_page
        from askew.cli.report import show as show_report
        from askew.datasets import write_transactions
        from askew.detection import Request, train
        from askew.detection.evaluation import evaluate_source
        from askew.detection.scoring import score_source
        from askew.persistence import load, save
        from askew.sources import check_outputs, open_source

        begin = time.perf_counter()
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        past, new = place / "transactions.parquet", place / "new-transactions.parquet"
        model, scores, page = (str(place / name) for name in ("model.skops", "scores.parquet", "report.html"))
        check_outputs([past, new, model, scores, page])
        with console.progress() as steps:
            for k, path in enumerate((past, new)):
                what = f"generating {path.name}"
                write_transactions(
                    path,
                    rows,
                    random_state=2 * seed + k,
                    progress=lambda done, what=what: steps.rows(what, done, rows),
                )
            request = Request(target=TARGET, method="moment", tolerance=tolerance, confidence=confidence, seed=seed)
            save(train(open_source(str(past)), request, steps.rows, steps.fits), model)
            detector = load(model)
            source = open_source(str(new))
            counts = score_source(detector, source, scores, progress=steps.rows)
            found = evaluate_source(detector, source, None, None, steps.rows)
        figures = found.figures()
        best = _best_possible(source, tolerance)
        summary = page_summary(
            detector,
            title=f"{rows:,} new transactions",
            event="fraud",
            positives=found.positives,
            negatives=found.negatives,
            importances=(detector.weights(), "weight on prepared columns"),
            drift=figures["drift"],
            volume_per_day=rows,
            notes=[
                f"The data are generated. No score could catch more than {percent(best)} of them at this tolerance."
            ],
        )
        write_page(summary, page)
        seconds, peak = time.perf_counter() - begin, _peak_memory()
        show_fit(console, detector)
        show_report(console, figures, tolerance)
        kept = figures["fpr"] <= tolerance
        console.say(
            f"Promised at most {percent(tolerance)} false alarms; the truth is {percent(figures['fpr'])}.", style="bold"
        )
        console.say(f"Caught {percent(figures['tpr'])} of fraud; the best possible score would catch {percent(best)}.")
        console.say(f"{seconds:.0f} s, at most {peak:.2f} GB of memory. The page: {page}")
        console.result(
            {
                **figures,
                "is_promise_kept": kept,
                "best_possible_tpr": best,
                "n_scored": counts.n_rows,
                "seconds": seconds,
                "peak_gigabytes": peak,
                "page": page,
                "model": model,
                "scores": scores,
            }
        )
        if not kept:
            console.warn(
                f"The rate is above the tolerance. The promise allows that with probability {1 - confidence:g}."
            )


def _best_possible(source: object, tolerance: float) -> float:
    """Share of frauds that the true likelihood ratio catches at this tolerance."""
    import numpy as np

    from askew.datasets import Transactions
    from askew.metrics import tpr_at_fpr

    truth = Transactions()
    pairs = []
    for block in source.blocks():
        columns = {name: block.column(name).to_numpy() for name in block.column_names}
        pairs.append((columns[TARGET], truth.bayes_score(columns)))
    labels, scores = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return float(tpr_at_fpr(labels, scores, tolerance))


def _peak_memory() -> float:
    """Largest resident size of this process so far, in gigabytes."""
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e9 if sys.platform == "darwin" else 1e6)
