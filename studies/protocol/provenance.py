"""What a cell was computed with: versions of the packages, the commit, and the number of cores.

It is kept beside each cell and not asked for when a page is made, since a page may rest on cells of several runs.
Nothing that names a computer is kept.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("askew", "numpy", "scipy", "scikit-learn", "numba", "imbalanced-learn", "pyod", "matplotlib")
ROOT = Path(__file__).parents[2]
_NO_CODE = (":(exclude)studies/*/results/*", ":(exclude)*.md")  # written by the studies themselves


@lru_cache(maxsize=1)
def provenance() -> dict[str, Any]:
    """Versions, commit and cores of this process; asked once, so that a run does not see its own results as changes."""
    return {"versions": versions(), "commit": commit(ROOT), "cores": cores()}


def versions() -> dict[str, str | None]:
    """Version of every package that a result may depend on; None where it is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version(), "architecture": platform.machine()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def commit(root: Path) -> str | None:
    """Short hash of the checkout, with "+" where code differs from it; None where the folder is no checkout."""
    if not (root / ".git").exists():
        return None
    head = _git(root, "rev-parse", "--short", "HEAD")
    if head is None:
        return None
    changed = _git(root, "status", "--porcelain", "--", "src", "studies", "pyproject.toml", *_NO_CODE)
    return head + ("+" if changed else "")


def _git(root: Path, *words: str) -> str | None:
    try:
        asked = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None


def cores() -> int | None:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def gathered(found: Iterable[Mapping[str, Any] | None]) -> dict[str, Any]:
    """All versions, commits and numbers of cores among some cells, and how many cells say nothing of it."""
    known = list(found)
    said = [each for each in known if each]
    packages = sorted({name for each in said for name in each["versions"]})
    return {
        "versions": {name: _distinct(each["versions"].get(name) for each in said) for name in packages},
        "commits": _distinct(each["commit"] for each in said),
        "cores": _distinct(each["cores"] for each in said),
        "cells_without": len(known) - len(said),
    }


def _distinct(values: Iterable[Any]) -> list[Any]:
    return sorted(set(values), key=lambda value: (value is None, value if value is not None else 0))
