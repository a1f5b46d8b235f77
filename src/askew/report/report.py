"""What was fitted or checked, for a person: one report as a page, as text, as JSON and in a notebook."""

from __future__ import annotations

import json
import os
import tempfile
import webbrowser
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from askew.exceptions import DataError, MissingDependencyError
from askew.report.page import render_html
from askew.report.plain_data import plain
from askew.report.promise import Promise
from askew.report.summary import Summary
from askew.report.text import render_text
from askew.whole_file import WholeFile

__all__ = ["Report"]

_FACTS = frozenset(field.name for field in fields(Promise))


class Report:
    """Promise and evidence of a threshold, to be looked at.

    Made by ``ToleranceClassifier.report``, ``Detector.report``, ``Detector.compare`` and ``Evaluation.report``. In a
    notebook it shows itself as a page; ``print(report)`` prints its text. The facts of the promise are its attributes
    too: ``report.guaranteed_rate``.

    Parameters
    ----------
    promise : Promise
        What the threshold promises, and what it did on the rows that placed it.
    summarised : callable, default=None
        Gives the `Summary` of all that the page shows, when it is first asked for. None where no row was held out, so
        that there is a promise and nothing to draw.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from askew import ToleranceClassifier
    >>> X, y = make_classification(4000, weights=[0.9], random_state=0)
    >>> report = ToleranceClassifier(LogisticRegression(), tolerance=0.02, random_state=0).fit(X, y).report()
    >>> report.guaranteed_rate <= 0.02, report.html().startswith("<!doctype html>")
    (True, True)
    """

    def __init__(self, promise: Promise, summarised: Callable[[], Summary] | None = None) -> None:
        self.promise, self._summarised = promise, summarised

    def __getattr__(self, name: str) -> Any:
        if name in _FACTS:
            return getattr(self.promise, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __str__(self) -> str:
        return self.text()

    @cached_property
    def summary(self) -> Summary:
        """All that the page shows, as plain data."""
        if self._summarised is None:
            raise DataError(
                "No row was held out, so there is nothing to draw: the promise stands on moments alone. `text()` and "
                "`as_dict()` say what is promised."
            )
        return self._summarised()

    def as_dict(self) -> dict[str, Any]:
        """The facts of the promise as a plain dictionary."""
        return self.promise.as_dict()

    def json(self) -> str:
        """Promise and summary as JSON."""
        told = {} if self._summarised is None else self.summary.to_dict()
        return json.dumps({**told, "promise": plain(self.promise)}, ensure_ascii=False, allow_nan=False)

    def text(self) -> str:
        """Promise and summary as plain text, for a terminal or a mail."""
        if self._summarised is None:
            return f"{self.promise}\n"
        return render_text(self.summary, self.promise)

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page: one self-contained HTML document.

        Parameters
        ----------
        path : str or Path, default=None
            Where to write it, too; whole or not at all.

        Returns
        -------
        str
        """
        page = render_html(self.summary)
        if path is not None:
            with WholeFile(path) as file:
                file.beside.write_text(page, encoding="utf-8")
        return page

    def open(self) -> None:
        """Show the page in a browser, from a temporary file that stays."""
        descriptor, path = tempfile.mkstemp(prefix="askew-report-", suffix=".html")
        os.close(descriptor)
        self.html(path)
        webbrowser.open(Path(path).as_uri())

    def _repr_html_(self) -> str:
        """The page within a notebook, in a frame of its own; the text where no page can be made."""
        try:
            page = self.html()
        except (DataError, MissingDependencyError):
            return f"<pre>{escape(self.text())}</pre>"
        return (
            f'<iframe title="{escape(self.summary.title)}" srcdoc="{escape(page)}" sandbox="allow-scripts" '
            'style="width: 100%; height: 46rem; resize: vertical; border: 1px solid #8884"></iframe>'
        )
