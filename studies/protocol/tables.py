"""Tables, and their way into a study's README: the words are written by hand, every number comes from the results.

A place for a table is a pair of marks, ``<!-- table: NAME -->`` and ``<!-- end -->``; what stands between them is
replaced.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from studies.protocol.statistics import holm

Test = Mapping[str, float]
Key = TypeVar("Key", bound=Hashable)


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


def probability(p: float, digits: int = 3) -> str:
    """A p-value as it stands in a table."""
    return "< 0.001" if p < 0.001 else f"{p:.{digits}f}"


def adjusted(tests: Mapping[Key, Test]) -> dict[Key, float]:
    """The corrected p of every test of a table, corrected once more for how many stand in the table."""
    return dict(zip(tests, holm([test["p_corrected"] for test in tests.values()]), strict=True))


def difference(test: Test, adjusted: float) -> str:
    """**Bold** where the difference stands after Holm's correction, *slanted* where it does only as a single test."""
    text = f"{100 * test['difference']:+.1f} ± {100 * test['half_width']:.1f}"
    if adjusted < 0.05:
        return f"**{text}**"
    return f"*{text}*" if test["p_corrected"] < 0.05 else text
