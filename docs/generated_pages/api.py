"""API pages: a page for each public name, a list for each public module, one page over all."""

from __future__ import annotations

import enum
import inspect
from textwrap import indent
from types import ModuleType
from typing import Any

from generated_pages.public import FOR_USERS, PublicName, public_modules, public_names

__all__ = ["pages"]

_INDEX = """\
.. _api:

API
===

Every public name of askew, by the package that exports it. A name that is not here is not public (:ref:`stability`).

For users
---------

.. toctree::
   :maxdepth: 2

{users}

Rooms of the house
------------------

Packages that the ones above stand on, for those who extend askew.

.. toctree::
   :maxdepth: 2

{rooms}
"""


def pages() -> dict[str, str]:
    """Text of every API page by its path under the folder of generated pages."""
    names, modules = public_names(), public_modules()
    made = {f"api/{public.name}.rst": _page(public) for public in names.values()}
    made |= {f"api/modules/{module.__name__}.rst": _module_page(module, names) for module in modules}
    is_for_users = [module.__name__ in FOR_USERS for module in modules]
    entries = [f"   modules/{module.__name__}" for module in modules]
    users = "\n".join(entry for entry, first in zip(entries, is_for_users, strict=True) if first)
    rooms = "\n".join(entry for entry, first in zip(entries, is_for_users, strict=True) if not first)
    return made | {"api/index.rst": _INDEX.format(users=users, rooms=rooms)}


def _module_page(module: ModuleType, names: dict[str, PublicName]) -> str:
    """The module's docstring, and a table of its public names."""
    listed = [public for name, public in names.items() if name.rpartition(".")[0] == module.__name__]
    own = list({public.name: public for public in listed}.values())  # an object of two names once
    constants = [public for public in own if public.is_constant]
    pages_here = [public.name for public in own if public.module == module.__name__]
    lines = [_heading(module.__name__, "="), inspect.getdoc(module) or "", ""]
    lines += [".. autosummary::", "   :nosignatures:", ""]
    lines += [*(f"   {public.name}" for public in own if not public.is_constant), ""]
    if constants:  # autosummary would show the docstring of their type
        lines += [".. list-table:: Constants and aliases of types", ""]
        lines += [f"   * - :py:obj:`{public.name}`\n     - {public.sentence}" for public in constants]
        lines += [""]
    if pages_here:
        lines += [".. toctree::", "   :hidden:", "", *(f"   ../{name}" for name in pages_here), ""]
    return "\n".join(lines)


def _page(public: PublicName) -> str:
    """The page of one public name."""
    attribute = public.attribute
    lines = [_heading(public.name, "="), f".. currentmodule:: {public.module}", ""]
    if inspect.isclass(public.value):
        lines += _class_lines(attribute, public.value)
    elif inspect.ismodule(public.value):
        lines += _file_lines(public)
    elif public.is_constant:
        lines += [f".. py:data:: {attribute}", "", f"   {public.sentence}", ""]
    else:
        lines += [f".. autofunction:: {attribute}", ""]
    lines += [f".. minigallery:: {public.name}", f"   :add-heading: Examples with {attribute}", ""]
    return "\n".join(lines)


def _file_lines(public: PublicName) -> list[str]:
    """A module that a package exports whole: its head as it stands, and its functions."""
    head = indent(inspect.getdoc(public.value) or "", "   ")
    lines = [f".. py:module:: {public.name}", "", ".. code-block:: none", "   :class: head", "", head, ""]
    for name in public.value.__all__:
        lines += [f".. autofunction:: {public.name}.{name}", ""]
    return lines


def _class_lines(attribute: str, value: type) -> list[str]:
    """The class, and every public method and property that is askew's own."""
    lines = [f".. autoclass:: {attribute}", ""]
    if issubclass(value, enum.Enum):
        lines[1:] = ["   :members:", "   :undoc-members:", ""]
        return lines
    own, foreign = _members(value)
    directives = {name: "autoproperty" if isinstance(member, property) else "automethod" for name, member in own}
    for name, directive in directives.items():
        lines += [f"   .. {directive}:: {name}", ""]
    if foreign:
        listed = ", ".join(f"``{name}``" for name in foreign)
        lines += [f"   Methods of scikit-learn: {listed}.", ""]
    return lines


def _members(value: type) -> tuple[list[tuple[str, Any]], list[str]]:
    """Public methods and properties of a class that askew defines, and names of those that scikit-learn does."""
    own, foreign = [], []
    for name in sorted({name for base in value.__mro__ for name in vars(base) if not name.startswith("_")}):
        home = next(base for base in value.__mro__ if name in vars(base))
        member = vars(home)[name]
        if not isinstance(member, property):
            member = getattr(value, name, None)  # classmethods and scikit-learn's descriptors give a function
            if not inspect.isroutine(member):
                continue
        code = inspect.unwrap(member.fget if isinstance(member, property) else getattr(member, "__func__", member))
        origin = getattr(code, "__module__", None) or home.__module__
        if origin.startswith("askew"):
            own.append((name, member))
        elif origin.startswith("sklearn"):
            foreign.append(name)
    return own, foreign


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"
