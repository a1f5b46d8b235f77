"""The registry of findings as a page: each code with its anchor, severity, sentence and remedy."""

from __future__ import annotations

from askew.findings import KINDS

__all__ = ["entries"]

_ORIGINS = {"1": "About the data", "2": "About a fit", "3": "About a decision and its promise", "4": "About files"}


def entries() -> str:
    """One section for each kind of finding, in the order of their codes, under a heading for each first digit."""
    lines: list[str] = []
    for origin, title in _ORIGINS.items():
        codes = sorted(code for code in KINDS if code[len("ASK")] == origin)
        if codes:
            lines += [title, "-" * len(title), ""]
        for code in codes:
            lines += _entry(code)
    return "\n".join(lines)


def _entry(code: str) -> list[str]:
    kind = KINDS[code]
    title = f"{code}: {kind.name}"
    # docutils writes its anchors in small letters; the anchor that a card or a page links to keeps those of the code
    anchor = [".. raw:: html", "", f'   <span id="finding-{code}"></span>', ""]
    text = [".. code-block:: none", "   :class: message", "", f"   {code}: {kind.sentence} {kind.remedy}", ""]
    silence = f'``warnings.filterwarnings("ignore", message="{code}")``'
    return [
        *anchor,
        f".. _finding-{code}:",
        "",
        title,
        "~" * len(title),
        "",
        f"Severity: **{kind.severity}**. Silenced by {silence}.",
        "",
        *text,
    ]
