"""What askew notices that is no error: findings, each with a stable code, in one registry.

A finding has a code, a severity, one sentence with the figure, and a remedy. The same finding is a Python warning
(``warn``), a line of the command line, an entry of ``--json``, of a detector's ``card_`` and of its page. The first
digit of a code says where it comes from: 1 the data, 2 a fit, 3 a decision and its promise, 4 files and versions.

The message of a warning begins with its code, so that one code is silenced by
``warnings.filterwarnings("ignore", message="ASK201")``. The documentation has a page with every code; the link name of
a code is "finding-ASK201".
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["KINDS", "Finding", "FindingWarning", "Kind", "collected", "find", "warn"]

Severity = Literal["note", "warning", "serious"]
_PACKAGE = str(Path(__file__).parent)


class FindingWarning(UserWarning):
    """A finding as a Python warning."""


@dataclass(frozen=True)
class Kind:
    """One entry of the registry.

    Attributes
    ----------
    name : str
        A few words for a heading.
    severity : {"note", "warning", "serious"}
        "note" wants to be known, "warning" to be looked at, "serious" means that the result may be useless.
    sentence, remedy : str
        Templates; the figures of a finding fill them in.
    """

    name: str
    severity: Severity
    sentence: str
    remedy: str


@dataclass(frozen=True)
class Finding:
    """Something noticed about data, a fit or a promise.

    Attributes
    ----------
    code : str
        Stable: "ASK101" means the same in every version.
    severity : {"note", "warning", "serious"}
    sentence : str
        What was noticed, with its figure.
    remedy : str
        What to do about it.

    Examples
    --------
    >>> str(find("ASK102", n=12))
    'ASK102: only 12 rows of the event to learn from. Gather more of them; what is learnt from so few varies.'
    """

    code: str
    severity: Severity
    sentence: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence} {self.remedy}"

    def as_dict(self) -> dict[str, str]:
        """Plain data, for JSON and for a card."""
        return {"code": self.code, "severity": self.severity, "sentence": self.sentence, "remedy": self.remedy}


KINDS: dict[str, Kind] = {
    "ASK101": Kind(
        "Ranking too good",
        "serious",
        "the ranking is all but perfect (AUC {auc:.5f}).{suspect}",
        "A column may tell the target by itself, or be known only after the event: leave it out with --drop.",
    ),
    "ASK102": Kind(
        "Few positives",
        "warning",
        "only {n} rows of the event to learn from.",
        "Gather more of them; what is learnt from so few varies.",
    ),
    "ASK103": Kind(
        "Recall uncertain",
        "warning",
        "the share caught is uncertain, between {low:.0%} and {high:.0%}: only {n} rows of the event were held out.",
        "Hold out more rows, or gather more of the event.",
    ),
    "ASK104": Kind(
        "Positive class chosen",
        "note",
        "{positive!r}, the rarer of {known}, is taken for the positive class.",
        "Name the positive class with pos_label (--positive) if that is wrong.",
    ),
    "ASK105": Kind(
        "Positives drawn",
        "note",
        "{n:,} rows of class {label!r} are more than max_positive={most:,}: a fair draw of that many stands for all.",
        "Raise `max_positive` to use more, if they fit in memory.",
    ),
    "ASK106": Kind(
        "Labels without a positive row",
        "warning",
        "{n} labels have no positive row (the first is number {first}); they are never predicted.",
        "Leave these labels out, or give rows of them.",
    ),
    "ASK201": Kind(
        "Fit not converged",
        "warning",
        "{estimator} stopped {reason}, at a KKT violation of {violation:.3g} where tol={tol:g} was asked for.",
        "{remedy}.",
    ),
    "ASK202": Kind(
        "Classes all but inseparable",
        "serious",
        "AsymmetricSVC stopped at a KKT violation of {violation:.3g} times the spread of its scores, where tol={tol:g} "
        "was asked for (status {status!r}, max_iter={max_iter}).",
        "With norm_ near 0 the classes are all but inseparable at this mu and kernel: raise `mu` or `gamma`. "
        "Otherwise raise `max_iter`, or scale the features.",
    ),
    "ASK203": Kind(
        "More landmarks than rows",
        "note",
        "n_landmarks={count} exceeds the {n} training rows; all of them are landmarks, and the fit is exact.",
        "Lower `n_landmarks`, or set approximation=None.",
    ),
    "ASK204": Kind(
        "No ranking settled",
        "serious",
        "No candidate's ranking could be settled: at every one the classes are all but inseparable (norm_ near 0) and "
        "the best score is luck.",
        "Search larger values of mu, C or gamma.",
    ),
    "ASK205": Kind(
        "Fits of a search failed",
        "warning",
        "{failed} of {size} fits failed and count as {score}: {listed}.",
        "Leave those candidates out of the grid, or mend what they refuse.",
    ),
    "ASK206": Kind(
        "Simplest candidate inconsistent",
        "warning",
        "Even the simplest candidate, {candidate}, rejects {rate:.3g} of unseen target rows, where at most {limit:.3g} "
        "is consistent with {promised:.3g}.",
        "It is taken all the same: offer simpler ones.",
    ),
    "ASK207": Kind(
        "Candidate left the contest",
        "warning",
        "{method} left the contest: {reason}",
        "The model comes from the candidates that remained.",
    ),
    "ASK301": Kind(
        "Promise contradicted",
        "serious",
        "{n_alarms} alarms among {n_new} new negatives contradict tolerance={tolerance:g} (p = {p_value:.2g}), or an "
        "earlier update did. They were not taken in.",
        "Nothing is promised until update(..., replace=True) or a new fit.",
    ),
    "ASK302": Kind(
        "Labels ignored",
        "note",
        "y is ignored: a detector without pos_label takes every row as normal.",
        "Set pos_label to the label of the alarm to train on the other rows only.",
    ),
    "ASK401": Kind(
        "Model of another version",
        "warning",
        "{path} was written with {name} {theirs}; here is {here}.",
        "Scores may differ: check them, or fit the model again.",
    ),
}
"""Every kind of finding by its code. A code is never used for another kind."""


_noticed: ContextVar[list[Finding] | None] = ContextVar("askew_findings_noticed", default=None)


@contextmanager
def collected() -> Iterator[list[Finding]]:
    """The findings that are warned of in this block, beside the warnings; those of a block within it are its own.

    Yields
    ------
    list of Finding
        Grows while the block runs.

    Examples
    --------
    >>> with collected() as noticed, warnings.catch_warnings(action="ignore"):
    ...     warn(find("ASK102", n=12))
    >>> [finding.code for finding in noticed]
    ['ASK102']
    """
    noticed: list[Finding] = []
    token = _noticed.set(noticed)
    try:
        yield noticed
    finally:
        _noticed.reset(token)


def find(code: str, **figures: Any) -> Finding:
    """The finding of a code, its templates filled in with the figures.

    Parameters
    ----------
    code : str
        A key of ``KINDS``.
    **figures
        What the templates of its sentence and remedy name.

    Returns
    -------
    Finding
    """
    kind = KINDS[code]
    return Finding(code, kind.severity, kind.sentence.format(**figures), kind.remedy.format(**figures))


def warn(finding: Finding, category: type[Warning] = FindingWarning) -> None:
    """Issue a finding as a warning that points at the first line outside askew.

    Parameters
    ----------
    finding : Finding
    category : type of Warning, default=FindingWarning
    """
    if (noticed := _noticed.get()) is not None:
        noticed.append(finding)
    level, frame, inside = 1, sys._getframe(0), [_PACKAGE]
    if "sklearn" in sys.modules:
        inside.append(str(Path(str(sys.modules["sklearn"].__file__)).parent / "callback"))  # callbacks wrap a fit
    while frame is not None and frame.f_code.co_filename.startswith(tuple(inside)):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(str(finding), category, stacklevel=level)
