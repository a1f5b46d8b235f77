"""Which of the names there are was meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: object, known: Iterable[object], limit: int = 3) -> str:
    """A phrase for the end of a message: the nearest names, or else all of them if they are few.

    Examples
    --------
    >>> nearest("frad", ["amount", "fraud"])
    "Did you mean 'fraud'?"
    >>> nearest("x", ["amount", "fraud"])
    "There are: 'amount', 'fraud'."
    """
    names = list(known)
    lowered = {str(candidate).lower(): candidate for candidate in names}
    close = [lowered[match] for match in get_close_matches(str(name).lower(), lowered, n=limit, cutoff=0.6)]
    if close:
        return f"Did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, names[:12]))
    return f"There are: {shown}{f', … ({len(names)} in all)' if len(names) > 12 else ''}."
