"""How far a search is, and how long it will still take."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

Report = Callable[[int, int, float], None]
_BETWEEN_LINES = 2.0


class Progress:
    """Counts fits that are done and tells whoever wants to know.

    Parameters
    ----------
    report : callable or None
        Called as ``report(done, total, seconds_left)`` after each step.
    verbose : int
        Above 0, a line on stderr every two seconds and at the end.
    """

    def __init__(self, report: Report | None, verbose: int) -> None:
        self._report, self._verbose = report, verbose
        self._lock = threading.Lock()
        self._begin = self._told = time.perf_counter()
        self._done = self._total = 0

    def expect(self, count: int) -> None:
        """More fits are to come."""
        self._total += count

    def step(self, count: int) -> None:
        """Fits are done."""
        with self._lock:
            self._done += count
            now = time.perf_counter()
            left = (now - self._begin) / self._done * (self._total - self._done)
            if self._report is not None:
                self._report(self._done, self._total, left)
            if self._verbose > 0 and (now - self._told >= _BETWEEN_LINES or self._done == self._total):
                self._told = now
                print(
                    f"ToleranceSearchCV: {self._done} of {self._total} fits, {now - self._begin:.1f} s, "
                    f"about {left:.0f} s left",
                    file=sys.stderr,
                    flush=True,
                )
