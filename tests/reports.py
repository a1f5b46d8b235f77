"""Reports made of plain numbers, for tests of what they show."""

from askew.report import Promise, Report


def promise(threshold, tolerance=0.01, confidence=0.95, method="order_statistic", n=1000, **more):
    """A promise; one with ``confidence=None`` holds for certain, given the moments."""
    told = {"alarm_side": "above", "unit": "row", "prevalence": 0.01, "expected_rate": tolerance, **more}
    return Promise.of(
        n_calibration=n, n_alarms=0, n_positives=0, n_caught=0, guaranteed_rate=tolerance,
        guarantee_confidence=confidence, confidence=confidence or 0.95, tolerance=tolerance, threshold=threshold,
        method=method, **told,
    )  # fmt: skip


NOTHING = promise(0.0, caveat="nothing was asked for")


def report_of(summary):
    """The report that shows a summary."""
    return Report(summary.promise or NOTHING, lambda: summary)
