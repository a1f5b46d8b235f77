"""Every public name of askew: the names in the ``__all__`` of its packages."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pkgutil
from dataclasses import dataclass
from itertools import pairwise
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

    @property
    def attribute(self) -> str:
        """The name without its module."""
        return self.name.removeprefix(f"{self.module}.")

    @property
    def is_constant(self) -> bool:
        """Whether the object is a value or an alias of a type: Python keeps no docstring of its own for it."""
        return not (inspect.isclass(self.value) or inspect.isroutine(self.value) or inspect.ismodule(self.value))

    @property
    def sentence(self) -> str:
        """What stands below a constant where it is defined, in its package or a file of it; "" where nothing does."""
        package = importlib.import_module(self.module)
        imports = (line for line in _lines(package) if isinstance(line, ast.ImportFrom))
        homes = [line.module for line in imports if self.attribute in {alias.name for alias in line.names}]
        lines = _lines(importlib.import_module(homes[0]) if homes else package)
        for line, below in pairwise(lines):
            targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
            is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            if is_text and self.attribute in {getattr(target, "id", None) for target in targets}:
                return inspect.cleandoc(str(below.value.value))
        return ""


def _lines(module: ModuleType) -> list[ast.stmt]:
    """Statements of a module outside its functions and classes."""
    return ast.parse(inspect.getsource(module)).body


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
