"""``askew demo``: the whole way on a million transactions that never happened."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from askew.cli import options
from askew.cli.console import Console
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
        from askew import Detector
        from askew.cli.fit import asked_for, sign
        from askew.cli.fit import show as show_fit
        from askew.cli.report import show as show_report
        from askew.datasets import write_transactions
        from askew.report import percent
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
            detector = asked_for("moment", None, tolerance, confidence, "order_statistic", (), (), None, seed)
            detector.fit(str(past), TARGET, progress=steps.rows, tell=steps.fits)
            sign(detector, str(past))
            detector.save(model)
            detector = Detector.load(model)
            counts = detector.write_scores(str(new), scores, progress=steps.rows)
            found = detector.evaluate(str(new), progress=steps.rows)
        figures, best = found.figures(), _best_possible(open_source(str(new)), tolerance)
        found.report(
            title=f"{rows:,} new transactions",
            event="fraud",
            volume_per_day=rows,
            notes=[
                f"The data are generated. No score could catch more than {percent(best)} of them at this tolerance."
            ],
        ).html(page)
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
