"""Every public name of askew: the names in the ``__all__`` of its packages."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from dataclasses import dataclass
from types import ModuleType
from typing import Any

__all__ = ["FOR_USERS", "PublicName", "public_modules", "public_names"]

FOR_USERS = (
    "askew",
    "askew.tolerance",
    "askew.selection",
    "askew.metrics",
    "askew.moments",
    "askew.displays",
    "askew.datasets",
    "askew.solvers",
    "askew.qp",
    "askew.accel",
    "askew.findings",
    "askew.exceptions",
)
"""Modules that stand first on the API page, in this order; the other packages follow by name."""

_SINGLE_FILES = ("askew.accel", "askew.findings", "askew.exceptions")  # public modules that are no packages


@dataclass
class PublicName:
    """One public object under the shortest of its names.

    Attributes
    ----------
    name : str
        With its module: "askew.SVC".
    module : str
        The public module of that name.
    value : object
    """

    name: str
    module: str
    value: Any


def public_modules() -> list[ModuleType]:
    """Packages of askew that have an ``__all__``, and the public modules that are single files."""
    import askew

    names = ["askew", *(name for name in _SINGLE_FILES if importlib.util.find_spec(name))]
    names += [found.name for found in pkgutil.walk_packages(askew.__path__, "askew.") if found.ispkg]
    modules = [importlib.import_module(name) for name in names]
    places = {name: place for place, name in enumerate(FOR_USERS)}
    modules.sort(key=lambda module: (places.get(module.__name__, len(places)), module.__name__))
    return [module for module in modules if getattr(module, "__all__", None)]


def public_names() -> dict[str, PublicName]:
    """Every public name as "module.name", with the object it stands for.

    An object that several packages export has one page: that of the first of ``public_modules`` with the fewest dots.
    """
    modules = public_modules()
    shortest: dict[int, PublicName] = {}
    for module in sorted(modules, key=lambda module: module.__name__.count(".")):
        for name in module.__all__:
            value = getattr(module, name)
            shortest.setdefault(id(value), PublicName(f"{module.__name__}.{name}", module.__name__, value))
    return {
        f"{module.__name__}.{name}": shortest[id(getattr(module, name))]
        for module in modules
        for name in sorted(module.__all__, key=str.lower)
    }
