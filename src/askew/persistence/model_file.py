"""A model in a file: skops for the objects, and a card of plain data that anyone can read.

Loading runs no code from the file: skops builds only types that the registry names or that it knows to be safe, and a
file with any other type is refused with that type's name. The card says who wrote the file and is read first, so that a
file of another version is refused before anything is built from it.

In format 2 the objects name types as the registry does; in format 1, of models written by ``askew fit`` before, by the
paths that their modules had.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import askew
from askew.exceptions import DataError, MissingDependencyError
from askew.findings import find, warn
from askew.persistence.registry import name_of, trusted_types, type_named, type_of_format_1
from askew.whole_file import WholeFile

FORMAT = 2
"""Raised when the form of a file changes; files of every format up to this one are read."""
CARD, OBJECTS = "askew.json", "schema.json"
_HOLDERS = ("estimator_", "best_estimator_", "classifier_")


def save(model: Any, path: str | Path) -> None:
    """Write a model, whole or not at all.

    Parameters
    ----------
    model : estimator, search or Detector
        Of askew, or of scikit-learn around one; fitted or not. The file holds arrays of NumPy, also for an estimator
        that was fitted on a device; the one given stays there.
    path : str or Path
        Usually ends in ``.skops``.

    See Also
    --------
    askew.load : Read it again.
    """
    skops, card = _skops(), {"format": FORMAT, "versions": versions(), "type": type(model).__name__}
    if hasattr(model, "card_"):  # a Detector's: what was done and promised, readable without askew
        card |= {"card": model.card_.as_dict()}
    written = io.BytesIO()
    skops.dump(_on_the_host(model), written)
    with (
        WholeFile(path) as file,
        zipfile.ZipFile(written) as objects,
        zipfile.ZipFile(file.beside, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
    ):
        _copy(objects, archive, _named)
        archive.writestr(CARD, json.dumps(card, indent=1, default=str))


def load(path: str | Path, *, trusted: Sequence[str] = ()) -> Any:
    """Read a model that `askew.save`, ``Detector.save`` or ``askew fit`` wrote.

    Parameters
    ----------
    path : str or Path
    trusted : sequence of str, default=()
        Paths of further types that may be built from the file, such as ``"sklearn.tree._tree.Tree"`` of a random
        forest within a ``ToleranceClassifier``. Trust none from a file whose origin you do not know: building it
        may run code.

    Returns
    -------
    object
        Of the type that was saved; files of format 1 hold a ``Detector``.

    Examples
    --------
    >>> import tempfile, askew
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> askew.save(askew.SVC().fit([[0.0], [1.0]], [0, 1]), path)
    >>> askew.load(path).predict([[0.1], [0.9]]).tolist()
    [0, 1]
    """
    skops, card = _skops(), read_card(path)
    known = {*trusted_types(), *trusted}
    try:
        objects = _at_home(path, card["format"])
        strange = sorted(set(skops.get_untrusted_types(data=objects)) - known)
        if strange:
            raise DataError(
                f"the file holds the type {strange[0]!r}, which no model of askew has. It was not loaded: building an "
                "unknown type could run code from the file. If you know who wrote it, name the type in "
                "askew.load(path, trusted=[...])."
            )
        model = skops.loads(objects, trusted=sorted(known))
        if card["format"] == 1:
            model = type_named("Detector").of_format_1(model, card)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, AttributeError, ImportError) as error:
        raise DataError(
            f"{path} could not be rebuilt ({type(error).__name__}: {error}). It was written with "
            f"{_shown(card['versions'])}; here are {_shown(versions())}. Install those, or fit the model again."
        ) from error
    _warn_of_other_versions(path, card["versions"])
    return model


def read_card(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself; nothing is built from it."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path} does not exist. Write a model with: askew fit DATA --target COLUMN -o {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            card = json.loads(archive.read(CARD))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise DataError(f"{path} is not a model written by askew fit or askew.save.") from error
    if card.get("format") not in range(1, FORMAT + 1):
        theirs = card.get("versions", {}).get("askew", "unknown")
        raise DataError(
            f"{path} was written by askew {theirs} in model format {card.get('format')}; this is askew "
            f"{askew.__version__}, which reads formats 1 to {FORMAT}. Install askew=={theirs}, or fit the model again."
        )
    return card


def versions() -> dict[str, str]:
    """Of what a model depends on."""
    import numpy
    import sklearn

    return {"askew": askew.__version__, "scikit-learn": sklearn.__version__, "numpy": numpy.__version__}


def _on_the_host(model: Any) -> Any:
    """The model, every estimator in it brought to the host where it was fitted on a device; those given stay there."""
    if hasattr(model, "to_cpu"):
        return copy(model).to_cpu()
    for holder in _HOLDERS:
        inner = vars(model).get(holder)
        if inner is not None and (moved := _on_the_host(inner)) is not inner:
            model = copy(model)
            vars(model)[holder] = moved
    return model


def _at_home(path: str | Path, version: int) -> bytes:
    """The objects of a file with every type of askew under the path that it has now."""
    moved = io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(moved, "w") as objects:
        _copy(archive, objects, _housed if version > 1 else _housed_of_format_1)
    return moved.getvalue()


def _copy(source: zipfile.ZipFile, target: zipfile.ZipFile, renamed: Callable[[str, str], tuple[str, str]]) -> None:
    """Copy the objects from one archive to another, the types in them renamed."""
    for name in source.namelist():
        if name == CARD:
            continue
        content = source.read(name)
        if name == OBJECTS:
            content = json.dumps(json.loads(content, object_hook=lambda node: _renamed(node, renamed))).encode()
        target.writestr(name, content)


def _renamed(node: dict[str, Any], renamed: Callable[[str, str], tuple[str, str]]) -> dict[str, Any]:
    if isinstance(node.get("__module__"), str) and isinstance(node.get("__class__"), str):
        node["__module__"], node["__class__"] = renamed(node["__module__"], node["__class__"])
    return node


def _named(module: str, name: str) -> tuple[str, str]:
    """A type as a file names it; types of others keep their path."""
    known = name_of(f"{module}.{name}")
    return (module, name) if known is None else ("askew", known)


def _housed(module: str, name: str) -> tuple[str, str]:
    """Where the type that a file names lives now."""
    if module != "askew":
        return module, name
    kind = type_named(name)
    return kind.__module__, kind.__qualname__


def _housed_of_format_1(module: str, name: str) -> tuple[str, str]:
    kind = type_of_format_1(f"{module}.{name}")
    return (module, name) if kind is None else (kind.__module__, kind.__qualname__)


def _warn_of_other_versions(path: str | Path, theirs: dict[str, str]) -> None:
    """The file could be read, but scikit-learn promises nothing about models of another minor version."""
    name, here = "scikit-learn", versions()
    if theirs.get(name, "").split(".")[:2] != here[name].split(".")[:2]:
        warn(find("ASK401", path=path, name=name, theirs=theirs.get(name, "of unknown version"), here=here[name]))


def _shown(found: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise MissingDependencyError("Model files need skops. Install it with: pip install 'askew[cli]'") from error
    return skops.io
