"""The link names that messages end in, as a table with the page of each."""

from __future__ import annotations

from askew.exceptions import LINKS

__all__ = ["table"]


def table() -> str:
    """A table of link names; each row refers to the label of the same name, so that a missing one is a warning."""
    lines = [".. list-table::", "   :header-rows: 1", "", "   * - link name", "     - page"]
    for name in sorted(LINKS):
        lines += [f"   * - ``{name}``", f"     - :ref:`{name}`"]
    return "\n".join(lines) + "\n"
