"""Tables into a study's README: the words are written by hand, every number comes from the results.

A place for a table is a pair of marks, ``<!-- table: NAME -->`` and ``<!-- end -->``; what stands between them is
replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table; numbers are taken as they come, so round them first."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(value) for value in line) + " |" for line in lines)


def fill(readme: Path, tables: Mapping[str, str]) -> None:
    """Put each table between its marks.

    Raises
    ------
    ValueError
        When a table has no place in the page, or a place has no table.
    """
    text = readme.read_text()
    places = re.findall(r"<!-- table: (\S+) -->", text)
    if set(places) != set(tables):
        without = sorted(set(places) ^ set(tables))
        raise ValueError(f"{readme.name} and the tables must name the same places; only in one of them: {without}")
    for name, table in tables.items():
        pattern = rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->)"
        text = re.sub(pattern, lambda m, t=table: f"{m[1]}{t}\n{m[2]}", text, flags=re.DOTALL)
    readme.write_text(text)
