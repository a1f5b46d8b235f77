"""Tables, figures and summary from whatever cells are finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.asvm import figures, measurements, tables
from studies.asvm.outcomes import Outcomes
from studies.asvm.sets import LARGE, TITLES
from studies.protocol.cells import Cell, Ledger
from studies.protocol.command import Order, save_summary
from studies.protocol.page import fill


def write(order: Order, ledger: Ledger, cells: Sequence[Cell]) -> None:
    """Figures and ``summary.json`` into the results; for a full run, tables into the README as well."""
    rows = ledger.rows(cells)

    def by_kind(kind: str) -> list[dict[str, Any]]:
        return [row for row in rows if row["kind"] == kind]

    outcomes = Outcomes(by_kind("compare"))
    made = {**compared(outcomes), **measured(by_kind)}
    done = {"finished": len(rows), "planned": len(cells), "cpu_minutes": round(sum(row["cpu"] for row in rows) / 60, 1)}
    summary = {"cells": done, "gains": tables.overall(outcomes), "bounds": measurements.bounds(by_kind("asymptotics"))}
    save_summary(order, ledger.settings, {**summary, "tables": made})
    figures.draw_all(order.results, outcomes, by_kind)
    if not order.quick:
        made["run"] = f"{done['finished']} of {done['planned']} cells, {done['cpu_minutes']} CPU minutes."
        fill(order.folder / "README.md", made)
    print(f"asvm: {done['finished']} of {done['planned']} cells, {done['cpu_minutes']} CPU minutes", flush=True)


def compared(outcomes: Outcomes) -> dict[str, str]:
    """Tables of the comparison."""
    names = list(TITLES)
    return {
        "table1": tables.against(outcomes, "TH", names, "test"),
        "table1-fresh": tables.against(outcomes, "TH", LARGE, "fresh"),
        "table2": tables.against(outcomes, "PT", names, "test"),
        "table2-fresh": tables.against(outcomes, "PT", LARGE, "fresh"),
        "everyone": tables.everyone(outcomes),
        "overall": tables.overall_table(outcomes),
        "luck": tables.luck(outcomes),
        "core": tables.core(outcomes),
        "tops": tables.tops(outcomes),
        "weights": tables.weights(outcomes),
        "fresh-pairs": tables.fresh_pairs(outcomes),
        "hulls": tables.hulls(outcomes),
        "convergence": tables.convergence(outcomes),
        "unresolved": tables.unresolved(outcomes),
    }


def measured(by_kind: Any) -> dict[str, str]:
    """Tables of the other figures."""
    makers = {
        "toy": measurements.toy,
        "scale": measurements.scale,
        "planes": measurements.planes,
        "effort": measurements.effort,
        "asymptotics": measurements.asymptotic,
        "audit": measurements.audit,
    }
    made = {"core-path": measurements.core(by_kind("core"))}
    return made | {
        kind: make(by_kind(kind)) if by_kind(kind) else "(not computed yet)" for kind, make in makers.items()
    }
