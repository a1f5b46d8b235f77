"""The heads of the modules of ``askew.methods``: Solves · Given · Returns · Stops when · Reference."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from textwrap import dedent, indent

import askew

__all__ = ["head_of", "sections"]

METHODS = Path(askew.__file__).parent / "methods"
_PART = re.compile(r"^(Solves|Given|Returns|Stops when|Reference)\b[ ]*(.*)$", re.MULTILINE)


def head_of(docstring: str) -> tuple[str, dict[str, str]]:
    """What stands before the first part, and the parts by name; the first line is the title."""
    found = list(_PART.finditer(docstring))
    if not found:
        return docstring.strip(), {}
    ends = [*(part.start() for part in found[1:]), len(docstring)]
    parts = {}
    for part, end in zip(found, ends, strict=True):
        below = docstring[part.end() : end].strip("\n")
        # the text starts on the line of the word, and its further lines are aligned with it; or it stands below
        parts[part[1]] = "\n".join([part[2], *map(str.strip, below.splitlines())]) if part[2] else dedent(below)
    return docstring[: found[0].start()].strip(), parts


def sections() -> str:
    """A section for each module whose head says what it solves or is given."""
    texts = []
    for path in sorted(METHODS.rglob("*.py")):
        opening, parts = head_of(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
        if parts:
            texts.append(_section(path.relative_to(METHODS).with_suffix(""), opening, parts))
    return "\n".join(texts)


def _section(module: Path, opening: str, parts: dict[str, str]) -> str:
    name = ".".join(module.parts)
    title, _, prose = opening.partition("\n")
    title = _escaped(title.rstrip("."))
    lines = [f".. _theory-{'-'.join(module.parts).replace('_', '-')}:", "", title, "-" * len(title), ""]
    lines += [_escaped(prose.strip()), "", f"``askew.methods.{name}``", ""]
    for part, text in parts.items():
        lines += [f".. rubric:: {part}", "", ".. code-block:: none", "   :class: head", "", indent(text, "   "), ""]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Text whose stars, bars and underscores are letters; what stands in double backticks stays code."""
    pieces = re.split(r"(``.*?``)", text)
    return "".join(p if p.startswith("``") else re.sub(r"([*|_`\\])", r"\\\1", p) for p in pieces)
